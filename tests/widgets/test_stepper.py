import pytest
import torch

from utils.widgets.stepper import step_backward


@pytest.fixture
def x():
    return torch.ones(2, 2, requires_grad=True)


@pytest.fixture
def stepper(x):
    y = x + 2
    q = y * y
    z = q * 3
    o = z.mean()
    return step_backward(o)


def content(stepper):
    return stepper.picture.value, stepper.words.value, stepper.facts.value


def test_it_starts_before_the_first_step_and_says_what_is_sent_in(stepper):
    assert stepper.slider.value == 0
    assert "Backward starts with 1 at o" in stepper.words.value


def test_next_and_back_return_to_the_very_same_content(stepper):
    start = content(stepper)
    stepper.buttons["Next"].click()
    first = content(stepper)
    assert all(new != old for new, old in zip(first, start, strict=True))
    stepper.buttons["Next"].click()
    stepper.buttons["Back"].click()
    assert content(stepper) == first
    stepper.buttons["Back"].click()
    assert content(stepper) == start


def test_start_and_end_are_one_click_away_and_nothing_lies_beyond(stepper):
    start = content(stepper)
    stepper.buttons["Back"].click()
    assert content(stepper) == start
    stepper.buttons["To the end"].click()
    assert stepper.slider.value == len(stepper.tape.steps) == 5
    end = content(stepper)
    stepper.buttons["Next"].click()
    assert content(stepper) == end
    stepper.buttons["To the start"].click()
    assert content(stepper) == start


def test_slider_and_buttons_agree(stepper):
    stepper.slider.value = 2
    by_slider = content(stepper)
    stepper.buttons["To the start"].click()
    stepper.buttons["Next"].click()
    stepper.buttons["Next"].click()
    assert content(stepper) == by_slider


def test_each_step_says_node_rule_numbers_edges_waiting_and_grad(stepper):
    stepper.slider.value = 3
    assert "Step 3 of 5" in stepper.words.value
    assert "q = y * y (MulBackward0)" in stepper.words.value
    facts = dict(stepper.narrator.facts(3))
    assert facts["came in, g"] == "0.75 ×4"
    assert "g · y" in facts["rule"]
    assert "0.75 ×4 · 3 ×4 = 2.25 ×4" in facts["in numbers"]
    assert facts["sent on"] == "2.25 ×4 to y; 2.25 ×4 to y"
    assert facts["still waiting"] == "y (ready), x (for 1)"
    assert "self = 3 ×4 (held, 16 bytes)" in facts["kept by forward"]
    assert dict(stepper.narrator.facts(4))["came in, g"] == "4.5 ×4, the sum of 2"
    assert dict(stepper.narrator.facts(5))[".grad"] == "x.grad goes from None to 4.5 ×4"


def test_who_has_got_a_part_of_its_gradient_waits_for_the_rest(x):
    y = x + 1
    stepper = step_backward((y * y.sin()).sum())
    assert "y (for 2)" in dict(stepper.narrator.facts(1))["still waiting"]
    assert "y (for 1 more)" in dict(stepper.narrator.facts(2))["still waiting"]


def test_the_labels_of_the_facts_never_change(stepper):
    labels = {tuple(label for label, _ in stepper.narrator.facts(k)) for k in range(6)}
    assert len(labels) == 1


def test_stepping_spends_nothing(stepper, x):
    stepper.go(5)
    assert x.grad is None


def test_a_picture_is_drawn_once(stepper):
    stepper.go(2)
    drawn = stepper.draw(2)
    stepper.go(0)
    stepper.go(2)
    assert stepper.draw(2) is drawn


def test_still_copy_and_text_tell_the_whole_story_wherever_the_learner_stands(stepper):
    before = stepper._repr_mimebundle_()
    stepper.go(3)
    after = stepper._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in before
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
        assert "<script" not in before[form] and "<style" not in before[form]
    text = before["text/plain"]
    assert text.splitlines()[0] == "Backward stepper: 5 steps, starting with 1 at o"
    assert "3. q = y * y (MulBackward0): in 0.75 ×4; out 2.25 ×4 to y; 2.25 ×4 to y" in text
    assert "x.grad goes from None to 4.5 ×4" in text
    assert 'src="data:image/svg+xml;base64,' in before["text/html"]


def test_a_vector_for_a_vector(x):
    rows = step_backward(2 * x, torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    rows.go(len(rows.tape.steps))
    assert "[[2, 0], [0, 0]]" in rows.facts.value


def test_an_error_in_backward_ends_the_story():
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError("no way < back")

    x = torch.ones(2, requires_grad=True)
    stepper = step_backward((Broken.apply(x) * 2).sum())
    stepper.go(99)
    assert "Here backward stopped with an error" in stepper.words.value
    assert "no way &lt; back" in stepper.words.value
    assert "no way < back" in stepper.text()
