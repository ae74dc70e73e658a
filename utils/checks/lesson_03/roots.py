"""Where a backward starts: several roots, each with its own vector."""

from __future__ import annotations

import torch

from utils.checks.compare import compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import LESSON, no_tensor, numbers, others
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

TRUNK = """\
x.requires_grad_()
trunk = torch.tanh(weight @ x)
loss = (trunk**3).sum()
y = torch.sin(head @ trunk)
"""
OWN_NODES = {"TanhBackward0", "MvBackward0", "PowBackward0", "SumBackward0", "SinBackward0"}


def _cases_roots(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n),
                "weight": numbers(rng, m, n, low=0.2, high=1),
                "head": numbers(rng, k, m),
                "v": numbers(rng, k, low=2, high=5),
            },
            "given": TRUNK,
            "built": ["x", "loss", "y", "v"],
        }
        for n, m, k in ((3, 4, 2), (2, 3, 5))
    ]


def _judge_roots(case: Case, seen: Seen) -> Verdict:
    x, loss, y, v = arguments(case)
    (of_loss,) = torch.autograd.grad(loss, x, retain_graph=True)
    (of_y,) = torch.autograd.grad(y, x, v, retain_graph=True)
    (of_ones,) = torch.autograd.grad(y.sum(), x)
    empty = no_tensor(seen["result"], "What `both_at_once` returned", seen["args"][0])
    if empty:
        return empty
    apart = items(seen["result"])
    if apart is not None and seen["result"]["kind"] != "tensor":
        return not_yet(
            "kept_apart",
            f"`both_at_once` returned {len(apart)} things. Two roots that go backward together "
            "share one gradient at `x`: how do their two shares combine?",
        )
    verdict = compare(
        seen["result"],
        of_loss + of_y,
        "What `both_at_once` returned",
        simulated={
            "one_root_only": (of_loss, of_y, of_ones),
            "ones_instead_of_v": of_loss + of_ones,
            "weighed_the_loss": (v.sum() * of_loss + of_y, v.mean() * of_loss + of_y),
            "loss_many_times": (len(v) * of_loss + of_y, len(v) * of_loss + of_ones),
            "loss_as_weight": loss.detach() * of_loss + of_y,
            "mean_for_sum": (of_loss + of_y) / 2,
        },
        says={
            "one_root_only": (
                "{what} is the share of one root. Both reach `x`: which one did not start, or was "
                "wiped out before the other came?"
            ),
            "ones_instead_of_v": (
                "{what} weighs all outputs of `y` with one. Which argument holds the weights?"
            ),
            "weighed_the_loss": (
                "{what} counts the loss v times: when `loss + y` is formed, the loss is copied "
                "to each entry of `y` and gets all their weights. Which weight is its own?"
            ),
            "loss_many_times": (
                "{what} counts the loss once for each entry of `y`: it was broadcast. "
                "How do two roots start side by side, without being added first?"
            ),
            "loss_as_weight": (
                "{what} weighs the loss with its own value. The second list holds weights: how "
                "much should the loss count?"
            ),
            "mean_for_sum": "{what} is the mean of two shares. Do shares average, or add up?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if len(seen["runs"]) > 1:
        return not_yet(
            "two_runs",
            f"The gradient is right, but backward ran {len(seen['runs'])} times, and each time "
            "through the trunk that both roots share. How do both start in the same run?",
        )
    if others(seen["nodes_run"], OWN_NODES):
        return not_yet(
            "built_a_sum",
            "The gradient is right, but you built a new number of `y` and `v` on the way, and its "
            "nodes did the weighing. What do they send to `loss` and to `y`? You can send the same "
            "into both, in one call.",
        )
    return right("Two roots, one run: their gradients met in the trunk, and it ran once.")


TWO_ROOTS = Exercise(
    id="two_roots",
    title="Two roots at once",
    lesson=LESSON,
    points=2,
    minutes=7,
    difficulty=3,
    answer="both_at_once",
    observe="call_watching_backward",
    cases=_cases_roots,
    judge=_judge_roots,
    hints=(
        "A tensor's method starts from that tensor. Which function of `torch.autograd` is given "
        "all its starting points?",
        "It takes a list of roots and a list of their vectors, in the same order. A root with one "
        "number needs none.",
        "Both lists have two entries. In the place of the loss stands None, or a one of shape ().",
    ),
    symptom_hints={
        "two_runs": "One function starts from several tensors. The lesson used it once.",
        "backward_on_nonscalar": "Each root that is no single number needs a vector of its own.",
        "built_a_sum": "One function starts from several tensors. The lesson used it once.",
        "gradient_shape": "The two lists belong together, entry by entry. Are they equally long, "
        "and is their order the same?",
    },
    names=("backward(gradient=)",),
)
