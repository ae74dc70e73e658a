"""What a Function keeps for its backward: the output, in place, and nothing twice."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

SIGMOID_PROGRAM = """\
y = answer.apply(x)
note = go(y, v, x=x)
"""


def _cases_sigmoid(rng: torch.Generator) -> list[Case]:
    return [
        case(SIGMOID_PROGRAM, "x", x=numbers(rng, *shape), v=numbers(rng, *shape, low=1, high=3))
        for shape in ((3, 2), (5,))
    ]


def _judge_sigmoid(case: Case, seen: Seen) -> Verdict:
    x, v, note = case["inputs"]["x"], case["inputs"]["v"], seen["note"]
    if stopped := not_recorded(note):
        return stopped
    y = x.sigmoid()
    verdict = compare(seen["y"], y, "`Sigmoid.apply(x)`")
    if verdict.outcome != RIGHT:
        return verdict
    again = y.sigmoid()
    verdict = compare(
        seen["x"]["grad"],
        v * y * (1 - y),
        "`x.grad`",
        simulated={
            "forgot_upstream": y * (1 - y),
            "formula_of_the_other": [v * x * (1 - x), v * again * (1 - again)],
            "slope_of_exp": v * y,
        },
        says={
            "formula_of_the_other": (
                "{what} comes from the right kind of formula, fed with the wrong tensor. Is the "
                "slope written with the input or with the output, and which did you save?"
            ),
            "slope_of_exp": (
                "{what} is the upstream gradient times the output. That is the slope of `exp`; "
                "which factor is missing for the sigmoid?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if stopped := misbehaved(note):
        return stopped
    if "x" in note["saved"]:
        return not_yet(
            "saved_the_input",
            "The gradient is right, but the input is saved, and nobody else needs that any more. "
            "The output is there anyway: can you write the slope with it alone?",
        )
    if note["saved"] != ["y"]:
        return not_yet(
            "saved_a_copy",
            "The gradient is right, but what you saved is not the output itself and nothing else: "
            "it has memory of its own. Which tensor leaves `forward`?",
        )
    return right("One tensor saved, and it was there already.")


SIGMOID = Exercise(
    id="saves_its_output",
    title="Save the output, not the input",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="Sigmoid",
    observe="call_in_program",
    cases=_cases_sigmoid,
    judge=_judge_sigmoid,
    hints=(
        "With s for the output: can you write the slope of the sigmoid with s alone?",
        "`ctx.save_for_backward` takes outputs as well as inputs. An attribute of ctx is neither "
        "freed nor guarded.",
        "Name the result, save that very tensor, and return it. Backward needs the output, one "
        "minus the output, and what comes in.",
    ),
    symptom_hints={
        "tensor_on_ctx": "Change the output in place before backward: who complains, and who not?",
        "saved_a_copy": "`detach` and `clone` make another tensor.",
    },
    names=("save_for_backward", "saved_tensors"),
)

LEAKY_PROGRAM = """\
h = x * 1
y = answer.apply(h, slope)
note = {"same": y is h}
moved = h.detach().clone()
if isinstance(y, torch.Tensor):
    through_y = isinstance(y.grad_fn, torch.autograd.function.BackwardCFunction)
    note["through_y"] = through_y
    note |= go(h, v, h=h)
else:
    note |= {"through_y": False, **go(y, v)}
"""


def _cases_leaky(rng: torch.Generator) -> list[Case]:
    return [
        case(
            LEAKY_PROGRAM,
            "x",
            facts=("y", "moved"),
            x=numbers(rng, *shape),
            v=numbers(rng, *shape, low=1),
            slope=slope,
        )
        for shape, slope in (((4, 5), 0.2), ((9,), 0.05))
    ]


def _judge_leaky(case: Case, seen: Seen) -> Verdict:
    x, v, slope = (case["inputs"][name] for name in ("x", "v", "slope"))
    note = seen["note"]
    factor = torch.where(x > 0, 1, slope).to(x.dtype)
    verdict = compare(seen["y"], factor * x, "`LeakyReLU_.apply(h, slope)`")
    if verdict.outcome != RIGHT:
        return verdict
    verdict = compare(
        seen["moved"],
        factor * x,
        "`h` after the call",
        simulated={"not_in_place": x},
        says={
            "not_in_place": (
                "{what} is what it was before: you made a new tensor, and the memory for it. Which "
                "operations end in an underscore?"
            )
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not note["custom"]:
        if note["through_y"] or note["same"]:
            return not_yet(
                "not_marked_dirty",
                "`h` holds the new values and still has its old history, so a gradient that comes "
                "back through `h` passes your Function by. Which method of ctx says that an input "
                "was changed?",
            )
        return not_yet(
            "no_custom_node", "No custom Function stands behind `h`. What does `forward` return?"
        )
    verdict = compare(
        seen["x"]["grad"],
        factor * v,
        "`x.grad`",
        simulated={
            "forgot_upstream": factor,
            "slope_forgotten": v * (x > 0),
            "not_masked": [v, slope * v],
            "slope_twice": factor**2 * v,
        },
        says={
            "slope_forgotten": "{what} is 0 where `x` is negative, as for the plain ReLU. How "
            "steep is this one there?",
            "not_masked": "{what} has the same factor everywhere. What tells backward on which "
            "side of 0 an entry was?",
            "slope_twice": "{what} has the slope squared on the negative side. How often is it "
            "multiplied in?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if stopped := misbehaved(note):
        return stopped
    if any(name not in ("h", "y", "torch.bool") for name in note["saved"]):
        return not_yet(
            "saved_a_copy",
            "The gradient is right, but a copy of the numbers is saved: in place was meant to cost "
            "no memory. With a positive slope, what do input and output have in common?",
        )
    return right("In place, declared, and nothing copied.")


LEAKY = Exercise(
    id="leaky_in_place",
    title="In place, and declared",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="LeakyReLU_",
    observe="call_in_program",
    cases=_cases_leaky,
    judge=_judge_leaky,
    hints=(
        "After the call the input's values are gone. What does the output still tell about them?",
        "Torch cannot see what `forward` does inside. `ctx.mark_dirty` tells it that an input was "
        "changed, and the same tensor must be returned.",
        "Multiply `h` in place by a factor that is 1 or the slope, mark it, save it, return it. "
        "The sign did not change, so backward can make the factor again.",
    ),
    symptom_hints={
        "saved_a_copy": "You need a sign for each entry, and it is still there.",
        "number_of_gradients": "`slope` is an argument too.",
    },
    names=("mark_dirty",),
)
