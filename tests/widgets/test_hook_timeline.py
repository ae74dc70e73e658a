"""Hook timeline: what it says of each setting is what torch did."""

import itertools
import random

import pytest
import torch
from torch import nn

from utils.widgets.hook_journal import ANSWERS, HOOKS, Journal, Setting
from utils.widgets.hook_run import FULL, Network, run
from utils.widgets.hook_timeline import OFF, effect, experiment, hook_timeline

EVERY = frozenset(HOOKS)
DICE = random.Random(0)
SETS = [
    frozenset(),
    EVERY,
    *(frozenset({key}) for key in HOOKS),
    *(EVERY - {key} for key in HOOKS),
    *(frozenset(DICE.sample(sorted(EVERY), DICE.randint(2, 9))) for _ in range(20)),
]
settings = pytest.mark.parametrize(
    "setting",
    [Setting(on, answer) for on, answer in itertools.product(SETS, ANSWERS)],
    ids=lambda setting: f"{'+'.join(sorted(setting.on)) or 'none'}, {setting.answer}",
)
FACTORS = {"nothing": None, "half of it": 0.5, "zeros": 0.0}


def direct(setting):
    """The same step written out by hand: a line per call, `.grad` of a, and of the parameters.

    A line is (key of the hook, what it saw, whether `a.grad` and `first.weight.grad` were there).
    """
    factor = FACTORS[setting.answer]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        first, act, second = nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)
    calls, alive = [], {}

    def note(key, *saw):
        kept = "a" in alive and "retain_grad" in setting.on and alive["a"].grad is not None
        lists = [tensor.detach().clone() for tensor in saw]
        calls.append((key, lists, kept, first.weight.grad is not None))

    def single(key):
        def hook(grad):
            note(key, grad)
            return None if factor is None else grad * factor

        return hook

    def several(key):
        """A hook that gets tuples, of which it may change the first."""

        def hook(*tuples):
            note(key, *(each[0] for each in tuples))
            return None if factor is None else (tuples[0][0] * factor,)

        return hook

    on = setting.on
    if "forward_pre" in on:
        act.register_forward_pre_hook(lambda m, args: note("forward_pre", args[0]))
    if "forward" in on:
        act.register_forward_hook(lambda m, args, out: note("forward", args[0], out))
    if "full_backward_pre" in on:
        pre = several("full_backward_pre")
        act.register_full_backward_pre_hook(lambda m, grads: pre(grads))
    if "full_backward" in on:
        full = several("full_backward")
        act.register_full_backward_hook(lambda m, into, out: full(into, out))
    a = alive["a"] = act(first(torch.tensor([[1.0, 2.0]])))
    loss = second(a) ** 2
    if "tensor" in on:
        a.register_hook(single("tensor"))
    if "retain_grad" in on:
        a.retain_grad()
    if "node_pre" in on:
        a.grad_fn.register_prehook(several("node_pre"))
    if "node" in on:
        a.grad_fn.register_hook(several("node"))
    if "weight" in on:
        first.weight.register_hook(single("weight"))
    if "post_accumulate" in on:
        first.weight.register_post_accumulate_grad_hook(lambda p: note("post_accumulate", p.grad))
    if "multi_grad" in on:
        torch.autograd.graph.register_multi_grad_hook(
            (first.weight, second.weight), lambda grads: note("multi_grad", *grads)
        )
    loss.backward()
    kept = a.grad if "retain_grad" in on else None
    grads = [p.grad for layer in (first, second) for p in layer.parameters()]
    return calls, kept, grads


def entries(tensor):
    return tuple(tensor.flatten().tolist())


def called(events):
    """The hooks among the events that torch calls: all but retain_grad."""
    return [e for e in events if e.kind == "hook" and e.name != "retain_grad"]


@settings
def test_hooks_fire_in_the_order_of_a_direct_run_and_see_the_same(setting):
    events = called(run(Network(), setting).events)
    calls, _, _ = direct(setting)
    assert [(e.name, e.where) for e in events] == [
        (HOOKS[c[0]].name, HOOKS[c[0]].on) for c in calls
    ]
    for event, (_, saw, _, _) in zip(events, calls, strict=True):
        assert [value.entries for _, value in event.saw] == [entries(tensor) for tensor in saw]


