"""A slope in any grad mode: switch recording on where somebody has switched it off."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# It notes whether autograd watched, backward or forward.
FUNCTION = """\
watching, wrapped = [], []


def f(x):
    wrapped.append(torch._C._functorch.maybe_current_level() is not None)
    forward = torch.autograd.forward_ad._current_level >= 0
    watching.append(x.requires_grad or forward)
    return (weight * x.tanh()).sum(-1) ** 2
"""
SLOPE_PROGRAM = """\
MODES = {
    "on": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
}
with MODES[mode]():
    recording, inferring = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    x = x.clone().requires_grad_(mode == "on")
    if mode == "on":
        x.grad = torch.full_like(x, 5)
    watched = x.requires_grad
    stopped = ""
    try:
        result = answer(f, x)
    except RuntimeError as error:
        if mode == "on":
            raise
        result, stopped = None, str(error)
    mode_kept = recording == torch.is_grad_enabled()
    mode_kept = mode_kept and inferring == torch.is_inference_mode_enabled()
    marked = x.requires_grad != watched or (mode != "on" and x.grad is not None)
    marked = bool(marked or (mode == "on" and not torch.equal(x.grad, torch.full_like(x, 5))))
"""


def _cases_slope(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, n, d), "weight": numbers(rng, d), "mode": mode},
            "given": FUNCTION,
            "program": SLOPE_PROGRAM,
            "report": ["stopped", "mode_kept", "marked", "watching", "wrapped"],
            "facts": ["result", "x"],
        }
        for n, d, mode in ((3, 4, "on"), (2, 3, "no_grad"), (4, 2, "inference_mode"))
    ]


def _judge_slope(case: Case, seen: Seen) -> Verdict:
    x, weight, mode = (case["inputs"][name] for name in ("x", "weight", "mode"))
    if seen["stopped"]:
        said = seen["stopped"].split(".")[0]
        where = f"Under `torch.{mode}`, `input_gradient` stopped: {said}."
        if mode == "no_grad":
            return not_yet(
                "recording_is_off",
                f"{where} The caller records nothing. How do you switch recording on for the "
                "lines that need it?",
            )
        if "inference tensor" in said.lower():
            return not_yet(
                "inference_tensor_watched",
                f"{where} You left the mode, but `x` was made in it and stays what it is. "
                "What makes an ordinary tensor of it?",
            )
        return not_yet(
            "enable_grad_in_inference_mode",
            f"{where} `enable_grad` undoes `no_grad`, but inference mode stays. "
            "How do you leave inference mode for a while?",
        )
    inner = (weight * x.tanh()).sum(-1, keepdim=True)
    want = 2 * inner * weight * (1 - x.tanh() ** 2)
    near = seen["result"].get("value") if seen["result"]["kind"] == "tensor" else None
    if near is not None and close(near, want, 1e-4) and not any(seen["watching"]):
        return not_yet(
            "by_hand",
            "The gradient is near, but nothing was watched while `f` ran: you tried small steps. "
            "How many calls of `f` does that take, and how many does autograd need?",
        )
    verdict = compare(
        seen["result"],
        want,
        "The gradient that you return",
        simulated={"accumulated_on_old": want + 5, "value_for_gradient": inner.squeeze(-1) ** 2},
        says={
            "accumulated_on_old": (
                "{what} has the old content of `x.grad` in it. Whose `.grad` did backward fill?"
            )
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if seen["marked"] or not close(seen["x"]["value"], x):
        return not_yet(
            "marked_the_input",
            "The gradient is right, but the caller's `x` was changed: its flag, its `.grad` or its "
            "values. What could you watch in its place?",
        )
    if not seen["mode_kept"]:
        return not_yet(
            "mode_left_switched",
            "The gradient is right, but the caller's mode was not put back. "
            "Which form of the switch ends by itself?",
        )
    if seen["result"]["requires_grad"] and any(seen["wrapped"]):
        return not_yet(
            "tracked_around_a_transform",
            "The gradient is right, but it requires grad: a transform of `torch.func` records, on "
            "the outside, what happens to tensors that are watched already, as the caller's `x` "
            "is. What do you do with `x` before, or with the result after?",
        )
    if seen["result"]["requires_grad"]:
        return not_yet(
            "tracked",
            "The gradient is right, but it requires grad, so it drags a graph along. "
            "Which argument asked for that?",
        )
    return right("On, off, or inference: you get your slope, and nobody notices.")


SLOPE = Exercise(
    id="input_gradient",
    title="A slope, whatever mode you are called in",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="input_gradient",
    observe="call_in_program",
    cases=_cases_slope,
    judge=_judge_slope,
    hints=(
        "What must be on while `f` runs, and what must be true of the tensor that goes in?",
        "Two modes may be in your way. One context undoes `no_grad`; inference mode is only left "
        "by its own context, called with False.",
        "Inside both blocks, make a watched copy of `x`: not just a detached one, since what was "
        "made in inference mode cannot be watched. Then ask `torch.autograd.grad`.",
    ),
    symptom_hints={
        "enable_grad_in_inference_mode": "`torch.inference_mode` takes an argument: try False.",
        "inference_tensor_watched": "An error message about inference tensors names the remedy: "
        "which method makes an ordinary one?",
    },
    names=("enable_grad", "inference_mode"),
)
