import itertools

import pytest
import torch

from utils.widgets.leaf_lab import INPUTS, Switches, experiment, leaf_lab

EVERY = [
    Switches(frozenset(watched), retain, no_grad)
    for size in range(4)
    for watched in itertools.combinations(INPUTS, size)
    for retain in (False, True)
    for no_grad in (False, True)
]


def facts(seen):
    return {name: rest for name, *rest in seen.facts}


@pytest.mark.parametrize("switches", EVERY, ids=str)
def test_every_setting_tells_what_torch_says(switches):
    seen = experiment(switches)
    names = {"torch": torch}
    exec(seen.forward, names)
    for name, (requires_grad, is_leaf, grad_fn, grad) in facts(seen).items():
        tensor = names[name]
        assert requires_grad == str(tensor.requires_grad)
        assert is_leaf == str(tensor.is_leaf)
        assert grad_fn == ("None" if tensor.grad_fn is None else type(tensor.grad_fn).__name__)
        assert grad.startswith("[") or grad.startswith("None: ")
    tracked = names["loss"].requires_grad and (not switches.retain or names["h"].requires_grad)
    assert bool(seen.error) is not tracked
    if tracked:
        for name in INPUTS:
            assert facts(seen)[name][3].startswith("[") is (name in switches.watched)
        assert facts(seen)["h"][3].startswith("[") is switches.retain


def test_gradients_are_the_right_ones():
    seen = facts(experiment(Switches(frozenset("abc"), retain=True)))
    assert seen["a"][3] == "[4.0, 5.0]"
    assert seen["b"][3] == "[2.0, 3.0]"
    assert seen["c"][3] == seen["h"][3] == "[1.0, 1.0]"


def test_nothing_watched_shows_torchs_own_words_and_why():
    lab = leaf_lab()
    for switch in lab.watch.values():
        switch.value = False
    assert "element 0 of tensors does not require grad" in lab.words.value
    assert "No input is watched" in lab.words.value


def test_each_switch_changes_program_and_facts():
    lab = leaf_lab()
    for switch in (*lab.watch.values(), lab.retain, lab.no_grad):
        before = lab.program.value, lab.facts.value
        switch.value = not switch.value
        after = lab.program.value, lab.facts.value
        assert after[0] != before[0] and after[1] != before[1]
        switch.value = not switch.value
        assert (lab.program.value, lab.facts.value) == before


def test_the_picture_is_of_the_graph_with_the_learners_names():
    lab = leaf_lab()
    assert "<svg" in lab.picture.value
    text = experiment(lab.switches).picture.text
    assert "h = a * b (MulBackward0)" in text
    lab.watch["c"].value = False
    assert experiment(lab.switches).picture.text != text


def test_retaining_what_is_not_watched_is_explained():
    seen = experiment(Switches(frozenset("c"), retain=True))
    assert "can't retain_grad" in seen.error
    assert "neither `a` nor `b` is" in seen.story
    assert facts(seen)["c"][3] == "None: backward never came by"


def test_still_copy_and_text_do_not_depend_on_the_switches():
    lab = leaf_lab()
    before = lab._repr_mimebundle_()
    lab.watch["b"].value = True
    after = lab._repr_mimebundle_()
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
    assert "a: requires_grad True, is_leaf True, grad_fn None" in before["text/plain"]
    assert ".grad after backward [4.0, 5.0]" in before["text/plain"]
    assert 'src="data:image/svg+xml;base64,' in before["text/html"]
