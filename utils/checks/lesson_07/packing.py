"""What waits for backward: edited before its time, or packed by somebody's hooks."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

EDITS = """\
runs = []


def f(t):
    runs.append(t.requires_grad)
    y = (t * a).exp()
    kept = y.square().sum(-1)
    y.mul_(10)  # exp and square have saved y as it was
    return kept + y.sum(-1)
"""
EDITS_PROGRAM = """\
try:
    result, outside = answer(f, x, v), ""
except (RuntimeError, AssertionError) as error:
    if "outside" not in str(error):
        raise
    result, outside = None, str(error)
watched, calls = any(runs), len(runs)
later = x.detach().clone().requires_grad_()
stays = attempt(lambda: f(later).sum().backward()) == ""
"""


def _judge_edits(case: Case, seen: Seen) -> Verdict:
    if seen["outside"]:
        return not_yet(
            "backward_outside",
            "The forward pass ran where edits are allowed, and backward after that block: the old "
            "values are kept for as long as the block lasts. What else belongs inside it?",
        )
    x, a, v = (case["inputs"][name] for name in "xav")
    y = (x * a).exp()
    v = v[:, None]
    want = v * (2 * y * y * a + 10 * y * a)
    result = seen["result"]
    # Rows do not mix, so differences take a call for each column, and one more.
    near = result["kind"] == "tensor" and close(result["value"], want, 1e-3)
    if near and (not seen["watched"] or seen["calls"] > 3):
        return not_yet(
            "by_hand",
            "The gradient is near, but it is made of differences of values, not by backward. "
            "How many calls of `f` does it take you, and how many does autograd need?",
        )
    if result["kind"] in ("tuple", "list"):
        return not_yet(
            "tuple_returned",
            "You return a tuple, and one gradient was asked for. What does `autograd.grad` give?",
        )
    edited = 10 * y
    verdict = compare(
        result,
        want,
        "The gradient that you return",
        simulated={
            "used_edited_values": [
                v * (2 * edited * edited * a + 10 * edited * a),
                v * (2 * edited * y * a + 10 * y * a),
                v * (2 * edited * edited * a + 10 * y * a),
            ],
            "ones_instead_of_v": want / v,
        },
        says={
            "used_edited_values": (
                "{what} was computed with the values after the edit. "
                "Who keeps those from before, until backward?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if seen["stays"]:
        return not_yet(
            "stays_on",
            "The gradient is right, but after your function edits are still allowed, for "
            "everybody. Which form of the context ends by itself?",
        )
    return right("The old values were kept for backward, and `f` never knew.")


def _cases_edits(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n, d),
                "a": numbers(rng, n, d, low=0.5, high=1.5),
                "v": numbers(rng, n, low=0.5, high=2),
            },
            "leaves": ["x"],
            "given": EDITS,
            "program": EDITS_PROGRAM,
            "report": ["outside", "watched", "calls", "stays"],
            "facts": ["result"],
        }
        for n, d in ((3, 4), (2, 3))
    ]


EDITED = Exercise(
    id="gradient_despite_edits",
    title="A gradient in spite of an edit",
    lesson=LESSON,
    points=2,
    minutes=5,
    difficulty=3,
    answer="gradient_despite_edits",
    observe="call_in_program",
    cases=_cases_edits,
    judge=_judge_edits,
    hints=(
        "Backward refuses since a saved value was overwritten. If you may not change `f`, who "
        "could keep the old value?",
        "`torch.autograd.graph` has a context that allows mutation: it keeps a copy of what is "
        "about to be overwritten, until the context ends.",
        "Open that context; inside it call `f`, and inside it as well ask `torch.autograd.grad` "
        "for the gradient at `x`, with `v`. Take the one entry out of the tuple.",
    ),
    symptom_hints={
        "changed_saved": "There is a name for what you want: mutation on saved tensors, allowed.",
    },
    names=("allow_mutation_on_saved_tensors",),
)

KINDS = """\
from torch.utils.checkpoint import checkpoint


def keeps(t):
    return (t * a).exp()


def casts(t):
    with torch.autograd.graph.saved_tensors_hooks(lambda s: s.float(), lambda s: s.double()):
        return keeps(t)


def lends(t):
    with torch.autograd.graph.save_on_cpu():
        return keeps(t)


def forgets(t):
    return checkpoint(keeps, t, use_reentrant=False)


def fails(t):
    raise RuntimeError("own error")
"""
KINDS_PROGRAM = """\
try:
    said = {g.__name__: answer(g, x) for g in (keeps, casts, lends, forgets)}
    complaint = attempt(lambda: answer(fails, x))
    stays = attempt(lambda: casts(x))
finally:  # an answer that leaves the hooks disabled spoils nothing but itself
    torch._C._autograd._saved_tensors_hooks_enable()
words = {name: value if isinstance(value, bool) else None for name, value in said.items()}
"""


def _judge_packs(case: Case, seen: Seen) -> Verdict:
    said = seen["words"]
    if None in said.values():
        return not_yet("not_a_bool", "`packs` should return True or False. What does yours return?")
    if seen["stays"]:
        return not_yet(
            "stays_off",
            "After your function nobody can use saved-tensor hooks any more. "
            "Which form of the switch ends by itself?",
        )
    want = dict(zip(("keeps", "casts", "lends", "forgets"), (False, True, True, True), strict=True))
    if said == {name: not is_so for name, is_so in want.items()}:
        return not_yet("inverted", "It is the other way round. When is the answer True?")
    if said["keeps"]:
        return not_yet(
            "false_alarm",
            "A function that packs nothing is said to pack. What did you take for a sign?",
        )
    missed = [name for name, is_so in want.items() if said[name] != is_so]
    if missed:
        return not_yet(
            "overlooked",
            f"A function that packs what it saves was overlooked, one that {missed[0]}. There are "
            "several ways to it, and all go through the same hooks. What happens where those are "
            "disabled?",
        )
    if seen["complaint"] != "RuntimeError: own error":
        return not_yet(
            "swallowed_error",
            "A function raised an error of its own, and its caller did not get it. You choose the "
            "words that torch says when hooks are refused: how do you tell the two errors apart?",
        )
    return right("You forbid it, and whoever needs it says so.")


PACKS = Exercise(
    id="does_it_pack",
    title="Does it pack what it saves?",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=3,
    answer="packs",
    observe="call_in_program",
    cases=lambda rng: [
        {
            "inputs": {"x": numbers(rng, n), "a": numbers(rng, n)},
            "leaves": ["x"],
            "given": KINDS,
            "program": KINDS_PROGRAM,
            "report": ["words", "complaint", "stays"],
        }
        for n in (3, 4)
    ],
    judge=_judge_packs,
    hints=(
        "A checkpoint, `save_on_cpu` and two functions of one's own have something in common. "
        "What would they all say if it were forbidden?",
        "`torch.autograd.graph.disable_saved_tensors_hooks` is a context that takes a message. "
        "Whoever wants to pack inside it gets a RuntimeError with these words.",
        "Choose a message of your own. Call `f` in the context, in a `try`: if a RuntimeError with "
        "your message comes, the answer is True; raise any other again.",
    ),
    symptom_hints={
        "swallowed_error": "`str(error)` gives the words of an error.",
    },
    names=("disable_saved_tensors_hooks",),
)
