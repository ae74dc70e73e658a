"""Hooks on the nodes of the graph."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, no_handle, not_removed, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

GRAPH = """\
h, k = x * a, z * b
p = h + k if kind == "sum" else h * k
y = p + 3 * h  # h has another reader
"""
NODE_PROGRAM = """\
arrived = []
handles = answer(p.grad_fn, edge, factor, arrived)
first, second = v.clone(), 2 * v + 1
y.backward(first, retain_graph=True)
sent_intact = bool(torch.equal(first, v))
first.zero_()  # the caller uses its memory again
at_x, at_z = (None if t.grad is None else t.grad.clone() for t in (x, z))  # more is added later
y.backward(second, retain_graph=True)
second.zero_()
count = len(arrived)
ok = has_handle(handles)
x.grad = z.grad = None
if ok:
    remove_all(handles)
    y.backward(v)
plain_x, plain_z, count_after = x.grad, z.grad, len(arrived)
"""


def _cases_node(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                **{name: numbers(rng, *shape, low=0.5, high=2) for name in "xzabv"},
                "edge": edge,
                "factor": factor,
                "kind": kind,
            },
            "leaves": ["x", "z"],
            "given": TOOLS + GRAPH,
            "program": NODE_PROGRAM,
            "report": ["ok", "count", "count_after", "sent_intact"],
            "facts": ["arrived", "at_x", "at_z", "plain_x", "plain_z"],
        }
        for shape, edge, factor, kind in (
            ((4,), 0, 0.5, "sum"),
            ((2, 3), 1, -2.0, "product"),
            ((3,), 0, 3.0, "product"),
        )
    ]


def _gradients(case: Case, *factors: float) -> tuple[torch.Tensor, torch.Tensor]:
    """At x and z, when these factors are on the two edges and on the other reader of `h`."""
    x, z, a, b, v = (case["inputs"][name] for name in "xzabv")
    to_h, to_k = (v, v) if case["inputs"]["kind"] == "sum" else (v * z * b, v * x * a)
    on_h, on_k, other = factors
    return (on_h * to_h + other * 3 * v) * a, on_k * to_k * b


def _judge_node(case: Case, seen: Seen) -> Verdict:
    v, edge, factor = (case["inputs"][name] for name in ("v", "edge", "factor"))
    scaled = (factor, 1, 1) if edge == 0 else (1, factor, 1)
    got = (seen["at_x"].get("value"), seen["at_z"].get("value"))

    def is_as(*factors: float) -> bool:
        want = _gradients(case, *factors)
        return all(g is not None and close(g, w) for g, w in zip(got, want, strict=True))

    if not seen["sent_intact"]:
        return not_yet(
            "edited_in_place",
            "The caller's own vector changed: the gradient was edited in place, and the same "
            "tensor may leave a node on several edges. What makes a new one?",
        )
    if any(g is None for g in got):
        return not_yet(
            "cut_an_edge",
            "Behind one of the node's edges no gradient arrives any more: None in the tuple means "
            "that there is none at all. What should stand for an edge that is to stay as it is?",
        )
    if not is_as(*scaled):
        if is_as(1, 1, 1):
            return not_yet(
                "not_returned",
                "Every gradient is what it is without hooks. What should the node's hook hand "
                "back, so that it takes effect?",
            )
        if is_as(factor, factor, 1):
            return not_yet(
                "both_edges",
                "Both edges of the node are scaled, and one was asked for. What arrives at the "
                "node goes to all of them: which of its hooks sees each edge on its own?",
            )
        if is_as(*((1, factor, 1) if edge == 0 else (factor, 1, 1))):
            return not_yet(
                "other_edge",
                "The other edge is scaled. In which order do the edges of a node come, and from "
                "which number are they counted?",
            )
        if edge == 0 and is_as(factor, 1, factor):
            return not_yet(
                "all_readers",
                "The other reader of `h` is scaled as well: your hook is on `h`, where everything "
                "comes together. Which node sees the one edge only?",
            )
        return not_yet(
            "wrong_scale",
            "The gradients behind the node are not as asked. Of the two tuples that a node's hook "
            "gets, which one leaves the node?",
        )
    arrived = seen["arrived"]["items"]
    if seen["count"] != 2 or any(fact["kind"] != "tensor" for fact in arrived):
        return not_yet(
            "wrong_log",
            f"Two backward passes came, and `arrived` has {seen['count']} entries or holds "
            "something else than tensors. Who appends, how often, and which entry of the tuple?",
        )
    for place, want in enumerate((v, 2 * v + 1)):
        verdict = compare(
            arrived[place],
            want,
            f"`arrived[{place}]`",
            simulated={"not_copied": torch.zeros_like(v), "logged_what_left": factor * want},
            says={
                "not_copied": (
                    "{what} is all zeros now: the caller used that memory again after the hook "
                    "ran. What should you keep in place of the tensor?"
                ),
                "logged_what_left": (
                    "{what} is what left the node, not what arrived. Which hook runs before?"
                ),
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    if not seen["ok"]:
        return no_handle("both handles")
    plain = _gradients(case, 1, 1, 1)
    back = [seen[name].get("value") for name in ("plain_x", "plain_z")]
    back_to_plain = all(g is not None and close(g, w) for g, w in zip(back, plain, strict=True))
    if seen["count_after"] != seen["count"] or not back_to_plain:
        return not_removed()
    return right("A node has two doors: what arrives, and what leaves on each edge.")


NODE = Exercise(
    id="hook_a_node",
    title="Scale one edge of a node",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="scale_edge",
    observe="call_in_program",
    cases=_cases_node,
    judge=_judge_node,
    hints=(
        "A tensor hook sees the sum of all that arrives. Who sees what goes out on one edge?",
        "A node has two kinds of hooks. A prehook gets the tuple of what arrives; a hook gets what "
        "leaves, one entry an edge, then what arrived, and may return another tuple.",
        "In the prehook append a clone of the one entry. In the hook build a tuple from the first "
        "argument: the entry at `edge` times `factor`, the others as they are. Return the handles.",
    ),
    symptom_hints={
        "both_edges": "A prehook changes what all edges are computed from.",
        "node_hook_returned_list": "`tuple(...)` around a comprehension makes one.",
    },
    names=("Node.register_hook", "Node.register_prehook", "RemovableHandle"),
)