@settings
def test_what_nobody_is_called_for_is_noticed_in_time(setting):
    events = run(Network(), setting).events
    calls, kept, _ = direct(setting)
    retained = [e for e in events if e.name == "retain_grad"]
    assert len(retained) == ("retain_grad" in setting.on)
    for event in retained:
        assert event.saw[0][1].entries == entries(kept)
    written = next(e for e in events if e.name == "first.weight.grad")
    for event, (_, _, was_kept, was_written) in zip(called(events), calls, strict=True):
        place = events.index(event)
        assert was_written is (events.index(written) < place)
        assert was_kept is any(events.index(e) < place for e in retained)


@settings
def test_the_gradients_are_those_of_a_direct_run_and_the_words_agree(setting):
    network = Network()
    plain, hooked = direct(OFF)[2], direct(setting)[2]
    grads = run(network, setting).grads
    assert all(torch.equal(a, b) for a, b in zip(grads.values(), hooked, strict=True))
    for before, after, row in zip(
        plain, hooked, experiment(network, setting).gradients, strict=True
    ):
        word = row[3]
        if torch.equal(before, after):
            assert word == "the same"
        elif not after.any():
            assert word == "zero"
        else:
            share = 0.5 if word == "halved" else 1 / int(word.removeprefix("1/").split()[0])
            assert torch.equal(after, before * share)


@settings
def test_it_says_who_changed_what(setting):
    factor = FACTORS[setting.answer]
    for event in called(run(Network(), setting).events):
        may = event.part == "backward" and event.name not in (
            "post-accumulate hook",
            "multi-grad hook",
        )
        assert event.changed is (may and factor is not None)
        assert event.did == ({0.5: "halved", 0.0: "zeroed"}[factor] if event.changed else "looked")


@settings
def test_each_node_is_given_what_the_last_one_before_it_passed_on(setting):
    events = run(Network(), setting).events
    steps = {e.name: e for e in events if e.kind == "step"}
    (a,) = (value.entries for name, value in steps["a = act(h)"].saw)
    gradient = steps["TanhBackward0"].saw[0][1].entries
    after = events[events.index(steps["TanhBackward0"]) + 1 :]
    # Without a full hook the node's own hook comes first; its grad_inputs are what tanh passed on.
    passed_on = after[0].saw[0][1].entries
    assert passed_on == pytest.approx([g * (1 - y * y) for g, y in zip(gradient, a, strict=True)])
    full = {"full_backward", "full_backward_pre"} & setting.on
    assert any(e.name == FULL for e in events) is bool(full)


def test_what_torch_computes_stands_in_its_place_among_the_hooks():
    names = [event.name for event in run(Network(), Setting(EVERY)).events]
    order = ["h = first(x)", "forward pre hook", "a = act(h)", "forward hook", "score = second(a)"]
    order += ["loss = score ** 2", "PowBackward0", "AddmmBackward0", "second.weight.grad"]
    order += ["node prehook", FULL, "TanhBackward0", FULL, "AddmmBackward0", "first.weight.grad"]
    assert [name for name in names if name in order] == order


@settings
def test_the_picture_shows_every_event(setting):
    result, seen = run(Network(), setting), experiment(Network(), setting)
    lines = seen.picture.text.splitlines()
    told = [line for line in lines[2:] if line not in ("forward", "backward")]
    assert len(told) == len(result.events)
    for event, line in zip(result.events, told, strict=True):
        assert event.name in line and event.where in line and event.did in line
    assert "…" not in seen.picture.svg, "nothing had to be cut short"


def left_behind(network):
    """Whatever still hangs on a network's modules and parameters."""
    kinds = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
    found = [getattr(module, kind) for module in network.modules() for kind in kinds]
    for parameter in network.parameters():
        found += [parameter._backward_hooks, parameter._post_accumulate_grad_hooks]
    return [hooks for hooks in found if hooks] + [p.grad for p in network.parameters() if p.grad]


