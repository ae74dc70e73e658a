"""The exercise that builds something to keep: a decorator that runs graph-free and proves it."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers
from utils.checks.lesson_05.graph_free_program import FUNCTIONS, PROGRAM
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# These give back something that is tracked, each in another way.
TRACKED = (
    "wakes_up",
    "hands_it_back",
    "wakes_up_in_a_list",
    "wakes_up_deep_down",
    "works_in_a_thread",
    "hands_out_a_parameter",
    "wakes_up_in_a_named_tuple",
    "wakes_up_in_an_ordered_dict",
)
# Tensors, tuples and dicts by inheritance.
SUBCLASSES = {
    "hands_out_a_parameter",
    "wakes_up_in_a_named_tuple",
    "wakes_up_in_an_ordered_dict",
}
LEAVES = {"hands_it_back", "hands_out_a_parameter"}


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, *shape), "shift": 0.25 + number},
            "given": FUNCTIONS,
            "program": PROGRAM,
            "report": ["not_functions", "mode_at_start", "names", "docs", "ends", "modes", "notes"],
            "facts": ["result", "nested"],
        }
        for number, shape in enumerate(((3,), (2, 4)))
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    x, shift = case["inputs"]["x"], case["inputs"]["shift"]
    if seen["not_functions"]:
        return not_yet(
            "ran_at_decoration",
            f"`graph_free(fn)` gives `{seen['not_functions'][0]}`, where a function was asked for. "
            "When should `fn` run: when it is decorated, or when it is called?",
        )
    if any(seen["notes"]):
        return not_yet(
            "recorded_then_cut",
            "While the function ran, recording was on: the graph was built, and only cut off or "
            "noticed afterwards. Where should the call of `fn` stand?",
        )
    verdict = compare(
        seen["result"],
        2 * x + shift,
        "What the decorated function gives",
        simulated={"arguments_lost": [2 * x + 1]},
        says={
            "none": "{what} is None. What is your wrapper to do with what `fn` gave it?",
            "arguments_lost": "{what} does not know of the keyword `shift`. Who passes it on?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["mode_at_start"] or not all(
        on for name, on in seen["modes"].items() if name not in ("fails", "leaves_it_on")
    ):
        return not_yet(
            "mode_left_switched",
            "After the decorated function the caller's grad mode is not what it was. "
            "Which form of the switch ends by itself, and goes back to what was before?",
        )
    ends = seen["ends"]
    if ends["report"].endswith("Error"):
        return not_yet(
            "false_alarm",
            f"A function that built no graph made yours raise {ends['report']}. It returned "
            "tensors, numbers, a string and None in a dict: what do you ask of each?",
        )
    verdict = _judge_nested(seen["nested"], x)
    if verdict.outcome != RIGHT:
        return verdict
    verdict = _judge_proof(ends)
    if verdict.outcome != RIGHT:
        return verdict
    if ends["fails"] != "KeyError (own)":
        return not_yet(
            "swallowed_error",
            "The function raised an error of its own, and the caller did not get it. "
            "Which errors are yours to raise, and which pass through?",
        )
    if not all(seen["modes"].values()):
        return not_yet(
            "mode_left_switched",
            "After the decorated function the caller's grad mode is not what it was: an error came "
            "in between, or the function had moved the switch. Which form of the switch ends by "
            "itself, and goes back to what was before?",
        )
    if seen["names"] != "affine" or seen["docs"] != "Scales and shifts.":
        return not_yet(
            "lost_name",
            "The decorated function has lost its name or its docstring, and `help` would show your "
            "wrapper's. What does `functools` have for that?",
        )
    return right("No graph was built, and if one had been, you would know. Keep this one.")


def _judge_nested(nested: Seen, x: torch.Tensor) -> Verdict:
    items = nested.get("items", {}) if nested["kind"] == "dict" else {}
    parts = items.get("parts", {}).get("items", ())
    kept = (
        len(parts) == 2
        and parts[0].get("kind") == "tensor"
        and compare(parts[0], 2 * x, "").outcome == RIGHT
        and parts[1].get("kind") == "tuple"
        and items.get("name", {}).get("value") == "report"
    )
    if kept:
        return right()
    return not_yet(
        "changed_output",
        "The function returned a dict of several things, and what came out of the decorated one is "
        "something else. You are to look at the output: should you rebuild it?",
    )


def _judge_proof(ends: dict[str, str]) -> Verdict:
    missed = [name for name in TRACKED if ends[name] == "tracked"]
    cut = [name for name in TRACKED if ends[name] == "untracked"]
    if len(missed) == len(TRACKED):
        return not_yet(
            "no_proof",
            "A function switched recording on again inside, or gave back a tensor that is tracked "
            "already, and the tracked result came out without a word. "
            "Where do you look at what comes back?",
        )
    if set(missed) == {*LEAVES, "works_in_a_thread"}:
        return not_yet(
            "mode_trusted",
            "Inference mode is strict, and yet tracked tensors came out: leaves that were there "
            "before, and one that the function computed in another thread. A mode belongs to its "
            "thread: where do you look at what comes back?",
        )
    if set(missed) == LEAVES:
        return not_yet(
            "leaf_overlooked",
            "A function handed a leaf that requires grad back to you, and you let it pass. It has "
            "no `grad_fn`: which flag tells that whatever is computed from it will be recorded?",
        )
    if missed and set(missed) <= SUBCLASSES:
        return not_yet(
            "subclass_overlooked",
            "A tracked tensor came out unnoticed: it was a Parameter, or in a named tuple or an "
            "OrderedDict. These are tensors, tuples and dicts too, by inheritance: which question "
            "about a type lets them in?",
        )
    if missed:
        return not_yet(
            "nested_overlooked",
            "A tracked tensor came out unnoticed: it was inside a list, a tuple or a dict, perhaps "
            "several levels down. How do you reach every tensor in there?",
        )
    if cut:
        return not_yet(
            "cut_in_silence",
            "A function built a graph all the same, and you cut its result off and said nothing. "
            "The caller wants to know: what tells them?",
        )
    wrong = next(
        (
            ends[name]
            for name in TRACKED
            if ends[name].endswith("Error") and ends[name] != "RuntimeError"
        ),
        "",
    )
    if wrong:
        return not_yet(
            "wrong_error",
            f"You noticed the tracked tensor, and raised {wrong}. A RuntimeError was asked for: an "
            "`assert`, for one, is gone when Python runs with `-O`. What raises it?",
        )
    return right()


GRAPH_FREE = Exercise(
    id="graph_free",
    title="Build: a decorator that proves that no graph was built",
    lesson=LESSON,
    points=5,
    minutes=20,
    difficulty=5,
    answer="graph_free",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Two jobs: run the function where nothing is recorded, and then do not trust it. What in "
        "its output would betray that it recorded all the same?",
        "The output may be a tensor, or a list, tuple or dict of anything. A small recursive "
        "helper can visit every tensor in it; ask each for its flag.",
        "A wrapper with `functools.wraps` calls the function in a block, so that the mode comes "
        "back by itself, then walks through the result, and raises RuntimeError or returns it.",
    ),
    symptom_hints={
        "mode_left_switched": "A `with` block, or a decorator, puts the mode back after errors.",
        "leaf_overlooked": "`requires_grad` is True for leaves as well; `grad_fn` is not there.",
    },
    names=("no_grad", "is_grad_enabled"),
)
