"""Name the node that torch writes down for an expression."""

from __future__ import annotations

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_02.common import LESSON, nothing_came
from utils.checks.verdict import Verdict, not_yet, right

EXPRESSIONS = (
    "a * b",
    "a ** 2",
    "a - 1",
    "torch.exp(a)",
    "(a * b).sum()",
    "(2 * a + b).mean()",
    "M @ N",
    "a",
    "a.detach() * 3",
    "a.detach() * b",
)
# Names of operations that run in it before the last one.
INSIDE = {
    "(a * b).sum()": ("MulBackward0",),
    "(2 * a + b).mean()": ("MulBackward0", "AddBackward0"),
}


def node_names() -> dict[str, str | None]:
    """What torch says today, so that a new version of torch needs no edit here."""
    scope = {
        "torch": torch,
        "a": torch.ones(3, requires_grad=True),
        "b": torch.ones(3, requires_grad=True),
        "M": torch.ones(2, 3, requires_grad=True),
        "N": torch.ones(3, 4),
    }
    tensors = {expression: eval(expression, scope) for expression in EXPRESSIONS}
    return {e: type(t.grad_fn).__name__ if t.grad_fn else None for e, t in tensors.items()}


def _judge_names(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "predictions")
    if empty is not None:
        return empty
    result = seen["result"]
    if result["kind"] != "dict":
        return not_yet(
            "not_a_dict",
            "`predictions` gave no dict. It should name the node of each expression: "
            "which key goes with which name?",
        )
    guesses = {key: fact.get("value") for key, fact in result["items"].items()}
    guesses = {key: None if guess in ("None", "") else guess for key, guess in guesses.items()}
    truth = node_names()
    missing = [e for e in EXPRESSIONS if e not in guesses]
    if missing:
        return not_yet(
            "missing_key",
            f"`predictions` says nothing about `{missing[0]}`. What would its `grad_fn` be?",
        )
    wrong = {e: str(guesses[e]) for e in EXPRESSIONS if guesses[e] != truth[e]}
    if not wrong:
        return right("You know what torch writes down for each of these.")
    if any(guess + "0" == truth[e] for e, guess in wrong.items()):
        return not_yet(
            "no_number",
            "The operation is right, but torch's names end in a digit, since one operation can "
            "have several backward formulas. What does `type(y.grad_fn).__name__` look like?",
        )
    if any(
        truth[e] and guess != "None" and truth[e].lower().startswith(guess.lower())
        for e, guess in wrong.items()
    ):
        return not_yet(
            "forward_name",
            "You gave the name of the forward operation. The node holds what will run on the way "
            "back: how does torch mark that in its name?",
        )
    if "a" in wrong:
        return not_yet(
            "leaf_has_a_node",
            "No operation made `a`: you did. `AccumulateGrad` exists, but only as the end of "
            "somebody else's edge. So what is the `grad_fn` of a leaf?",
        )
    if "a.detach() * 3" in wrong:
        return not_yet(
            "detached_has_a_node",
            "After `a.detach()` nothing in `a.detach() * 3` requires grad. "
            "What does autograd record when no input asks for a gradient?",
        )
    if "a.detach() * b" in wrong and guesses["a.detach() * b"] is None:
        return not_yet(
            "detached_cuts_all",
            "`a.detach() * b` has two factors, and only one of them is detached. "
            "Does any input still ask for a gradient?",
        )
    for whole, inner in INSIDE.items():
        if wrong.get(whole) in inner:
            return not_yet(
                "first_operation",
                f"For `{whole}` you named an operation inside. `grad_fn` is the node of the "
                "operation that made this very tensor: which one ran last?",
            )
    if "M @ N" in wrong:
        return not_yet(
            "no_node_for_at",
            "`@` picks an operation by the number of dimensions, and the node is named after the "
            "operation that it picked. Which torch function multiplies two matrices, and no more?",
        )
    key, guess = next(iter(wrong.items()))
    return not_yet(
        "wrong_name",
        f"For `{key}` you say {guess}, and torch says something else. "
        "Build it in a cell of your own: what does `.grad_fn` print?",
    )


NAME_THE_NODE = Exercise(
    id="name_the_node",
    title="Name the node",
    lesson=LESSON,
    points=1,
    minutes=4,
    difficulty=1,
    answer="predictions",
    observe="call",
    cases=lambda rng: [{}],
    judge=_judge_names,
    hints=(
        "Which operation ran last to make this tensor, and did any of its inputs require grad?",
        "A node is called after its operation, then Backward, then a digit. A leaf has none.",
        "Print the class name of the `grad_fn` of each expression, and compare with your guess.",
    ),
    symptom_hints={
        "leaf_has_a_node": "Print `a.grad_fn` for a leaf, then look at who points to its "
        "AccumulateGrad.",
    },
    names=("grad_fn",),
)
