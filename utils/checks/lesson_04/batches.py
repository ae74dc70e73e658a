"""A Jacobian for each sample of a batch, without the blocks between samples."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_04.common import (
    LESSON,
    by_differences,
    left_alone,
    map_inputs,
    map_jacobian,
    no_tensor,
    numbers,
)
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The same map as elsewhere, along the last dimension: it takes a batch as well.
MAP_OF_BATCH = """\
def f(x):
    return torch.tanh(x @ B.T) @ A.T
"""


def _cases(rng: torch.Generator) -> list[Case]:
    drawn = []
    for size, m, n in ((12, 3, 5), (20, 4, 3)):
        inputs = {**map_inputs(rng, m, n, middle=3), "X": numbers(rng, size, n)}
        drawn.append({"inputs": inputs, "given": MAP_OF_BATCH, "built": ["f", "X"]})
    return drawn


def _judge(case: Case, seen: Seen) -> Verdict:
    X = case["inputs"]["X"]
    want = torch.stack([map_jacobian(case, x) for x in X])
    size = len(want)
    blocks = torch.einsum("bmn,bc->bmcn", want, torch.eye(size, dtype=want.dtype))
    problem = no_tensor(seen, "jacobians") or by_differences(seen, want, "What you return")
    verdict = problem or compare(
        seen["result"],
        want,
        "What `jacobians` returned",
        simulated={
            "blocks_between_samples": blocks,
            "outputs_first": want.movedim(0, 1),
            "transposed": want.mT,
            "summed_over_batch": [want.sum(0), want.mean(0)],
            "summed_outputs": want.sum(1),
            "first_sample_only": [want[0], want[-1]],
            "mean_for_sum": [want / size, want.movedim(0, 1) / size],
        },
        says={
            "blocks_between_samples": "{what} has four dimensions: outputs of each sample by "
            "inputs of every sample, and all blocks between different samples are zero. "
            "What maps a function of one sample over a batch?",
            "outputs_first": "{what} has the outputs before the samples. You added up over the "
            "batch, which is fine: which dimension should come first in the end?",
            "transposed": "{what} has each J transposed. Within a sample, which index counts "
            "outputs?",
            "summed_over_batch": "{what} is one J for the whole batch, summed or averaged. "
            "Each sample was to keep its own: where do they meet?",
            "summed_outputs": "{what} has one row for each sample: the sum of J's rows, which is "
            "what a v of ones pulls back. How do the rows stay apart?",
            "first_sample_only": "{what} is the J of one sample only. Where do the others go?",
            "mean_for_sum": "{what} is smaller by the number of samples: a mean over the batch "
            "came before the derivative. What would a sum do?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if 2 * seen["largest"] >= 8 * blocks.numel():
        return not_yet(
            "built_the_blocks",
            f"The Jacobians are right, but a tensor of {seen['largest'] // 8} numbers was made "
            f"on the way, of which {want.numel()} are wanted: the rest are zeros between samples. "
            "What differentiates each sample on its own?",
        )
    if seen["calls"] >= size:
        return not_yet(
            "one_by_one",
            f"The Jacobians are right, but `f` ran {seen['calls']} times for {size} samples, in a "
            "loop of Python. Which transform turns a function of one sample into one of a batch?",
        )
    return left_alone(case, seen) or right("A J for each sample, and no zeros between them.")


BATCH = Exercise(
    id="batch_of_jacobians",
    title="A batch of Jacobians",
    lesson=LESSON,
    points=3,
    minutes=8,
    difficulty=3,
    answer="jacobians",
    observe="call_counting_cost",
    cases=_cases,
    judge=_judge,
    hints=(
        "How many entries has the Jacobian of the whole batch, and how many of them can differ "
        "from zero?",
        "Write the J of one sample as a function of that sample. Which transform makes a function "
        "of a batch of it?",
        "`torch.func.vmap` wraps a function; here the function to wrap is `torch.func.jacrev(f)` "
        "or its forward sister.",
    ),
    symptom_hints={
        "blocks_between_samples": "Differentiate a function of one sample first, then map it.",
        "outputs_first": "`movedim` brings the samples to the front.",
        "item_in_vmap": "Stay with tensors inside the mapped function.",
    },
    names=("vmap", "jacrev"),
)
