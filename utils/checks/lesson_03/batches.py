"""Many vectors in one call: a batch of v, and the gradient of every sample."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import LESSON, SMALL_MAP, no_tensor, numbers, small_jacobian
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _cases_many(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n),
                "weight": numbers(rng, m, n, low=0.1, high=1),
                "vs": numbers(rng, k, m, low=0, high=2),
            },
            "given": SMALL_MAP,
            "built": ["x", "y", "vs"],
        }
        for k, m, n in ((3, 40, 4), (2, 30, 5))  # few v, many outputs: J is the bigger one
    ]


def _judge_many(case: Case, seen: Seen) -> Verdict:
    jacobian, vs = small_jacobian(case), case["inputs"]["vs"]
    want, runs = vs @ jacobian, len(seen["runs"])
    empty = no_tensor(seen["result"], "What `pull_back_many` returned", seen["args"][0])
    if empty:
        return empty
    verdict = compare(
        _stacked(seen["result"]),
        want,
        "What `pull_back_many` returned",
        simulated={
            "summed": (want.sum(0), want.sum(0).expand_as(want), want.sum(0, keepdim=True)),
            "mean_for_sum": want.mean(0),
            "accumulated": want.cumsum(0),
            "one_only": (want[0], want[-1], want[:1], want[-1:]),
            "whole_jacobian": (jacobian, jacobian.T),
        },
        says={
            "summed": (
                "{what} holds the sum over all v. Each v was to have its own row: were they added "
                "before the backward, or did they meet in one `.grad`?"
            ),
            "accumulated": (
                "{what} adds up from row to row: each row holds the ones before it too. "
                "What was still in `x.grad` when the next backward came?"
            ),
            "one_only": ("{what} belongs to one of the v. Where do the other ones go in?"),
            "whole_jacobian": (
                "{what} is J itself. What do the rows of `vs` have to do with the rows of J?"
            ),
            "mean_for_sum": "{what} averages over all v. Which row belongs to which v?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if runs > 1:
        return not_yet(
            "one_by_one",
            f"The numbers are right, but backward ran {runs} times for {len(vs)} rows of `vs`. "
            "Which argument lets one call take all of them?",
        )
    # The right way makes tensors of k x m numbers, J's way of m x m.
    if seen["largest"] > 4 * vs.numel() * vs.element_size():
        return not_yet(
            "built_jacobian",
            f"The numbers are right, but a tensor of {seen['largest'] // 8} numbers was made on "
            f"the way, and all of `vs` has {vs.numel()}: you pulled back one row for each output, "
            "to combine them afterwards. What happens if `vs` itself goes back?",
        )
    return right("One call, one row for each v, and nothing bigger than the v themselves.")


def _stacked(fact: Seen) -> Seen:
    """Facts of a list of rows as those of one tensor."""
    if fact["kind"] not in ("list", "tuple"):
        return fact
    rows = [part.get("value") for part in fact["items"]]
    if not all(isinstance(r, torch.Tensor) for r in rows) or len({r.shape for r in rows}) != 1:
        return fact
    return {"kind": "tensor", "value": torch.stack(rows)}


PULL_BACK_MANY = Exercise(
    id="pull_back_many",
    title="Many v in one call",
    lesson=LESSON,
    points=3,
    minutes=8,
    difficulty=3,
    answer="pull_back_many",
    observe="call_watching_backward",
    cases=_cases_many,
    judge=_judge_many,
    hints=(
        "A v has the shape of `y`. How could you tell torch that a tensor with one dimension more "
        "holds several of them?",
        "`torch.autograd.grad` has an argument for this; its name says that the grads are batched.",
        "Give `vs` as `grad_outputs`, switch that argument on, and unpack the tuple that comes "
        "back.",
    ),
    symptom_hints={
        "one_by_one": "Read the signature of `torch.autograd.grad` to its end.",
        "gradient_shape": "Torch takes `vs` for one v. Which argument says that it is a batch?",
    },
    names=("is_grads_batched", "autograd.grad"),
)

MODEL = """\
model = torch.nn.Sequential(
    torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)
).double()
generator = torch.Generator().manual_seed(seed)
for parameter in model.parameters():
    torch.nn.init.uniform_(parameter, -1, 1, generator=generator)
