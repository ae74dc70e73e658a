"""Twelve tensors: which require grad, and which are leaves? And what do people believe instead?"""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.verdict import Verdict, not_yet, right

# The notebook shows these very lines.
TWELVE = """\
a = torch.ones(2)
b = torch.ones(2, requires_grad=True)
c = b * 3
d = a * 3
e = a + b
f = c.detach()
g = torch.zeros_like(b)
h = torch.nn.Linear(2, 1).weight
i = b.double()
j = torch.ones(2).double().requires_grad_()
k = (b > 0).float()
with torch.no_grad():
    m = b * 2
"""
LETTERS = "abcdefghijkm"
TRACKED, LEAF = "requires_grad", "is_leaf"

# Slug, the flag that somebody with this belief gets wrong, for which letters, and what to say.
# The belief that explains most of the wrong predictions is named; the narrower one comes first.
BELIEFS: tuple[tuple[str, str, str, str], ...] = (
    (
        "watched_by_default",
        TRACKED,
        "ad",
        "You expect {names} to require grad, but nobody asked for it. "
        "What does torch assume about a fresh tensor?",
    ),
    (
        "all_operands_must_be_watched",
        TRACKED,
        "e",
        "You expect no grad for {names}, because `a` is not watched. "
        "How many watched operands does a result need?",
    ),
    (
        "results_are_not_watched",
        TRACKED,
        "cei",
        "You expect no grad for {names}, as if only the tensor with `requires_grad=True` were "
        "watched. What has backward to go through to reach `b`?",
    ),
    (
        "detach_keeps_watching",
        TRACKED,
        "f",
        "You expect {names} to require grad. What is `detach` for?",
    ),
    (
        "like_copies_the_flag",
        TRACKED,
        "g",
        "You expect {names} to require grad, because `b` does. "
        "Which of shape, dtype and flag do the `_like` functions copy?",
    ),
    (
        "parameters_are_not_watched",
        TRACKED,
        "h",
        "You expect no grad for {names}, but it is a parameter of a layer. "
        "Who would train it otherwise?",
    ),
    (
        "comparison_keeps_the_graph",
        TRACKED,
        "k",
        "You expect {names} to require grad. What is the slope of a yes-or-no answer?",
    ),
    (
        "no_grad_is_overlooked",
        TRACKED,
        "m",
        "You expect {names} to require grad. What does the line above it switch off?",
    ),
    (
        "cast_keeps_the_leaf",
        LEAF,
        "i",
        "You call {names} a leaf, as if `double()` were only another view of `b`. "
        "Ask `i.grad_fn`: what is a cast for autograd?",
    ),
    (
        "cast_before_spoils_the_leaf",
        LEAF,
        "j",
        "You don't call {names} a leaf. Read its line from left to right: was anything watched "
        "while the cast ran?",
    ),
    (
        "watched_means_leaf",
        LEAF,
        "cei",
        "You call {names} a leaf, as if each tensor that requires grad were one. "
        "Which of the watched tensors have a `grad_fn`?",
    ),
    (
        "leaf_means_made_by_hand",
        LEAF,
        "dfgkm",
        "You don't call {names} a leaf, as if a leaf were a tensor that somebody typed in. "
        "What does `grad_fn` say there, and what does a leaf lack?",
    ),
)


def _truth() -> dict[str, tuple[bool, bool]]:
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(TWELVE, "<twelve>", "exec"), scope)
    return {n: (scope[n].requires_grad, scope[n].is_leaf) for n in LETTERS}


def _pairs(seen: Seen) -> dict[str, tuple[bool, bool]] | None:
    """What was predicted, by letter; None unless it is a dict of pairs of booleans."""
    if seen["kind"] != "dict":
        return None
    pairs = {}
    for name, pair in seen["items"].items():
        flags = [f.get("value") for f in pair.get("items", ())] if pair["kind"] != "dict" else []
        if len(flags) != 2 or any(not isinstance(f, bool | int) for f in flags):
            return None
        pairs[name] = (bool(flags[0]), bool(flags[1]))
    return pairs


def _judge_predictions(case: Case, seen: Seen) -> Verdict:
    pairs, truth = _pairs(seen["result"]), _truth()
    if pairs is None:
        return not_yet(
            "not_pairs",
            "`predictions` should return a dict that gives each letter a pair of booleans, "
            "`(requires_grad, is_leaf)`. Which entry looks different in yours?",
        )
    missing = [name for name in LETTERS if name not in pairs]
    if missing:
        return not_yet(
            "missing_names",
            f"You say nothing about {_listed(missing)} yet. What do you believe there?",
        )
    if all(pairs[name][::-1] == truth[name] for name in LETTERS):
        return not_yet(
            "swapped",
            "Your pairs are the other way round: `requires_grad` comes first, `is_leaf` second. "
            "What happens if you swap them?",
        )
    letters = {name for name in LETTERS if pairs[name] != truth[name]}
    # Who is wrong about the watching is wrong about the leaves in consequence.
    for place, flag in enumerate((TRACKED, LEAF)):
        wrong = {name for name in LETTERS if pairs[name][place] != truth[name][place]}
        if wrong:
            return _belief(flag, wrong, letters)
    return right("All twelve: you see what autograd watches, and where a graph begins.")


def _belief(flag: str, wrong: set[str], all_wrong: set[str]) -> Verdict:
    """Names the belief that the wrong predictions of this flag come from, and what else is wrong.

    The other letters are named without a reason: one belief at a time is enough to think about.
    """
    beliefs = [belief for belief in BELIEFS if belief[1] == flag]
    slug, _, letters, message = max(beliefs, key=lambda belief: len(wrong & set(belief[2])))
    named = sorted(wrong & set(letters)) or [min(wrong)]
    if not wrong & set(letters):
        slug = "wrong_prediction"
        message = f"Look again at {{names}}: its `{flag}` is not what you say. Which line made it?"
    message = message.format(names=_listed(named))
    others = sorted(all_wrong - set(named))
    if others:
        message += f" Then look again at {_listed(others)}, too."
    return not_yet(slug, message)


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]


PREDICT = Exercise(
    id="predict_leaves",
    title="Twelve tensors",
    lesson="01_requires_grad",
    points=2,
    minutes=6,
    difficulty=1,
    answer="predictions",
    observe="call",
    cases=lambda rng: [{}],
    judge=_judge_predictions,
    hints=(
        "For each line ask two things: does a watched tensor go in, and does an operation that is "
        "recorded come out?",
        "A leaf is a tensor without `grad_fn`. So everything that is not watched is one, whoever "
        "made it.",
        "Run one line in a fresh cell and print `grad_fn`. If it is None, the tensor is a leaf; "
        "if it is not, the tensor requires grad.",
    ),
    symptom_hints={
        "leaf_means_made_by_hand": "Print `d.grad_fn` and `c.grad_fn`: which one has a history?",
        "watched_means_leaf": "Print `b.grad_fn` and `c.grad_fn`: which one does a graph end in?",
    },
    names=("requires_grad", "is_leaf"),
)
