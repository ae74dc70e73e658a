"""What the graph keeps for backward, and for how long."""

from __future__ import annotations

import math
from typing import Any

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.graph_observers import build, graph_nodes
from utils.checks.lesson_02.common import LESSON, nothing_came, numbers, whole
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _saved_cases(rng: torch.Generator) -> list[Case]:
    n, m, k = whole(rng, 3, 6), whole(rng, 6, 9), whole(rng, 9, 12)
    return [
        {
            "inputs": {"x": numbers(rng, n, m), "w": numbers(rng, n, m)},
            "leaves": ("x", "w"),
            "call": ("y",),
            "given": "h = (x * w).exp()\ny = (h * x + w).mean()",
        },
        {
            "inputs": {"x": numbers(rng, n, m).float(), "M": numbers(rng, m, k).float()},
            "leaves": ("M",),
            "call": ("y",),
            "given": "h = (x @ M).tanh()\ny = (h ** 3 + h).double().exp().sum()",
        },
    ]


def _saved(node: Any) -> list[torch.Tensor]:
    kept = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
    return [value for value in kept if isinstance(value, torch.Tensor)]


def _judge_saved(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "saved_bytes")
    if empty is not None:
        return empty
    scope = build(case)
    nodes = graph_nodes(scope["y"])
    every = [tensor for node in nodes for tensor in _saved(node)]
    once = list({tensor.data_ptr(): tensor for tensor in every}.values())
    by_id = list({id(tensor): tensor for tensor in every}.values())
    leaves = {scope[name].data_ptr() for name in case["inputs"]}

    def size(tensors: list[torch.Tensor]) -> int:
        return sum(tensor.nbytes for tensor in tensors)

    result = seen["result"].get("value")
    if isinstance(result, torch.Tensor) and result.numel() == 1:
        result = result.item()
    if not isinstance(result, int | float):
        return not_yet(
            "not_a_number", "`saved_bytes` should return one number of bytes. What did it return?"
        )
    if result == size(once):
        return right()
    if result == size(every):
        return not_yet(
            "counted_twice",
            "`saved_bytes` counts a tensor again for each node that saved it, but the nodes share "
            "its memory. Which number of a tensor says where its memory begins?",
        )
    if result == size(by_id):
        return not_yet(
            "told_apart_by_id",
            "`saved_bytes` counts some memory twice. Each reading of `_saved_self` may make a new "
            "Python object, so neither `id` nor a set of tensors tells that two are the same "
            "memory. Which number of a tensor says where its memory begins?",
        )
    if result in (sum(t.numel() for t in once), sum(t.numel() for t in every)):
        return not_yet(
            "elements_not_bytes",
            "`saved_bytes` counts elements. How many bytes does one element take, and does each "
            "dtype take the same?",
        )
    if result in (4 * sum(t.numel() for t in once), 8 * sum(t.numel() for t in once)):
        return not_yet(
            "fixed_element_size",
            "`saved_bytes` takes the same number of bytes for every element. "
            "Which dtypes are in this graph?",
        )
    if result == size(_saved(nodes[0])):
        return not_yet(
            "root_only",
            "`saved_bytes` looks at the root's node only. Who else keeps something for backward?",
        )
    if result == size([t for t in once if t.data_ptr() not in leaves]):
        return not_yet(
            "inputs_left_out",
            "`saved_bytes` leaves out what lives outside the graph too. The nodes hold on to "
            "their inputs as well: what would keep those alive if you deleted their names?",
        )
    if result == sum(
        math.prod(meta.shape) * meta.dtype.itemsize
        for node in nodes
        for meta in node._input_metadata
    ):
        return not_yet(
            "every_result",
            "`saved_bytes` counts the result of every operation. A sum needs no values on the way "
            "back: which nodes really have a `_saved_` tensor?",
        )
    return not_yet(
        "wrong_bytes",
        "`saved_bytes` is not the memory that the nodes keep. List name and shape of every "
        "`_saved_` tensor of one node: which of them do you miss, or count too often?",
    )


