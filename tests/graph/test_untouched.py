"""To record is to look: gradients, graph and hooks are afterwards as they were before."""

import os
import sys
import weakref
from contextlib import suppress

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import utils.graph
from tests.graph.programs import Fails, Residual, leaf, no_collector
from utils.graph import record, walk


def test_no_gradient_is_left_behind():
    x = leaf()
    record((x * x).sum())
    assert x.grad is None


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_an_old_gradient_stays_the_same_object_with_the_same_numbers(create_graph):
    """Guards against accumulation in place, which changes the old object's own numbers."""
    x = leaf()
    (x * x).sum().backward()
    old, numbers, version = x.grad, x.grad.clone(), x.grad._version
    tape = record((x * x).sum(), create_graph=create_graph)
    assert tape.steps[-1].change.after.entries == (4.0, 8.0, 12.0)
    assert x.grad is old
    assert torch.equal(old, numbers)
    assert old._version == version


def test_gradients_stay_when_backward_raises_half_way():
    x, w = leaf(), leaf()
    x.grad = torch.zeros(3)
    old = x.grad
    calls = []
    x.register_hook(calls.append)
    y = (x * 2 + Fails.apply(w.exp())).sum()
    later = (Fails.apply(w * 1) + x.sin()).sum()  # here x has its gradient before the failure
    for root in (y, later):
        tape = record(root)
        assert tape.error == "ArithmeticError: half-way"
        assert x.grad is old
        assert old.tolist() == [0.0, 0.0, 0.0]
        assert w.grad is None
    assert calls, "in one of them x had its turn"
    assert 0 < len(tape.steps) < len(tape.graph.nodes)


def test_a_tensor_that_retains_its_gradient():
    x = leaf()
    hidden = [x * 2]  # in no variable of its own
    hidden[0].retain_grad()
    y = (hidden[0] * hidden[0]).sum()
    record(y)
    assert hidden[0].grad is None

    y.backward(retain_graph=True)
    old, numbers = hidden[0].grad, hidden[0].grad.clone()
    record(y)
    assert hidden[0].grad is old
    assert torch.equal(old, numbers)


def test_the_weights_inside_a_checkpoint_that_runs_its_own_backward():
    """Guards against leaves that no walk can find: a re-entrant checkpoint makes its graph late."""
    linear = nn.Linear(3, 3)
    y = checkpoint(lambda x: torch.relu(linear(x)), leaf() * 1, use_reentrant=True).sum()
    linear.bias.grad = torch.zeros(3)
    old = linear.bias.grad
    record(y)
    assert linear.weight.grad is None
    assert linear.bias.grad is old
    assert old.tolist() == [0.0, 0.0, 0.0]


def test_the_graph_is_not_freed():
    y = Residual(4)(torch.ones(2, 4)).sum()
    before = walk(y)
    record(y)
    assert walk(y) == before
    y.backward()


def test_recording_twice_gives_the_same_tape():
    y = (leaf().exp() * leaf().sin()).sum()
    assert record(y, names={}) == record(y, names={})


def test_your_own_hooks_run_once_as_in_a_real_backward():
    x = leaf()
    h = x * 2
    y = h.sum()
    calls = []
    h.register_hook(lambda grad: calls.append("tensor"))
    h.grad_fn.register_hook(lambda *_: calls.append("node"))
    h.grad_fn.register_prehook(lambda *_: calls.append("before node"))
    x.register_post_accumulate_grad_hook(lambda x: calls.append(x.grad.tolist()))
    record(y)
    looked, calls[:] = list(calls), []
    y.backward()
    assert looked == calls == ["tensor", "before node", "node", [2.0, 2.0, 2.0]]


def test_a_hook_sees_the_gradient_that_it_would_see_in_a_real_backward():
    x = leaf()
    x.grad = torch.ones(3)
    seen = []
    x.register_post_accumulate_grad_hook(lambda x: seen.append(x.grad.tolist()))
    record((x * 2).sum())
    assert seen == [[3.0, 3.0, 3.0]]
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_no_hook_of_ours_stays():
    """Guards against hooks that go on recording in the learner's next backward."""
    good, bad = leaf().exp().sum(), Fails.apply(leaf().exp()).sum()
    h = leaf() * 2
    inner = h.sum()
    record(good)
    record(bad)
    record(inner, inputs=h)
    called = []

    def profile(frame, event, argument):
        if event == "call":
            called.append(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        good.backward()
        inner.backward()
        with suppress(ArithmeticError):
            bad.backward()
    finally:
        sys.setprofile(None)
    ours = os.path.dirname(utils.graph.__file__)
    assert called
    assert [path for path in called if path.startswith(ours)] == []


@pytest.mark.parametrize("program", [lambda x: x.exp().sum(), lambda x: Fails.apply(x.exp()).sum()])
@pytest.mark.parametrize("commit", [False, True])
def test_recording_keeps_nothing_alive(program, commit):
    """Guards against a hook that holds its own node: a cycle which only the collector ends."""
    with no_collector():
        x = leaf() * 1
        y = program(x)
        dead = weakref.ref(x), weakref.ref(y)
        tape = record(y, names={}, commit=commit)
        del x, y
        assert [each() for each in dead] == [None, None]
        assert tape.steps


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_a_double_backward_leaves_no_cycle():
    """Guards against captured gradients that keep their own graph when it is created."""
    with no_collector():
        x = leaf()
        dead = weakref.ref(x)
        record((x**3).sum(), create_graph=True, names={})
        del x
        assert dead() is None


def test_commit_leaves_what_backward_leaves():
    ours, theirs = leaf(), leaf()
    for x in (ours, theirs):
        x.grad = torch.ones(3)
    y, z = (ours**3).sum(), (theirs**3).sum()
    tape = record(y, commit=True)
    z.backward()
    assert torch.equal(ours.grad, theirs.grad)
    assert tape.freed
    assert walk(y).nodes[1].saved[0].state == walk(z).nodes[1].saved[0].state == "freed"

    again = record(y, commit=True)
    assert "second time" in again.error
    assert torch.equal(ours.grad, theirs.grad)


def test_commit_can_retain_the_graph():
    x = leaf()
    y = (x**3).sum()
    assert not record(y, commit=True, retain_graph=True).freed
    assert record(y, commit=True).freed
    assert x.grad.tolist() == [6.0, 24.0, 54.0]


def test_the_graph_on_the_tape_is_as_it_was_before():
    y = leaf().exp().sum()
    tape = record(y, commit=True)
    assert tape.graph.nodes[1].saved[0].state == "held"
