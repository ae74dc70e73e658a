"""A Jacobian that training can go through."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_04.common import LESSON, by_differences, left_alone, no_tensor, numbers
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

NETWORK = """\
model = torch.nn.Sequential(
    torch.nn.Linear(n, 4), torch.nn.Tanh(), torch.nn.Linear(4, m)
).double()
generator = torch.Generator().manual_seed(seed)
for parameter in model.parameters():
    torch.nn.init.uniform_(parameter, -0.8, 0.8, generator=generator)
"""


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "n": n,
                "m": m,
                "x": numbers(rng, n),
                "seed": int(torch.randint(2**31, (), generator=rng)),
            },
            "given": NETWORK,
            "built": ["model", "x"],
        }
        for m, n in ((3, 5), (5, 2))
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    model, x = arguments(case)
    jacobian = torch.func.jacrev(model)(x)
    want, summed = jacobian.square().sum(), jacobian.sum(0)
    what = "What you return"
    problem = no_tensor(seen, "jacobian_penalty") or by_differences(seen, want.detach(), what)
    verdict = problem or compare(
        seen["result"],
        want.detach(),
        "What `jacobian_penalty` returned",
        simulated={
            "rooted": want.sqrt().detach(),
            "summed_rows": [summed.square().sum().detach(), summed.norm().detach()],
            "mean_for_sum": jacobian.square().mean().detach(),
            "not_squared": [jacobian.sum().detach(), jacobian.abs().sum().detach()],
            "penalised_outputs": model(x).square().sum().detach(),
            "largest_only": torch.linalg.matrix_norm(jacobian.detach(), 2),
            "matrix_returned": [jacobian.detach(), jacobian.square().detach()],
        },
        says={
            "rooted": "{what} is ‖J‖, and ‖J‖² was asked for. Which step is one too many?",
            "summed_rows": "{what} comes from the gradient of the summed outputs: J's rows were "
            "added before they were squared, so they can cancel. How do you get them apart?",
            "not_squared": "{what} adds up J's entries without squaring them. What should a "
            "negative slope cost?",
            "penalised_outputs": "{what} adds up the squares of the outputs. It is the slopes "
            "that should be small: where does a derivative come in?",
            "largest_only": "{what} is J's largest singular value. The sum goes over the squares "
            "of all entries: which norm is that?",
            "matrix_returned": "{what} is a matrix. A penalty is one number: which sum is missing?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["result"]["requires_grad"]:
        return not_yet(
            "detached",
            "The number is right, but it has no graph, so no training can make it smaller. "
            "J was computed by a backward, and that is only recorded where you ask for it: "
            "which argument does?",
        )
    names = [name for name, _ in model.named_parameters()]
    params = list(model.parameters())
    grads = torch.autograd.grad(want, params, allow_unused=True, materialize_grads=True)
    rows = torch.autograd.grad(model(x).sum(), params)
    state = seen["args"][0]["state"]
    if all(state[name]["grad"] is None or not state[name]["grad"].any() for name in names):
        return not_yet(
            "new_leaf",
            "The number is right and requires grad, but its backward brings the model nothing: J "
            "was cut off, and what came after is a new start. Which call cuts?",
        )
    for name, grad, row in zip(names, grads, rows, strict=True):
        got = state[name]["grad"]
        got = torch.zeros_like(grad) if got is None else got
        if close(got, grad + row) and row.any():
            return not_yet(
                "filled_grads",
                f"The number is right, but `.grad` of the model's `{name}` holds more than the "
                "slope of the penalty: the backward for J left something there. "
                "Which call returns gradients and leaves `.grad` alone?",
            )
        if not close(got, grad):
            return not_yet(
                "cut_on_the_way",
                f"The number is right, but its backward brings the model's `{name}` another "
                "gradient than ‖J‖² has. Which part of J's way is not recorded?",
            )
    return left_alone(case, seen) or right(
        "A penalty with a graph: training can flatten the model."
    )


PENALTY = Exercise(
    id="jacobian_penalty",
    title="A penalty on the slopes",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=3,
    answer="jacobian_penalty",
    observe="call_then_backward",
    cases=_cases,
    judge=_judge,
    hints=(
        "The backward of your penalty goes through the computation of J. Is that recorded?",
        "Ask what you got for its `grad_fn`. The functions in `torch.autograd` record a backward "
        "only if you tell them; those in `torch.func` always do.",
        "`torch.autograd.functional.jacobian` has an argument `create_graph` that is off unless "
        "you switch it on. Then square and sum.",
    ),
    symptom_hints={
        "detached": "Look for the default of `create_graph` in what you called.",
        "summed_rows": "The backward of a sum adds the rows up. J has a row for each output.",
    },
    names=("functional.jacobian", "create_graph"),
)
