import html
import re
import warnings

import pytest
import torch

from utils.pictures.picture import Picture
from utils.widgets.predict import predict

CHOICES = {
    "tensor([2., 2.])": "Each entry counts twice.",
    "None": "x is a leaf, so its gradient stays.",
    "RuntimeError": "The root is a scalar: backward needs no vector.",
}


def program():
    x = torch.ones(2, requires_grad=True)
    (2 * x).sum().backward()
    return x.grad


def test_a_click_says_right_or_not_yet_with_that_choices_own_reply():
    question = predict("what is x.grad?", program, CHOICES)
    question.buttons["None"].click()
    assert "Not yet." in question.words.value
    assert CHOICES["None"] in question.words.value
    question.buttons["tensor([2., 2.])"].click()
    assert "Right." in question.words.value and "Not yet." not in question.words.value
    assert CHOICES["tensor([2., 2.])"] in question.words.value
    assert CHOICES["None"] not in question.words.value


def test_choices_keep_their_order():
    question = predict("what is x.grad?", program, CHOICES)
    assert [button.description for button in question.buttons.values()] == list(CHOICES)


def test_the_outcome_is_computed_and_a_stale_key_is_refused():
    stale = {"tensor([3., 3.])": "a", "None": "b"}
    with pytest.raises(ValueError, match="None of the choices") as caught:
        predict("what is x.grad?", program, stale)
    assert "'tensor([2., 2.])'" in str(caught.value)
    assert "'tensor([3., 3.])'" in str(caught.value)


def test_one_choice_is_no_question():
    with pytest.raises(ValueError, match="at least two choices, not 1"):
        predict("what is x.grad?", program, {"tensor([2., 2.])": "yes"})


def test_an_exception_is_an_outcome_and_its_message_is_reported():
    question = predict(
        "what happens?",
        lambda: torch.ones(2, requires_grad=True).backward(),
        {"None": "no", "RuntimeError": "A vector needs weights."},
    )
    assert "scalar outputs" not in question.facts.value
    question.choose("RuntimeError")
    assert "Right." in question.words.value
    assert "grad can be implicitly created only for scalar outputs" in question.facts.value


def test_output_and_warnings_are_held_back_until_the_learner_has_chosen(capsys):
    def noisy():
        print("a < b")
        warnings.warn("look out", stacklevel=1)
        return 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        question = predict("what is it?", noisy, {"1": "One.", "2": "Two."})
    assert capsys.readouterr().out == ""
    assert "look out" not in question.facts.value
    question.choose("2")
    assert question.facts.value == "", "what torch printed gives the answer away"
    question.choose("1")
    said = html.unescape(re.sub("<.*?>", "", question.facts.value))
    assert "a < b" in said
    assert "UserWarning: look out" in said


def test_the_program_leaves_random_numbers_and_grad_mode_alone():
    def careless():
        torch.manual_seed(0)
        torch.set_grad_enabled(False)
        return 1

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    predict("what is it?", careless, {"1": "One.", "2": "Two."})
    assert torch.is_grad_enabled()
    assert torch.equal(torch.rand(1), expected)


def test_still_copy_and_text_offer_the_choices_without_the_answer():
    first, second = (predict("what is x.grad?", program, CHOICES) for _ in range(2))
    second.choose("tensor([2., 2.])")
    bundle = first._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == second._repr_mimebundle_()["text/plain"]
    assert bundle["text/html"] == second._repr_mimebundle_()["text/html"]
    for form in ("text/plain", "text/html"):
        assert all(key in bundle[form] for key in CHOICES)
        assert not any(reply in bundle[form] for reply in CHOICES.values())
        assert "<script" not in bundle[form] and "<style" not in bundle[form]


def test_a_picture_comes_with_the_right_reply_only():
    picture = Picture("<svg id='p'></svg>", "a graph", "x -> y")
    question = predict("what is x.grad?", program, CHOICES, show=picture)
    question.choose("None")
    assert "<svg" not in question.picture.value
    question.choose("tensor([2., 2.])")
    assert picture.svg in question.picture.value


def test_sentences_are_not_set_as_code():
    values = predict("what is x.grad?", program, CHOICES)
    sentences = predict("where?", lambda: "on the leaf", {"on the leaf": "a", "nowhere": "b"})
    assert "<code>" in values.still()
    assert "<code>" not in sentences.still()
