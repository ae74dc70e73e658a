"""Two edits of what backward has saved: one that the version counter sees, one that it misses."""

from __future__ import annotations

import torch

from utils.checks.compare import close
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers
from utils.checks.verdict import Verdict, not_yet, right

PAIR_PROGRAM = """\
pair = answer()
is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and all(map(callable, pair))
after, grads, problems, kinds = [], [], [], []
for edit in pair if is_pair else ():
    leaf = x.clone().requires_grad_()
    h = leaf * 1
    y = h.square()
    edit(h)
    after.append(h.detach().clone())
    problems.append(attempt(lambda: y.backward(v)))
    grads.append(leaf.grad)
"""


def _cases_pair(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, n, low=1, high=3), "v": numbers(rng, n, low=1, high=2)},
            "program": PAIR_PROGRAM,
            "report": ["is_pair", "problems"],
            "facts": ["after", "grads"],
        }
        for n in (4, 3)
    ]


def _judge_pair(case: Case, seen: Seen) -> Verdict:
    x, v = case["inputs"]["x"], case["inputs"]["v"]
    if not seen["is_pair"]:
        return not_yet(
            "not_two_functions",
            "`two_edits` should return two functions, `(loud, silent)`, that take one tensor. "
            "What does yours return?",
        )
    for name, fact in zip(("loud", "silent"), seen["after"]["items"], strict=True):
        if close(fact["value"], x):
            return not_yet(
                "nothing_edited",
                f"After `{name}(h)` the numbers in `h` are what they were: a new tensor got the "
                "name `h` inside your function, or a copy was doubled. Which operation writes to "
                "the memory itself?",
            )
        if not close(fact["value"], 2 * x):
            return not_yet(
                "not_doubled", f"After `{name}(h)`, `h` is not doubled. What did you do to it?"
            )
    refused = ["modified by an inplace" in problem for problem in seen["problems"]]
    if refused == [False, True]:
        return not_yet(
            "order_swapped",
            "Backward goes through after your first edit and refuses after the second. "
            "Which of them is the loud one, and comes first?",
        )
    if refused == [True, True]:
        return not_yet(
            "silent_was_counted",
            "Backward refuses after both edits: the counter saw `silent` too. `no_grad` stops the "
            "recording, not the counting, and `detach` shares the counter. What hands out the "
            "memory without it?",
        )
    if refused == [False, False]:
        return not_yet(
            "loud_was_not_counted",
            "Backward goes through after both edits, so nobody noticed the first one either. "
            "Which way to write to `h` moves its version counter?",
        )
    if close(seen["grads"]["items"][1].get("value", x), 2 * x * v):
        return not_yet(
            "gradient_still_right",
            "After `silent` the gradient is right all the same: what backward had saved was not "
            "touched. How do you write to that very memory?",
        )
    return right("One edit stops backward. The other gives a wrong gradient, and nobody is told.")


TWO_EDITS = Exercise(
    id="two_edits",
    title="An edit that torch sees, and one that it does not",
    lesson=LESSON,
    points=2,
    minutes=7,
    difficulty=2,
    answer="two_edits",
    observe="call_in_program",
    cases=_cases_pair,
    judge=_judge_pair,
    hints=(
        "How does backward know that a saved tensor was changed after it was saved?",
        "Each in-place operation moves the version counter, under `no_grad` and on a detached "
        "tensor too. One attribute hands out the same memory under a counter of its own.",
        "Loud is any doubling in place. For the silent one, go through `.data`, or through NumPy, "
        "and double that.",
    ),
    symptom_hints={
        "silent_was_counted": "Print the version of `h` before and after: which edit leaves it?",
        "nothing_edited": "Compare `h = h * 2` with `h *= 2`: which one writes to the old memory?",
    },
    names=(".data", "no_grad"),
)
