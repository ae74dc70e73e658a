"""No graph that torch can make is too strange to look at, and none is changed by the look."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd.graph import save_on_cpu
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from tests.graph.programs import Drops, Power, leaf, names
from utils.graph import record, walk

PROGRAMS: dict[str, Callable[[], torch.Tensor]] = {}


def program(make: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    PROGRAMS[make.__name__] = make
    return make


@program
def custom_functions():
    return (Power.apply(leaf(), 2) + Drops.apply(leaf(), leaf())).sum()


@program
def packed():
    with save_on_cpu():
        return leaf().exp().sum()


@program
def checkpointed():
    return checkpoint(lambda x: x.exp().sin(), leaf(), use_reentrant=False).sum()


@program
def checkpointed_re_entrantly():
    return checkpoint(lambda x: x.exp().sin(), leaf(), use_reentrant=True).sum()


@program
def hooked():
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    net.register_full_backward_hook(lambda *_: None)
    net[0].register_full_backward_pre_hook(lambda *_: None)
    return net(leaf() * 1).sum()


@program
def compiled():
    return torch.compile(lambda x: (x.sin() * x).sum(), backend="aot_eager")(leaf())


@program
def nested():
    parts = [torch.ones(2), torch.ones(3)]
    return (torch.nested.nested_tensor(parts, requires_grad=True) * 2).to_padded_tensor(0.0).sum()


@program
def jagged():
    parts = [torch.ones(2), torch.ones(3)]
    ragged = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    return (ragged * 2).values().sum()


@program
def sparse():
    indices = torch.tensor([[0, 1]])
    x = torch.sparse_coo_tensor(
        indices, torch.ones(2), (3,), requires_grad=True, check_invariants=True
    )
    return torch.sparse.sum(x * 2)


@program
def sparse_gradient():
    return nn.Embedding(4, 2, sparse=True)(torch.tensor([0, 1])).sum()


@program
def meta():
    return torch.ones(3, device="meta", requires_grad=True).exp().sum()


@program
def complex_numbers():
    return (leaf() * 2j).abs().sum()


@program
def vmapped():
    w = leaf()
    return torch.func.vmap(lambda row: (row * w).sum())(torch.ones(2, 3)).sum()


@program
def differentiated_by_func():
    return torch.func.grad(lambda x: (x**3).sum())(leaf()).sum()


@program
def changed_through_a_view():
    base = leaf() * 1
    base[:2].mul_(3)
    return base.sum()


@program
def subclass():
    class Mine(torch.Tensor):
        pass

    return (torch.ones(3, requires_grad=True).as_subclass(Mine) * 2).sum()


@program
def recurrent():
    return nn.LSTM(2, 3)(torch.ones(4, 1, 2))[0].sum()


@program
def fake():
    with FakeTensorMode():
        return leaf().exp().sum()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_walked_and_recorded_like_any_other(make):
    y = make()
    before = walk(y)
    assert before.leaves
    tape = record(y)
    assert tape.error == ""
    assert {step.node for step in tape.steps} == {node.index for node in before.nodes}
    assert all(leaf.grad is None for leaf in _leaves(y))
    after = walk(y)
    assert names(after) == names(before)
    assert after.edges == before.edges

    assert record(y, commit=True).error == ""
    assert walk(y).edges == before.edges


def _leaves(y):
    seen, todo = set(), [y.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                yield node.variable


def test_a_compiled_function_is_one_custom_node():
    assert names(walk(compiled())) == ["CompiledFunctionBackward", "AccumulateGrad"]


def test_inside_a_transform_of_torch_func():
    """A backward is not allowed in there; the tape has torch's words, and a walk works."""
    seen = []

    def function(x):
        y = (x * x).sum()
        seen.append((walk(y, names={}), record(y, names={})))
        return y

    torch.func.grad(function)(torch.ones(3))
    ((graph, tape),) = seen
    assert names(graph) == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert "functorch" in tape.error


def test_a_tensor_that_escaped_from_vmap():
    escaped = []
    torch.func.vmap(lambda x: escaped.append(x * 2) or x)(torch.ones(2, 3))
    (root,) = walk(escaped[0], names={}).roots
    assert root.node is None
    assert root.sentence


class Count(TorchDispatchMode):
    """Writes down every operation that is run."""

    def __init__(self):
        super().__init__()
        self.operations = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.operations.append(str(func))
        return func(*args, **(kwargs or {}))


def test_a_mode_of_the_learner_sees_the_backward_and_nothing_of_ours():
    """Guards against work of ours in the count of an exercise that counts operations."""
    x, w = torch.eye(30, requires_grad=True), leaf()
    w.grad = torch.ones(3)
    y = (x @ w.exp().repeat(10)).sum()
    with Count() as walked:
        walk(y)
    with Count() as recorded:
        record(y)
    with Count() as real:
        y.backward()
    assert walked.operations == []
    assert recorded.operations == real.operations
