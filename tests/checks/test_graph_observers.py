"""What the observers of graphs see, and what they leave alone."""

from __future__ import annotations

import pytest
import torch

from utils.checks.graph_observers import build, call_for_edges, call_on_graph, graph_nodes

CASE = {
    "inputs": {"x": torch.tensor([1.0, 2.0]), "w": torch.tensor([3.0, 5.0])},
    "leaves": ("x", "w"),
    "given": "h = x * w\ny = (h + h.exp()).sum()",
    "call": ("y",),
}


def seen(answer, **changes):
    return call_on_graph(answer, {**CASE, "watch": True, **changes})


def test_build_leaves_the_case_alone() -> None:
    scope = build(CASE)
    scope["y"].backward()
    assert scope["x"].grad is not None
    assert not CASE["inputs"]["x"].requires_grad


def test_nodes_come_once_and_in_the_same_order_each_time() -> None:
    names = [[type(node).__name__ for node in graph_nodes(build(CASE)["y"])] for _ in range(2)]
    assert names[0] == names[1]
    assert names[0] == [
        "SumBackward0",
        "AddBackward0",
        "MulBackward0",
        "ExpBackward0",
        "AccumulateGrad",
        "AccumulateGrad",
    ]


def test_leaves_and_nodes_are_known_again_wherever_they_stand() -> None:
    def answer(y):
        node = y.grad_fn.next_functions[0][0].next_functions[0][0]
        (x_end, _), (w_end, _) = node.next_functions
        return [node, {x_end.variable: w_end.variable, w_end: 1}]

    node, table = seen(answer)["result"]["items"]
    assert (node["kind"], node["name"], node["index"]) == ("node", "MulBackward0", 2)
    assert list(table["items"]) == ["x", "w"]
    assert table["items"]["x"]["is"] == "w"


def test_a_real_backward_is_counted_and_frees() -> None:
    report = seen(lambda y: y.backward())
    assert (report["ran"], report["freed"]) == (6, True)
    report = seen(lambda y: y.backward(retain_graph=True))
    assert (report["ran"], report["freed"]) == (6, False)


def test_a_node_that_is_called_by_hand_is_told_from_the_same_work_in_python() -> None:
    def by_node(y):
        return y.grad_fn(torch.ones(()))

    def by_hand(y):
        add = y.grad_fn.next_functions[0][0]
        exp = add.next_functions[1][0]
        g = torch.ones(()).expand(y.grad_fn._saved_self_sym_sizes)
        print(g, float(g[0]), g.tolist())
        return g * exp._saved_result

    assert seen(by_node)["inside"] == ["aten.expand.default"]
    report = seen(by_hand)
    assert (report["inside"], report["ran"]) == ([], 0)
    assert report["calls"] > 2


def test_only_an_expected_error_is_seen() -> None:
    def answer(y):
        raise ValueError("three apples")

    assert seen(answer, expects=("apples",))["raised"] == "three apples"
    with pytest.raises(ValueError, match="three apples"):
        seen(answer, expects=("pears",))


def test_an_edge_is_reported_with_the_gradient_that_passes_there() -> None:
    def answer(x, w):
        first, second = (x * w).unbind()
        edge = torch.autograd.graph.get_gradient_edge
        return first * second, {"second": edge(second), "w": edge(w), "x": x}

    edges = call_for_edges(answer, {**CASE, "given": "", "call": ("x", "w")})["edges"]
    assert (edges["second"]["node"], edges["second"]["output_nr"]) == ("UnbindBackward0", 1)
    assert edges["second"]["gradient"]["value"].item() == 3.0
    assert edges["w"]["gradient"]["value"].tolist() == [10.0, 6.0]
    assert (edges["x"]["type"], edges["x"]["gradient"]) == ("Tensor", None)
