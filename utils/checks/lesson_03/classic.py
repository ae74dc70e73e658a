"""The loop that doubles x until its norm passes 1000, and what v has to do with it."""

from __future__ import annotations

import torch

from utils.checks.compare import compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import LESSON, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _cases_doubled(rng: torch.Generator) -> list[Case]:
    weights = torch.tensor([0.1, 1.0, 0.0001, 2.5, -0.3], dtype=torch.float64)
    return [
        {"args": [size * numbers(rng, n, low=0.3, high=1), weights[order] * numbers(rng, n, low=1)]}
        for size, n, order in ((1, 3, [0, 1, 2]), (-4, 4, [4, 2, 3, 0]), (3000, 2, [3, 0]))
    ]


def _judge_doubled(case: Case, seen: Seen) -> Verdict:
    x, v = case["args"]
    y, doublings = 2 * x, 1
    while y.norm() < 1000:
        y, doublings = 2 * y, doublings + 1
    factor = 2.0**doublings
    pair = items(seen["result"]) or []
    if len(pair) != 2:
        return not_yet(
            "not_a_pair",
            "`doubled` should return two things: what `x.grad` holds, and how often `x` was "
            "doubled. What does yours return?",
        )
    if _numbers_in(pair[0]) == 1 and _numbers_in(pair[1]) == len(v):
        return not_yet(
            "swapped",
            "You returned the count first. The gradient comes first, then how often `x` was "
            "doubled. What happens if you swap them?",
        )
    verdict = compare(
        pair[0],
        factor * v,
        "The gradient that you expect",
        simulated={
            "ones_instead_of_v": factor * torch.ones_like(v),
            "value_weighted": y * v,
            "v_as_step": ((x + v) * factor, factor * torch.ones_like(v) + v),
            "value_for_gradient": y,
            "v_made_unit": (factor * v / v.norm(), factor * v / v.sum()),
            # After one doubling or two, these cannot be told from a wrong count.
            "added_factors": (2 * doublings * v, doublings * v) if doublings > 2 else (),
            "v_alone": (v, 2 * v) if doublings > 2 else (),
            "miscounted": [2.0**k * v for k in range(-4, 40)],
            "one_number": (factor * v.sum(), factor * v.norm()),
        },
        says=DOUBLED_SAYS,
    )
    if verdict.outcome != RIGHT:
        return verdict
    count = pair[1].get("value")
    if not isinstance(count, int | float | torch.Tensor) or torch.as_tensor(count).numel() != 1:
        return not_yet(
            "not_a_pair",
            "The gradient is right. The second thing to return is how often `x` was doubled: "
            "one whole number. What is it in yours?",
        )
    if int(count) != doublings:
        return not_yet("miscounted", DOUBLED_SAYS["miscounted"].format(what="Your count"))
    if seen["nodes_run"]:
        return not_yet(
            "asked_autograd",
            "Both are right, but autograd told you. What does it multiply `v` by? "
            "Compute it without a backward.",
        )
    return right("The loop multiplies by 2ᵏ, whatever x is, so the gradient is 2ᵏ v. No mystery.")


def _numbers_in(fact: Seen) -> int:
    """How many numbers a value holds; 0 if it is neither a number, a tensor nor a list."""
    parts = items(fact)
    if parts is not None:
        return len(parts)
    return int(isinstance(fact.get("value"), int | float | torch.Tensor))


DOUBLED_SAYS = {
    "not_a_tensor": (
        "{what} is of type `{kind}`, and `x.grad` is a tensor. How do its numbers become one?"
    ),
    "ones_instead_of_v": (
        "{what} is the same for each entry, as if v were all ones. "
        "What does v say about the outputs?"
    ),
    "value_weighted": (
        "{what} is v times the value of `y`. A weight multiplies the slope of an output: by how "
        "much does `y` grow when `x` grows by a little?"
    ),
    "v_as_step": (
        "{what} adds v to something, as if v were a step of `x`. Backward never moves `x`, and v "
        "has the shape of `y`: is it added to the outputs, or does it weigh them?"
    ),
    "value_for_gradient": (
        "{what} is the value of `y`. How much does `y` grow for each unit that `x` grows?"
    ),
    "v_made_unit": (
        "{what} would be right if v were first scaled to length or sum one. "
        "Does backward ask that of a v, or take it as it comes?"
    ),
    "miscounted": (
        "{what} is off by one doubling or more. One comes before the loop, and the last one is the "
        "one that passes 1000: did you count both, for a big `x` too?"
    ),
    "added_factors": (
        "{what} grows with the count, but doublings one after the other do not add up. "
        "By how much is `x` multiplied after two of them?"
    ),
    "v_alone": (
        "{what} is v, sent on through no or one doubling. Each of them is a node of the graph: "
        "what does each do with what comes in?"
    ),
    "one_number": (
        "{what} is one number. `x.grad` has the shape of `x`: which v belongs to which entry?"
    ),
}

DOUBLED = Exercise(
    id="doubled",
    title="The classic, by hand",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="doubled",
    observe="call_watching_backward",
    cases=_cases_doubled,
    judge=_judge_doubled,
    hints=(
        "After k doublings, what is `y` as a multiple of `x`? What is the slope of that?",
        "Entry j of `y` depends on entry j of `x` alone. So J is a diagonal, with the same number "
        "all along it.",
        "Count the doublings with the same loop, on plain values. The gradient is that power of "
        "two, times the weight of each entry.",
    ),
    symptom_hints={
        "v_as_step": "Put an `x` of [1, 1, 1] in: can you still tell where v comes in?",
        "miscounted": "Print `y.norm()` and your count in each turn, from before the loop on.",
    },
    names=("backward(gradient=)",),
)
