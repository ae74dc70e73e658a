"""J^T v and J u without J: the two products that autograd is made for."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_04.common import (
    LESSON,
    MAP,
    built,
    by_differences,
    left_alone,
    map_inputs,
    map_jacobian,
    no_tensor,
    numbers,
)
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

COLUMN_BY_COLUMN = (
    "The product is right, but nothing went backward: you put it together input by input. "
    "How many times did `f` run for that, and how many does one backward need?"
)


def _cases(vector: str, of_outputs: bool):  # type: ignore[no-untyped-def]
    def cases(rng: torch.Generator) -> list[Case]:
        drawn = []
        for m, n in ((60, 60), (250, 180)):  # square first: there J and its transpose both fit
            inputs = map_inputs(rng, m, n, middle=2)
            inputs[vector] = numbers(rng, m if of_outputs else n, low=0.5, high=2.5)
            drawn.append({"inputs": inputs, "given": MAP, "built": ["f", "x", vector]})
        return drawn

    return cases


def _judge_pull(case: Case, seen: Seen) -> Verdict:
    jacobian, v = map_jacobian(case), case["inputs"]["v"]
    want, (m, n) = v @ jacobian, jacobian.shape
    problem = no_tensor(seen, "pull_back") or by_differences(seen, want, "What you return")
    if problem:
        return problem
    simulated = {
        "ones_instead_of_v": jacobian.sum(0),
        "normalised": [v / size @ jacobian for size in (v.norm(), v.sum(), v.max())],
        "whole_jacobian": [jacobian, jacobian.T],
    }
    if m == n:
        simulated["pushed_forward"] = jacobian @ v
    verdict = compare(
        seen["result"],
        want,
        "What `pull_back` returned",
        simulated=simulated,
        says={
            "pushed_forward": "{what} is J v, a weighted sum of J's columns. Pulling back weighs "
            "the rows, one weight for each output: on which side of J does v stand?",
            "normalised": "{what} belongs to another v, scaled to a length or sum of one. The "
            "weights may be any numbers: who asked for the scaling?",
            "whole_jacobian": "{what} is J itself. Where does `v` come in, and is J needed at all?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["runs"] and seen["calls"] >= n:
        return not_yet("column_by_column", COLUMN_BY_COLUMN)
    if size := built(seen, m, n):
        return not_yet(
            "built_jacobian",
            f"The product is right, but a tensor of {size} numbers was made on the way, "
            f"and f has {n} inputs and {m} outputs. "
            "Who needs the whole J, if backward takes `v` as it is?",
        )
    if not seen["runs"]:
        return not_yet("column_by_column", COLUMN_BY_COLUMN)
    if len(seen["runs"]) > 1:
        return not_yet(
            "one_by_one",
            f"The product is right, but backward ran {len(seen['runs'])} times for {m} outputs. "
            "What does one backward do with a weight for each output?",
        )
    return left_alone(case, seen) or right(
        f"One backward, and nothing near the size of J, which has {m * n} numbers."
    )


PULL_BACK = Exercise(
    id="pull_back_without_j",
    title="Pull back without J",
    lesson=LESSON,
    points=1,
    minutes=5,
    difficulty=1,
    answer="pull_back",
    observe="call_counting_cost",
    cases=_cases("v", of_outputs=True),
    judge=_judge_pull,
    hints=(
        "`y.backward(v)` never sees J. What does it leave at x?",
        "Three ways: `torch.autograd.grad` with `grad_outputs`, `torch.func.vjp`, and `vjp` in "
        "`torch.autograd.functional`. Which needs x to require grad?",
        "`torch.autograd.functional` has a `vjp` that takes f, x and v; it gives the value of f "
        "first and the product second.",
    ),
    symptom_hints={
        "product_vector_shape": "A product with v of the outputs is a VJP. Which one did you call?",
        "built_jacobian": "You have f, x and v. Which function takes all three?",
        "function_not_called": "`torch.func.vjp` gives the value and a function. The function "
        "takes v, and returns a tuple.",
    },
    names=("functional.vjp", "func.vjp", "autograd.grad"),
)


def _judge_push(case: Case, seen: Seen) -> Verdict:
    jacobian, u = map_jacobian(case), case["inputs"]["u"]
    want, (m, n) = jacobian @ u, jacobian.shape
    problem = no_tensor(seen, "push_forward") or by_differences(seen, want, "What you return")
    if problem:
        return problem
    x = case["inputs"]["x"].clone().requires_grad_()
    summed = (map_jacobian(case, x) @ u).sum()
    simulated = {
        "second_derivative": torch.autograd.grad(summed, x)[0],
        "ones_instead_of_u": jacobian.sum(1),
        "whole_jacobian": [jacobian, jacobian.T],
    }
    if m == n:
        simulated["pulled_back"] = u @ jacobian
    verdict = compare(
        seen["result"],
        want,
        "What `push_forward` returned",
        simulated=simulated,
        says={
            "pulled_back": "{what} is the first VJP, with `u` in the place of v. The trick needs "
            "a second one: what does Jᵀv depend on, besides x?",
            "second_derivative": "{what} is the slope of Jᵀv in x: a second derivative. Jᵀv is "
            "linear in v: which of the two did you want the second backward to reach?",
            "ones_instead_of_u": "{what} is what a `u` of ones would give. Where does `u` go in?",
            "whole_jacobian": "{what} is J itself. Where does `u` come in, and is J needed at all?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if size := built(seen, m, n):
        return not_yet(
            "built_jacobian",
            f"The product is right, but a tensor of {size} numbers was made on the way, "
            f"and f has {n} inputs and {m} outputs. "
            "Two backward passes are enough: what goes into each?",
        )
    if seen["dual_calls"]:
        return not_yet(
            "forward_mode",
            "The product is right, and it came from forward mode. Here it is asked for with "
            "backward alone, for the day when an operation has no forward rule: "
            "what is linear in v?",
        )
    if len(seen["runs"]) > 2:
        return not_yet(
            "one_by_one",
            f"The product is right, but backward ran {len(seen['runs'])} times. "
            "Row by row is not needed: which two vectors would do it in two?",
        )
    return left_alone(case, seen) or right(
        "Two backward passes, and forward mode for functions that have none."
    )


PUSH_FORWARD = Exercise(
    id="push_forward_backwards",
    title="Push forward with two backwards",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=4,
    answer="push_forward",
    observe="call_counting_cost",
    cases=_cases("u", of_outputs=False),
    judge=_judge_push,
    hints=(
        "Take g(v) = Jᵀv, a function of v. It is linear: what is its Jacobian?",
        "The Jacobian of g is Jᵀ, so a VJP of g with u is (Jᵀ)ᵀu. For this v must be watched, and "
        "the first backward must leave a graph.",
        "Make any v that requires grad, get Jᵀv with `create_graph`, then ask for the gradient of "
        "that at v, with u as `grad_outputs`.",
    ),
    symptom_hints={
        "no_graph": "The first backward has to be recorded itself. Which argument does that?",
        "input_not_tracked": "The second backward ends at v. Does v require grad?",
        "pulled_back": "v is only a name for the place where the second backward arrives.",
    },
    names=("create_graph", "autograd.grad"),
)
