"""Derivatives of backward: kept by tensor operations, given up openly with NumPy."""

from __future__ import annotations

from collections.abc import Callable

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The second derivative at x: "raised" if torch refused, None if there is no way back to x.
SECOND = """\
y = answer.apply(x)
note = go(y, v, x=x)
v.requires_grad_()  # a backward that lost its way to x is told from one without any graph
raised, second = "", None
if note["custom"]:
    z = x.detach().clone().requires_grad_()
    z_out = answer.apply(z)
    try:
        first, = torch.autograd.grad(z_out, z, v, create_graph=True, allow_unused=True)
        if first is not None and first.requires_grad:
            first.backward(w)
            second = z.grad
    except RuntimeError as error:
        raised = "once_differentiable" if "once_differentiable" in str(error) else str(error)
"""


def _cases(low: float) -> Callable[[torch.Generator], list[Case]]:
    def cases(rng: torch.Generator) -> list[Case]:
        drawn = []
        for shape in ((2, 3), (5,)):
            x = numbers(rng, *shape, low=low, high=2)
            x.view(-1)[0] = -1.7  # the cube root of a negative number is real
            v, w = numbers(rng, *shape, low=1, high=3), numbers(rng, *shape, low=1, high=3)
            one = case(SECOND, "x", facts=("y", "second"), x=x, v=v, w=w)
            drawn.append({**one, "report": ["note", "raised"]})
        return drawn

    return cases


def _judge_first(
    case: Case,
    seen: Seen,
    y: torch.Tensor,
    slope: torch.Tensor,
    name: str,
    simulated: dict[str, object],
    says: dict[str, str],
) -> Verdict | None:
    v = case["inputs"]["v"]
    if stopped := not_recorded(seen["note"]):
        return stopped
    verdict = compare(seen["y"], y, f"`{name}.apply(x)`")
    if verdict.outcome == RIGHT:
        verdict = compare(
            seen["x"]["grad"],
            v * slope,
            "`x.grad`",
            simulated={"forgot_upstream": slope, **simulated},
            says=says,
        )
    return verdict if verdict.outcome != RIGHT else None


def _judge_log_cosh(case: Case, seen: Seen) -> Verdict:
    x, v, w = (case["inputs"][name] for name in "xvw")
    stopped = _judge_first(
        *(case, seen, x.cosh().log(), x.tanh(), "LogCosh"),
        simulated={"value_for_slope": v * x.cosh().log(), "slope_of_tanh": v / x.cosh() ** 2},
        says={
            "value_for_slope": "{what} is the upstream gradient times the output. What is the "
            "slope of log cosh?",
            "slope_of_tanh": "{what} is the second derivative already. What is the first?",
        },
    )
    if stopped:
        return stopped
    if seen["raised"] == "once_differentiable":
        return not_yet(
            "once_differentiable",
            "The first derivative is right, and `once_differentiable` forbids the second. This "
            "backward can do without it: which operations is it made of?",
        )
    if "numpy()" in seen["raised"]:
        return not_yet(
            "numpy_on_tracked",
            "The first derivative is right, and the second stops with an error: backward leaves "
            "torch for NumPy, which refuses what is recorded. Which torch functions do the same?",
        )
    if seen["second"].get("value") is None:
        return not_yet(
            "second_cut",
            "The first derivative is right, but it does not know that it depends on `x`, so the "
            "second would be lost. Was the slope worked out in `forward`, where nothing is "
            "recorded, or was the saved tensor detached?",
        )
    verdict = compare(seen["second"], v * w * (1 - x.tanh() ** 2), "The second derivative")
    if verdict.outcome != RIGHT:
        return verdict
    return misbehaved(seen["note"]) or right("Your backward can be differentiated like any code.")


LOG_COSH = Exercise(
    id="twice_differentiable",
    title="Differentiable twice",
    lesson=LESSON,
    points=3,
    minutes=8,
    difficulty=3,
    answer="LogCosh",
    observe="call_in_program",
    cases=_cases(-2),
    judge=_judge_log_cosh,
    hints=(
        "While `forward` runs nothing is recorded. And while backward runs, under "
        "`create_graph=True`?",
        "What you work out in `forward` is a constant for backward. A saved input is not: it comes "
        "back with its history.",
        "Save the input itself. Work out its tanh in backward, with tensor operations, and "
        "multiply by what comes in.",
    ),
    symptom_hints={"second_cut": "Save the input, and nothing that was computed from it."},
    names=("gradgradcheck",),
)


def _judge_cbrt(case: Case, seen: Seen) -> Verdict:
    x, v, w = (case["inputs"][name] for name in "xvw")
    y = x.sign() * x.abs() ** (1 / 3)
    slope = 1 / (3 * y**2)
    stopped = _judge_first(
        *(case, seen, y, slope, "CubeRoot"),
        simulated={
            "wrong_power": [v / (3 * y), v / (3 * x**2), v / 3 * y**2, 3 * v * x**2],
            "lost_third": v / y**2,
        },
        says={
            "wrong_power": "{what} has the wrong power in it. What is the slope of x to the power "
            "of a third, written with the cube root?",
            "lost_third": "{what} is three times too big. What does the exponent leave in front?",
        },
    )
    if stopped:
        return stopped
    if stopped := misbehaved(seen["note"]):
        return stopped
    if seen["raised"] == "once_differentiable":
        return right("NumPy did the work, and whoever asks for a second derivative is told.")
    if seen["raised"]:
        return right(
            "Whoever asks for a second derivative is stopped, since `create_graph=True` records "
            "backward, and NumPy refuses what is recorded. The words speak of NumPy: "
            "`once_differentiable` would say plainly that there is no second derivative."
            if "numpy()" in seen["raised"]
            else "Whoever asks for a second derivative is stopped with an error."
        )
    second = seen["second"].get("value")
    if second is None:
        return not_yet(
            "silent_second",
            "The gradient is right. But with `create_graph=True` it comes back without a history, "
            "and nobody is told: a penalty on it would train nothing. Which decorator from "
            "`torch.autograd.function` turns that into an error?",
        )
    if not close(second, v * w * -2 / (9 * y**5)):
        return not_yet(
            "second_wrong",
            "The gradient is right, and its own derivative is silently wrong: a part of the work "
            "was done where autograd does not look. Which decorator turns that into an error?",
        )
    return right("Even the second derivative holds: your backward stays within torch.")


CBRT = Exercise(
    id="numpy_inside",
    title="NumPy inside",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="CubeRoot",
    observe="call_in_program",
    cases=_cases(0.5),
    judge=_judge_cbrt,
    hints=(
        "Torch has no cube root and NumPy has one: what goes in there, and what comes out?",
        "`torch.from_numpy` makes a tensor again. What NumPy does in backward, autograd does not "
        "see: say so with `once_differentiable`.",
        "Save the result. In backward divide what comes in by three times its square; put the "
        "decorator nearest to the function.",
    ),
    symptom_hints={
        "number_from_forward": "`forward` returns tensors: wrap the array.",
        "nan": "A power with a fraction has no real value at a negative number.",
        "number_for_gradient": "What NumPy made must become a tensor, in backward too.",
    },
    names=("once_differentiable",),
)
