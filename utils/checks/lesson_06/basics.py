"""Addition with a broadcast, and ReLU: the two styles of a custom Function."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

ADD_PROGRAM = """\
y = answer.apply(x, bias)
shapes = []
if isinstance(y, torch.Tensor) and hasattr(y.grad_fn, "apply"):
    # Torch sums what is too large, so look at what backward returned before torch does.
    returned = y.grad_fn.apply(v.clone())
    returned = returned if isinstance(returned, tuple) else (returned,)
    shapes = [list(part.shape) if isinstance(part, torch.Tensor) else None for part in returned]
note = {**go(y, v, x=x, bias=bias), "shapes": shapes}
"""


def _cases_add(rng: torch.Generator) -> list[Case]:
    return [
        case(
            ADD_PROGRAM,
            *("x", "bias"),
            x=numbers(rng, n, m),
            bias=numbers(rng, m),
            v=numbers(rng, n, m, low=1),
        )
        for n, m in ((4, 3), (2, 5))
    ]


def _judge_add(case: Case, seen: Seen) -> Verdict:
    x, bias, v = (case["inputs"][name] for name in ("x", "bias", "v"))
    if stopped := not_recorded(seen["note"]):
        return stopped
    verdicts = [
        compare(seen["y"], x + bias, "`Add.apply(x, bias)`"),
        compare(
            seen["x"]["grad"],
            v,
            "`x.grad`",
            simulated={"forgot_upstream": torch.ones_like(v), "all_zero": torch.zeros_like(v)},
        ),
        compare(
            seen["bias"]["grad"],
            v.sum(0),
            "`bias.grad`",
            simulated={
                "forgot_upstream": [torch.ones_like(bias), torch.full_like(bias, len(v))],
                "mean_for_sum": v.mean(0),
                "overwritten": [v[0], v[-1]],
                "summed_too_much": v.sum().expand(bias.shape),
            },
            says={
                "mean_for_sum": "{what} is the mean over the rows. Each row used the bias once: "
                "how do the gradients of several uses combine?",
                "overwritten": "{what} is the gradient of one row alone. How many rows used the "
                "bias, and what happens to the gradients of all of them?",
                "summed_too_much": "{what} is the same number everywhere. Over which dimension was "
                "the bias repeated, and over which was it not?",
            },
        ),
    ]
    for verdict in verdicts:
        if verdict.outcome != RIGHT:
            return verdict
    if seen["note"]["shapes"] != [list(x.shape), list(bias.shape)]:
        return not_yet(
            "unreduced_broadcast",
            "The gradients arrive as they should, but by luck: your `backward` returned one of "
            "another shape than its input has, and torch summed it for you. Which shape does "
            "`bias` have, and how do you sum to it yourself?",
        )
    return misbehaved(seen["note"]) or right("Each input gets a gradient of its own shape.")


ADD = Exercise(
    id="add_function",
    title="Add, by hand",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=1,
    answer="Add",
    observe="call_in_program",
    cases=_cases_add,
    judge=_judge_add,
    hints=(
        "What does backward get, and for how many inputs does it have to answer?",
        "The slope of a sum is one for each part, so what comes in goes on. But is it as large as "
        "the bias?",
        "Write a static `backward` with a ctx and one gradient. Return two tensors: the gradient "
        "for `x`, and for the bias the same, with its rows added up.",
    ),
    symptom_hints={
        "number_of_gradients": "Count the arguments of `forward` that come after the ctx.",
        "unreduced_broadcast": "Over which dimension was the bias repeated?",
    },
    names=("Function",),
)

RELU_PROGRAM = """\
y = answer.apply(x)
note = go(y, v, x=x)
note["split"] = answer.setup_context is not torch.autograd.Function.setup_context
"""


def _cases_relu(rng: torch.Generator) -> list[Case]:
    cases = []
    for shape in ((3, 4), (7,)):
        x = numbers(rng, *shape)
        x.view(-1)[:4] = torch.tensor([0.0, -0.0, 1.3, -0.7], dtype=torch.float64)
        cases.append(case(RELU_PROGRAM, "x", x=x, v=numbers(rng, *shape, low=1, high=3)))
    return cases


def _judge_relu(case: Case, seen: Seen) -> Verdict:
    x, v = case["inputs"]["x"], case["inputs"]["v"]
    if stopped := not_recorded(seen["note"]):
        return stopped
    verdict = compare(seen["y"], x.relu(), "`ReLU.apply(x)`")
    if verdict.outcome != RIGHT:
        return verdict
    verdict = compare(
        seen["x"]["grad"],
        v * (x > 0),
        "`x.grad`",
        simulated={
            "forgot_upstream": [1.0 * (x > 0), 1.0 * (x >= 0)],
            "slope_one_at_zero": v * (x >= 0),
            "half_slope_at_zero": v * ((x > 0) + 0.5 * (x == 0)),
            "not_masked": v,
            "value_for_slope": v * x.relu(),
            "clipped_the_gradient": x.relu() * 0 + v.relu(),
        },
        says={
            "slope_one_at_zero": (
                "{what} is right but where `x` is 0: there you let the gradient through. ReLU has "
                "a kink there, and any slope from 0 to 1 can be defended. Which one does torch use?"
            ),
            "half_slope_at_zero": (
                "{what} is right but where `x` is 0: there you take half, the mean of both sides. "
                "Which slope does torch use?"
            ),
            "not_masked": (
                "{what} is the upstream gradient, also where `x` is negative and the output does "
                "not change. Where should it stop?"
            ),
            "value_for_slope": (
                "{what} is the upstream gradient times the output. Backward multiplies by the "
                "slope: how steep is ReLU where it lets `x` through?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["note"]["split"]:
        return not_yet(
            "no_setup_context",
            "The gradient is right, in the older style: `forward` takes the ctx. Transforms such as"
            " `vmap` want the two apart. Which static method gets the ctx, the inputs and the "
            "output?",
        )
    return misbehaved(seen["note"]) or right("Slope 0 at 0, as torch has it, in the newer style.")


RELU = Exercise(
    id="relu_function",
    title="ReLU, and the slope at 0",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=2,
    answer="ReLU",
    observe="call_in_program",
    cases=_cases_relu,
    judge=_judge_relu,
    hints=(
        "Where does the output follow the input, and where does it stay put?",
        "Without a ctx `forward` cannot save. `setup_context(ctx, inputs, output)` runs after it "
        "and can: `inputs` is a tuple.",
        "Keep the input or the output. In backward, let the gradient through where it is "
        "greater than 0, and multiply by False elsewhere.",
    ),
    symptom_hints={
        "saved_not_unpacked": "Look at `len(ctx.saved_tensors)`, then at the comma after a name.",
        "saved_for_backward_typo": "Saving has a verb, reading has a participle and a noun.",
        "compared_tensors": "`torch.where`, `clamp` and a comparison all work entry by entry.",
    },
    names=("Function.setup_context", "save_for_backward"),
)
