"""Keep an edge in place of a tensor."""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.graph_observers import build
from utils.checks.lesson_02.common import LESSON, nothing_came, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _edge_cases(rng: torch.Generator) -> list[Case]:
    def draw(n: int, k: int) -> Case:
        inputs = {"x": numbers(rng, n), "w": numbers(rng, n), "k": k}
        return {"inputs": inputs, "leaves": ("w",), "call": ("x", "w", "k")}

    return [draw(5, 2), draw(7, 4)]


def _judge_edge(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "loss_and_edges")
    if empty is not None:
        return empty
    x, w, k = (build(case)[name] for name in case["call"])
    w.requires_grad_()
    a, b = torch.tanh(x * w).split([k, len(x) - k])
    loss = a.sum() * b.square().sum()
    result = seen["result"]
    if seen["loss"]["kind"] != "tensor" or len(result.get("items", ())) != 2:
        return not_yet(
            "not_a_pair",
            "`loss_and_edges` should return the loss and a dict of edges. What did it return?",
        )
    verdict = compare(
        seen["loss"],
        loss,
        "The loss that you return",
        simulated={
            "halves_swapped": b.sum() * a.square().sum(),
            "square_forgotten": a.sum() * b.sum(),
            "squared_sum": a.sum() * b.sum().square(),
        },
        says={
            "halves_swapped": "{what} has `a` and `b` in each other's places. "
            "Which of them is made of the first k entries?",
            "square_forgotten": "{what} is `a.sum() * b.sum()`. Which of the two is squared first?",
            "squared_sum": "{what} squares the sum of `b`. Which comes first, square or sum?",
            "wrong_number": "{what} is not the value of the formula in the task. "
            "What are `a` and `b` for a small `x`, `w` and k?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["loss"]["requires_grad"]:
        return not_yet(
            "detached",
            "The loss that you return has no graph behind it, so its edges lead nowhere. "
            "Which step cut it off?",
        )
    for key, tensor in (("b", b), ("w", w)):
        verdict = _judge_one_edge(key, tensor, loss, seen["edges"].get(key))
        if verdict.outcome != RIGHT:
            return verdict
    return right("Two edges, no tensor kept, and every gradient can still be asked for.")


def _judge_one_edge(
    key: str, tensor: torch.Tensor, loss: torch.Tensor, edge: dict[str, Any] | None
) -> Verdict:
    if edge is None:
        return not_yet(
            "missing_edge", f'There is no edge under "{key}". Which keys does your dict have?'
        )
    kind = edge["type"]
    if kind in ("Tensor", "Parameter"):
        return not_yet(
            "kept_the_tensor",
            f'Under "{key}" you keep the tensor itself, and with it its memory. '
            "What says where the gradient passes, without the values?",
        )
    if kind == "node":
        return not_yet(
            "node_without_output",
            f'Under "{key}" there is a node. A node can have several outputs: '
            "what else does an edge say?",
        )
    if kind != "GradientEdge":
        return not_yet(
            "not_an_edge",
            f'Under "{key}" there is a {kind}, and `autograd.grad` would not take it for an edge. '
            "Which function of `torch.autograd.graph` makes one from a tensor?",
        )
    if not edge["node"]:
        return not_yet(
            "leaf_has_no_grad_fn",
            f'The edge under "{key}" leads to None: a leaf has no `grad_fn`. '
            "Which node receives its gradient, and who finds that node for you?",
        )
    if edge["gradient"] is None:
        return not_yet(
            "edge_off_the_path",
            f'The loss does not depend on the edge under "{key}". Did you take it from the very '
            "tensor that goes into the loss?",
        )
    if "Slice" in edge["node"]:
        return not_yet(
            "sliced_not_split",
            f'The edge under "{key}" leads to a {edge["node"]}: you cut the halves out one by one, '
            "so each has a node of its own. Which call gives both halves at once, and what then "
            "tells them apart?",
        )
    gradient = torch.autograd.grad(loss, tensor, retain_graph=True)[0]
    if compare(edge["gradient"], gradient, "").outcome == RIGHT:
        return right()
    if edge["node"] == "TanhBackward0":
        return not_yet(
            "edge_of_another",
            f'The edge under "{key}" is that of the tensor before the split. '
            "Which tensor did you make it from?",
        )
    return not_yet(
        "wrong_output",
        f'The edge under "{key}" leads to the right node but not to the right output: '
        "a split has two. Which of them is this one?",
    )


KEEP_THE_EDGE = Exercise(
    id="keep_the_edge",
    title="Keep the edge, not the tensor",
    lesson=LESSON,
    points=3,
    minutes=8,
    difficulty=3,
    answer="loss_and_edges",
    observe="call_for_edges",
    cases=_edge_cases,
    judge=_judge_edge,
    hints=(
        "To ask for a gradient, torch need not have the tensor. What must it know?",
        "An edge is a node and the number of one of its outputs. "
        "`torch.autograd.graph` can tell you the edge of any tensor, a leaf too.",
        "Call `get_gradient_edge` on the second half and on `w`, and put both in the dict.",
    ),
    symptom_hints={
        "too_many_parts": "`h.split(2)` makes parts of size 2; `h.split([2, 3])` makes one of 2 "
        "and one of 3.",
        "sliced_not_split": "`h.split` with a list of two sizes makes two outputs of one node.",
        "leaf_has_no_grad_fn": "`get_gradient_edge` knows the AccumulateGrad of a leaf.",
        "wrong_output": "The pieces of a split have the same `grad_fn`; look at the entry of "
        "`next_functions` that leads there from each.",
    },
    names=("get_gradient_edge", "AccumulateGrad"),
)
