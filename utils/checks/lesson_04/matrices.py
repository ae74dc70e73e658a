"""J itself, where it is wanted: by rows, by columns, and by whichever is cheaper."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_04.common import (
    LESSON,
    MAP,
    by_differences,
    left_alone,
    map_inputs,
    map_jacobian,
    no_tensor,
)
from utils.checks.observers import arguments, call_counting_cost
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _cases_of(*sizes: tuple[int, int]):  # type: ignore[no-untyped-def]
    def cases(rng: torch.Generator) -> list[Case]:
        return [
            {"inputs": map_inputs(rng, m, n, middle=2), "given": MAP, "built": ["f", "x"]}
            for m, n in sizes
        ]

    return cases


def _judge_values(case: Case, seen: Seen, answer: str) -> Verdict:
    """Is it J, whichever way it came?"""
    jacobian = map_jacobian(case)
    problem = no_tensor(seen, answer) or by_differences(seen, jacobian, "What you return")
    f, x = arguments(case)
    verdict = problem or compare(
        seen["result"],
        jacobian,
        f"What `{answer}` returned",
        simulated={
            "accumulated_rows": jacobian.cumsum(0),
            "summed_rows": jacobian.sum(0),
            "summed_columns": jacobian.sum(1),
            "transposed": jacobian.T,
            "last_row_only": [jacobian[-1], jacobian[-1].expand_as(jacobian)],
            "all_rows_one": jacobian.sum(0).expand_as(jacobian),
            "value_in_columns": [f(x)[:, None].expand_as(jacobian), f(x).expand_as(jacobian.T)],
            "tangent_not_reset": [jacobian.cumsum(1), jacobian.cumsum(1).T],
        },
        says={
            "accumulated_rows": "{what} grows from row to row: each row holds those before it "
            "too. What was still in `.grad` when the next backward came?",
            "summed_rows": "{what} is the sum of J's rows: what a v of ones pulls back. "
            "Which v keeps one row, and how many such v are there?",
            "summed_columns": "{what} is the sum of J's columns: what a u of ones pushes forward. "
            "Which u keeps one column, and how many such u are there?",
            "transposed": "{what} is J transposed: it has a row for each input. J has a row for "
            "each output: along which dimension do you stack?",
            "all_rows_one": "{what} has the same in every row: the sum of them all. Your rows are "
            "one and the same tensor, a `.grad` that every backward added to: what keeps each?",
            "value_in_columns": "{what} has f(x) itself in every column. Forward mode gives the "
            "value and the tangent: which of the two do you take?",
            "tangent_not_reset": "{what} grows from column to column: each holds those before it "
            "too. What is still in your tangent when the next column comes?",
            "last_row_only": "{what} holds the last row of J only. Are your rows all the same "
            "tensor, that every backward adds to or writes over?",
        },
    )
    return (left_alone(case, seen) or verdict) if verdict.outcome == RIGHT else verdict


def _judge_rows(case: Case, seen: Seen) -> Verdict:
    verdict = _judge_values(case, seen, "rows")
    if verdict.outcome != RIGHT:
        return verdict
    if seen["dual_calls"] or not seen["runs"]:
        return not_yet(
            "columns_not_rows",
            "This is J, but no backward ran: it was put together column by column, from what "
            "steps of the inputs do. What does a backward with a one-hot v give?",
        )
    if seen["calls"] > 2:
        return not_yet(
            "ran_f_again",
            f"This is J, but `f` ran {seen['calls']} times for {len(map_jacobian(case))} rows. All "
            "rows come from the same graph: what keeps it for the next backward?",
        )
    return right("One forward pass, a VJP for each row.")


ROWS = Exercise(
    id="jacobian_by_rows",
    title="J by its rows",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="rows",
    observe="call_counting_cost",
    cases=_cases_of((5, 3), (3, 4)),
    judge=_judge_rows,
    hints=(
        "What does vᵀJ give when v is 1 at one output and 0 at the others?",
        "One-hot vectors are the rows of the identity. Go backward with each, through the same "
        "graph, or with all of them as a batch.",
        "Ask `torch.autograd.grad` for row after row with `retain_graph`, and stack the rows; or "
        "give it the identity with `is_grads_batched`.",
    ),
    symptom_hints={
        "graph_freed": "Every row but the last needs the graph to stay. Which argument keeps it?",
        "gradient_shape": "A matrix of v is a batch of vectors, and has to be announced as one.",
        "accumulated_rows": "`torch.autograd.grad` returns a gradient, and adds to nothing.",
    },
    names=("autograd.grad", "is_grads_batched", "jacrev"),
)


def _judge_columns(case: Case, seen: Seen) -> Verdict:
    verdict = _judge_values(case, seen, "columns")
    if verdict.outcome != RIGHT:
        return verdict
    if seen["runs"]:
        often = "once" if len(seen["runs"]) == 1 else f"{len(seen['runs'])} times"
        return not_yet(
            "went_backward",
            f"This is J, but the engine went backward ({often}). A column is "
            "what one step of the inputs does to all outputs: which mode carries a tangent along?",
        )
    if not seen["dual_calls"]:
        return not_yet(
            "by_hand",
            "This is J, but `f` never saw a tangent. How do you hand one to it, together with `x`?",
        )
    return right("A tangent for each input, and no graph at all.")


COLUMNS = Exercise(
    id="jacobian_by_columns",
    title="J by its columns",
    lesson=LESSON,
    points=2,
    minutes=10,
    difficulty=2,
    answer="columns",
    observe="call_counting_cost",
    cases=_cases_of((5, 3), (3, 4)),
    judge=_judge_columns,
    hints=(
        "What does J u give when u is 1 at one input and 0 at the others? Whose shape does u have?",
        "Inside a dual level, `make_dual` ties a tangent to x; f carries it along, and "
        "`unpack_dual` reads it from the result.",
        "For each row of the identity of n: make a dual, call f, keep the tangent of the result, "
        "all inside the level. Stack them as columns.",
    ),
    symptom_hints={
        "tangent_shape": "How many columns has J, and what is a step of the inputs?",
        "none_in_a_list": "Read the tangent while the dual level is still open.",
        "jvp_needs_tuples": "A tuple of one is written with a comma.",
        "transposed": "`torch.stack` has an argument for the dimension.",
    },
    names=("forward_ad.dual_level", "forward_ad.make_dual", "func.jvp"),
)


def _cost(case: Case, transform) -> int:  # type: ignore[no-untyped-def]
    return call_counting_cost(lambda f, x: transform(f)(x), case)["made"]


def _judge_mode(case: Case, seen: Seen) -> Verdict:
    verdict = _judge_values(case, seen, "jacobian")
    if verdict.outcome != RIGHT:
        return verdict
    m, n = map_jacobian(case).shape
    least = min(_cost(case, torch.func.jacrev), _cost(case, torch.func.jacfwd))
    if seen["made"] <= 4 * least:
        return right("Rows for the wide one, columns for the tall one.")
    times = seen["made"] / least
    if m > n:
        return not_yet(
            "backward_for_tall",
            f"This is J, but for {m} outputs and {n} inputs your way made {times:.0f} times as "
            f"many numbers as needed: a VJP for each of {m} rows. How many columns are there?",
        )
    return not_yet(
        "forward_for_wide",
        f"This is J, but for {m} outputs and {n} inputs your way made {times:.0f} times as many "
        f"numbers as needed: a JVP for each of {n} columns. How many rows are there?",
    )


MODE = Exercise(
    id="choose_the_mode",
    title="Tall or wide: choose the mode",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="jacobian",
    observe="call_counting_cost",
    cases=_cases_of((250, 2), (2, 200), (400, 12), (1, 8)),
    judge=_judge_mode,
    hints=(
        "How many passes does J cost by rows, and how many by columns?",
        "By rows it costs one VJP for each output, by columns one JVP for each input. Which "
        "function of `torch.func` does which?",
        "Compare how many numbers `f(x)` and `x` hold; use `jacfwd` where there are fewer inputs, "
        "`jacrev` where there are fewer outputs.",
    ),
    symptom_hints={
        "backward_for_tall": "A tall J has few columns, and a column is one pass of forward mode.",
        "forward_for_wide": "A wide J has few rows, and a row is one backward.",
    },
    names=("jacrev", "jacfwd"),
)
