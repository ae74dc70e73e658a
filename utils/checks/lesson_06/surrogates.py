"""Backwards that differ from the true slope on purpose: gradient reversal, straight-through."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

REVERSE_PROGRAM = """\
y = answer(x, strength)
note = go(y, v, x=x)
"""


def _cases_reverse(rng: torch.Generator) -> list[Case]:
    return [
        case(
            REVERSE_PROGRAM,
            "x",
            x=numbers(rng, *shape),
            v=numbers(rng, *shape, low=1),
            strength=float(numbers(rng, low=low, high=low + 0.5)),
        )
        for shape, low in (((2, 3), 0.3), ((5,), 2.2))
    ]


def _judge_reverse(case: Case, seen: Seen) -> Verdict:
    x, v, strength = (case["inputs"][name] for name in ("x", "v", "strength"))
    verdict = compare(
        seen["y"],
        x,
        "What `reverse` returned",
        simulated={"reversed_the_value": [-x, strength * x, -strength * x]},
        says={
            "reversed_the_value": (
                "{what} is not `x` any more. Only the gradient should be reversed: what does "
                "`forward` do with the values?"
            )
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if stopped := not_recorded(seen["note"]):
        return stopped
    verdict = compare(
        seen["x"]["grad"],
        -strength * v,
        "`x.grad`",
        simulated={
            "forgot_upstream": torch.full_like(v, -strength),
            "accumulated_twice": -2 * strength * v,
            "sign_lost": strength * v,
            "passed_on": v,
            "strength_lost": -v,
        },
        says={
            "accumulated_twice": (
                "{what} is exactly twice too big. Torch puts there what `backward` returns: did "
                "you put it there as well?"
            ),
            "sign_lost": "{what} is scaled, but not reversed. What turns it round?",
            "passed_on": "{what} is what came in, unchanged. Does your `backward` do anything?",
            "strength_lost": "{what} is reversed, but not scaled. Where does `strength` come in?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    return misbehaved(seen["note"]) or right("The values pass, the gradient turns round.")


REVERSE = Exercise(
    id="reverse_gradient",
    title="Turn the gradient round",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="reverse",
    observe="call_in_program",
    cases=_cases_reverse,
    judge=_judge_reverse,
    hints=(
        "What may differ between going forward and going back, if you write both yourself?",
        "Numbers are kept as attributes of ctx. And an argument that is no tensor needs an entry "
        "among the returned gradients all the same.",
        "Write the class, in the function or above it, and call its `apply`. `forward` gives `x` "
        "back; `backward` returns the gradient times minus the strength, and None.",
    ),
    symptom_hints={
        "number_of_gradients": "`strength` is an argument of `forward` too.",
        "no_custom_node": "Who calls your `backward`? Only a node that `apply` has recorded.",
    },
    names=("Function", "Function.apply"),
)

QUANTISE_PROGRAM = """\
outputs = answer.apply(x, step)
pair = isinstance(outputs, tuple) and len(outputs) == 2
pair = pair and all(isinstance(part, torch.Tensor) for part in outputs)
y, error = outputs if pair else (None, None)
flags = [part.requires_grad for part in outputs] if pair else []
note = {"pair": pair, "flags": flags}
if pair and y.requires_grad:
    note |= go(y, v, x=x)
"""


def _cases_quantise(rng: torch.Generator) -> list[Case]:
    return [
        case(
            QUANTISE_PROGRAM,
            "x",
            facts=("y", "error"),
            x=numbers(rng, *shape, low=-4, high=4),
            v=numbers(rng, *shape, low=1),
            step=step,
        )
        for shape, step in (((3, 4), 0.5), ((6,), 0.25))
    ]


def _judge_quantise(case: Case, seen: Seen) -> Verdict:
    x, v, step = (case["inputs"][name] for name in ("x", "v", "step"))
    note = seen["note"]
    if not note["pair"]:
        return not_yet(
            "not_two_outputs",
            "`Quantise.apply(x, step)` should give two tensors, and yours gives something else. "
            "What does `forward` return?",
        )
    q = torch.round(x / step) * step
    if close(seen["y"]["value"], x - q) and close(seen["error"]["value"], q):
        return not_yet("outputs_swapped", "The two outputs are swapped. Which one comes first?")
    for name, want in (("y", q), ("error", x - q)):
        what = "The rounded output" if name == "y" else "The error"
        simulated = {"wrong_sign": -want, "not_divided": want.round() * step}
        if name == "y":
            simulated = {
                "other_rounding": [torch.floor(x / step) * step, torch.trunc(x / step) * step],
                "not_scaled_back": torch.round(x / step),
            }
        verdict = compare(
            seen[name],
            want,
            what,
            simulated=simulated,
            says={
                "other_rounding": "{what} is not the nearest multiple of `step`. Which function "
                "goes to the nearest whole number?",
                "not_scaled_back": "{what} counts steps. How do counts become values again?",
                "not_divided": "{what} is rounded itself. From which two numbers is it made?",
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    if not note["flags"][0]:
        return not_yet(
            "marked_the_wrong_one",
            "The rounded output does not require grad, so no gradient can come back through it. "
            "Which of the two outputs did you mark?",
        )
    if note["flags"][1]:
        return not_yet(
            "not_marked",
            "The error requires grad: somebody could send a gradient back through it, which you "
            "would drop without a word. `detach` within `forward` changes nothing. Which method of "
            "ctx declares such an output?",
        )
    verdict = compare(
        seen["x"]["grad"],
        v,
        "`x.grad`",
        simulated={
            "true_slope": torch.zeros_like(v),
            "forgot_upstream": torch.ones_like(v),
            "scaled_by_step": [v * step, v / step],
        },
        says={
            "true_slope": (
                "{what} is 0: true, since rounding is flat, and useless. Straight-through means to "
                "pretend something about the slope. What?"
            ),
            "scaled_by_step": "{what} has `step` in it. You divide by it and multiply by it again: "
            "what is left of it?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    return misbehaved(note) or right("Gradcheck would call this wrong, and it is meant to be.")


QUANTISE = Exercise(
    id="quantise_through",
    title="Straight through, with a second output",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="Quantise",
    observe="call_in_program",
    cases=_cases_quantise,
    judge=_judge_quantise,
    hints=(
        "How many gradients does backward get, and how many does it give?",
        "A second output brings a second gradient into backward's signature, even if it is marked. "
        "Two inputs want two values back.",
        "Mark the error in `forward` with `ctx.mark_non_differentiable`. In backward take two "
        "gradients, ignore the second, and hand the first on.",
    ),
    symptom_hints={
        "backward_signature": "One gradient comes in for each output, marked or not.",
        "true_slope": "Pretend that the output is the input.",
    },
    names=("mark_non_differentiable",),
)
