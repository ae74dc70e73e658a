"""The argument of backward is a weight for each output: one row of J, and a weighted sum."""

from __future__ import annotations

import torch

from utils.checks.compare import compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import (
    LESSON,
    SMALL_MAP,
    no_tensor,
    numbers,
    others,
    small_jacobian,
    whole,
)
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

ONES = "{what} is what weights of one give: all rows of J added up. Which weight should each get?"
OWN_NODES = {"TanhBackward0", "MvBackward0"}


def _cases_row(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n),
                "weight": numbers(rng, m, n, low=0.2, high=1),
                "i": whole(rng, 2, m - 1),
            },
            "given": SMALL_MAP,
            "built": ["x", "y", "i"],
        }
        for m, n in ((4, 3), (6, 2))
    ]


def _judge_row(case: Case, seen: Seen) -> Verdict:
    jacobian, i = small_jacobian(case), case["inputs"]["i"]
    what = "What `jacobian_row` returned"
    empty = no_tensor(seen["result"], what, seen["args"][0])
    if empty:
        return empty
    verdict = compare(
        seen["result"],
        jacobian[i],
        what,
        simulated={
            "ones_instead_of_v": jacobian.sum(0),
            "index_as_weight": i * jacobian[i],
            "counted_from_one": jacobian[i - 1],
            "rows_added_up": jacobian.cumsum(0)[i],
            "column_for_row": tuple(jacobian.T),
            "whole_jacobian": jacobian,
        },
        says={
            "ones_instead_of_v": ONES,
            "index_as_weight": (
                "{what} is row `i`, but `i` times too big. An entry of v says how much its output "
                "counts: how much should output `i` count?"
            ),
            "counted_from_one": (
                "{what} is the row before the one that was asked for. "
                "From which number does torch count?"
            ),
            "rows_added_up": (
                "{what} holds the rows before row `i` as well: `x.grad` adds up what each backward "
                "brings. How many backward calls does one row need?"
            ),
            "column_for_row": (
                "{what} is a column of J: what one input does to all outputs. A row belongs to one "
                "output: which shape has v then, that of `x` or that of `y`?"
            ),
            "whole_jacobian": (
                "{what} holds all rows of J. Only one was asked for: which v lets that one through?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if len(seen["runs"]) > 1:
        return not_yet(
            "whole_jacobian",
            f"The row is right, but backward ran {len(seen['runs'])} times: one run for each row, "
            "and all but one were for nothing. Which v lets one row through?",
        )
    if others(seen["nodes_run"], {*OWN_NODES, "MulBackward0", "SumBackward0", "DotBackward0"}):
        return not_yet(
            "indexed_first",
            "The row is right, but you took one entry out of `y` first, and backward began there. "
            "The new node then sent a vector to `y`: what was in it? Send that one yourself.",
        )
    return right("One weight of one, zeros elsewhere: row i of J, and no J was built.")


ROW_OF_J = Exercise(
    id="row_of_j",
    title="Choose v, get a row",
    lesson=LESSON,
    points=1,
    minutes=5,
    difficulty=1,
    answer="jacobian_row",
    observe="call_watching_backward",
    cases=_cases_row,
    judge=_judge_row,
    hints=(
        "v weighs the rows of J and adds them up: v₀·row₀ + v₁·row₁ + … Which weights leave one?",
        "There is one weight for each output, so v has the shape of `y`, not that of `x`.",
        "Start from zeros in the shape of `y`, put one 1 in, go backward from `y` with that, and "
        "read what has come to `x`.",
    ),
    symptom_hints={
        "gradient_shape": "`torch.zeros_like(y)` makes a tensor that fits `y`.",
        "backward_returns_none": "Backward adds what it finds to `.grad` of the leaves.",
    },
    names=("backward(gradient=)",),
)


def _cases_sum(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n),
                "weight": numbers(rng, m, n, low=0.2, high=1),
                "v": numbers(rng, m, low=2, high=5),
            },
            "given": SMALL_MAP,
            "built": ["x", "y", "v"],
        }
        for m, n in ((4, 3), (2, 5))
    ]


def _judge_sum(case: Case, seen: Seen) -> Verdict:
    jacobian, v = small_jacobian(case), case["inputs"]["v"]
    want = v @ jacobian
    pair = items(seen["result"]) or []
    if len(pair) != 2:
        return not_yet(
            "not_a_pair",
            "`two_ways` should return two gradients, one for each way. What does yours return?",
        )
    if seen["repeats"] and len(seen["runs"]) > 1:
        return not_yet(
            "aliased",
            "Your two gradients are one tensor: you kept `x.grad` itself, and what came later was "
            "written into it. How do you keep what was there after the first run?",
        )
    for fact, name in zip(pair, ("The first gradient", "The second gradient"), strict=True):
        verdict = no_tensor(fact, name, seen["args"][0]) or compare(
            fact,
            want,
            name,
            simulated={
                "ones_instead_of_v": jacobian.sum(0),
                "mean_for_sum": want / len(v),
                "summed_apart": v.sum() * jacobian.sum(0),
                "squared_weights": v**2 @ jacobian,
                "v_made_unit": (want / v.norm(), want / v.sum()),
            },
            says={
                "ones_instead_of_v": ONES,
                "summed_apart": (
                    "{what} weighs all rows of J alike, with the sum of v. Which comes first, the "
                    "weighing or the sum?"
                ),
                "v_made_unit": (
                    "{what} would be right if v were first scaled to length or sum one. "
                    "Does backward ask that of a v, or take it as it comes?"
                ),
                "squared_weights": (
                    "{what} weighs each row twice: once in the sum, and once by the argument. "
                    "Which of the two is one way, and which is the other?"
                ),
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    if len(seen["runs"]) < 2:
        return not_yet(
            "one_way_only",
            "The gradients are right, but backward ran only once. Each way is to find it by its "
            "own run: which one is missing?",
        )
    built = [bool(others(run, OWN_NODES)) for run in seen["runs"]]
    if not any(built):
        return not_yet(
            "same_way_twice",
            "The gradients are right, but both came from a vector sent into `y`. Which one number, "
            "made of `y` and `v`, has this gradient, so that `backward()` needs no argument?",
        )
    if all(built):
        return not_yet(
            "same_way_twice",
            "The gradients are right, but both came from a new number made of `y`. Where does "
            "`backward` take the weights, so that nothing has to be built?",
        )
    return right("v holds the weights of a sum that is never built. That is all it is.")


WEIGHTED_SUM = Exercise(
    id="weighted_sum",
    title="One gradient, two ways",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="two_ways",
    observe="call_watching_backward",
    cases=_cases_sum,
    judge=_judge_sum,
    hints=(
        "`backward()` without argument starts from one number. Which number would grow by v₀ when "
        "y₀ grows by one, and by v₁ when y₁ does?",
        "Two runs go through one graph, and both leave something in `x.grad`. What has to be kept, "
        "and what emptied, in between?",
        "Keep the graph in the first run. Put what came to `x` aside and set `x.grad` to None. "
        "Then weigh, add up, and go backward from that number.",
    ),
    symptom_hints={
        "graph_freed": "`backward` has an argument that keeps the graph: its name says 'retain'.",
        "aliased": "Put None into `x.grad` before the second run: then torch makes a new tensor.",
        "accumulated_twice": "`x.grad` is added to, not replaced. Empty it in between.",
    },
    names=("backward(gradient=)",),
)
