"""The exercise that builds something to keep: a line fitted with autograd alone."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_01.draw import uniform
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

TOLERANCE = 1e-3  # gradient descent comes near, it does not arrive


def _cases(rng: torch.Generator) -> list[Case]:
    cases = []
    for count, slope, lr, steps in ((40, 1, 0.15, 150), (25, -1, 0.12, 200)):
        x = uniform(rng, count, low=-1, high=3)
        slope = slope * uniform(rng, low=1.5, high=3)
        noise = uniform(rng, count, low=-0.3, high=0.3)
        y = slope * x + uniform(rng, low=4, high=6) + noise
        cases.append({"args": [x, y, lr, steps]})
    return cases


def _gradient(x: torch.Tensor, y: torch.Tensor, line: torch.Tensor) -> torch.Tensor:
    """Gradient of the mean squared error at `line`, the slope and the intercept; shape (2,)."""
    error = line[0] * x + line[1] - y
    return 2 * torch.stack([(error * x).mean(), error.mean()])


def _descend(
    x: torch.Tensor, y: torch.Tensor, lr: float, steps: int, memory: float = 0.0
) -> torch.Tensor:
    """Gradient descent from zeros. `memory` 1 keeps all old gradients, as a stale `.grad` does."""
    line, total = torch.zeros(2, dtype=x.dtype), torch.zeros(2, dtype=x.dtype)
    for _ in range(steps):
        total = memory * total + _gradient(x, y, line)
        line = line - lr * total
    return line


def _is_stale(case: Case, line: torch.Tensor, grads: list[torch.Tensor | None]) -> bool:
    """Whether the `.grad` left in both leaves is not the gradient at the point before the step."""
    if any(grad is None for grad in grads):
        return False
    x, y, lr, _ = case["args"]
    left = torch.stack([grad.reshape(()).to(x.dtype) for grad in grads])
    return bool(left.isfinite().all()) and not close(
        left, _gradient(x, y, line + lr * left), TOLERANCE
    )


def _judge(case: Case, seen: Seen) -> Verdict:
    x, y, lr, steps = case["args"]
    pair = items(seen["result"]) or []
    numbers = [torch.as_tensor(fact.get("value")) for fact in pair if _is_number(fact)]
    if len(pair) != 2 or len(numbers) != 2:
        return not_yet(
            "not_a_pair",
            "`fit_line` should return two numbers, the slope `w` and the intercept `b`. "
            "What does yours return?",
        )
    line = torch.stack([number.reshape(()).to(x.dtype) for number in numbers])
    if seen["optimiser_steps"]:
        return not_yet(
            "used_optimiser",
            "An optimiser took the steps for you. It is only a short rule that moves leaves by "
            "their `.grad`: can you write that rule yourself?",
        )
    if not seen["nodes_run"]:
        return not_yet(
            "by_hand",
            "No backward ran inside `fit_line`: the line or its gradient was worked out by a "
            "formula. Which tensors must require grad, so that autograd finds the slope of the "
            "loss?",
        )
    if not line.isfinite().all() or line.abs().max() > 1e6:
        uphill = _descend(x, y, -lr, steps)
        if close(line, uphill, TOLERANCE):
            return not_yet(
                "uphill",
                "`w` and `b` ran away: each step went up along the gradient. "
                "In which direction does the loss fall?",
            )
        return not_yet(
            "diverged",
            "`w` and `b` ran away: the steps are too long for this `lr`. Is the loss a mean over "
            "the points, and does each step go down?",
        )
    best = torch.linalg.lstsq(torch.stack([x, torch.ones_like(x)], 1), y[:, None]).solution[:, 0]
    through_zero = torch.stack([(x * y).sum() / (x * x).sum(), torch.zeros_like(x[0])])
    verdict = compare(
        line,
        best,
        "The line that you return",
        simulated={
            "swapped": best.flip(0),
            "no_intercept": through_zero,
            "broadcast_loss": torch.stack([torch.zeros_like(y[0]), y.mean()]),
            "one_step_only": _descend(x, y, lr, 1),
            "stale_gradient": _descend(x, y, lr, steps, memory=1.0),
        },
        says=SAYS,
        tolerance=TOLERANCE,
    )
    if verdict.mistake in ("wrong_values", "wrong_sign", "accumulated_twice", "all_zero"):
        grads = [fact.get("grad") for fact in pair]
        slug = "stale_gradient" if _is_stale(case, line, grads) else "not_there_yet"
        return not_yet(slug, SAYS[slug].format(what="The line that you return"))
    if verdict.outcome != RIGHT:
        return verdict
    return right("Autograd found the way down, and you took each step. This loop is yours to keep.")


def _is_number(fact: Seen) -> bool:
    value = fact.get("value")
    if isinstance(value, torch.Tensor):
        return value.numel() == 1
    return isinstance(value, int | float)


SAYS = {
    "swapped": "{what} has slope and intercept the other way round. Which one comes first?",
    "no_intercept": (
        "{what} goes through zero: the intercept never moved. Does `b` take part in the "
        "prediction, require grad, and get its step?"
    ),
    "broadcast_loss": (
        "{what} is flat, as if each prediction were compared with every `y`. "
        "Which shapes do your prediction and `y` have, and what does their difference have?"
    ),
    "one_step_only": (
        "{what} is where the first step leads. How often does your loop run, and is the `return` "
        "inside it?"
    ),
    "stale_gradient": (
        "{what} swings around the best one and never settles: each step is made of all the "
        "gradients so far. What stays in `.grad` from one step to the next?"
    ),
    "not_there_yet": (
        "{what} is not the best one yet: the loss would still fall. Do `w` and `b` both move in "
        "each of the `steps`, each by its own gradient?"
    ),
}

FIT_LINE = Exercise(
    id="fit_line",
    title="Build: fit a line with autograd alone",
    lesson="01_requires_grad",
    points=4,
    minutes=15,
    difficulty=4,
    answer="fit_line",
    observe="call_counting",
    cases=_cases,
    judge=_judge,
    hints=(
        "You need two leaves. What should they require, and what is the loss as a function of "
        "them?",
        "Each turn has four parts: loss, backward, a step that is not recorded, and a clean "
        "`.grad` for the next turn.",
        "You wrote the step already, in `sgd_step`: call the same two lines for `w` and for `b` "
        "after each backward of the mean squared error.",
    ),
    symptom_hints={
        "stale_gradient": "Print `w.grad` in the first ten turns: does it shrink?",
        "grad_is_none": "After `w = w - ...` the name `w` means a new tensor. Is that a leaf?",
        "diverged": "Print the loss in the first five turns: does it fall?",
    },
    names=("requires_grad", ".grad", "zero_grad(set_to_none)"),
)
