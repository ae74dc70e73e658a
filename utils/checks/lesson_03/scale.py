"""The argument of backward from one number: a factor on all that flows back."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import LESSON, numbers, others
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _cases_mean(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n, k),
                "w": numbers(rng, k, d),
                "targets": numbers(rng, n, d, low=2, high=4),
                "old": numbers(rng, k, d, low=5, high=9),
            },
            "given": """\
w.requires_grad_()
w.grad = old.clone()
predictions = x @ w
total = ((predictions - targets) ** 2).sum()
""",
            "built": ["total", "predictions", "w"],
        }
        for n, k, d in ((5, 3, 2), (3, 2, 4))
    ]


def _judge_mean(case: Case, seen: Seen) -> Verdict:
    x, w, targets, old = (case["inputs"][name] for name in ("x", "w", "targets", "old"))
    predictions, grad = x @ w, seen["args"][2]["grad"]
    whole_sum = 2 * x.T @ (predictions - targets)
    count, rows = predictions.numel(), len(predictions)
    if grad is None:
        return not_yet(
            "cleared_first",
            "`w.grad` is empty at the end, and something was in it when you came. "
            "Who clears it, and was that asked for?",
        )
    if close(grad, old) and "AccumulateGrad" in seen["nodes_run"]:
        return not_yet(
            "zero_weight",
            "A backward ran, but all that it brought to `w.grad` were zeros. Which number did you "
            "send: what is one divided by a whole number in whole numbers?",
        )
    verdict = compare(
        grad,
        old + whole_sum / count,
        "`w.grad`",
        simulated={
            "not_filled": old,
            "sum_for_mean": old + whole_sum,
            "rows_only": (old + whole_sum / rows, old + whole_sum / predictions.shape[1]),
            "weights_counted": (old + whole_sum / w.numel(), old + whole_sum / x.numel()),
            "multiplied": old + whole_sum * count,
            "scaled_the_old": ((old + whole_sum) / count, (old + whole_sum / count) / count),
            "overwritten": (whole_sum / count, whole_sum, whole_sum / rows),
        },
        says={
            "not_filled": (
                "{what} is as it was before. Only `backward` adds to it; `torch.autograd.grad` "
                "hands the gradient to you. Which of them ran?"
            ),
            "sum_for_mean": (
                "{what} grew by the gradient of the sum. Each of the terms counts 1 in a sum: "
                "how much does it count in a mean?"
            ),
            "rows_only": (
                "{what} grew by too much: you divided by one dimension of `predictions`. "
                "Over how many numbers does a mean over all of them go?"
            ),
            "weights_counted": (
                "{what} grew by the gradient of the sum over another count: you counted the "
                "entries of another tensor. How many errors were squared and added up?"
            ),
            "multiplied": "{what} grew by too much. Is a mean bigger than its sum, or smaller?",
            "scaled_the_old": (
                "{what} was scaled after the backward, and what had been in it before was scaled "
                "along. Where can the factor go, so that it meets the new gradient alone?"
            ),
            "overwritten": (
                "{what} lost what it held when you came. Does `backward` replace, or add?"
            ),
        },
        tolerance=1e-6,  # a v in single precision is fine
    )
    if verdict.outcome != RIGHT:
        return verdict
    own = {"SumBackward0", "PowBackward0", "SubBackward0", "MmBackward0"}
    if others(seen["nodes_run"], own):
        return not_yet(
            "touched_the_loss",
            "`w.grad` is right, but you built a new loss on top of `total`. The number that its "
            "node sends to `total` is all that you need: what is it, and where can you give it?",
        )
    return right("The v of a loss is a factor on all that flows back. No new loss was needed.")


MEAN_FROM_SUM = Exercise(
    id="mean_from_sum",
    title="The mean's gradient from the sum",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="backward_as_mean",
    observe="call_watching_backward",
    cases=_cases_mean,
    judge=_judge_mean,
    hints=(
        "What does `total.backward()` send back when you give nothing? What if it were half?",
        "The argument has the shape of `total`: it is a tensor with one number and no dimension.",
        "How many numbers were added up? Give `total.backward` a tensor of shape () that holds one "
        "over this.",
    ),
    symptom_hints={
        "number_for_v": "`torch.tensor(0.5)` makes a tensor of shape () from a number.",
        "gradient_shape": "Print `total.shape`. The v of `total` has that one.",
    },
    names=("backward(gradient=)",),
)
