"""Second derivatives: H u without H, and the trace of H at each point."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_04.common import (
    LESSON,
    built,
    by_differences,
    left_alone,
    no_tensor,
    numbers,
)
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

SCALAR = """\
def f(x):
    return 10 * torch.tanh(B @ x).square().sum() + (c * x**3).sum()
"""


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "B": numbers(rng, 4, n) * 2 / n**0.5,
                "c": numbers(rng, n, low=0.1, high=0.6),
                "x": numbers(rng, n),
                "u": numbers(rng, n, low=0.5, high=2),
            },
            "given": SCALAR,
            "built": ["f", "x", "u"],
        }
        for n in (60, 170)
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    f, x, u = arguments(case)
    hessian, gradient = torch.func.hessian(f)(x), torch.func.grad(f)(x)
    want, n = hessian @ u, len(x)
    problem = no_tensor(seen, "hvp") or by_differences(seen, want, "What you return")
    verdict = problem or compare(
        seen["result"],
        want,
        "What `hvp` returned",
        simulated={
            "row_sums": hessian.sum(1),
            "diagonal_only": hessian.diagonal() * u,
            "no_second_derivative": [gradient, gradient * u, gradient @ u],
            "quadratic_form": u @ want,
            "hessian_itself": hessian,
            "twice_multiplied": want * u,
            "gradient_added": gradient + want,
            "multiplied_after": hessian.sum(1) * u,
        },
        says={
            "row_sums": "{what} is the gradient of the summed gradient: the sums of H's rows, "
            "which a `u` of ones would give. What should the entries of the gradient be weighted "
            "with before they are summed?",
            "diagonal_only": "{what} uses H's diagonal only. How much does entry i of the "
            "gradient change when another entry of x does?",
            "no_second_derivative": "{what} comes from the first derivative alone. H is the slope "
            "of the gradient: what do you differentiate the second time?",
            "quadratic_form": "{what} is the single number uᵀHu. H u has an entry for each entry "
            "of x: which product is one too many?",
            "hessian_itself": "{what} is H itself. Where does `u` come in, and is H needed at all?",
            "gradient_added": "{what} is H u and the gradient, added up: two backward passes went "
            "into one `.grad`. Which call returns a gradient and leaves `.grad` alone?",
            "multiplied_after": "{what} is the sums of H's rows, times `u` entry by entry. After "
            "the second backward it is too late: what should `u` weigh before it?",
            "twice_multiplied": "{what} is H u times `u` once more. Where did `u` go in already?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if size := built(seen, n, n):
        return not_yet(
            "built_hessian",
            f"The product is right, but a tensor of {size} numbers was made on the way, and x has "
            f"{n}. With a million weights that would be a million times a million: "
            "what can you differentiate that has u in it already?",
        )
    if len(seen["runs"]) > 4:
        return not_yet(
            "one_by_one",
            f"The product is right, but the engine ran {len(seen['runs'])} times for {n} inputs. "
            "The gradient is a vector, and you want one product with its Jacobian: how many "
            "passes does a single product take?",
        )
    return left_alone(case, seen) or right(
        "About twice the price of a gradient, whatever the number of inputs."
    )


HVP = Exercise(
    id="hessian_vector_product",
    title="H u without H",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="hvp",
    observe="call_counting_cost",
    cases=_cases,
    judge=_judge,
    hints=(
        "H is the Jacobian of the gradient. Which two products with a Jacobian are cheap?",
        "Either push u forward through the gradient function, or take the gradient twice: the "
        "second time of the number gradient · u.",
        "`torch.func.grad(f)` is a function; `torch.func.jvp` takes a function, x and a tangent, "
        "both in tuples. `torch.autograd.functional` has the whole as well.",
    ),
    symptom_hints={
        "no_graph": "The first gradient has to be recorded: which argument does that?",
        "pair_returned": "The value of f comes first, the product second.",
        "row_sums": "A sum weighs all entries with one. You have other weights.",
    },
    names=("functional.hvp", "func.grad", "func.jvp", "create_graph"),
)

FIELD = """\
def f(x):
    return torch.sin(x @ M.T).prod(-1) + (x**3).sum(-1)
"""


def _cases_laplacian(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"M": numbers(rng, 2, n, low=0.4, high=1.6), "X": numbers(rng, size, n)},
            "given": FIELD,
            "built": ["f", "X"],
        }
        for size, n in ((5, 3), (7, 2))
    ]


def _judge_laplacian(case: Case, seen: Seen) -> Verdict:
    f, X = arguments(case)
    hessians = torch.stack([torch.func.hessian(f)(x) for x in X])
    slopes = torch.stack([torch.func.grad(f)(x) for x in X])
    want = hessians.diagonal(dim1=1, dim2=2).sum(1)
    problem = no_tensor(seen, "laplacian") or by_differences(seen, want, "What you return")
    verdict = problem or compare(
        seen["result"],
        want,
        "What `laplacian` returned",
        simulated={
            "row_sums": [hessians.sum(2), hessians.sum((1, 2))],
            "diagonal_not_summed": hessians.diagonal(dim1=1, dim2=2),
            "summed_over_batch": [want.sum(), want.mean()],
            "no_second_derivative": [slopes.sum(1), slopes.square().sum(1), slopes],
            "squared_slopes": (slopes**2).sum(),
            "hessians_returned": hessians,
        },
        says={
            "row_sums": "{what} comes from differentiating the summed gradient. That adds up "
            "whole rows of H, the mixed derivatives too: which entries of H does a Laplacian take?",
            "diagonal_not_summed": "{what} has each point's second derivatives side by side. "
            "A Laplacian is one number for each point: which step is left?",
            "summed_over_batch": "{what} is one number for all points. Each point was to keep its "
            "own: over what do you sum?",
            "no_second_derivative": "{what} comes from the first derivative alone. What do you "
            "differentiate the second time?",
            "squared_slopes": "{what} comes from squared slopes. A second derivative is not the "
            "square of a first one: what is it the slope of?",
            "hessians_returned": "{what} holds the whole Hessians. Which entries add up to the "
            "Laplacian?",
            "wrong_shape": "{what} has shape {seen}, and {want} was asked for: a number for each "
            "point. What is a function of one point only, and how does it get to a batch?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    return left_alone(case, seen) or right(
        "The trace of H at each point: how f bends on the whole, with no mixed derivative in it."
    )


LAPLACIAN = Exercise(
    id="laplacian",
    title="The Laplacian at each point",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=3,
    answer="laplacian",
    observe="call",
    cases=_cases_laplacian,
    judge=_judge_laplacian,
    hints=(
        "The Laplacian adds up the second derivatives by each coordinate alone. Where in H are "
        "they?",
        "H at one point comes from `torch.func.hessian(f)`, a function of the point. Its trace is "
        "the Laplacian there.",
        "Write a function of one point that takes the trace of its Hessian, and `vmap` it over "
        "the points.",
    ),
    symptom_hints={
        "row_sums": "Differentiate entry i of the gradient, and keep component i of the result.",
        "not_a_scalar_function": "For a batch, f gives a number for each point. Take one point.",
    },
    names=("func.hessian", "vmap"),
)
