"""Build: a fused loss that is stable at +-1000 and differentiable twice."""

from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits as reference

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

PROGRAM = """\
y = answer.apply(logits, targets)
note = go(y, v, logits=logits, targets=targets)
first_check = second_check = ""
scalar = note["custom"] and y.ndim == 0
if scalar and check:
    inputs = [part.detach().clone().requires_grad_() for part in (logits, targets)]
    checked = torch.autograd.gradcheck(answer.apply, inputs, raise_exception=False)
    first_check = "" if checked else "failed"
    try:
        checked = torch.autograd.gradgradcheck(answer.apply, inputs, raise_exception=False)
        second_check = "" if checked else "failed"
    except RuntimeError as error:
        second_check = str(error)
twice = None
if scalar:
    z = logits.detach().clone().requires_grad_()
    first, = torch.autograd.grad(answer.apply(z, targets.detach()), z, create_graph=True)
    if first.requires_grad and not second_check:
        twice, = torch.autograd.grad(first.sum(), z)
"""


def _cases(rng: torch.Generator) -> list[Case]:
    extreme = torch.tensor([-1000.0, 1000, -1000, 1000, -90, 90, 0])
    labels = torch.tensor([0.0, 1, 1, 0, 0.3, 1, 1])
    drawn = [
        (numbers(rng, 2, 2), numbers(rng, 2, 2, low=0.1, high=0.9), True),
        (numbers(rng, 3), numbers(rng, 3, low=0.1, high=0.9).round(), True),
        (extreme, labels, False),
        (extreme.double(), labels.double(), False),
    ]
    cases = []
    for logits, targets, check in drawn:
        v = numbers(rng, low=1, high=3).to(logits.dtype)
        one = case(
            PROGRAM,
            *("logits", "targets"),
            facts=("y", "twice"),
            logits=logits,
            targets=targets,
            v=v,
            check=check,
        )
        cases.append({**one, "report": ["note", "first_check", "second_check"]})
    return cases


def _judge(case: Case, seen: Seen) -> Verdict:
    z, t, v = (case["inputs"][name].double() for name in ("logits", "targets", "v"))
    note, ordinary = seen["note"], case["inputs"]["check"]
    if stopped := not_recorded(note):
        return stopped
    if not ordinary and (stopped := _unstable(seen)):
        return stopped
    each, n = reference(z, t, reduction="none"), z.numel()
    if seen["y"]["kind"] == "tensor" and seen["y"]["value"].shape == z.shape:
        return not_yet(
            "not_reduced",
            "You return a loss for each entry. One number was asked for: which one?",
        )
    p = z.sigmoid()
    # Only what can be told apart at ordinary logits: at the extremes losses are huge.
    wrong_losses = {
        "sum_for_mean": each.sum(),
        "mean_over_rows": each.sum(-1).mean(),
        "only_positive": reference(z, 0 * t).mean(),
        "wrong_sign": -each.mean(),
        "labels_swapped": reference(-z, t).mean(),
        "probabilities_expected": reference(p, t).mean(),
    }
    slope, slope_t = v * (p - t) / n, -v * z / n
    verdicts = [
        compare(
            seen["y"],
            each.mean(),
            "The loss",
            simulated=wrong_losses,
            says={
                "mean_over_rows": "{what} is divided by the rows alone. Over how many entries is "
                "the mean?",
                "only_positive": "{what} lacks the term with the targets. Where do they come in?",
                "labels_swapped": "{what} is what the opposite labels would give. What is the loss "
                "when the logit is large and the target 1?",
                "probabilities_expected": "{what} went through the sigmoid once too often. Does "
                "your formula take a logit or a probability?",
            },
        ),
        compare(
            seen["logits"]["grad"],
            slope,
            "`logits.grad`",
            simulated={
                "forgot_upstream": slope / v,
                "sum_for_mean": slope * n,
                "wrong_sign": -slope,
                "slope_through_both": slope * p * (1 - p),
                "residual_of_logits": v * (z - t) / n,
            },
            says={
                "slope_through_both": "{what} is multiplied by the slope of the sigmoid once more. "
                "In the fused loss that factor cancels: what is left?",
                "residual_of_logits": "{what} compares logits with targets. Which of the two has "
                "to become a probability first?",
            },
        ),
        compare(
            seen["targets"]["grad"],
            slope_t,
            "`targets.grad`",
            simulated={
                "forgot_upstream": slope_t / v,
                "sum_for_mean": slope_t * n,
                "wrong_sign": -slope_t,
            },
        ),
    ]
    for verdict in verdicts:
        if verdict.outcome != RIGHT:
            return verdict
    if seen["first_check"]:
        return not_yet(
            "fails_gradcheck",
            "The gradients are right where I looked, but gradcheck finds a difference. What do you "
            "get if you call it yourself, in float64?",
        )
    if seen["second_check"] or seen["twice"].get("value") is None:
        return not_yet(
            "fails_gradgradcheck",
            "The gradients are right, but gradgradcheck fails: backward cannot be differentiated "
            "with respect to all of its inputs. Was something worked out in `forward`, detached, "
            "or marked as once differentiable?",
        )
    verdict = compare(seen["twice"], p * (1 - p) / n, "The second derivative")
    if verdict.outcome != RIGHT:
        return verdict
    return misbehaved(note) or right("Fused, stable, right twice: keep it.")


def _unstable(seen: Seen) -> Verdict | None:
    """What overflowed, if anything did."""
    for what, value in (
        ("The loss", seen["y"].get("value")),
        ("`logits.grad`", seen["logits"]["grad"]),
        ("The second derivative", seen["twice"].get("value")),
    ):
        if value is None or bool(value.isfinite().all()):
            continue
        if what == "The loss":
            return not_yet(
                "overflow_in_forward",
                f"{what} is not finite when logits reach 1000 or -1000: `exp` overflowed, or `log` "
                "met a 0. How do you write log(1 + exp(z)) so that `exp` meets no number above 0?",
            )
        return not_yet(
            "overflow_in_backward",
            f"The loss is stable, but {what[0].lower() + what[1:]} is not finite when logits reach "
            "1000 or -1000. Which part of your backward divides two huge numbers, or two zeros?",
        )
    return None


FUSED = Exercise(
    id="stable_loss",
    title="Build: a fused loss that stays finite",
    lesson=LESSON,
    points=5,
    minutes=20,
    difficulty=5,
    answer="StableBCE",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Written with logits, the loss is softplus(z) minus z times t. Which part overflows, and "
        "what is its slope?",
        "softplus(z) is max(z, 0) plus log1p of exp(-|z|), or `torch.nn.functional.softplus`. Its "
        "slope is the sigmoid, which never overflows.",
        "Save logits and targets, nothing else. In backward: sigmoid minus target for the logits, "
        "minus the logit for the targets, both times what comes in and divided by their number.",
    ),
    symptom_hints={
        "sum_for_mean": "The mean divides by the number of entries, on the way back as well.",
        "overflow_in_forward": "Which sign must the argument of `exp` have?",
        "fails_gradgradcheck": "What `forward` works out is a constant for backward.",
    },
    names=("gradcheck", "gradgradcheck", "save_for_backward"),
)
