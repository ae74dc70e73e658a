"""Hooks that are gone afterwards, whatever happens."""

from __future__ import annotations

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, numbers
from utils.checks.verdict import Verdict, not_yet, right

ATTACHED_PROGRAM = """\
h = x * 2
y = h * a
plain = torch.zeros(2)
theirs, calls = [], []
kept = x.register_hook(lambda g: theirs.append(1))
before = hooks_on(x) + hooks_on(h)


def count(gradient):
    calls.append(1)


with answer([x, h], count):
    y.backward(v, retain_graph=True)
inside, left = len(calls), hooks_on(x) + hooks_on(h) - before
y.backward(v, retain_graph=True)
theirs_ran, after = len(theirs), len(calls) - inside


def fails():
    with answer([x, h], count):
        raise KeyError("own error")


complaint = attempt(fails)
left_after_error = hooks_on(x) + hooks_on(h) - before - left


def half():
    with answer([x, h, plain], count):
        pass


start = hooks_on(x) + hooks_on(h)
refused = attempt(half)
left_half_way = hooks_on(x) + hooks_on(h) - start
"""


def _judge_attached(case: Case, seen: Seen) -> Verdict:
    if seen["inside"] != 2:
        return not_yet(
            "wrong_count",
            f"Inside the block, one backward passed two tensors, and the hook was called "
            f"{seen['inside']} times. On which tensors is it, and from when to when?",
        )
    if seen["theirs_ran"] != 2 or seen["left"] < 0:
        return not_yet(
            "removed_others",
            "A hook that was on the tensor before you came is gone. "
            "Whose handles do you have, and what do they remove?",
        )
    if seen["left"] or seen["after"]:
        return not_yet(
            "hooks_left",
            "After the block the hook is still on a tensor. "
            "How many handles did you get, and how many do you remove?",
        )
    if not seen["complaint"].startswith("KeyError"):
        return not_yet(
            "swallowed_error",
            "An error was raised inside the block, and it did not come out as it was. "
            "Who is it for?",
        )
    if seen["left_after_error"]:
        return not_yet(
            "left_after_error",
            "An error left the block, and the hook stayed on. "
            "Which lines run whether or not an error passes through?",
        )
    if "doesn't require grad" not in seen["refused"]:
        return not_yet(
            "hid_the_refusal",
            "One of the tensors takes no hook, and the caller was not told: torch's own error "
            "should come out. What happened to it?",
        )
    if seen["left_half_way"]:
        return not_yet(
            "left_half_way",
            "The last of three tensors refused its hook, and the hooks on the two before it "
            "stayed. Does your clean-up begin after all are registered, or with the first?",
        )
    return right("On inside the block, off outside, in bad weather too.")


ATTACHED = Exercise(
    id="remove_every_handle",
    title="Remove every handle, whatever happens",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="attached",
    observe="call_in_program",
    cases=lambda rng: [
        {
            "inputs": {name: numbers(rng, 4) for name in "xav"},
            "leaves": ["x"],
            "given": TOOLS,
            "program": ATTACHED_PROGRAM,
            "report": [
                *("inside", "left", "theirs_ran", "after", "complaint", "left_after_error"),
                *("refused", "left_half_way"),
            ],
        }
    ],
    judge=_judge_attached,
    hints=(
        "Two things may go wrong: the block raises, or a registration does, after others have "
        "succeeded. What is on which tensor in each case?",
        "`contextlib.contextmanager` makes a `with` of a generator; a `finally` around its `yield` "
        "runs after errors too. Where must the `try` begin?",
        "Start with an empty list of handles. In the `try`: register one after the other, adding "
        "each handle to the list at once, then yield. In the `finally`: remove what is there.",
    ),
    symptom_hints={
        "left_half_way": "A list comprehension that raises half-way leaves no list behind.",
    },
    names=("Tensor.register_hook", "RemovableHandle"),
)
