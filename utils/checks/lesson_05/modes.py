"""Seventeen lines under one mode or another: does the result require grad, or does torch refuse?"""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON
from utils.checks.verdict import Verdict, not_yet, right

# The notebook shows these very lines.
GIVEN = """\
w = torch.ones(3, requires_grad=True)
h = w * 2
with torch.inference_mode():
    fast = w * 2
    built = torch.nn.Linear(3, 1)
"""
LINES = {
    1: "with torch.no_grad(): y = w * 2",
    2: "with torch.no_grad(): y = h",
    3: "with torch.no_grad(): y = torch.ones(3, requires_grad=True)",
    4: "with torch.no_grad(), torch.enable_grad(): y = w * 2",
    5: "with torch.inference_mode(), torch.enable_grad(): y = w * 2",
    6: "y = torch.nn.Linear(3, 1).eval()(w)",
    7: "y = h.detach() * w",
    8: "y = h.data * 2",
    9: "y = w.add_(1)",
    10: "with torch.no_grad(): y = w.add_(1)",
    11: "y = h[0].detach_()",
    12: "y = fast * 2",
    13: "y = fast * w",
    14: "y = fast.add_(1)",
    15: "y = fast.requires_grad_()",
    16: "y = built(w)",
    17: "with torch.no_grad: y = w * 2",
}
RAISES = "raises"

# For each line, the belief that a wrong prediction comes from, and what to say.
BELIEFS = {
    1: (
        "no_grad_is_overlooked",
        "A watched tensor goes into line 1, but who writes down what comes out of it?",
    ),
    2: (
        "no_grad_cuts_what_exists",
        "Line 2 runs no operation: `h` was recorded before the block began. "
        "Can a mode change a tensor that is there already?",
    ),
    3: (
        "no_grad_forbids_the_flag",
        "Line 3 makes a leaf and asks for the flag itself. Is `no_grad` about leaves, or about the "
        "results of operations?",
    ),
    4: (
        "outer_mode_wins",
        "In line 4 two blocks are nested, and you let the outer one decide. "
        "Which of the two was entered last?",
    ),
    5: (
        "enable_grad_wakes_inference_mode",
        "You expect something else of line 5. `enable_grad` undoes `no_grad`. "
        "Does it undo inference mode, where tensors are made without the means to be tracked?",
    ),
    6: (
        "eval_is_a_grad_mode",
        "In line 6 you took `eval()` for a grad mode. It tells Dropout and BatchNorm how to "
        "behave: whom does it tell to stop recording?",
    ),
    7: (
        "detach_spreads",
        "In line 7 one factor is detached. And the other one: is it watched?",
    ),
    8: (
        "data_keeps_watching",
        "You expect something else of line 8. What does `.data` leave behind when it hands out "
        "the numbers?",
    ),
    9: (
        "leaf_in_place",
        "Line 9 overwrites a leaf that requires grad while autograd records. "
        "If it were allowed, what would `w.grad` be the gradient of?",
    ),
    10: (
        "no_grad_takes_the_flag",
        "Line 10 is how an optimiser moves a weight. `add_` gives `w` itself back: must a weight "
        "be watched still after a step?",
    ),
    11: (
        "any_view_can_be_detached",
        "Line 11 detaches a view in place, while its base stays in the graph. "
        "Could both be true of the same memory?",
    ),
    12: (
        "inference_tensors_are_useless",
        "In line 12 an inference tensor takes part in a computation where nothing is watched. "
        "Does anybody need to save it, or to track it?",
    ),
    13: (
        "inference_mode_is_a_faster_no_grad",
        "In line 13 backward would need `fast` for the slope at `w`. Would torch notice if an "
        "inference tensor changed in the meantime, and may it be saved, then?",
    ),
    14: (
        "inference_tensors_can_be_edited",
        "In line 14 an inference tensor is changed in place, outside the mode. "
        "What counts such changes on an ordinary tensor, and does this one have it?",
    ),
    15: (
        "inference_tensors_can_be_revived",
        "In line 15 an inference tensor is asked to start recording, outside the mode. "
        "Does it have what that needs, such as a version counter?",
    ),
    16: (
        "parameters_are_born_anywhere",
        "In line 16 a layer runs that was built in inference mode. What are its weights, then, and "
        "does backward need them for the slope at `w`?",
    ),
    17: (
        "no_grad_without_parentheses",
        "Compare line 17 with line 1, letter by letter. What is a class, and what can be entered "
        "by `with`?",
    ),
}


def _truth(number: int) -> bool | str:
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(GIVEN, "<given>", "exec"), scope)
    try:
        exec(compile(LINES[number], "<given>", "exec"), scope)
    except (RuntimeError, TypeError, AttributeError):
        return RAISES
    return scope["y"].requires_grad


def _judge(case: Case, seen: Seen) -> Verdict:
    result = seen["result"]
    said = (
        {k: fact.get("value") for k, fact in result.get("items", {}).items()}
        if (result["kind"] == "dict")
        else None
    )
    allowed = (True, False, RAISES)
    wanted = "`predictions` should return a dict that gives the number of each line True, False or "
    if said is None:
        return not_yet("not_a_prediction", f'{wanted}"raises". It gave something else: what is it?')
    for key, word in said.items():
        if type(word) not in (bool, str) or word not in allowed:
            return not_yet(
                "not_a_prediction",
                f'{wanted}"raises". Your entry for {key} is none of the three: which do you mean?',
            )
    missing = [number for number in LINES if str(number) not in said]
    if missing:
        lines = ", ".join(map(str, missing))
        return not_yet("missing_lines", f"You say nothing about these yet: {lines}. What of them?")
    for number, (slug, message) in BELIEFS.items():
        if said[str(number)] != _truth(number):
            return not_yet(slug, message)
    return right("All seventeen. You know what each mode stops, and what it leaves alone.")


MODES = Exercise(
    id="predict_modes",
    title="What does the mode do to this line?",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=2,
    answer="predictions",
    observe="call",
    cases=lambda rng: [{}],
    judge=_judge,
    hints=(
        "For each line ask: does an operation run, is one of its inputs watched, and which mode "
        "was entered last?",
        "A mode acts on the results of operations, never on tensors that exist already and never "
        "on flags that somebody asks for. Inference mode goes further: its results have no "
        "version counter, so backward may not keep them.",
        "Run one line in a fresh cell and print `y.requires_grad`. Seven of the lines raise: two "
        "for a change in place, four for an inference tensor, and one for Python alone.",
    ),
    symptom_hints={
        "no_grad_cuts_what_exists": "Print `h.requires_grad` before the block, and in it.",
        "eval_is_a_grad_mode": "Print `torch.is_grad_enabled()` after a call of `eval()`.",
    },
    names=("no_grad", "enable_grad", "inference_mode", "detach", "detach_", ".data"),
)
