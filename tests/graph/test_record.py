"""A tape says what really flowed: it agrees with torch's own backward in every number."""

import pytest
import torch
from torch import nn

from tests.graph.programs import Drops, Power, Residual, find, leaf, names
from utils.graph import Tape, record
from utils.graph.record import Backwards


def entries(tape: Tape, name: str) -> list[tuple]:
    """What arrived at the nodes of that name, in the order in which they ran."""
    steps = [step for step in tape.steps if tape.graph.nodes[step.node].name == name]
    return [tuple(value and value.entries for value in step.arrived) for step in steps]


def order(tape: Tape) -> list[str]:
    return [tape.graph.nodes[step.node].name for step in tape.steps]


def assert_slots_are_sums(tape: Tape) -> int:
    """A slot's gradient is the sum of the seeds and edges that lead to it. Counts the slots."""
    sent = {step.node: step.sent for step in tape.steps}
    sums: dict[tuple[int, int], torch.Tensor] = {}

    def add(place, value):
        if value is not None:
            part = torch.tensor(value.entries, dtype=torch.float64)
            sums[place] = sums.get(place, 0) + part

    for root, seed in zip(tape.graph.roots, tape.seeds, strict=True):
        add((root.node, root.slot), seed)
    for edge in tape.graph.edges:
        if edge.target is not None and edge.source in sent:
            add((edge.target, edge.slot), sent[edge.source][edge.input])
    arrived = {
        (step.node, slot): value
        for step in tape.steps
        for slot, value in enumerate(step.arrived)
        if value is not None
    }
    assert arrived.keys() == sums.keys()
    for place, value in arrived.items():
        assert value.entries == pytest.approx(tuple(sums[place].tolist()), rel=1e-4, abs=1e-6)
    return len(arrived)


def test_the_course_example():
    x = leaf(1.0, 1.0, 1.0, 1.0)
    o = (3 * (x + 2) ** 2).mean()
    tape = record(o)
    assert order(tape) == names(tape.graph)
    assert tape.seeds[0].entries == (1.0,)
    assert entries(tape, "PowBackward0") == [((0.75,) * 4,)]
    assert tape.steps[-1].change.before is None
    assert tape.steps[-1].change.after.entries == (4.5,) * 4
    assert (tape.error, tape.freed) == ("", False)


def test_on_a_network_slots_are_sums_and_parameters_get_their_gradients():
    torch.manual_seed(0)
    net = nn.Sequential(Residual(4), Residual(4), nn.Linear(4, 2))
    y = net(torch.randn(3, 4)).logsumexp(0).sum()
    tape = record(y)
    assert assert_slots_are_sums(tape) > 30

    y.backward()
    changes = {step.change.variable: step.change for step in tape.steps if step.change}
    expected = dict(net.named_parameters(prefix="net"))
    assert changes.keys() == expected.keys()
    for name, parameter in expected.items():
        assert changes[name].before is None
        assert changes[name].after.entries == tuple(parameter.grad.flatten().tolist())


def test_a_node_waits_for_all_edges_of_its_slot():
    """Guards against counting a reused node twice: `b = a + a; c = b + b`."""
    a = leaf(1.0)
    b = a + a
    c = b + b
    tape = record(c)
    assert order(tape) == ["AddBackward0", "AddBackward0", "AccumulateGrad"]
    assert entries(tape, "AddBackward0") == [((1.0,),), ((2.0,),)]
    assert tape.steps[-1].change.after.entries == (4.0,)
    assert [tape.waiting(k) for k in range(4)] == [{0: 0, 1: 2, 2: 2}, {1: 0, 2: 2}, {2: 0}, {}]


def test_the_order_is_the_one_in_which_torch_runs():
    x, seen = leaf(), []
    y = x.exp()
    z = x.sin() * y
    watched = {"z": z, "y": y, "x": x}
    for name, tensor in watched.items():
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    tape = record(z.sum(), names=watched)
    assert [name for name in map(_variable(tape), tape.steps) if name] == seen == ["z", "y", "x"]


def _variable(tape):
    return lambda step: tape.graph.nodes[step.node].variable


def test_parallel_edges_carry_their_own_gradients():
    a, b = leaf(2.0), leaf(5.0)
    step = record(a * b).steps[0]
    assert [value.entries for value in step.sent] == [(5.0,), (2.0,)]
    doubled = record(a * a)
    assert [value.entries for value in doubled.steps[0].sent] == [(2.0,), (2.0,)]
    assert entries(doubled, "AccumulateGrad") == [((4.0,),)]


def test_a_constant_gets_nothing():
    tape = record((leaf() * torch.ones(3)).sum())
    assert [value is None for value in tape.steps[1].sent] == [False, True]


def test_an_unused_output_of_a_node_gets_nothing():
    first, _ = leaf(1.0, 2.0).unbind()
    assert entries(record(first), "UnbindBackward0") == [((1.0,), None)]


def test_a_gradient_that_never_arrives_is_none():
    """Guards against silence: a tensor hook is not called when the gradient is None."""
    a, b = leaf() * 1, leaf() * 2
    tape = record(Drops.apply(a, b).sum())
    assert tape.steps[1].sent[1] is None
    assert entries(tape, "MulBackward0") in ([((1.0,) * 3,), (None,)], [(None,), ((1.0,) * 3,)])


