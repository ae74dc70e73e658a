"""A graph is described as it is: its nodes, its edges, and what torch's own engine would meet."""

import weakref

import pytest
import torch
from torch import nn

from tests.graph.programs import Power, Residual, find, leaf, names, no_collector
from utils.graph import Edge, structure, walk


def test_a_small_program_is_described_in_full():
    x = leaf()
    graph = walk((3 * (x + 2) ** 2).mean())
    assert names(graph) == [
        "MeanBackward0",
        "MulBackward0",
        "PowBackward0",
        "AddBackward0",
        "AccumulateGrad",
    ]
    assert [node.kind for node in graph.nodes] == ["op"] * 4 + ["leaf"]
    assert [node.outputs[0].shape for node in graph.nodes] == [(), (3,), (3,), (3,), (3,)]
    assert graph.nodes[0].outputs[0].dtype == "float32"
    assert graph.leaves[0].outputs[0].entries == (1.0, 2.0, 3.0)
    assert graph.roots[0].node == graph.roots[0].slot == 0
    assert find(graph, "PowBackward0").facts == {"exponent": 2}


def test_constants_are_edges_to_nothing():
    """Guards against stray boxes for tensors that were made inside a forward and need no grad."""
    graph = walk(leaf() * torch.ones(3))
    assert graph.edges == (Edge(0, 0, 1, 0), Edge(0, 1, None, 0))


def test_both_uses_of_a_tensor_are_edges():
    """Guards against drawing `a * a` with one line."""
    a = leaf()
    graph = walk(a * a)
    assert graph.edges == (Edge(0, 0, 1, 0), Edge(0, 1, 1, 0))


def test_slots_tell_the_outputs_of_one_node_apart():
    first, second = leaf(1.0, 2.0).unbind()
    graph = walk(second * first)
    assert names(graph) == ["MulBackward0", "UnbindBackward0", "AccumulateGrad"]
    assert [edge.slot for edge in graph.edges_from(0)] == [1, 0]
    assert len(graph.nodes[1].outputs) == 2


def test_nodes_come_breadth_first():
    x = leaf()
    long = x.exp().sin().cos()
    assert names(walk(long + x.tan())) == [
        "AddBackward0",
        "CosBackward0",
        "TanBackward0",
        "SinBackward0",
        "AccumulateGrad",
        "ExpBackward0",
    ]


def test_a_doubling_graph_is_walked_once_per_node():
    """Guards against path explosion: `a = a + a` sixty times has 2 ** 60 paths."""
    a = leaf().clone()
    for _ in range(60):
        a = a + a
    graph = walk(a)
    assert len(graph.nodes) == 62
    assert len(graph.edges) == 121


def test_a_long_chain_needs_no_recursion():
    x = leaf()
    y = x
    for _ in range(20_000):
        y = y + 1
    assert len(walk(y).nodes) == 20_001


def test_nodes_whose_wrappers_share_an_address_stay_apart():
    """Guards against `id(node)` as an identity: torch makes a new wrapper for each look."""
    y = leaf()
    for _ in range(300):
        y = y.sin()
    graph = walk(y)
    assert len(graph.nodes) == 301
    assert [edge.target for edge in graph.edges] == list(range(1, 301))


def test_a_subclass_has_a_finite_graph():
    """Guards against following `_base` for ever on a tensor subclass."""

    class Mine(torch.Tensor):
        pass

    graph = walk(torch.ones(5, requires_grad=True).as_subclass(Mine))
    assert names(graph) == ["AliasBackward0", "AccumulateGrad"]


def test_the_graph_of_a_gradient_is_walked_like_any_other():
    """Guards against failing on a forward that calls `autograd.grad`: a gradient penalty."""
    x = leaf()
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    graph = walk((slope**2).sum())
    assert len(graph.leaves) == 1
    assert names(graph).count("PowBackward0") == 2


def test_full_backward_hooks_of_a_module_are_their_own_kind():
    """Guards against passing off the two nodes that such a hook adds as the learner's work."""
    plain, hooked = nn.Linear(3, 2), nn.Linear(3, 2)
    hooked.register_full_backward_hook(lambda *_: None)
    x = leaf().clone()
    assert "hook" not in {node.kind for node in walk(plain(x)).nodes}
    marked = [node for node in walk(hooked(x)).nodes if node.kind == "hook"]
    assert [node.name for node in marked] == ["BackwardHookFunctionBackward"] * 2


def test_a_custom_function_shows_what_it_put_on_its_ctx():
    graph = walk(Power.apply(leaf(), 3))
    assert graph.nodes[0].kind == "custom"
    assert graph.nodes[0].facts == {"p": 3}
    assert len(graph.edges_from(0)) == 1, "a number is no tensor, so it has no edge"


def test_changing_the_base_rewrites_the_node_of_its_view():
    """Guards against remembering a view's node from before its base was changed in place."""
    base = leaf() * 1
    view = base[:2]
    before = names(walk(view))
    base.mul_(2)
    after = names(walk(view))
    assert before[0] == "SliceBackward0"
    assert after[0] == "AsStridedBackward0"


def test_an_in_place_change_of_a_view_hides_in_copy_slices():
    base = leaf() * 1
    base[:2].mul_(3)
    assert names(walk(base))[0] == "CopySlices"


def test_detaching_in_place_leaves_the_existing_graph_alone():
    """Guards against showing `b.detach_()` as a cut of what was computed from b before."""
    a = leaf()
    b = 2 * a
    c = b.sum()
    b.detach_()
    graph = walk((c, b))
    assert names(graph) == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert [root.node for root in graph.roots] == [0, None]


def test_a_negative_dim_is_shown_as_it_was_written():
    """Guards against 18446744073709551615, which is how torch stores -1."""
    assert walk(leaf().sum(-1)).nodes[0].facts["dim"] == (-1,)
    assert walk(torch.softmax(leaf(), dim=-1)).nodes[0].facts["dim"] == -1


def test_a_limit_caps_what_is_described_and_says_so():
    y = leaf()
    for _ in range(50):
        y = y.sin()
    graph = walk(y, limit=10)
    assert graph.described == 10
    assert len(graph.nodes) == len(walk(y).nodes) == 51
    assert [bool(node.saved) for node in graph.nodes] == [True] * 10 + [False] * 41
    assert all(node.outputs[0].shape == (3,) for node in graph.nodes)
    assert walk(y, limit=1000).described == 51


def test_without_saved_the_rest_is_the_same():
    y = Residual(4)(torch.ones(2, 4)).sum()
    full, slim = walk(y), walk(y, saved=False)
    assert slim.edges == full.edges
    assert names(slim) == names(full)
    assert full.saved_bytes > slim.saved_bytes == 0
    assert (full.described, slim.described) == (len(full.nodes), 0)


def test_the_structure_alone_is_the_same_graph():
    y = Residual(4)(torch.ones(2, 4)).sum()
    graph, bare = walk(y), structure({"y": y, "none": 3})
    assert list(bare.names) == names(graph)
    assert tuple(Edge(*row) for row in bare.edges) == graph.edges
    assert bare.roots == ((0, 0),)


@pytest.mark.parametrize("look", [walk, structure], ids=["walk", "structure"])
def test_looking_keeps_nothing_alive(look):
    """Guards against a picture that holds on to the memory of a whole network."""
    with no_collector():
        x = torch.ones(3)
        w = leaf()
        dead = weakref.ref(x), weakref.ref(w)
        y = Power.apply(x * w, 2).sigmoid().sum()
        kept = look(y, names={}) if look is walk else look(y)
        del x, w, y
        assert [each() for each in dead] == [None, None]
        assert kept
