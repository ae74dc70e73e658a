"""What stays in `.grad` after a backward: clear it in time, and step without losing the leaf."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_01.draw import uniform
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

LOSSES = """\
losses = [
    lambda w: ((w - target) ** 2).sum(),
    lambda w: (w**3).mean(),
    lambda w: (target * w).sum(),
][:count]
"""


def _cases_separate(rng: torch.Generator) -> list[Case]:
    return [
        {
            "args": [uniform(rng, n)],
            "leaves": (0,),
            "grads": {0: uniform(rng, n, low=3, high=6)},
            "inputs": {"target": uniform(rng, n, low=1, high=4), "count": count},
            "given": LOSSES,
            "built": ["losses"],
        }
        for n, count in ((4, 3), (3, 2))
    ]


def _judge_separate(case: Case, seen: Seen) -> Verdict:
    (w,), stale, target = case["args"], case["grads"][0], case["inputs"]["target"]
    count = case["inputs"]["count"]
    want = torch.stack([2 * (w - target), 3 * w**2 / len(w), target][:count])
    made = items(seen["result"])
    if made is None or len(made) != count:
        return not_yet(
            "wrong_count",
            "`separate_gradients` should return a list with one gradient for each loss. "
            "What does yours return?",
        )
    mine = [fact["value"] if fact["kind"] == "tensor" else None for fact in made]
    if all(fact == {"kind": "plain", "value": None} for fact in made):
        return not_yet(
            "backward_returns_nothing",
            "Your list holds None only. Is that what `backward()` returned? It returns nothing: "
            "where does it leave the gradient?",
        )
    for slug, patterns, message in _stale_patterns(want, stale):
        for pattern in patterns:
            if all(
                isinstance(value, torch.Tensor) and close(value, row)
                for value, row in zip(mine, pattern, strict=True)
            ):
                return not_yet(slug, message)
    for number, fact in enumerate(made):
        verdict = compare(fact, want[number], f"The gradient of `losses[{number}]`")
        if verdict.outcome != RIGHT:
            return verdict
    after = seen["args"][0]
    if not close(after["value"], w):
        return not_yet(
            "changed_input",
            "The gradients are right, but the values of `w` changed. Was that asked for?",
        )
    if after["grad"] is None:
        return right("Each loss has its own gradient, and `w` starts clean for whoever comes next.")
    if not after["grad"].any():
        return not_yet(
            "zeros_left",
            "The gradients are right, but afterwards `w.grad` is a tensor of zeros. To an "
            "optimiser, zeros are a gradient that arrived. What says that none has arrived?",
        )
    return not_yet(
        "gradient_left",
        "The gradients are right, but `w.grad` is not empty afterwards, and the next backward "
        "would add to it. What should `w.grad` be when you leave?",
    )


def _stale_patterns(
    want: torch.Tensor, stale: torch.Tensor
) -> list[tuple[str, list[torch.Tensor], str]]:
    """What stale gradients make of the list: slug, the lists it may give, what to say."""
    sums, total = want.cumsum(0), want.sum(0).expand_as(want)
    first = want.clone()
    first[0] += stale
    return [
        (
            "accumulated",
            [sums + stale, total + stale],
            "Your gradients hold what was in `w.grad` before, and everything since. "
            "Does backward replace what is in `.grad`, or add to it?",
        ),
        (
            "cleared_once",
            [sums, total],
            "You cleared `w.grad` once, at the start. From the second loss on, the gradients of "
            "the losses before are in there too: how often does it need to be cleared?",
        ),
        (
            "stale_start",
            [first],
            "All is right but the first gradient: something was in `w.grad` before you came. "
            "When should it be cleared, before a backward or after it?",
        ),
        (
            "aliased",
            [want[-1].expand_as(want), torch.zeros_like(want)],
            "All entries of your list hold the same numbers, because they are one tensor: you kept "
            "`w.grad` itself, and then it was changed in place. What makes torch use a new one, "
            "or keeps your own copy?",
        ),
    ]


SEPARATE = Exercise(
    id="separate_gradients",
    title="To each loss its own gradient",
    lesson="01_requires_grad",
    points=3,
    minutes=8,
    difficulty=3,
    answer="separate_gradients",
    observe="call",
    cases=_cases_separate,
    judge=_judge_separate,
    hints=(
        "What is in `w.grad` when you start, and what does backward do with that?",
        "Zeroing in place changes a tensor that you may have kept. Setting `.grad` to None lets it "
        "go, and the next backward makes a new one.",
        "In the loop: empty `.grad`, run this loss backward, keep what arrived. After the loop, "
        "empty it once more.",
    ),
    symptom_hints={
        "aliased": "Print `id(w.grad)` in each turn: do you keep one tensor or several?",
        "zeros_left": "`zero_grad()` of an optimiser sets None by default. What does `zero_()` do?",
    },
    names=(".grad", "zero_grad(set_to_none)"),
)


def _cases_step(rng: torch.Generator) -> list[Case]:
    return [
        {
            "args": [uniform(rng, *shape), lr],
            "leaves": (0,),
            "grads": {0: uniform(rng, *shape, low=1, high=5)},
        }
        for shape, lr in (((3,), 0.1), ((2, 4), 0.25))
    ]


def _judge_step(case: Case, seen: Seen) -> Verdict:
    (w, lr), grad = case["args"], case["grads"][0]
    want, after, returned = w - lr * grad, seen["args"][0], seen["result"]
    if close(after["value"], w):
        if returned["kind"] == "tensor" and not seen["same"][0]:
            return not_yet(
                "rebound",
                "You return a new tensor, and the caller's `w` is where it was: an optimiser must "
                "move the leaf itself. Which operation changes a tensor in place?",
            )
        # Something was written in place, but it was nothing that moves.
        if after["version"] and (after["grad"] is None or not after["grad"].any()):
            return not_yet(
                "cleared_first",
                "`w` did not move, and its gradient is gone. In which order do you step and clear?",
            )
        return not_yet(
            "rebound",
            "The caller's `w` did not move. `w = w - ...` makes a new tensor and gives it the name "
            "`w` inside `sgd_step` only: which operation changes the leaf in place?",
        )
    verdict = compare(
        after["value"],
        want,
        "`w` after the step",
        simulated={"uphill": w + lr * grad, "forgot_lr": w - grad, "gradient_for_step": grad},
        says={
            "uphill": (
                "{what} moved along its gradient, so the loss grows. Where does a gradient point, "
                "up or down?"
            ),
            "forgot_lr": "{what} moved by its whole gradient. Where does `lr` come in?",
            "gradient_for_step": (
                "{what} is its own gradient: you wrote over it. How do you move it instead?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not after["requires_grad"]:
        return not_yet(
            "not_tracked",
            "`w` moved to the right place, but it does not require grad any more: the next forward "
            "pass would record nothing. Which switch did you leave off?",
        )
    if after["grad"] is not None and after["grad"].any():
        return not_yet(
            "stale_gradient",
            "`w` moved to the right place, but its old gradient is still in `w.grad`. "
            "What would the next backward do with it?",
        )
    return right("The same leaf, one step further down, and ready for the next backward.")


STEP = Exercise(
    id="sgd_step",
    title="A step that keeps the leaf a leaf",
    lesson="01_requires_grad",
    points=2,
    minutes=6,
    difficulty=3,
    answer="sgd_step",
    observe="call",
    cases=_cases_step,
    judge=_judge_step,
    hints=(
        "Should the step itself be recorded in the graph?",
        "The caller holds `w`. Change that very tensor in place, where autograd does not look.",
        "Under `torch.no_grad` a leaf may be changed by `-=` or `sub_`. Empty `w.grad` after the "
        "step has used it.",
    ),
    symptom_hints={
        "in_place_on_leaf": "There is a context in which autograd records nothing.",
        "rebound": "Compare `id(w)` before and after your line: is it the same tensor?",
    },
    names=(".grad", "requires_grad_()"),
)