def test_the_network_is_left_without_hooks():
    network = Network()
    run(network, Setting(EVERY))
    assert left_behind(network) == []
    assert network.act(network.first(torch.ones(1, 2))).grad_fn.name() == "TanhBackward0"
    assert run(network, OFF).events == run(Network(), OFF).events


@pytest.mark.parametrize("key", sorted(EVERY - {"retain_grad"}))
def test_the_network_is_left_without_hooks_when_one_raises(key, monkeypatch):
    def fail(self, name, *rest):
        if name == key:
            raise ArithmeticError(name)

    monkeypatch.setattr(Journal, "hook", fail)
    network = Network()
    with pytest.raises(ArithmeticError, match=key):
        run(network, Setting(EVERY))
    assert left_behind(network) == []


def test_retain_grad_comes_last_whichever_was_written_first():
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad / 2)
    y.backward()
    assert y.grad == 0.5
    told = experiment(Network(), Setting(frozenset({"tensor", "retain_grad"}))).story
    assert "`retain_grad` kept what the tensor hook returned" in told


def test_the_story_groups_parameters_by_what_became_of_them():
    def told(*on, answer="half of it"):
        return experiment(Network(), Setting(frozenset(on), answer)).story

    both = "`second.weight` and `second.bias`: the same."
    assert told() == "No hook is on: this is the step as torch takes it."
    assert told("tensor").startswith(f"`first.weight` and `first.bias`: halved; {both}")
    assert told("weight").startswith(
        "`first.weight`: halved; `first.bias` and `second.weight` and `second.bias`: the same."
    )
    assert "that weight alone" in told("weight") and "that weight alone" not in told("tensor")
    assert told("tensor", "node", answer="zeros").startswith(
        "`first.weight` and `first.bias`: zero"
    )
    assert "changed nothing" in told(*EVERY, answer="nothing")
    assert FULL in told("full_backward", "node") and FULL not in told("tensor", "node")


def test_an_effect_that_is_no_single_factor_is_not_called_one():
    before = torch.tensor([1.0, 2.0])
    assert effect(before, before.clone()) == "the same"
    assert effect(before, -before) == "-1 of it"
    assert effect(before, torch.tensor([1.0, 0.0])) == "changed, each entry in its own way"


def test_every_control_changes_picture_and_facts():
    lab = hook_timeline()
    for switch in lab.switches.values():
        before = lab.picture.value
        switch.value = not switch.value
        assert lab.picture.value != before
        switch.value = not switch.value
        assert lab.picture.value == before
    for answer in ("nothing", "zeros", "half of it"):
        before = (lab.picture.value, lab.words.value, lab.facts.value)
        lab.answer.value = answer
        after = (lab.picture.value, lab.words.value, lab.facts.value)
        assert all(new != old for new, old in zip(after, before, strict=True))


def test_every_switch_says_what_it_hangs_on_and_changes_the_text():
    names = [switch.description for switch in hook_timeline().switches.values()]
    assert len(names) == len(set(names)) == len(HOOKS)
    network = Network()
    none = experiment(network, OFF).picture.text
    for key, hook in HOOKS.items():
        text = experiment(network, Setting(frozenset({key}))).picture.text
        assert f"{hook.name} on {hook.on}" in text and text != none


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_the_notebooks_mode_and_random_numbers_are_left_alone(mode):
    normal = experiment(Network(), Setting(EVERY))
    state = torch.random.get_rng_state()
    with mode():
        before = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        assert experiment(Network(), Setting(EVERY)) == normal
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before
    assert torch.equal(torch.random.get_rng_state(), state)


def test_still_copy_and_text_do_not_depend_on_the_controls():
    lab = hook_timeline()
    before = lab._repr_mimebundle_()
    lab.answer.value, lab.switches["node"].value = "zeros", True
    after = lab._repr_mimebundle_()
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
    assert "tensor hook on a: saw gradient" in before["text/plain"]
    assert "first.weight: (3, 2), norm " in before["text/plain"]
    assert 'src="data:image/svg+xml;base64,' in before["text/html"]
