"""Watch a gradient pass, and change it in flight: hooks on tensors."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, no_handle, not_removed, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

SUM = """\
h = x * a
k = z * b
y = h + k
"""
WATCH_PROGRAM = """\
log = answer({"h": h, "x": x})
first, second = v.clone(), 2 * v + 1
y.backward(first, retain_graph=True)
first.zero_()  # the caller uses its memory again
y.backward(second)
second.zero_()
"""


def _inputs(rng: torch.Generator, *shape: int) -> dict[str, object]:
    return {
        "x": numbers(rng, *shape),
        "z": numbers(rng, *shape),
        "a": numbers(rng, *shape, low=2, high=3),
        "b": numbers(rng, *shape, low=-3, high=-2),
        "v": numbers(rng, *shape, low=0.5, high=2) * numbers(rng, *shape).sign(),
    }


def _cases_watch(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": _inputs(rng, *shape),
            "leaves": ["x", "z"],
            "given": SUM,
            "program": WATCH_PROGRAM,
            "facts": ["log", "x", "z"],
        }
        for shape in ((4,), (2, 3))
    ]


def _judge_watch(case: Case, seen: Seen) -> Verdict:
    a, v = case["inputs"]["a"], case["inputs"]["v"]
    at_h = [v, 2 * v + 1]
    at_x = [a * g for g in at_h]
    if seen["x"]["grad"] is None or not close(seen["x"]["grad"], sum(at_x)):
        return not_yet(
            "replaced_the_gradient",
            "With your hooks on, `x.grad` is not what it is without them: a hook that only watches "
            "changed what flows. What does yours return, and what does torch do with that?",
        )
    log = seen["log"].get("items") if seen["log"]["kind"] == "dict" else None
    if log is None or set(log) != {"h", "x"}:
        return not_yet(
            "not_a_log",
            "`watch` should return a dict with a list for each name that it was given. "
            "Which keys does yours have?",
        )
    if any(entry["kind"] != "list" for entry in log.values()):
        return not_yet(
            "not_a_list",
            "Under each name there should be a list that grows by one with each backward. "
            "What is there in yours?",
        )
    entries = {name: [e.get("value") for e in fact["items"]] for name, fact in log.items()}
    if {len(entries["h"]), len(entries["x"])} == {0, 4}:
        return not_yet(
            "late_binding",
            "Everything landed under one name. All your hooks look up the loop's variable when "
            "they run, and by then the loop is over. How can each keep its own name?",
        )
    if any(e is None for part in entries.values() for e in part):
        return not_yet(
            "read_too_early",
            "There is a None in the log: you read `.grad`, and that was not filled yet, or never "
            "will be for an inner tensor. What does a hook get as its argument?",
        )
    if not any(entries.values()):
        return not_yet(
            "nothing_logged",
            "Two backward passes came through, and the log is empty. On which tensors are your "
            "hooks: those that were given, or new ones made from them?",
        )
    if any(len(part) != 2 for part in entries.values()):
        return not_yet(
            "not_each_pass",
            "Two backward passes came through, and not each left one gradient under each name. "
            "What happens to the first when the second comes, and does every tensor have a hook?",
        )
    for name, want in (("h", at_h), ("x", at_x)):
        for place in (0, 1):
            verdict = compare(
                entries[name][place] if isinstance(entries[name][place], torch.Tensor) else None,
                want[place],
                f'`log["{name}"][{place}]`',
                simulated={
                    "not_copied": torch.zeros_like(v),
                    "logged_the_sum": sum(want[: place + 1]),
                },
                says={
                    "not_copied": (
                        "{what} is all zeros now. It was right when the hook ran; then the caller "
                        "used that memory again. What should you keep in place of the tensor?"
                    ),
                    "logged_the_sum": (
                        "{what} holds the sum over both passes. Does a hook see `.grad`, or what "
                        "this pass brings?"
                    ),
                },
            )
            if verdict.outcome != RIGHT:
                return verdict
    return right("You saw every gradient pass, on the inside too, and changed none.")


WATCH = Exercise(
    id="watch_gradients",
    title="Watch gradients pass",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=1,
    answer="watch",
    observe="call_in_program",
    cases=_cases_watch,
    judge=_judge_watch,
    hints=(
        "`.grad` of an inner tensor stays empty. Who can be called at the moment when the gradient "
        "comes by?",
        "Every tensor that requires grad takes a function by `register_hook`. What that function "
        "returns replaces the gradient, unless it is None.",
        "Write a helper that takes a name and makes the hook for it, so that each hook has its own "
        "name. The hook appends a clone, and returns nothing.",
    ),
    symptom_hints={
        "late_binding": "A default argument of the hook, or a function that makes it, fixes the "
        "name.",
        "replaced_the_gradient": "A lambda returns the value of its expression. What does "
        "`setdefault` return?",
    },
    names=("Tensor.register_hook",),
)

CLIP_PROGRAM = """\
handle = answer(h, limit)
sent = v.clone()
y.backward(sent, retain_graph=True)
clipped, other = x.grad, z.grad
x.grad = z.grad = None
ok = has_handle(handle)
if ok:
    remove_all(handle)
    y.backward(v)
