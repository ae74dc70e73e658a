"""Whatever a model returns can be handed over as it is."""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from tests.graph.programs import leaf, names
from utils.graph import record, walk


def paths(root: object) -> list[str]:
    return [found.path for found in walk(root).roots]


def test_a_tuple_a_list_and_a_dict_of_outputs():
    """Guards against "unhashable type" on the outputs of a real model."""
    x = leaf()
    y, z = x.sin(), x.cos()
    assert paths((y, z)) == paths([y, z]) == ["[0]", "[1]"]
    assert paths({"a": y, 3: [z]}) == ["['a']", "[3][0]"]
    assert len(walk({"a": y, "b": z}).leaves) == 1


def test_dataclasses_named_tuples_and_other_mappings():
    class Output(Mapping):
        def __init__(self, **fields):
            self.fields = fields

        def __getitem__(self, key):
            return self.fields[key]

        def __iter__(self):
            return iter(self.fields)

        def __len__(self):
            return len(self.fields)

    @dataclass
    class Result:
        loss: torch.Tensor
        extra: object = None

    y = leaf().sum()
    assert paths(Output(loss=y)) == ["['loss']"]
    assert paths(Result(loss=y)) == [".loss"]
    assert paths(namedtuple("Pair", "a b")(y, y)) == ["[0]", "[1]"]
    assert paths(leaf(3.0, 1.0).max(dim=0)) == ["[0]", "[1]"]


def test_the_output_of_an_lstm():
    assert paths(nn.LSTM(2, 3)(torch.ones(4, 1, 2))) == ["[0]", "[1][0]", "[1][1]"]


def test_a_container_that_holds_itself():
    """Guards against a stack overflow while looking for tensors."""
    y = leaf().sum()
    holder = {"y": y}
    holder["me"] = holder
    ring = [y, holder]
    ring.append(ring)
    assert paths(holder) == ["['y']"]
    assert paths(ring) == ["[0]", "[1]['y']"]


def test_a_container_without_end_is_left_at_some_point_and_says_so():
    class Endless(Mapping):
        def __getitem__(self, key):
            return Endless()

        def __iter__(self):
            return iter(["next"])

        def __len__(self):
            return 1

    graph = walk([leaf().sum(), Endless()])
    assert graph.roots[0].node == 0
    assert "Only the first" in graph.roots[-1].sentence


def test_a_deep_nest_needs_no_recursion():
    nest = leaf().sum()
    for _ in range(5_000):
        nest = [nest]
    assert walk(nest).roots[0].path == "[0]" * 5_000


def test_what_has_no_graph_says_why_beside_what_has_one():
    x = leaf()
    graph = walk({"loss": x.sum(), "count": 3, "best": x.argmax(), "left": None})
    assert [(root.path, root.reason) for root in graph.roots] == [
        ("['loss']", ""),
        ("['count']", "number"),
        ("['best']", "dtype"),
    ]
    assert all(root.sentence for root in graph.roots[1:])


def test_a_lone_thing_without_a_graph_gives_an_empty_graph_and_a_reason():
    for thing in (None, 2.5, "y", nn.Linear(1, 1), leaf().sum, torch.ones(2), leaf().detach()):
        graph = walk(thing)
        assert graph.nodes == ()
        assert graph.roots[0].reason
        assert graph.roots[0].sentence


def test_a_leaf_is_a_root_with_a_node():
    (root,) = walk(leaf()).roots
    assert (root.node, root.reason) == (0, "leaf")


def test_a_gradient_edge_and_a_node_stand_for_their_tensor():
    y = leaf().sin().sum()
    for stand_in in (get_gradient_edge(y), y.grad_fn):
        assert names(walk(stand_in)) == names(walk(y))
        assert record(stand_in).steps == record(y).steps


def test_a_view_whose_history_torch_forbids_gets_torchs_words():
    base = leaf() * 1
    with torch.no_grad():
        view = base.view(-1)
    base.mul_(2)
    (root,) = walk(view).roots
    assert root.reason == "forbidden_view"
    assert "no_grad" in root.sentence


def test_a_forbidden_view_among_the_variables_harms_no_other_graph():
    base = leaf() * 1
    with torch.no_grad():
        view = base.view(-1)
    base.mul_(2)
    assert names(walk(base, names={"view": view, "base": base}))[0] == "MulBackward0"
    assert record(base.sum(), names={"view": view}).error == ""
