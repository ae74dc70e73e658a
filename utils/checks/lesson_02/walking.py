"""Walk the graph: count what is there, find the leaves."""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.graph_observers import build, graph_nodes
from utils.checks.lesson_02.common import LESSON, nothing_came, numbers, whole
from utils.checks.verdict import Verdict, not_yet, right


def _count_cases(rng: torch.Generator) -> list[Case]:
    inputs = {"x": numbers(rng, 3), "w": numbers(rng, 3), "c": numbers(rng, 3)}
    doublings, links = whole(rng, 3, 6), whole(rng, 5, 9)  # no two mistakes count the same
    return [
        {
            "inputs": inputs,
            "leaves": ("x", "w"),
            "call": ("y",),
            "given": f"h = x * c\nfor _ in range({doublings}):\n    h = h * h\n"
            f"for _ in range({links}):\n    h = (h + w).tanh() * c\ny = h.sum()",
        },
        {
            "inputs": inputs,
            "leaves": ("x", "w"),
            "call": ("y",),
            "given": f"y = x\nfor _ in range({links}):\n    y = y * w + 1\n"
            f"for _ in range({doublings}):\n    y = y + y",
        },
    ]


def _paths(node: Any) -> tuple[int, int]:
    """Nodes and edges as a walk without memory counts them: once for each path."""
    parents = [parent for parent, _ in node.next_functions if parent is not None]
    below = [_paths(parent) for parent in parents]
    return 1 + sum(n for n, _ in below), len(parents) + sum(e for _, e in below)


def _judge_count(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "count_graph")
    if empty is not None:
        return empty
    root = build(case)["y"].grad_fn
    nodes = graph_nodes(build(case)["y"])
    edges = [(node, parent) for node in nodes for parent, _ in node.next_functions]
    to_nodes = [edge for edge in edges if edge[1] is not None]
    ops = [node for node in nodes if node.next_functions]
    items = seen["result"].get("items", ())
    numbers = [fact.get("value") for fact in items if isinstance(fact, dict)]
    if len(numbers) != 2 or not all(isinstance(n, int | float) for n in numbers):
        return not_yet(
            "not_two_numbers",
            "`count_graph` should return two numbers, nodes and edges. What did it return?",
        )
    n, e = numbers
    if (n, e) == (len(nodes), len(to_nodes)):
        return right()
    if n == len(to_nodes) and e == len(nodes):
        return not_yet(
            "swapped", "You return edges first and nodes second. Which order was asked for?"
        )
    if n == _paths(root)[0]:
        return not_yet(
            "counted_per_path",
            "`nodes` counts a node once for every path that leads to it, so shared results "
            "count many times. How do you remember where you have been?",
        )
    if n == len(ops):
        return not_yet(
            "leaves_left_out",
            "`nodes` counts the operations only. The edges go on to the leaves: "
            "which node stands for a leaf?",
        )
    if n in (len(nodes) - 1, len(ops) - 1):
        return not_yet(
            "root_left_out", "`nodes` lacks the node where you start. Who counts the root?"
        )
    if n == len(nodes) + 1:
        return not_yet(
            "counted_none_as_node",
            "`nodes` is one too many, as if None were a node. What does an edge to None say?",
        )
    if n != len(nodes):
        return not_yet(
            "wrong_nodes",
            "`nodes` is not the number of distinct nodes behind `root`. "
            "Draw the graph of `(x * x).sum()` on paper: what does your walk visit?",
        )
    if e == len(edges):
        return not_yet(
            "counted_none_as_edge",
            "`edges` counts the places of constants too: an entry `(None, 0)` leads nowhere. "
            "Which entries lead to a node?",
        )
    if e == len(set(to_nodes)):
        return not_yet(
            "parallel_as_one",
            "`edges` counts `h * h` as one edge, yet a gradient flows on each of the two. "
            "What happens to equal entries in your collection?",
        )
    if e == sum(bool(parent.next_functions) for _, parent in to_nodes):
        return not_yet(
            "edges_to_leaves_left_out",
            "`edges` counts those between operations only. On which edge does a leaf get its "
            "gradient?",
        )
    if e == len(nodes) - 1:
        return not_yet(
            "edges_to_new_nodes",
            "`edges` counts only those that led you to a node for the first time. "
            "What of an edge to a node that you know already?",
        )
    return not_yet(
        "wrong_edges",
        "`nodes` is right, `edges` is not. An edge is one entry of `next_functions` that leads "
        "to a node: which of them do you miss, or count twice?",
    )


