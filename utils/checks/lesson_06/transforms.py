"""A Function that vmap and forward mode accept."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, right

# A stack of a meets one b, so that a rule which forgets in_dims is told.
PROGRAM = """\
y = answer.apply(a, b)
note = go(y, v, a=a, b=b)
at, bt, stack, square = at.clone(), bt.clone(), stack.clone(), square.clone()
pushed = pushed_a = mapped = columns = slopes = slopes_p = None
if note["custom"]:
    p, q = a.detach(), b.detach()
    _, pushed = torch.func.jvp(answer.apply, (p, q), (at, bt))
    _, pushed_a = torch.func.jvp(lambda a: answer.apply(a, q), (p,), (at,))
    mapped = torch.func.vmap(answer.apply, in_dims=(0, None))(stack, q)
    columns = torch.func.vmap(answer.apply, in_dims=(1, None))(square, q)
    # `torch.func.grad` would load torch's compiler here: seconds. This asks the same of the rule.
    p, rows = p.requires_grad_(), stack.clone().requires_grad_()
    many = torch.func.vmap(answer.apply, in_dims=(None, 0))(p, rows)
    slopes_p, slopes = torch.autograd.grad(many, (p, rows), v.expand_as(many))
"""


def _cases(rng: torch.Generator) -> list[Case]:
    cases = []
    for n, batch in ((3, 4), (5, 2)):
        drawn = {name: numbers(rng, n, low=0.5) for name in ("a", "b", "v", "at", "bt")}
        drawn["stack"] = numbers(rng, batch, n, low=0.5)
        drawn["square"] = numbers(rng, n, n, low=0.5)  # rows for columns would go unnoticed
        cases.append(
            {
                **case(PROGRAM, "a", "b", **drawn),
                "facts": [
                    "y",
                    "a",
                    "b",
                    "pushed",
                    "pushed_a",
                    "mapped",
                    "columns",
                    "slopes",
                    "slopes_p",
                ],
            }
        )
    return cases


def _judge(case: Case, seen: Seen) -> Verdict:
    a, b, v, at, bt, stack, square = (
        case["inputs"][key] for key in ("a", "b", "v", "at", "bt", "stack", "square")
    )
    if stopped := not_recorded(seen["note"]):
        return stopped
    swapped = "{what} is the gradient that belongs to the other input. Position i of what backward "
    swapped += "returns is for argument i: which factor is the slope for which?"
    gradients = [
        compare(
            seen[name]["grad"],
            v * other,
            f"`{name}.grad`",
            simulated={"gradients_swapped": v * own, "forgot_upstream": other},
            says={"gradients_swapped": swapped},
        )
        for name, own, other in (("a", a, b), ("b", b, a))
    ]
    tangents = {
        "one_tangent_only": [at * b, a * bt],
        "tangents_multiplied": at * bt,
        "tangents_swapped": at * a + bt * b,
        "forgot_upstream": a + b,
    }
    says = {
        "one_tangent_only": "{what} follows one of the inputs alone. When both move, what does the "
        "product rule say?",
        "tangents_multiplied": "{what} is the product of the two tangents, which is what is left "
        "out to first order. What does the product rule say?",
        "tangents_swapped": "{what} pairs each tangent with its own input. Which factor stays put "
        "while the other moves?",
        "forgot_upstream": "{what} is the local derivative alone. Which tangents came in?",
    }
    verdicts = [
        compare(seen["y"], a * b, "`Product.apply(a, b)`"),
        *gradients,
        compare(
            seen["pushed"],
            at * b + a * bt,
            "The tangent of the output",
            simulated=tangents,
            says=says,
        ),
        compare(seen["pushed_a"], at * b, "The tangent of the output, when only `a` moves"),
        compare(
            seen["mapped"],
            stack * b,
            "The product under `vmap`, over the rows of `a` with one `b`",
        ),
        compare(
            seen["columns"],
            square.T * b,
            "The product under `vmap`, over the columns of `a` with one `b`,",
            simulated={"in_dims_ignored": [square * b, square.T * b[:, None]]},
            says={
                "in_dims_ignored": "{what} took another dimension for the batch. Your own `vmap` "
                "is told with `in_dims` which one it is: where does it look there?"
            },
        ),
        compare(
            seen["slopes"],
            (v * a).expand_as(stack),
            "The gradient under `vmap`, over the rows of `b` with one `a`",
        ),
        compare(
            seen["slopes_p"],
            (v * stack).sum(0),
            "The gradient of the one `a` that all rows share under `vmap`",
        ),
    ]
    for verdict in verdicts:
        if verdict.outcome != RIGHT:
            return verdict
    return misbehaved(seen["note"]) or right("Backward, forward, and for a whole batch at once.")


PRODUCT = Exercise(
    id="forward_and_mapped",
    title="Forward mode and vmap",
    lesson=LESSON,
    points=4,
    minutes=12,
    difficulty=4,
    answer="Product",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Which three things do transforms want of a Function, next to `forward` and backward?",
        "`setup_context` keeps what is needed: `save_for_backward` for one direction, "
        "`save_for_forward` for the other. `jvp` gets a tangent for each input.",
        "Set `generate_vmap_rule` to True in the class. Save both inputs in both ways; the tangent "
        "of a product is the product rule.",
    ),
    symptom_hints={
        "missing_vmap": "It is an attribute of the class, not a method.",
        "not_saved_for_forward": "Call both `save_for_...` methods, with the same tensors.",
    },
    names=("Function.jvp", "generate_vmap_rule"),
)