SAVED_BYTES = Exercise(
    id="saved_bytes",
    title="What is saved, and for whom?",
    lesson=LESSON,
    points=2,
    minutes=10,
    difficulty=3,
    answer="saved_bytes",
    observe="call_on_graph",
    cases=_saved_cases,
    judge=_judge_saved,
    hints=(
        "Which attributes does `dir(y.grad_fn)` show that begin with `_saved_`, and which of these "
        "are tensors?",
        "Not all of them are tensors: some are sizes or exponents. And the same memory can be "
        "saved by two nodes, or twice by one.",
        "Walk over the nodes; keep each saved tensor in a dict under its `data_ptr()`, so that the "
        "same memory is kept once; then add up `nbytes`.",
    ),
    symptom_hints={
        "number_for_tensor": "Sizes, exponents and factors are saved as plain numbers. "
        "`isinstance(…, torch.Tensor)` tells what has memory of its own.",
        "told_apart_by_id": "Two tensors on the same memory have the same `data_ptr()`.",
        "wrong_bytes": "If you tell tensors apart by their `id`: an object that nobody holds gives "
        "its `id` to the next one. `data_ptr()` is where the memory begins.",
        "counted_twice": "Two tensors on the same memory have the same `data_ptr()`; their `id` "
        "tells nothing.",
    },
    names=("_saved_*",),
)


def _twice_cases(rng: torch.Generator) -> list[Case]:
    def draw(n: int) -> Case:
        inputs = {name: numbers(rng, n) for name in ("x", "w", "u", "v", "old")}
        inputs["A"] = numbers(rng, n, n)  # so that no output depends on one input alone
        given = "y = A @ ((x * w).exp() * x)\nx.grad = old.clone()"
        call = ("y", "x", "u", "v")
        return {"inputs": inputs, "leaves": ("x", "w"), "given": given, "call": call}

    return [draw(3), draw(4)]


def _judge_twice(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "two_gradients")
    if empty is not None:
        return empty
    scope = build(case)
    y, x, u, v = (scope[name] for name in case["call"])
    first, second, ones = (
        torch.autograd.grad(y, x, weight, retain_graph=True)[0]
        for weight in (u, v, torch.ones_like(v))
    )
    old = scope["old"]
    result = seen["result"]
    if result["kind"] == "tensor" and result["value"].shape == (2, *x.shape):
        result = {"items": [{**result, "value": row} for row in result["value"]]}
    if len(result.get("items", ())) != 2 or isinstance(result["items"], dict):
        return not_yet(
            "not_a_pair",
            "`two_gradients` should return two gradients, one for `u` and one for `v`. "
            "What did it return?",
        )
    a, b = result["items"]
    if a["kind"] == b["kind"] == "tensor" and torch.equal(a["value"], b["value"]):
        return not_yet(
            "same_tensor",
            "Both results hold the same numbers. If both are `x.grad`, there is only one tensor, "
            "and the second backward changed it: what did you keep of the first?",
        )
    for what, fact, want, other, weight in (
        ("The gradient for `u`", a, first, second, u),
        ("The gradient for `v`", b, second, first, v),
    ):
        verdict = compare(
            fact,
            want,
            what,
            simulated={
                "swapped": other,
                "added_up": first + second,
                "stale_start": (want + old, first + second + old),
                "ones_instead_of_v": ones,
                "ones_times_v": ones * weight,
            },
            says={
                "stale_start": "{what} holds what was in `x.grad` before you came. "
                "Does backward replace what is there, or add to it?",
                "ones_times_v": "{what} is the gradient of `y.sum()`, multiplied by the vector "
                "afterwards. That would do if each output depended on one input alone. Where does "
                "the vector come in, before the way back or after it?",
                "swapped": "{what} is the one for the other vector. Which pass came first?",
                "added_up": "{what} holds the other one too: `.grad` adds up. "
                "What was in it before the second pass?",
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    if not seen["freed"]:
        return not_yet(
            "never_freed",
            "Both gradients are right, but the graph still holds its saved tensors afterwards. "
            "Which of the two passes is the last that needs them?",
        )
    return right("Two passes, and nothing is kept after the second.")


RUN_TWICE = Exercise(
    id="run_twice",
    title="Go back twice, then let go",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="two_gradients",
    observe="call_on_graph",
    cases=_twice_cases,
    judge=_judge_twice,
    hints=(
        "What does the first pass throw away that the second one needs?",
        "An argument of `backward` and of `autograd.grad` keeps the saved tensors. "
        "Does each pass need it, or only those that another pass follows?",
        "Use `torch.autograd.grad`, so that nothing adds up, with the keeping argument in the "
        "first call alone. It returns a tuple.",
    ),
    symptom_hints={
        "added_up": "Empty `x.grad` between the passes and keep the first, or use `autograd.grad`, "
        "which leaves it alone.",
        "stale_start": "Set `x.grad` to None before the first pass, or use `autograd.grad`, which "
        "leaves it alone.",
        "ones_times_v": "Going back with `u` is the same as `(u * y).sum().backward()`.",
        "never_freed": "Leave the keeping argument out of the last pass, so that it frees.",
        "same_tensor": "`x.grad` is one tensor for as long as it lives: take a clone, or use "
        "`autograd.grad`.",
    },
    names=("retain_graph",),
)