def test_sent_is_aligned_with_the_edges():
    lookup = nn.Embedding(3, 2)(torch.tensor([0, 2]))
    for y in (Power.apply(leaf(), 2), lookup, torch.stack([leaf(), leaf(), torch.ones(3)])):
        tape = record(y.sum())
        for step in tape.steps:
            assert len(step.sent) == len(tape.graph.edges_from(step.node))


def test_a_vector_weights_the_outputs():
    x = leaf()
    tape = record(x * x, torch.tensor([1.0, 10.0, 100.0]))
    assert tape.seeds[0].entries == (1.0, 10.0, 100.0)
    assert tape.steps[-1].change.after.entries == (2.0, 40.0, 600.0)


def test_several_roots_run_in_one_backward():
    x = leaf()
    total, squares = x.sum(), x * x
    tape = record({"a": total, "b": squares, "n": 3}, {"b": torch.ones(3)})
    assert [seed and seed.entries for seed in tape.seeds] == [(1.0,), (1.0, 1.0, 1.0), None]
    assert tape.steps[-1].change.after.entries == (3.0, 5.0, 7.0)
    assert assert_slots_are_sums(record((total, squares), (None, torch.ones(3)))) == 3


def test_a_leaf_can_be_the_root():
    x = leaf(2.0)
    (step,) = record(x).steps
    assert step.arrived[0].entries == step.change.after.entries == (1.0,)


def test_only_some_leaves_are_asked_for():
    x, w = leaf(), leaf()
    tape = record((x.exp() * w.sin()).sum(), inputs=[w])
    assert "ExpBackward0" not in order(tape)
    product = find(tape.graph, "MulBackward0").index
    sent = next(step.sent for step in tape.steps if step.node == product)
    assert [value is None for value in sent] == [True, False]
    assert [step.change.variable for step in tape.steps if step.change] == ["w"]


def test_an_inner_tensor_is_asked_for():
    x = leaf()
    h = x * 2
    y = (h * h).sum()
    tape = record(y, inputs=h)
    assert order(tape) == ["SumBackward0", "MulBackward0", "MulBackward0"]
    assert tape.steps[-1].arrived[0].entries == (4.0, 8.0, 12.0)
    assert tape.steps[-1].sent == (None, None)
    assert tape.steps[-1].change.after.entries == (4.0, 8.0, 12.0)
    assert not h.retains_grad, "to look must not leave a mark on h"

    both = record(y, inputs=[h, x])
    assert both.steps[2].change.after.entries == (4.0, 8.0, 12.0)
    assert both.steps[2].sent[0].entries == (8.0, 16.0, 24.0)
    assert both.steps[-1].change.after.entries == (8.0, 16.0, 24.0)

    record(y, inputs=h, commit=True)
    assert h.grad.tolist() == [4.0, 8.0, 12.0]
    assert x.grad is None


def test_a_tensor_hook_changes_what_arrives_and_not_what_was_sent():
    x = leaf()
    h = x * 2
    h.register_hook(lambda grad: grad * 10)
    tape = record(h.sum())
    assert tape.steps[0].sent[0].entries == (1.0, 1.0, 1.0)
    assert tape.steps[1].arrived[0].entries == (10.0, 10.0, 10.0)


def test_accumulation_is_told_with_before_and_after():
    x = leaf()
    x.grad = torch.full((3,), 100.0)
    change = record(x.sum()).steps[-1].change
    assert change.before.entries == (100.0, 100.0, 100.0)
    assert change.after.entries == (101.0, 101.0, 101.0)


def test_a_tensor_that_retains_its_gradient_shows_the_change_too():
    x = leaf()
    h = x * 2
    h.retain_grad()
    tape = record((h * h).sum())
    assert [_variable(tape)(step) for step in tape.steps if step.change] == ["h", "x"]
    assert tape.steps[2].change.after.entries == (4.0, 8.0, 12.0)


def test_a_long_chain_is_recorded():
    y = leaf()
    for _ in range(20_000):
        y = y + 1
    assert len(record(y.sum()).steps) == 20_002


def test_a_tape_does_not_follow_later_changes():
    """Guards against recorded numbers that turn to zero with `zero_grad(set_to_none=False)`."""
    x = leaf()
    tape = record((x * x).sum(), commit=True)
    x.grad.zero_()
    assert tape.steps[-1].change.after.entries == (2.0, 4.0, 6.0)
    assert entries(tape, "AccumulateGrad") == [((2.0, 4.0, 6.0),)]


def test_one_vector_after_another_is_recorded_as_each_alone_would_be():
    x = leaf(1.0, 2.0, 3.0)
    y = x * x.sum()
    backwards = Backwards(y, {"x": x, "y": y})
    for vector in ([1.0, 0.0, 0.0], [0.0, -2.0, 0.5], [1.0, 0.0, 0.0]):
        v = torch.tensor(vector)
        assert backwards.run(v) == record(y, v, names={"x": x, "y": y})
    assert x.grad is None
    assert backwards.run(torch.ones(3), commit=True).freed
    assert torch.equal(x.grad, torch.tensor([12.0, 12.0, 12.0]))
