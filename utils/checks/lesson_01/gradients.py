"""Gradients: where they land, how they add up, and how to read one that passes by."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_01.draw import uniform
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _cases_hand(rng: torch.Generator) -> list[Case]:
    pairs = [(uniform(rng, low=0.6, high=1.6), uniform(rng, low=-4, high=-2)) for _ in range(3)]
    return [{"args": [a.item(), b.item()]} for a, b in pairs]


def _judge_hand(case: Case, seen: Seen) -> Verdict:
    a, b = (torch.tensor(arg, dtype=torch.float64) for arg in case["args"])
    mine = seen["result"]
    if mine["kind"] != "dict" or not {"a", "b", "c"} <= set(mine["items"]):
        return not_yet(
            "not_a_dict",
            '`hand_gradients` should return a dict with the keys "a", "b" and "c". '
            "What does yours return?",
        )
    wanted = {
        "a": (b + 2 * a, {"overwritten": 2 * a, "first_use_only": b, "multiplied": 2 * a * b}),
        "b": (
            a,
            {"own_value": b, "value_for_gradient": a * b, "local_of_a_sum": torch.ones_like(b)},
        ),
    }
    for name, (want, simulated) in wanted.items():
        fact = mine["items"][name]
        verdict = compare(
            fact,
            want,
            f"Your `{name}.grad`",
            simulated=simulated,
            says={
                "overwritten": (
                    "{what} holds the share of `a ** 2` alone. But `a` is used in `a * b` too: "
                    "what becomes of the gradient that arrives from there?"
                ),
                "first_use_only": (
                    "{what} holds the share of `a * b` alone. But `a` is used in `a ** 2` too: "
                    "what becomes of the gradient that arrives from there?"
                ),
                "multiplied": (
                    "{what} multiplies the shares of the two uses. They reach the loss on two "
                    "ways side by side, not one after the other: how do such shares combine?"
                ),
                "local_of_a_sum": (
                    "{what} is one, as if `b` were added. In `a * b` it has a factor: how much "
                    "does the product grow for each step of `b`?"
                ),
                "own_value": (
                    "{what} is the value of `b` itself. When `b` grows by a little, how many times "
                    "as much does `a * b` grow?"
                ),
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    unused = mine["items"]["c"]
    if unused == {"kind": "plain", "value": None}:
        return right("A leaf used twice gets the sum, and a leaf never used keeps None.")
    zero = unused.get("value")
    if isinstance(zero, int | float | torch.Tensor) and not torch.as_tensor(zero).any():
        return not_yet(
            "zero_for_unused",
            "You expect zero in `c.grad`. Zero would mean that a gradient arrived. `c` is not in "
            "the graph of this loss, so nothing arrives: what does `.grad` hold before that?",
        )
    return not_yet(
        "gradient_for_unused",
        "You expect a gradient in `c.grad`, but the loss was computed without `c`. "
        "What does `.grad` hold when nothing ever arrives?",
    )


HAND = Exercise(
    id="used_twice",
    title="Used twice, used never",
    lesson="01_requires_grad",
    points=2,
    minutes=5,
    difficulty=2,
    answer="hand_gradients",
    observe="call",
    cases=_cases_hand,
    judge=_judge_hand,
    hints=(
        "When `a` grows by a little, which terms of the loss change, and by how much each?",
        "Each use of a leaf sends one gradient back. They meet in one `.grad`: there they add up.",
        "Differentiate `a * b` for `a`, then `a ** 2` for `a`, and combine the two. For `c`, ask "
        "what `.grad` holds before any backward.",
    ),
    symptom_hints={
        "zero_for_unused": "Make a leaf, run no backward at all, and print its `.grad`.",
    },
    names=(".grad",),
)


def _cases_inner(rng: torch.Generator) -> list[Case]:
    return [
        {"args": [uniform(rng, n, k), uniform(rng, k, m)], "leaves": (0,)}
        for n, k, m in ((3, 2, 4), (2, 5, 3))
    ]


def _judge_inner(case: Case, seen: Seen) -> Verdict:
    x, weight = case["args"]
    h = x @ weight
    want = 3 * h**2 / h.numel()
    if seen["result"] == {"kind": "plain", "value": None}:
        return not_yet(
            "not_retained",
            "`inner_gradient` returned None. If that is `h.grad`: `h` is no leaf, so its gradient "
            "passes through and is let go. What asks `h` to keep it, and before which call?",
        )
    verdict = compare(
        seen["result"],
        want,
        "What `inner_gradient` returned",
        simulated={
            "gradient_of_leaf": want @ weight.T,
            "value_for_gradient": (h, h**3),
            "sum_for_mean": 3 * h**2,
        },
        says={
            "gradient_of_leaf": (
                "{what} is `x.grad`, the gradient at the leaf. It came through `h` on its way: "
                "how do you read what was there?"
            ),
            "value_for_gradient": (
                "{what} is a value of the forward pass, not a gradient. "
                "Where does backward leave gradients?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["from_nodes"]:
        return not_yet(
            "by_hand",
            "The numbers are right, but they come from a formula that you worked out by hand, not "
            "from a backward. That ends where the formula does. How do you read it off the graph?",
        )
    at_leaf = seen["args"][0]["grad"]
    if at_leaf is None:
        return not_yet(
            "cut_the_graph",
            "The gradient at `h` is right, but `x.grad` is empty: backward stopped at `h`. Did you "
            "cut `h` off from `x`, or ask for one gradient only?",
        )
    verdict = compare(at_leaf, want @ weight.T, "`x.grad`")
    if verdict.outcome != RIGHT:
        return verdict
    return right("One backward, and you have read a gradient that would have passed by.")


INNER = Exercise(
    id="inner_gradient",
    title="Read a gradient that passes by",
    lesson="01_requires_grad",
    points=2,
    minutes=6,
    difficulty=2,
    answer="inner_gradient",
    observe="call_watching_backward",
    cases=_cases_inner,
    judge=_judge_inner,
    hints=(
        "Who gets a `.grad` by default, and is `h` one of them?",
        "A tensor can be asked to keep the gradient that passes by. Ask before it passes.",
        "Compute `h`, call its method that retains the gradient, compute the loss, go backward, "
        "and only then read `h.grad`.",
    ),
    symptom_hints={
        "not_retained": (
            "Torch has a method of a tensor for this; its name says 'retain'. The loss must be "
            "computed from the very `h` that you asked."
        ),
        "cut_the_graph": "Keep using the same `h`: no detached copy, no new tensor.",
    },
    names=("retain_grad", ".grad"),
)
