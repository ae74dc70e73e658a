"""Only the work that somebody needs: needs_input_grad, and gradients that are None."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

MATMUL_PROGRAM = """\
y = answer.apply(a, b)
note = go(y, v, a=a, b=b)
"""


def _cases_matmul(rng: torch.Generator) -> list[Case]:
    return [
        {
            **case(
                MATMUL_PROGRAM,
                *leaves,
                a=numbers(rng, n, k),
                b=numbers(rng, k, m),
                v=numbers(rng, n, m, low=1),
            ),
            "facts": ["y", "a", "b"],
        }
        for n, k, m, leaves in ((5, 3, 4, "ab"), (2, 6, 3, "a"), (4, 2, 5, "b"))
    ]


def _judge_matmul(case: Case, seen: Seen) -> Verdict:
    a, b, v = (case["inputs"][name] for name in "abv")
    note = seen["note"]
    if stopped := not_recorded(note):
        return stopped
    verdict = compare(seen["y"], a @ b, "`MatMul.apply(a, b)`")
    if verdict.outcome != RIGHT:
        return verdict
    want = {"a": v @ b.T, "b": a.T @ v}
    ones = torch.ones_like(v)
    forgot = {"a": ones @ b.T, "b": a.T @ ones}
    for name in case["leaves"]:
        verdict = compare(
            seen[name]["grad"],
            want[name],
            f"`{name}.grad`",
            simulated={"forgot_upstream": forgot[name]},
        )
        if verdict.outcome != RIGHT:
            return verdict
    for name in {"a", "b"} - set(case["leaves"]):
        if any(close(made, want[name]) or close(made.T, want[name]) for made in _matrices(note)):
            return not_yet(
                "worked_for_nothing",
                f"`{name}` does not require grad, and your `backward` worked out its gradient all "
                "the same: a whole product of matrices for nobody. What does ctx know about who "
                "needs one?",
            )
    return misbehaved(note) or right("Nothing is computed that nobody asked for.")


def _matrices(note: Seen) -> list[torch.Tensor]:
    return [made for made in note["made"] if made.ndim == 2]


MATMUL = Exercise(
    id="only_what_is_needed",
    title="Only the gradients that are needed",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="MatMul",
    observe="call_in_program",
    cases=_cases_matmul,
    judge=_judge_matmul,
    hints=(
        "What are the two gradients of a product of matrices, and when does nobody want one?",
        "`ctx.needs_input_grad` is a tuple with a flag for each argument. Where it is False, None "
        "will do.",
        "Start with None for both. If the first flag is set, multiply what comes in by b, "
        "transposed; if the second is, multiply a, transposed, by what comes in.",
    ),
    symptom_hints={
        "gradient_of_wrong_shape": "Only one order and one transpose give the shape of `a`.",
        "worked_for_nothing": "The flags are in the order of the arguments of `forward`.",
    },
    names=("needs_input_grad",),
)

SINCOS_PROGRAM = """\
outputs = answer.apply(x)
pair = isinstance(outputs, tuple) and len(outputs) == 2
pair = pair and all(isinstance(part, torch.Tensor) for part in outputs)
sin, cos = outputs if pair else (None, None)
note = {"pair": pair, "none": False}
if pair:
    y = {"sin": sin, "cos": cos, "both": 2 * sin + 3 * cos}[uses]
    try:
        note |= go(y, v)
    except TypeError as error:
        note["none"] = "NoneType" in str(error)
        if not note["none"]:
            raise
"""


def _cases_sincos(rng: torch.Generator) -> list[Case]:
    return [
        case(
            SINCOS_PROGRAM,
            "x",
            facts=("sin", "cos"),
            x=numbers(rng, *shape),
            v=numbers(rng, *shape, low=1),
            uses=uses,
        )
        for shape, uses in (((2, 3), "both"), ((4,), "sin"), ((3, 2), "cos"))
    ]


def _judge_sincos(case: Case, seen: Seen) -> Verdict:
    x, v, uses = (case["inputs"][name] for name in ("x", "v", "uses"))
    note = seen["note"]
    if not note["pair"]:
        return not_yet(
            "not_two_outputs",
            "`SinCos.apply(x)` should give two tensors, and yours gives something else. "
            "What does `forward` return?",
        )
    for name, want in (("sin", x.sin()), ("cos", x.cos())):
        verdict = compare(seen[name], want, f"The output `{name}`")
        if verdict.outcome != RIGHT:
            return verdict
    if note["none"]:
        return not_yet(
            "none_in_arithmetic",
            "Your `backward` stopped where a gradient is None: only one of the outputs was used, "
            "and you asked torch not to make zeros for the other. Who has to look for None now?",
        )
    up_sin = {"sin": v, "cos": 0 * v, "both": 2 * v}[uses]
    up_cos = {"sin": 0 * v, "cos": v, "both": 3 * v}[uses]
    sin_part, cos_part = up_sin * x.cos(), -up_cos * x.sin()
    verdict = compare(
        seen["x"]["grad"],
        sin_part + cos_part,
        "`x.grad`",
        simulated={
            "lost_minus": sin_part - cos_part,
            "one_output_only": [sin_part, cos_part],
            "slopes_swapped": [
                up_sin * x.sin() + up_cos * x.cos(),
                up_cos * x.cos() - up_sin * x.sin(),
            ],
            "forgot_upstream": x.cos() - x.sin(),
        },
        says={
            "lost_minus": "{what} has the part that comes through the cosine with the wrong sign. "
            "Where does the cosine go when `x` grows from 0?",
            "one_output_only": "{what} holds the part of one output alone. When both were used, "
            "what happens to the two gradients?",
            "slopes_swapped": "{what} has the slopes of sine and cosine mixed up. Which is the "
            "slope of which?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if uses != "both" and any(made.numel() and not made.any() for made in note["made"]):
        return not_yet(
            "made_zeros",
            "The gradient is right, but for the output that nobody used a tensor of zeros was made "
            "and computed with. Which method of ctx lets None through in its place?",
        )
    return misbehaved(note) or right("No zeros are made for an output that nobody used.")


SINCOS = Exercise(
    id="two_outputs",
    title="Two outputs, and one that nobody used",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="SinCos",
    observe="call_in_program",
    cases=_cases_sincos,
    judge=_judge_sincos,
    hints=(
        "What does backward get for an output that was not used?",
        "By default torch makes zeros. `ctx.set_materialize_grads` in `forward` switches that off; "
        "then you meet None.",
        "Start with None, add the part of each gradient that is not None, and mind that None plus "
        "a tensor is an error.",
    ),
    symptom_hints={
        "one_output_only": "`elif` and an early `return` take one of the two. Both may be there.",
        "none_in_arithmetic": "Ask `is not None` before you multiply.",
    },
    names=("set_materialize_grads",),
)
