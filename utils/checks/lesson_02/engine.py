"""Build: the whole engine, from edges and saved tensors."""

from __future__ import annotations

import math
from typing import Any

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.graph_observers import build, graph_nodes
from utils.checks.lesson_02.common import LESSON, nothing_came, numbers
from utils.checks.lesson_02.slips import engine_slips
from utils.checks.lesson_02.steps import by_hand
from utils.checks.mistakes import MISTAKES
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

_ENGINE = (
    ("v", "y = x * w + x"),
    ("g", "y = (x * w).exp().sum()"),
    ("g", "a = x * w\nb = a.exp()\nc = a * b\ny = (c + a + x ** 3).mean()"),
    ("g", "a = x + x\nb = a * a\ny = b.sum()"),
    ("g", "y = ((M @ N) ** 2 * 0.5).mean()"),
    ("g", "y = ((x * s + 1) ** 2 + 3 * s).sum()"),
    ("v", "y = x\nfor _ in range(11):\n    y = y + y * 0.25"),
)

WHAT = "One of your gradients"
_SLIPS = {
    "parallel_edge_lost": "In `x + x` two edges lead from one node to the same node, and one of "
    "the two gradients got lost. What is the key under which you collect them?",
    "only_first_arrival": "{what} is only what came first; later arrivals were dropped. "
    "What should happen to the second gradient that reaches a node?",
    "did_not_wait": "A node of yours ran before all its gradients had come, so it sent too little "
    "on. How many edges lead to it, and how many have delivered by then?",
}


def _true_gradients(
    y: torch.Tensor, v: torch.Tensor, leaves: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    found = torch.autograd.grad(y, list(leaves.values()), v, retain_graph=True)
    return dict(zip(leaves, found, strict=True))


def _agree(seen: dict[str, Any], want: dict[str, torch.Tensor | None]) -> bool:
    """Whether gradients, as tensors or as facts, are all the same."""

    def value(part: Any) -> Any:
        return part.get("value") if isinstance(part, dict) else part

    return all(
        isinstance(value(seen[name]), torch.Tensor)
        and grad is not None
        and close(value(seen[name]).detach(), grad)
        for name, grad in want.items()
    )


def _engine_cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                **{name: numbers(rng, 3) for name in ("x", "w", "v")},
                "M": numbers(rng, 2, 3),
                "N": numbers(rng, 3, 4),
                "s": numbers(rng),
                "g": numbers(rng),
            },
            "leaves": ("x", "w", "M", "N", "s"),
            "call": ("y", v),
            "given": given,
            "watch": True,
            "expects": ("NoneType",),
        }
        for v, given in _ENGINE
    ]


def _judge_engine(case: Case, seen: Seen) -> Verdict:
    verdict = by_hand(seen, "run_backward") or nothing_came(seen, "run_backward")
    if verdict is not None:
        return verdict
    scope = build(case)
    y, v = (scope[name] for name in case["call"])
    leaves = {
        name: scope[name]
        for name in case["leaves"]
        if any(scope[name] is getattr(node, "variable", None) for node in graph_nodes(y))
    }
    result = seen["result"]
    if result["kind"] != "dict":
        return not_yet(
            "not_a_dict",
            "`run_backward` should return a dict from each leaf to its gradient. "
            "What did it return?",
        )
    for name in leaves:
        if name not in result["items"]:
            return not_yet(
                "leaf_missing",
                "A leaf behind `root` has no entry in your dict. Are the keys the leaf tensors, "
                "and did every AccumulateGrad get its turn?",
            )
    for slug, grads in engine_slips(y, v):
        want = {name: grads.get(leaf) for name, leaf in leaves.items()}
        if _agree(result["items"], want) and not _agree(_true_gradients(y, v, leaves), want):
            return not_yet(slug, _SLIPS.get(slug, MISTAKES.get(slug, "")).format(what=WHAT))
    for name, want in _true_gradients(y, v, leaves).items():
        n = max(math.prod(meta.shape) for node in graph_nodes(y) for meta in node._input_metadata)
        verdict = compare(
            result["items"][name],
            want,
            WHAT,
            simulated={"mean_for_sum": want / n, "sum_for_mean": want * n},
        )
        if verdict.mistake == "wrong_shape" and want.ndim == 0:
            verdict = not_yet(
                "unreduced_broadcast", MISTAKES["unreduced_broadcast"].format(what=WHAT)
            )
        if verdict.outcome != RIGHT:
            return verdict
    if any(seen["inputs"][name]["grad"] is not None for name in leaves):
        return not_yet(
            "touched_grad",
            "The gradients are right, but `run_backward` wrote into `.grad` of the leaves too, as "
            "`autograd.grad` never does. Who should decide what becomes of what you return?",
        )
    if seen["calls"] > 1000:
        return not_yet(
            "once_per_path",
            "The gradients are right, but your engine runs a node again for every path that "
            "leads to it: eleven doublings, two thousand runs. What could a node wait for?",
        )
    return right("That is an engine: the very loop that `backward` runs.")


RUN_BACKWARD = Exercise(
    id="run_backward",
    title="Build: execute the graph yourself",
    lesson=LESSON,
    points=5,
    minutes=30,
    difficulty=5,
    answer="run_backward",
    observe="call_on_graph",
    cases=_engine_cases,
    judge=_judge_engine,
    hints=(
        "You have an order and a rule for one node. What has to be kept for a node until its turn "
        "comes?",
        "Keep a dict from node to the sum that has arrived. A node runs when its last edge has "
        "delivered; an AccumulateGrad does not send, it gives its sum to its `variable`.",
        "Before you add a gradient to what has arrived, bring it to the shape that its node "
        "expects with `sum_to_size`: that undoes every broadcast in one place. Mean is a sum with "
        "a division; a matrix product needs two transposes.",
    ),
    symptom_hints={
        "reshaped_for_sum": "A broadcast is undone by adding up, and `sum_to_size` knows which "
        "entries. What it takes is the list in `_input_metadata`.",
        "did_not_wait": "Count the edges that lead to each node first, as you did for the order.",
        "unreduced_broadcast": "`_input_metadata[slot].shape` of the receiving node says which "
        "shape its gradient must have.",
        "once_per_path": "Instead of calling yourself for each edge, collect what arrives and run "
        "the node once, when nothing is missing.",
    },
    names=("next_functions", "_saved_*", "AccumulateGrad", "grad_fn"),
)