losses = (model(data)[:, 0] - targets) ** 2
parameters = list(model.parameters())
"""


def _cases_norms(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "data": numbers(rng, n, 4),
                "targets": numbers(rng, n, low=3, high=9),
                "seed": int(torch.randint(2**31, (), generator=rng)),
            },
            "given": MODEL,
            "built": ["losses", "parameters"],
        }
        for n in (5, 7)
    ]


def _judge_norms(case: Case, seen: Seen) -> Verdict:
    losses, parameters = arguments(case)
    count = len(losses)
    grads = [torch.autograd.grad(loss, parameters, retain_graph=True) for loss in losses]
    # Squared norm of each sample's gradient, parameter by parameter; shape (n, p).
    squares = torch.stack([torch.stack([g.square().sum() for g in row]) for row in grads])
    sums = torch.stack([torch.stack([g.abs().sum() for g in row]) for row in grads])
    want = squares.sum(1).sqrt()
    flat = torch.stack([torch.cat([g.flatten() for g in row]) for row in grads])
    batch = flat.sum(0).norm()
    weights, biases = squares[:, [0, 2]].sum(1).sqrt(), squares[:, [1, 3]].sum(1).sqrt()
    empty = no_tensor(seen["result"], "What `sample_norms` returned")
    if empty:
        return empty
    verdict = compare(
        _stacked(seen["result"]),
        want,
        "What `sample_norms` returned",
        simulated={
            "batch_gradient": (
                batch,
                batch / count,
                batch.expand(count),
                (batch / count).expand(count),
                flat.sum(0),
                torch.stack([sum(parts).norm() for parts in zip(*grads, strict=True)]),
            ),
            "all_in_one": (want.square().sum().sqrt(), squares.sum(0).sqrt().sum()),
            "added_norms": squares.sqrt().sum(1),
            "not_rooted": want**2,
            "kept_apart": (squares.sqrt(), squares.sqrt().T),
            "left_out": (weights, biases, *squares.sqrt().T),
            "another_norm": (sums.sum(1), flat.abs().amax(1)),
            "accumulated": flat.cumsum(0).norm(dim=1),
            "mean_for_sum": want / count,
        },
        says=NORMS_SAYS,
    )
    if verdict.outcome != RIGHT:
        return verdict
    if len(seen["runs"]) > 1:
        return not_yet(
            "one_by_one",
            f"The norms are right, but backward ran {len(seen['runs'])} times for {count} samples. "
            "Each sample needs its own v: how many v does one call take?",
        )
    if any(fact["grad"] is not None for fact in seen["args"][1]["items"]):
        return not_yet(
            "filled_grads",
            "The norms are right, but the parameters' own `.grad` were filled on the way, and the "
            "next step would use them. Which function only hands the gradients to you?",
        )
    return right(f"The norm of each sample's gradient, from one call for all {count}.")


NORMS_SAYS = {
    "batch_gradient": (
        "{what} belongs to the gradient of the whole batch: after a backward of a sum or a mean, "
        "the samples are mixed for good. Which v keeps one sample only, and how many such v do "
        "you need?"
    ),
    "all_in_one": (
        "{what} is one number for all samples together. Over which dimensions should the norm go, "
        "and which one should stay?"
    ),
    "added_norms": (
        "{what} adds the norms of the parameters. The whole gradient is one long vector: what do "
        "you add up before the root?"
    ),
    "not_rooted": "{what} is the square of each norm. Which step is missing at the end?",
    "kept_apart": (
        "{what} has one norm for each sample and each parameter. One number for each sample was "
        "asked for: how do the parameters' parts combine?"
    ),
    "left_out": (
        "{what} covers some of the parameters only. Which ones does your sum leave out: biases, "
        "a layer?"
    ),
    "another_norm": (
        "{what} is another norm than the Euclidean one: absolute values, where squares are due. "
        "What is the length of a vector?"
    ),
    "accumulated": (
        "{what} grows from sample to sample: each gradient holds the ones before it too. "
        "What was still in `.grad` when the next backward came?"
    ),
    "mean_for_sum": (
        "{what} is smaller by the number of samples: did a mean over the batch come first?"
    ),
}

SAMPLE_NORMS = Exercise(
    id="sample_norms",
    title="How long is each sample's gradient?",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="sample_norms",
    observe="call_watching_backward",
    cases=_cases_norms,
    judge=_judge_norms,
    hints=(
        "`losses` is a vector with one entry for each sample. Which v gives the gradient of one "
        "sample alone?",
        "All these v together are the rows of a well-known matrix. You have a way to send many v "
        "in one call.",
        "With a batch of v, each gradient has a first dimension for the samples. Square, sum over "
        "all others, add up over the parameters, and take the root.",
    ),
    symptom_hints={
        "joined_unlike_shapes": "Each gradient has its own shape behind the dimension of the "
        "samples. Make each (n, something) first.",
        "gradient_shape": "Torch takes your matrix for one v. Which argument says that it is many?",
        "one_by_one": "You solved this already, in `pull_back_many`. What is `vs` here?",
    },
    names=("is_grads_batched", "autograd.grad"),
)
