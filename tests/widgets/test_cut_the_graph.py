"""Cut the graph: what it says of each setting is what torch did."""

import itertools

import pytest
import torch
from torch import nn

from utils.widgets.cut_program import BACKWARD, PLACES, WAYS, Cut, write
from utils.widgets.cut_the_graph import cut_the_graph
from utils.widgets.cuts import FACTS, experiment

EVERY = [
    Cut(place, way, written)
    for place, way, written in itertools.product(PLACES.values(), WAYS, (False, True))
]
every = pytest.mark.parametrize("cut", EVERY, ids=str)


def run(cut):
    """The variables and the error of a direct run; the RNG is as before."""
    names, error = {"torch": torch, "nn": nn}, None
    with torch.random.fork_rng(devices=[]):
        try:
            exec("\n".join(write(cut)), names)
        except (RuntimeError, AttributeError) as raised:
            error = raised
    return names, error


def parameters(names):
    for layer in ("first", "second"):
        for name, parameter in names[layer].named_parameters():
            yield f"{layer}.{name}", parameter


def facts(seen):
    return {name: dict(zip(FACTS, rest, strict=True)) for name, *rest in seen.tensors}


@every
def test_it_says_what_torch_raised_and_where(cut):
    seen = experiment(cut)
    _, error = run(cut)
    assert seen.error == ("" if error is None else f"{type(error).__name__}: {error}")
    assert bool(seen.stopped) is (error is not None)
    if error is None:
        assert seen.program == "\n".join(write(cut))
    else:
        assert f"{seen.stopped}  # raises" in seen.program
        assert "Here torch stopped" not in seen.story, "an error nobody explains"
        assert seen.program.endswith("# raises" if seen.stopped == BACKWARD else "# not run")


@every
def test_it_says_which_gradients_arrived(cut):
    seen = dict(experiment(cut).gradients)
    names, error = run(cut)
    assert list(seen) == [name for name, _ in parameters(names)]
    for name, parameter in parameters(names):
        if parameter.grad is None:
            assert seen[name].startswith("None: ")
            assert ("does not lead" in seen[name]) is (error is None)
        else:
            assert seen[name].startswith(f"norm {parameter.grad.norm().item():.4g}")


@every
def test_it_calls_a_gradient_wrong_where_a_write_changed_it_unnoticed(cut):
    seen = experiment(cut)
    names, error = run(cut)
    uncut = dict(parameters(run(Cut(cut.place, cut.way))[0]))
    for name, parameter in parameters(names):
        same = parameter.grad is None or torch.equal(parameter.grad, uncut[name].grad)
        wrong = error is None and not same
        assert ("wrong" in dict(seen.gradients)[name]) is wrong
        assert (f"`{name}`" in seen.story.partition("yet a wrong gradient")[2]) is wrong


@every
def test_it_says_what_the_tensors_at_the_cut_are(cut):
    seen = facts(experiment(cut))
    names, _ = run(cut)
    tensors = {
        name: names[name]
        for name in (cut.place, "cut")
        if isinstance(names.get(name), torch.Tensor)
    }
    assert set(seen) == set(tensors) | ({"number"} & set(names))
    for name, tensor in tensors.items():
        assert seen[name]["requires_grad"] == str(tensor.requires_grad)
        assert seen[name]["is_leaf"] == str(tensor.is_leaf)
        assert seen[name]["is_inference"] == str(tensor.is_inference())
        if tensor.is_inference():
            assert seen[name]["_version"] == "no counter"
        else:
            moved = f"0 → {tensor._version}" if tensor._version else "0"
            assert seen[name]["_version"] == moved
    shared = "cut" in tensors and tensors["cut"].data_ptr() == tensors[cut.place].data_ptr()
    assert seen[cut.place]["memory"] == ("shared" if shared else "own")


@every
def test_what_a_way_says_of_itself_is_so(cut):
    says, seen = WAYS[cut.way].says, facts(experiment(cut))
    twin = seen.get("cut", {})
    if "same memory" in says:
        assert twin["memory"] == "shared"
    if "memory is its own" in says:
        assert twin["memory"] == "own"
    if "without a history" in says or "no history" in says:
        assert twin["requires_grad"] == "False"
    if "history: it cuts nothing" in says:
        assert twin["requires_grad"] == "True"
    if cut.write and "same counter" in says:
        assert twin["_version"] == seen[cut.place]["_version"] == "0 → 1"
    if cut.write and "counter of its own" in says:
        assert (twin["_version"], seen[cut.place]["_version"]) == ("0", "0 → 1")
    if "have no counter" in says:
        assert seen[cut.place]["_version"] == "no counter"


def test_detach_is_noticed_and_data_is_not():
    assert "modified by an inplace operation" in experiment(Cut("a", ".detach()", True)).error
    silent = experiment(Cut("a", ".data", True))
    assert silent.error == ""
    assert "wrong, norm" in dict(silent.gradients)["second.weight"]


def test_backward_may_stop_half_way():
    seen = experiment(Cut("a", ".clone()", True))
    assert dict(seen.gradients)["second.weight"].startswith("norm ")
    assert dict(seen.gradients)["first.weight"] == "None: backward stopped before it"
    assert "By then gradients had reached `second`." in seen.story


def test_the_piece_that_was_cut_off_is_drawn_too():
    whole = experiment(Cut("a", "nothing")).picture
    pieces = experiment(Cut("a", ".detach()")).picture
    assert whole.title.startswith("Graph of loss:")
    assert pieces.title.startswith("Graph of loss, a:")
    assert "first.weight" in whole.text and "first.weight" in pieces.text
    assert "root [" not in pieces.text


def test_each_control_changes_program_picture_and_facts():
    lab = cut_the_graph()
    moves = {lab.place: "z", lab.way: "torch.inference_mode()", lab.write: True}
    for control, value in moves.items():
        before, start = (lab.program.value, lab.picture.value, lab.facts.value), control.value
        control.value = value
        after = (lab.program.value, lab.picture.value, lab.facts.value)
        assert all(new != old for new, old in zip(after, before, strict=True))
        control.value = start
        assert (lab.program.value, lab.picture.value, lab.facts.value) == before


def test_the_write_is_named_after_the_place():
    lab = cut_the_graph()
    lab.place.value = "score"
    assert lab.write.description == "score.add_(1) before backward"


def test_torchs_own_words_are_shown():
    lab = cut_the_graph()
    lab.way.value = "torch.inference_mode()"
    assert "Inference tensors cannot be saved for backward" in lab.words.value
    assert "<code>score = second(a)</code> raises:" in lab.words.value


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_the_notebooks_mode_and_random_numbers_are_left_alone(mode):
    normal = experiment(Cut())
    state = torch.random.get_rng_state()
    with mode():
        recording = torch.is_grad_enabled()
        assert experiment(Cut()) == normal
        assert torch.is_grad_enabled() is recording
    assert torch.equal(torch.random.get_rng_state(), state)


def test_still_copy_and_text_do_not_depend_on_the_controls():
    lab = cut_the_graph()
    before = lab._repr_mimebundle_()
    lab.way.value, lab.write.value = ".data", True
    after = lab._repr_mimebundle_()
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
    assert "first.weight: .grad None: loss does not lead here" in before["text/plain"]
    assert "cut: requires_grad False, is_leaf True" in before["text/plain"]
    assert 'src="data:image/svg+xml;base64,' in before["text/html"]
