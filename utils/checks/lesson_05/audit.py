"""Which edits did the version counter see? Report each, and tell it of the others."""

from __future__ import annotations

import torch

from utils.checks.compare import close
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers
from utils.checks.verdict import Verdict, not_yet, right

# They meet leaves, plain tensors and results in turn. Each changes something else, or nothing.
EDITS = """\
import torch


def in_place(t):
    with torch.no_grad():
        t.mul_(2)


def through_detach(t):
    t.detach().add_(1)


def through_a_view(t):
    with torch.no_grad():
        t[0] = 9


def looks_only(t):
    return t.sum()


def makes_another(t):
    t = t + 1


def through_data(t):
    t.data.add_(1)


def through_numpy(t):
    t.detach().numpy()[-1] = 7


def other_data(t):
    t.data = t.data * 2


def copies_data(t):
    t.data.clone().zero_()


def times_one(t):
    with torch.no_grad():
        t.mul_(1)


def swaps_two(t):
    t.data[:2] = t.data[:2].flip(0)


def in_the_last_digits(t):
    t.data.mul_(1 + 1e-12)


edits = [in_place, through_detach, through_a_view, looks_only, makes_another, through_data]
edits += [through_numpy, other_data, copies_data, times_one, swaps_two, in_the_last_digits]


def tensors():
    for number, edit in enumerate(edits):
        leaf = x.clone()
        for _ in range(number % 2):  # the counter does not always start at zero
            leaf.mul_(1)
        leaf.requires_grad_(number % 3 != 1)
        yield edit, leaf * 3 if number % 3 == 2 else leaf
"""
AUDIT_PROGRAM = """\
words, moved, after, runs = {}, {}, {}, {}
for edit, tensor in tensors():
    name, start, calls = edit.__name__, tensor._version, []

    def counted(t, edit=edit, calls=calls):
        calls.append(1)
        return edit(t)

    word = answer(tensor, counted)
    words[name] = word if isinstance(word, str) else type(word).__name__
    moved[name], after[name], runs[name] = tensor._version - start, tensor, len(calls)
"""
WORDS = ("untouched", "counted", "silent")


def _cases_audit(rng: torch.Generator) -> list[Case]:
    return [
        {
            # In such steps that a sum is exact, in whatever order.
            "inputs": {"x": (1024 * numbers(rng, n, low=1, high=3)).round() / 1024},
            "given": EDITS,
            "program": AUDIT_PROGRAM,
            "report": ["words", "moved", "runs"],
            "facts": ["after"],
        }
        for n in (3, 5)
    ]


def _effects(case: Case) -> dict[str, tuple[bool, int, torch.Tensor]]:
    """For each edit: whether the values change, how far the counter moves, the values after."""
    scope = {"x": case["inputs"]["x"]}
    exec(compile(case["given"], "<given>", "exec"), scope)
    effects = {}
    for edit, tensor in scope["tensors"]():
        before, start = tensor.detach().clone(), tensor._version
        edit(tensor)
        values = tensor.detach().clone()
        effects[edit.__name__] = (not torch.equal(before, values), tensor._version - start, values)
    return effects


