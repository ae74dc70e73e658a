"""What a v of the output's shape means for an input that was broadcast."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import LESSON, no_tensor, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The shape of v, and the shape of the input that was broadcast to it.
SHAPES = (
    ((4, 3), (3,)),
    ((2, 4, 3), (4, 1)),
    ((4, 3), (4, 1)),
    ((2, 3, 4), (2, 1, 4)),
    ((5, 2), ()),
    ((3, 5), (3, 5)),
)


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "args": [numbers(rng, *big, low=1, high=3), small],
            "words": f"for a v of shape {big} and an input of shape {small}",
        }
        for big, small in SHAPES
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    v, shape = case["args"]
    want = v.sum_to_size(shape)
    new = tuple(range(v.ndim - len(shape)))  # dimensions that the input did not have
    padded = (1,) * len(new) + tuple(shape)
    used = [d for d, (a, b) in enumerate(zip(v.shape, padded, strict=True)) if a != b]
    first, last = v, v
    for d in used:
        first, last = first.narrow(d, 0, 1), last.narrow(d, -1, 1)
    copies = v.numel() / max(want.numel(), 1)
    kept = [d for d in range(v.ndim) if d not in used]
    flat = v.sum()
    everything = (flat, flat.expand(shape), flat.expand(padded))
    empty = no_tensor(seen["result"], "What `unbroadcast` returned")
    if empty:
        return empty
    verdict = compare(
        seen["result"],
        want,
        f"For a v of shape {tuple(v.shape)} and an input of shape {tuple(shape)}, your result",
        simulated={
            "unreduced_broadcast": v,
            "mean_for_sum": want / copies,
            "one_copy_only": tuple(part.reshape(shape) for part in (first, last)),
            "lost_a_dimension": want.squeeze(),
            "kept_a_dimension": want.reshape(padded),
            "summed_everything": everything if new else (),
            # The cases before have something in front to sum over: here the list was empty.
            "summed_over_no_dimension": (flat.expand((1,) * len(shape)), *everything),
            "summed_the_others": v.sum(kept) if kept else v.sum(),
            "leading_only": v.sum(new) if new else v,
        },
        says={
            "mean_for_sum": (
                "{what} is the mean over the copies. Each copy adds its own share to the loss: "
                "does the input's gradient average these shares, or collect them?"
            ),
            "one_copy_only": (
                "{what} holds what came back for one of the copies. The input was used in all of "
                "them: what becomes of the gradients of the others?"
            ),
            "lost_a_dimension": (
                "{what} has lost a dimension of size 1. The input has it, so its gradient has it: "
                "what keeps a dimension while you sum over it?"
            ),
            "kept_a_dimension": (
                "{what} kept a dimension that the input never had. Which dimensions does "
                "broadcasting put in front, and what should become of them?"
            ),
            "summed_everything": (
                "{what} adds up all entries of v. Which of them were copies of the same entry?"
            ),
            "summed_over_no_dimension": (
                "{what} adds up all entries of v. If you named the dimensions in a list: was it "
                "empty here, and what does `sum` do with an empty list?"
            ),
            "summed_the_others": (
                "{what} was summed over the dimensions that were not broadcast. Broadcasting lines "
                "shapes up from the right: which dimensions are new or were 1?"
            ),
            "leading_only": (
                "{what} was summed over the new dimensions in front only. Where else can an entry "
                "have been used several times?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if seen["args"][0]["version"]:
        return not_yet(
            "changed_input",
            "The gradient is right, but `v` was changed in place. The caller still needs it: can "
            "you work on a new tensor?",
        )
    return right("Copied on the way there, added up on the way back.")


UNDO_BROADCAST = Exercise(
    id="undo_broadcast",
    title="Undo a broadcast",
    lesson=LESSON,
    points=3,
    minutes=8,
    difficulty=3,
    answer="unbroadcast",
    observe="call",
    cases=_cases,
    judge=_judge,
    hints=(
        "One entry of a bias is added to every row. When it grows by one, how many outputs grow, "
        "and what do they weigh together?",
        "Broadcasting lines shapes up from the right. It puts dimensions in front, and it repeats "
        "those of size 1. You have to undo both.",
        "First sum away as many leading dimensions as `v` has more. Then sum over each dimension "
        "that is 1 in `shape` and more in `v`, and keep it as a dimension of size 1.",
    ),
    symptom_hints={
        "reshaped_for_sum": "Nothing is to be laid out anew: copies of one entry are to be added.",
        "no_such_dimension": "Broadcasting lines shapes up from the right. Do you?",
        "summed_over_no_dimension": "Call `sum` only where there is a dimension to sum over.",
        "lost_a_dimension": "`sum` has an argument `keepdim`.",
        "leading_only": "Try an input of shape (4, 1) and a v of shape (4, 3) on paper.",
    },
    names=("backward(gradient=)",),
)
