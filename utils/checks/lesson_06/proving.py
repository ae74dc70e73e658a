"""Gradcheck and gradgradcheck: how far do somebody's derivatives hold?"""

from __future__ import annotations

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, numbers
from utils.checks.verdict import Verdict, not_yet, right

# Off by a little, consistent in its second derivative, and the like. All are smooth where x is,
# above 0; `relu` has a kink at 0.
FUNCTIONS = """\
from torch.autograd.function import once_differentiable


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Wrong(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x**2 * g


class NearlyRight(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3.01 * x**2 * g


class Detached(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x.detach() ** 2 * g


class Once(Cube):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Kept(torch.autograd.Function):
    # The logarithm of cosh. Its slope comes from forward, so it has no history.

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.tanh())
        return x.cosh().log()

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g


functions = {
    "Cube": Cube.apply,
    "sin": torch.sin,
    "relu": torch.relu,
    "Wrong": Wrong.apply,
    "NearlyRight": NearlyRight.apply,
    "Detached": Detached.apply,
    "Once": Once.apply,
    "KeptSquared": lambda x: Kept.apply(x) ** 2,
}
"""
PROGRAM = """\
said = {}
for name, function in functions.items():
    result = answer(function, x)
    said[name] = result if isinstance(result, str) else type(result).__name__
"""
TRUTH = {
    **{"Cube": "twice", "sin": "twice", "relu": "twice", "Wrong": "wrong"},
    **{"NearlyRight": "wrong", "Detached": "once", "Once": "once"},
    "KeptSquared": "once",
}


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, *shape, low=0.6).to(dtype)},
            "given": FUNCTIONS,
            "program": PROGRAM,
            "report": ["said"],
            "facts": ["x"],
        }
        for shape, dtype in (((4,), torch.float32), ((2, 3), torch.float64))
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    said = seen["said"]
    words = {"wrong", "once", "twice"}
    if odd := [name for name, word in said.items() if word not in words]:
        return not_yet(
            "other_words",
            f"For `{odd[0]}` you return {said[odd[0]]!r}. Which three words may come back?",
        )
    if said != TRUTH:
        return _wrong(said)
    if seen["x"]["requires_grad"] or seen["x"]["grad"] is not None:
        return not_yet(
            "marked_the_input",
            "All are told rightly, but the caller's `x` requires grad now, or has a `.grad`. "
            "What could you check in its place?",
        )
    return right("Right once, right twice, or wrong: you can tell them apart.")


def _wrong(said: dict[str, str]) -> Verdict:
    wrong = [name for name, word in said.items() if word != TRUTH[name]]
    if set(said.values()) == {"wrong"}:
        return not_yet(
            "checked_in_float32",
            "All functions are wrong, you say, even `sin`. Gradcheck compares with differences of "
            "values a millionth apart. How many digits does a float32 have?",
        )
    if said["relu"] == "wrong" and said["sin"] != "wrong":
        return not_yet(
            "checked_at_a_kink",
            "`relu` is wrong, you say. At 0 it has a kink, where differences of values give the "
            "mean of both sides; everywhere else it is right. At which point were you to check?",
        )
    if "twice" not in said.values():
        return not_yet(
            "first_order_only",
            "No function is right twice, you say, not even `sin`. Gradcheck looks at the first "
            "derivative alone. What looks at the second?",
        )
    if "once" not in said.values() and said["Wrong"] == "wrong":
        return not_yet(
            "second_not_checked",
            "Functions with a right first derivative all count as right twice. The backward of one "
            "of them is cut from its input. Which check differentiates backward itself?",
        )
    if said["Wrong"] == "twice":
        return not_yet(
            "only_second_order",
            "`Wrong` has a third of the true slope and counts as right twice. Gradgradcheck asks "
            "whether backward's own derivative fits backward. Who compares backward with "
            "`forward`?",
        )
    if said["NearlyRight"] != "wrong" and said["Wrong"] == "wrong":
        return not_yet(
            "too_tolerant",
            "A slope that is off by a third of a percent passed. Which tolerance or which digits "
            "did you choose, and what do the defaults need?",
        )
    if wrong == ["KeptSquared"]:
        return not_yet(
            "history_for_proof",
            "A function counts as right twice whose second derivative exists and is wrong: a part "
            "of its backward is a constant to autograd. That a backward has a history, or raises "
            "nothing, does not say that its derivative is right. What compares it with "
            "differences?",
        )
    return not_yet(
        "wrong_words",
        f"Told wrongly: {', '.join(f'`{name}`' for name in wrong)}. What does each of the two "
        "checks say about it?",
    )


PROVE = Exercise(
    id="how_far_it_holds",
    title="How far do the derivatives hold?",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="how_far",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Which dtype and which flag does `torch.autograd.gradcheck` need of its inputs?",
        "It raises when it finds something; `raise_exception=False` makes it answer. A second "
        "function, `gradgradcheck`, does the same for backward's own derivative.",
        "Make a detached copy of `x` in float64 that requires grad. If the first check fails it is "
        "wrong; if the second fails, once; else twice.",
    ),
    symptom_hints={
        "checked_in_float32": "Which dtype has sixteen digits?",
        "only_second_order": "Two checks, in this order: the first derivative, then the second.",
    },
    names=("gradcheck", "gradgradcheck"),
)
