"""A gradient step that is itself a part of the graph: differentiate through an update."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

LOSS = """\
def loss(w):
    return (A @ w).sin().sum() + (w**4).sum() / 4


given = w.detach().clone()
watched = [part for part in (w, lr, A) if part.requires_grad]
for part in watched:
    part.grad = part.detach() + 100
before = [part.grad.clone() for part in watched]
"""
PROGRAM = """\
result = answer(loss, w, lr)
moved = not torch.equal(w.detach(), given)
filled = any(
    part.grad is None or not torch.equal(part.grad, old)
    for part, old in zip(watched, before, strict=True)
)
if isinstance(result, torch.Tensor) and result.requires_grad and result.ndim == 0:
    w.grad = lr.grad = None
    result.backward(v)
"""


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "A": numbers(rng, n, m),
                "w": numbers(rng, m, low=0.5),
                "lr": numbers(rng, low=0.1, high=0.2),
                "v": numbers(rng, low=2, high=3),
            },
            "leaves": leaves,
            "given": LOSS,
            "program": PROGRAM,
            "report": ["moved", "filled"],
            "facts": ["result", "w", "lr"],
        }
        for n, m, leaves in ((2, 3, ["w", "lr"]), (4, 2, ["w", "lr", "A"]))
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    A, v = case["inputs"]["A"], case["inputs"]["v"]
    w, lr = (case["inputs"][name].clone().requires_grad_() for name in ("w", "lr"))

    def loss(w: torch.Tensor) -> torch.Tensor:
        return (A @ w).sin().sum() + (w**4).sum() / 4

    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    fast = w - lr * g
    want = loss(fast)
    grad_w, grad_lr, at_fast = torch.autograd.grad(want, (w, lr, fast), v)
    if seen["moved"]:
        return not_yet(
            "changed_input",
            "`w` itself was moved. The caller still needs it as the place that the gradient is "
            "asked for: can the step make a new tensor?",
        )
    if seen["filled"]:
        return not_yet(
            "filled_grads",
            "`.grad` of `w`, `lr` or of another tensor that the loss uses has changed on the way. "
            "What was in there belongs to the caller, and backward adds to it. Which call returns "
            "a gradient and leaves every `.grad` alone?",
        )
    verdict = compare(
        seen["result"],
        want.detach(),
        "The loss after the step",
        simulated={
            "no_step": loss(w).detach(),
            "uphill": loss(w + lr * g).detach(),
            "gradient_returned": fast.detach(),
        },
        says={
            "no_step": "{what} is the loss before it. At which point do you evaluate it?",
            "uphill": "{what} is what a step uphill gives. Which sign does the step have?",
            "gradient_returned": "You return the weights after the step. What is the loss there?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if seen["result"]["kind"] == "plain":
        return not_yet(
            "not_a_tensor",
            "The loss is right, but it is a number, and a number has no graph. What would you "
            "return to keep it a tensor?",
        )
    if not seen["result"]["requires_grad"]:
        return not_yet(
            "detached",
            "The loss is right, but it has no graph: the step was not recorded. An optimiser steps "
            "under `no_grad`, and `.data` and `detach` leave the graph too. How do you write the "
            "step as an ordinary expression?",
        )
    got = seen["w"]["grad"]
    if got is not None and close(got, at_fast):
        return not_yet(
            "first_order",
            "The loss is right, but `w.grad` takes the step for a constant: it is the gradient at "
            "the new point, and the slope depends on `w` too. Which argument has the inner "
            "gradient recorded? To keep a graph is not to make one.",
        )
    verdicts = [
        compare(seen["w"]["grad"], grad_w, "`w.grad`, after backward from your loss,"),
        compare(
            seen["lr"]["grad"],
            grad_lr,
            "`lr.grad`, after backward from your loss,",
            says={
                "none": "`lr.grad` is None, so the step does not depend on `lr` as a tensor. "
                "Did you take the number out of it?"
            },
        ),
    ]
    for verdict in verdicts:
        if verdict.outcome != RIGHT:
            return verdict
    return right("You can learn the step itself: through it, and through its size.")


STEP = Exercise(
    id="step_in_the_graph",
    title="Differentiate through a step",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="loss_after_step",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "The result depends on `w` in two ways: directly, and through the gradient. Are both "
        "recorded?",
        "`torch.autograd.grad` returns a gradient and fills nothing; whether it is part of a graph "
        "you say with `create_graph`.",
        "Ask for the gradient of the loss at `w`, recorded. Subtract `lr` times it from `w`, as a "
        "new tensor, and return the loss there.",
    ),
    symptom_hints={
        "first_order": "Does the inner gradient have a `grad_fn`?",
        "detached": "No optimiser, no `no_grad`: a minus and a product will do.",
    },
    names=("autograd.grad", "create_graph"),
)