COUNT_GRAPH = Exercise(
    id="count_graph",
    title="Count nodes and edges",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="count_graph",
    observe="call_on_graph",
    cases=_count_cases,
    judge=_judge_count,
    hints=(
        "Two paths can lead to one node: how do you know that you have been there?",
        "Keep a set of nodes seen and a list of nodes to visit; nodes can be members of a set. An "
        "entry `(None, 0)` leads to no node: skip it first of all.",
        "Each entry of `next_functions` whose first part is not None is one edge. Count it even "
        "when its node is known, but put the node on your list only when it is new.",
    ),
    symptom_hints={
        "counted_per_path": "Put each node in a set when you first meet it, and skip it if it is "
        "already there.",
        "wrong_nodes": "Put the nodes themselves in your set, not their `id`: the address of one "
        "that nobody holds is soon used again.",
    },
    names=("grad_fn", "next_functions"),
)


def _leaf_cases(rng: torch.Generator) -> list[Case]:
    inputs = {name: numbers(rng, 3) for name in ("x", "w", "b", "unused", "c")}
    leaves = ("x", "w", "b", "unused")
    return [
        {
            "inputs": inputs,
            "leaves": leaves,
            "call": ("y",),
            "given": "h = x * w + b\ny = (h * h * c + w.exp()).sum()",
        },
        {
            "inputs": inputs,
            "leaves": leaves,
            "call": ("y",),
            "given": "y = x\nfor _ in range(4000):\n    y = y * w",
        },
    ]


def _judge_leaves(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "find_leaves")
    if empty is not None:
        return empty
    scope = build(case)
    names = {name for name in case["leaves"]}
    behind = [node.variable for node in graph_nodes(scope["y"]) if hasattr(node, "variable")]
    want = {name for name in names if any(scope[name] is leaf for leaf in behind)}
    result = seen["result"]
    if "items" not in result or isinstance(result["items"], dict):
        return not_yet(
            "not_a_list", "`find_leaves` should return a list of tensors. What did it return?"
        )
    items = result["items"]
    if any(item["kind"] == "node" for item in items):
        return not_yet(
            "nodes_not_tensors",
            "`find_leaves` returns nodes. An AccumulateGrad stands for a leaf and knows it: "
            "under which attribute?",
        )
    if any(item["kind"] != "tensor" for item in items):
        return not_yet(
            "not_tensors",
            "Not everything in your list is a tensor. Which node has a leaf to give, and which "
            "has none?",
        )
    if not items:
        return not_yet(
            "found_none",
            "Your list is empty. The leaves lie at the far ends of the edges, not just behind "
            "`root`: how far does your walk go?",
        )
    if any(not item["is"] for item in items):
        return not_yet(
            "copies",
            "Your list holds tensors that are not the leaves themselves, but others with their "
            "values. Which step made a new tensor, so that its `.grad` will stay empty?",
        )
    found = [item["is"] for item in items]
    if set(found) == want and len(found) > len(want):
        return not_yet(
            "listed_twice",
            "A leaf that is used twice stands twice in your list. "
            "It has one AccumulateGrad, reached by two edges: how do you notice that?",
        )
    node, chain = scope["y"].grad_fn, []
    while node is not None:
        chain.append(node)
        node = node.next_functions[0][0] if node.next_functions else None
    if set(found) == {n for n in want if scope[n] is chain[-1].variable}:
        return not_yet(
            "first_edge_only",
            "You found only the leaf at the end of the first edges. `next_functions` has an entry "
            "for each input: what of the others?",
        )
    if set(found) != want:
        return not_yet(
            "some_missing",
            "Some leaves behind `root` are missing from your list, or others are in it. "
            "Which edges does your walk never follow?",
        )
    return right()


FIND_LEAVES = Exercise(
    id="find_leaves",
    title="Find the leaves from the root",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="find_leaves",
    observe="call_on_graph",
    cases=_leaf_cases,
    judge=_judge_leaves,
    hints=(
        "What do you find where the edges end, and how does it know its tensor?",
        "Walk with a list of nodes to visit and a set of nodes seen: a deep graph is too much for "
        "recursion, and nodes can be told apart where tensors cannot. AccumulateGrad is the only "
        "node with a `variable`.",
        "Your walk from the counting exercise visits each node once. Whenever the node has a "
        "`variable`, keep that very tensor, without detach or clone.",
    ),
    symptom_hints={
        "compared_tensors": "`==` and `in` compare entries. Remember the nodes that you have seen: "
        "each leaf has one AccumulateGrad, and a node can be a member of a set.",
        "none_edge": "Where `parent is None`, go on to the next entry of `next_functions`.",
        "recursion": "Replace the function that calls itself by a `while` loop over a list that "
        "you pop from and append to.",
    },
    names=("next_functions", "AccumulateGrad"),
)
