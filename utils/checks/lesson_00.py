"""The warm-up of lesson 00: one gradient, to see how checks speak."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.verdict import Verdict, not_yet


def _cases(rng: torch.Generator) -> list[Case]:
    return [{"args": [torch.rand(n, generator=rng, dtype=torch.float64) + 0.5]} for n in (5, 7, 4)]


def _judge(case: Case, seen: Seen) -> Verdict:
    (x,) = case["args"]
    n = len(x)
    verdict = compare(
        seen["result"],
        6 * (x + 2) / n,
        "What `first_gradient` returned",
        simulated={
            "sum_for_mean": 6 * (x + 2),
            "value_for_gradient": (3 * (x + 2) ** 2).mean(),
            "inner_value": 3 * (x + 2) ** 2,
            "accumulated_twice": 12 * (x + 2) / n,
            "squared_the_factor": 18 * (x + 2) / n,
            "factor_lost": 2 * (x + 2) / n,
        },
        says={
            "value_for_gradient": (
                "{what} is the value of mean(3 (x + 2)²), not its gradient. "
                "Where does backward leave the gradient?"
            ),
            "inner_value": (
                "{what} is 3 (x + 2)² itself. A gradient says how the result changes when `x` "
                "does: which call computes it?"
            ),
            "squared_the_factor": (
                "{what} is exactly three times too big. In 3 (x + 2)² the 3 stands outside the "
                "square: what does your `** 2` belong to?"
            ),
            "factor_lost": (
                "{what} is exactly three times too small. What stands in front of the square in "
                "3 (x + 2)²?"
            ),
        },
    )
    if verdict.outcome == "right" and not seen["from_nodes"]:
        return not_yet(
            "by_hand",
            "The numbers are right, but they do not come out of a backward: the formula was "
            "worked out by hand. How do you ask torch to find the slope for you?",
        )
    if verdict.outcome == "right" and seen["args"][0]["requires_grad"]:
        return not_yet(
            "changed_input",
            "The gradient is right, but the caller's `x` is watched from now on. Which copy could "
            "you watch instead?",
        )
    return verdict


EXERCISES = [
    Exercise(
        id="first_gradient",
        title="Your first gradient",
        lesson="00_start_here",
        points=1,
        minutes=3,
        difficulty=1,
        answer="first_gradient",
        observe="call_watching_backward",
        cases=_cases,
        judge=_judge,
        hints=(
            "Which tensor do you want the gradient of, and does torch know that you want it?",
            "Make a watched copy of `x`, compute the mean, call backward on it. Where is it then?",
            "Three lines: `copy = x.clone().requires_grad_()`, then the formula with its backward, "
            "then the `.grad` of that copy.",
        ),
        symptom_hints={
            "sum_for_mean": "The task says mean(…). Look at the last operation of your formula.",
            "changed_input": "`x.detach()` and `x.clone()` make a copy with a flag of its own. "
            "Call `requires_grad_()` on that copy, and compute with it.",
            "by_hand": "`backward()` on the mean fills the `.grad` of the tensor that is watched.",
            "squared_the_factor": "Count the brackets: first the square, then times 3.",
            "none": "Does your function end with a `return`, and does it return a `.grad`?",
        },
        names=("requires_grad_()", ".grad"),
    ),
]