plain = x.grad
"""


def _cases_clip(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {**_inputs(rng, *shape), "limit": 1.0},
            "leaves": ["x", "z"],
            "given": TOOLS + SUM,
            "program": CLIP_PROGRAM,
            "report": ["ok"],
            "facts": ["clipped", "other", "plain", "sent", "h", "x"],
        }
        for shape in ((3, 4), (7,))
    ]


def _judge_clip(case: Case, seen: Seen) -> Verdict:
    x, a, b, v = (case["inputs"][name] for name in "xabv")
    if not close(seen["h"]["value"], x * a):
        return not_yet(
            "clipped_the_values",
            "The values of `h` changed. They belong to the forward pass: what is to be clipped is "
            "the gradient, which does not exist yet. Who is called when it does?",
        )
    inside = v.clamp(-1, 1)
    verdict = compare(
        seen["clipped"],
        inside * a,
        "`x.grad`, behind the clipped `h`,",
        simulated={
            "not_returned": v * a,
            "clipped_from_above": v.clamp(max=1) * a,
            "clipped_the_norm": v / v.norm() * a,
        },
        says={
            "not_returned": (
                "{what} is not clipped. If your hook gives its argument a new value, nobody learns "
                "of it: how does a hook say what should flow on?"
            ),
            "clipped_from_above": "{what} is clipped from above only. What of the other side?",
            "clipped_the_norm": (
                "{what} was scaled as a whole, by its norm. Each entry was to be clipped alone: "
                "which function does that?"
            ),
        },
    )
    if close(seen["clipped"].get("value", v), inside * a) and not close(seen["sent"]["value"], v):
        verdict = not_yet(
            "edited_in_place",
            "`x.grad` is right, but the gradient was edited in place: the caller's own vector `v` "
            "changed, and the other branch may read it too. Which form of `clamp` makes a new "
            "tensor?",
        )
    elif verdict.outcome == RIGHT and not close(seen["other"].get("value", b), v * b):
        verdict = not_yet(
            "clipped_the_other_branch",
            "`x.grad` is right, but `z.grad` changed, and `z` is not behind `h`. "
            "On which tensor is your hook?",
        )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["ok"]:
        return no_handle()
    if not close(seen["plain"]["value"], v * a):
        return not_removed()
    return right("Clipped on the way, nothing else touched, and off again when asked.")


CLIP = Exercise(
    id="clip_in_flight",
    title="Clip a gradient in flight",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="clip_in_flight",
    observe="call_in_program",
    cases=_cases_clip,
    judge=_judge_clip,
    hints=(
        "A hook on `h` gets the gradient at `h`. How does it say that another one should flow on?",
        "What a tensor hook returns takes the gradient's place. The tensor that it got may be used "
        "elsewhere, so leave that one as it is.",
        "`clamp` without an underscore makes a new tensor; take both ends. What registers returns "
        "an object with `remove()`, which the caller wants.",
    ),
    symptom_hints={
        "not_returned": "`g = ...` in a function gives a name to a new tensor, and no more.",
        "edited_in_place": "Methods that end in an underscore write into the tensor itself.",
    },
    names=("Tensor.register_hook", "RemovableHandle"),
)
