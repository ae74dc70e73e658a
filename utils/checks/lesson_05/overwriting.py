"""Which lines may work in place, and which overwrite what backward needs?"""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers
from utils.checks.mistakes import MISTAKES
from utils.checks.program_observers import Allocations
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The notebook shows these very lines.
FLAWED = """\
def flawed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    h = x @ w
    h += 0.5
    e = h.exp()
    e += 1
    g = e.log()
    g *= 3
    q = g.square()
    g -= 8
    q += g
    q.relu_()
    return q
"""
PROGRAM = """\
leaf = x.clone().requires_grad_()
with Allocations() as memory:
    result = answer(leaf, w)
made = memory.count
memory.kept.clear()
is_tensor = isinstance(result, torch.Tensor)
tracked = is_tensor and result.requires_grad
value = result.detach().clone() if is_tensor else result
problem = attempt(lambda: result.backward(v)) if tracked else ""
"""


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n, d),
                "w": numbers(rng, d, m, low=0.2, high=1.2),
                "v": numbers(rng, n, m, low=0.5, high=2),
            },
            "program": PROGRAM,
            "report": ["made", "tracked", "problem"],
            "facts": ["value", "leaf"],
        }
        for n, d, m in ((6, 3, 4), (5, 2, 7))
    ]


def _gradient(case: Case, exp_saved: float = 0, square_saved: float = 0) -> torch.Tensor:
    """The gradient at x if what exp and square have saved is off by these numbers."""
    x, w, v = (case["inputs"][name] for name in "xwv")
    e = (x @ w + 0.5).exp()
    g = 3 * (e + 1).log()
    to_g = torch.where(g.square() + g - 8 > 0, v, 0) * (2 * (g + square_saved) + 1)
    return (to_g * 3 / (e + 1) * (e + exp_saved)) @ w.T


def _needed(case: Case) -> int:
    """How many tensors are made if only what was saved is left alone."""
    x = case["inputs"]["x"].clone().requires_grad_()
    with Allocations() as memory:
        h = x @ case["inputs"]["w"]
        h += 0.5
        e = h.exp() + 1
        g = e.log()
        g *= 3
        q = g.square()
        q += g - 8
        q.relu_()
    return memory.count


def _judge(case: Case, seen: Seen) -> Verdict:
    x, w = case["inputs"]["x"], case["inputs"]["w"]
    g = 3 * ((x @ w + 0.5).exp() + 1).log()
    verdict = compare(
        seen["value"],
        (g.square() + g - 8).relu(),
        "What `mended` returns",
        simulated={
            "lost_update": [
                (g.square() + g).relu(),
                (g.square() - 8).relu(),
                (3 * (x @ w + 0.5)).square() + 3 * (x @ w + 0.5) - 8,
                (3 * (x @ w + 0.5)).square().add(3 * (x @ w + 0.5) - 8).relu(),
                (3 * (x @ w)).square().add(3 * (x @ w) - 8).relu(),
            ],
            "shifted_before_square": ((g - 8).square() + g - 8).relu(),
        },
        says={
            "lost_update": (
                "{what} lacks one of the steps, or its result was thrown away. Is each line of "
                "`flawed` there, and what does `e + 1` do on a line of its own?"
            ),
            "all_zero": (
                "{what} is all zeros, and `flawed` gives other numbers. Which step makes them so?"
            ),
            "shifted_before_square": (
                "{what} takes the square after the shift. In which order do the lines run?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["tracked"]:
        return not_yet("detached", MISTAKES["detached"].format(what="What `mended` returns"))
    if not close(seen["leaf"]["value"], x):
        return not_yet("changed_input", MISTAKES["changed_input"].format(what="`x`"))
    if "modified by an inplace" in seen["problem"]:
        node = seen["problem"].partition("output 0 of ")[2].partition(",")[0]
        return not_yet(
            "changed_saved",
            "The values are right, and backward still refuses: something that it saved was "
            + (f"overwritten. Torch calls it the result of {node}. " if node else "overwritten. ")
            + "Which operations save what goes in, which what comes out, and which lines write "
            "there?",
        )
    if seen["problem"]:
        return not_yet("backward_fails", f"Backward stops: {seen['problem']}. Which line is it?")
    verdict = compare(
        seen["leaf"]["grad"],
        _gradient(case),
        "`x.grad`",
        simulated={
            "hidden_from_autograd": [
                _gradient(case, 1, -8),
                _gradient(case, 1, 0),
                _gradient(case, 0, -8),
            ]
        },
        says={
            "hidden_from_autograd": (
                "Backward does not complain any more, but {what} is wrong: the edit is still there "
                "and only hidden from the version counter. What did the error protect you from?"
            )
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if seen["made"] > _needed(case):
        return not_yet(
            "all_out_of_place",
            f"The gradient is right, but you make {seen['made']} tensors, more than needed. "
            "Nobody saved what some of the lines overwrite: which of them may stay in place?",
        )
    return right("Only what was saved needed new memory; the rest may be overwritten in peace.")


IN_PLACE = Exercise(
    id="in_place_or_not",
    title="In place, or not?",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=4,
    answer="mended",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "What does each operation need in backward: its input, its result, or neither?",
        "`exp` saves its result, `log` and `square` save their input; adding or multiplying by a "
        "number saves nothing; `relu_` saves what it wrote itself. Which lines write to something "
        "saved?",
        "Two of the in-place lines are harmful. Give just these two a new tensor and leave all "
        "others as they are.",
    ),
    symptom_hints={
        "all_out_of_place": "Turn one line back to in place, run backward, and see if it refuses.",
        "changed_saved": "Read the error: it names the operation whose output was overwritten.",
    },
    names=("in-place",),
)