def _judge_audit(case: Case, seen: Seen) -> Verdict:
    effects, words = _effects(case), seen["words"]
    want = {
        name: "counted" if moved else "silent" if changes else "untouched"
        for name, (changes, moved, _) in effects.items()
    }
    strange = next((name for name in want if words[name] not in WORDS), None)
    if strange:
        return not_yet(
            "strange_word",
            f'`audit` should return "untouched", "counted" or "silent". After `{strange}` '
            f"yours gave {words[strange]!r}. Where does that come from?",
        )
    for name, count in seen["runs"].items():
        if count != 1:
            often = f"{count} times" if count else "not at all"
            return not_yet(
                "edit_not_run_once", f"The edit `{name}` ran {often}. How often was asked for?"
            )
    for name, (_, _, values) in effects.items():
        if not close(seen["after"]["items"][name]["value"], values):
            return not_yet(
                "changed_input",
                f"After `{name}` the tensor holds other values than the edit left. "
                "You are to report, and to tell the counter: who else wrote to it?",
            )
    wrong = {name: words[name] for name in want if words[name] != want[name]}
    if wrong:
        return _wrong_word(wrong, want)
    for name, word in want.items():
        own, moved = effects[name][1], seen["moved"][name]
        if word == "silent" and moved == own:
            return not_yet(
                "not_told",
                f"You call `{name}` silent, rightly, and leave it at that: backward would still "
                "use the wrong values. How do you tell the counter that the memory has changed?",
            )
        if word == "untouched" and moved > own:
            return not_yet(
                "false_alarm",
                f"You call `{name}` untouched, and yet the counter moved: backward would refuse "
                "for nothing. When should it be told?",
            )
    return right("Every edit is accounted for, and the silent ones are not silent any more.")


def _wrong_word(wrong: dict[str, str], want: dict[str, str]) -> Verdict:
    pairs = {(want[name], word) for name, word in wrong.items()}
    if pairs == {("counted", "silent"), ("silent", "counted")}:
        return not_yet(
            "words_swapped",
            "You call silent what moved the counter, and counted what did not. "
            "Which of the two words means that torch has noticed?",
        )
    if wrong == {"times_one": "untouched"}:
        return not_yet(
            "same_values_are_counted",
            "`times_one` writes the same values again, and you call it untouched. The counter "
            "moved: does it look at values at all?",
        )
    if wrong == {"swaps_two": "untouched"}:
        return not_yet(
            "compared_sums",
            "`swaps_two` exchanged two entries, and you call it untouched. A sum is the same in "
            "any order: what is to be compared, one number or every entry?",
        )
    if wrong == {"in_the_last_digits": "untouched"}:
        return not_yet(
            "compared_roughly",
            "`in_the_last_digits` changed every value a little, and you call it untouched. "
            "Backward has no tolerance: which comparison has none either?",
        )
    if pairs == {("silent", "untouched")}:
        return not_yet(
            "compared_with_itself",
            f"`{min(wrong)}` changed the values, and you call it untouched. The counter did not "
            "move, so only the values can tell. With what do you compare them: a copy from before, "
            "or the same memory?",
        )
    if ("untouched", "counted") in pairs:
        return not_yet(
            "counter_started_higher",
            "You call counted what wrote nothing at all. The tensor had been written to before you "
            "came: with which number do you compare its counter?",
        )
    if ("silent", "counted") in pairs:
        return not_yet(
            "counter_not_read",
            "You call counted whatever changed the values. Some of these edits went past the "
            "counter: where do you read it?",
        )
    if ("counted", "silent") in pairs:
        return not_yet(
            "counter_not_read_before",
            "You call silent what the counter did see. "
            "At which two moments do you read it, and on which tensor?",
        )
    name = min(wrong)
    return not_yet(
        "wrong_word",
        f"You call `{name}` {wrong[name]}. What do the values say there, and what the counter?",
    )


AUDIT = Exercise(
    id="audit_edit",
    title="Catch the silent edit, and tell the counter",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=3,
    answer="audit",
    observe="call_in_program",
    cases=_cases_audit,
    judge=_judge_audit,
    hints=(
        "Two things can be compared before and after the edit. Which one does torch itself use?",
        "Read `_version` and keep the values before the edit; a detached tensor is not a copy. "
        "The counter has the first word, the values the second.",
        "A clone of the detached tensor keeps the old values. After a silent edit, "
        "`torch.autograd.graph` has a function that moves the counter by hand.",
    ),
    symptom_hints={
        "compared_with_itself": "Print `before` after the edit as well: did it change too?",
        "in_place_on_leaf": "Adding zero moves the counter, but a leaf refuses. Is there a "
        "function that only counts?",
    },
    names=("_version", "increment_version"),
)
