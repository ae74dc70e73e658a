"""What a node keeps for backward is told with its state and size, and nobody notices the look."""

import sys
import weakref

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from tests.graph.programs import Power, find, leaf, no_collector
from utils.graph import walk


def states(root: torch.Tensor) -> dict[str, str]:
    """State by node and name."""
    return {
        f"{node.name}.{saved.name}": saved.state
        for node in walk(root).nodes
        for saved in node.saved
    }


def test_a_held_tensor_is_told_with_its_entries_and_bytes():
    (saved,) = find(walk(leaf() ** 2), "PowBackward0").saved
    assert (saved.name, saved.state, saved.nbytes) == ("self", "held", 12)
    assert saved.value.entries == (1.0, 2.0, 3.0)


def test_a_big_one_is_told_by_shape_and_norm():
    x = torch.full((100, 10), 2.0, requires_grad=True)
    (saved,) = walk(x.exp()).nodes[0].saved
    assert saved.value.shape == (100, 10)
    assert saved.value.entries is None
    assert abs(saved.value.norm - x.exp().norm().item()) < 1e-3
    assert saved.nbytes == 4000


def test_what_is_not_needed_is_not_kept():
    """x * c needs c to find x's gradient; nobody asks for c's, so x itself is not kept."""
    assert states(leaf() * torch.ones(3)) == {
        "MulBackward0.other": "held",
        "MulBackward0.self": "none",
    }


def test_the_sum_over_all_nodes():
    x = leaf()
    once = walk((x * x.clone()).sum()).saved_bytes
    assert once == 24
    assert walk((x * x).sum()).saved_bytes == once / 2, "both factors are one tensor in memory"
    assert walk((x * x.detach()).sum()).saved_bytes == once / 2, "only one factor is kept"


def test_mean_keeps_what_this_torch_says_it_keeps():
    """Guards against writing down what a version of torch keeps: mean once kept its input."""
    node = leaf().mean().grad_fn
    kept = {
        name.removeprefix("_raw_saved_") for name in dir(node) if name.startswith("_raw_saved_")
    }
    described = walk(leaf().mean()).nodes[0]
    assert {saved.name for saved in described.saved} == kept
    assert described.facts["self_sym_sizes"] == (3,)


def test_after_backward_the_graph_is_still_there_and_its_tensors_are_freed():
    """Guards against "backward through the graph a second time" when a used graph is drawn."""
    y = Power.apply(leaf().exp(), 2).sum()
    before = walk(y)
    y.backward()
    after = walk(y)
    assert after.edges == before.edges
    assert states(y) == {"PowerBackward.tensors": "freed", "ExpBackward0.result": "freed"}
    assert after.saved_bytes == 0


def test_a_freed_list_of_tensors():
    x = leaf()
    y = x[torch.tensor([0, 2])].sum()
    assert states(y)["IndexBackward0.indices[0]"] == "held"
    y.backward()
    assert states(y) == {"IndexBackward0.indices": "freed"}


def test_an_overwritten_tensor_is_known_before_backward_runs():
    """Guards against finding out only from the error: `y = h.sigmoid(); y[0] = 2`."""
    h = leaf().sigmoid()
    h[0] = 2
    saved = find(walk(h), "SigmoidBackward0").saved[0]
    assert saved.state == "overwritten"
    assert "modified by an inplace operation" in saved.note


def test_among_several_saved_tensors_only_the_overwritten_one_is_marked():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad * b, grad * a

    a, b = leaf() * 1, leaf() * 1
    y = Product.apply(a, b)
    b.add_(1)
    assert [saved.state for saved in walk(y).nodes[0].saved] == ["held", "overwritten"]


def test_tensors_packed_by_a_hook_are_not_unpacked():
    unpacked = []

    def unpack(packed):
        unpacked.append(packed)
        return torch.from_numpy(packed)

    with saved_tensors_hooks(lambda tensor: tensor.detach().numpy(), unpack):
        y = (leaf().exp() * 2).sum()
    saved = find(walk(y), "ExpBackward0").saved[0]
    assert (saved.state, saved.note) == ("packed", "ndarray")
    assert unpacked == []


def test_a_checkpoint_is_not_run_again():
    """Guards against re-running the forward to draw it: four reads once made one forward five."""
    linear, calls = nn.Linear(3, 3), []

    def block(x):
        calls.append(x)
        return torch.relu(linear(x)).exp()

    for reentrant in (False, True):
        calls.clear()
        y = checkpoint(block, leaf().expand(2, 3), use_reentrant=reentrant).sum()
        walk(y)
        assert len(calls) == 1
        y.backward()
        walk(y)
        assert len(calls) == 2, "once by the forward, once by backward itself"


def test_none_among_the_saved_tensors_of_a_custom_function():
    saved = walk(Power.apply(leaf(), 2)).nodes[0].saved
    assert [each.state for each in saved] == ["held", "none"]


def test_looking_does_not_keep_a_saved_tensor():
    with no_collector():
        h = leaf().exp()
        dead = weakref.ref(h)
        y = h.sin()
        h.add_(1)  # the walk meets an error of torch, whose traceback must not keep anything
        graph = walk(y, names={})
        del h, y
        assert dead() is None
        assert graph.nodes[0].saved[0].state == "overwritten"


def test_no_saved_tensor_outlives_the_look():
    """Guards against a crash: a SavedTensor that is read when its node is gone ends the process."""
    kind = torch._C._autograd.SavedTensor
    with no_collector():
        h, i = leaf().exp(), torch.tensor([0, 1])
        y = Power.apply(h.sin(), 2)[i].sum()
        h.add_(1)
        lists = leaf()[i]
        with saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
            packed = leaf().exp()
        alive = sys.getrefcount(kind)  # each instance holds its type
        one = lists.grad_fn._raw_saved_indices
        assert sys.getrefcount(kind) == alive + 1, "the count sees a SavedTensor that is kept"
        del one
        graphs = [walk(root, names={}) for root in (y, lists, packed)]
        lists.sum().backward()
        graphs.append(walk(lists, names={}))
        assert sys.getrefcount(kind) == alive
        met = {saved.state for graph in graphs for node in graph.nodes for saved in node.saved}
        assert met >= {"held", "overwritten", "packed", "freed", "none"}
