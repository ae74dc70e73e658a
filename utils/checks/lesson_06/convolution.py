"""A convolution with a batch, several channels and a stride."""

from __future__ import annotations

import torch
from torch.nn.functional import conv2d
from torch.nn.grad import conv2d_input, conv2d_weight

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_06.common import LESSON, case, misbehaved, not_recorded, numbers
from utils.checks.verdict import RIGHT, Verdict, right

PROGRAM = """\
y = answer.apply(x, kernel, stride)
note = go(y, v, x=x, kernel=kernel)
"""


def _cases(rng: torch.Generator) -> list[Case]:
    cases = []
    # The kernel does not fit evenly: some rows and columns of x are reached by no window.
    for size, kernel_size, stride in (((6, 7), (3, 2), 2), ((8, 6), (2, 3), 3)):
        x, kernel = numbers(rng, 2, 3, *size), numbers(rng, 4, 3, *kernel_size)
        v = numbers(rng, *conv2d(x, kernel, stride=stride).shape, low=1)
        cases.append(case(PROGRAM, "x", "kernel", x=x, kernel=kernel, v=v, stride=stride))
    return cases


def _judge(case: Case, seen: Seen) -> Verdict:
    x, kernel, v, stride = (case["inputs"][name] for name in ("x", "kernel", "v", "stride"))
    if stopped := not_recorded(seen["note"]):
        return stopped
    flipped = kernel.flip(2, 3)
    verdict = compare(
        seen["y"],
        conv2d(x, kernel, stride=stride),
        "`Conv2d.apply(x, kernel, stride)`",
        simulated={"stride_forgotten": conv2d(x, kernel), "flipped": conv2d(x, flipped, None, 2)},
        says={
            "stride_forgotten": "{what} has an entry for every window. How far does the kernel "
            "move each time?"
        },
    )
    if verdict.outcome != RIGHT:
        return verdict

    def for_x(v: torch.Tensor, kernel: torch.Tensor = kernel) -> torch.Tensor:
        return conv2d_input(x.shape, kernel, v, stride=stride)

    def for_kernel(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return conv2d_weight(x, kernel.shape, v, stride=stride)

    ones = torch.ones_like(v)
    verdicts = [
        compare(
            seen["x"]["grad"],
            for_x(v),
            "`x.grad`",
            simulated={"forgot_upstream": for_x(ones), "flipped": for_x(v, flipped)},
            says={
                "flipped": "{what} was made with the kernel turned by half a turn. "
                "`conv_transpose2d` and `torch.nn.grad` take it as it is: who turned it?"
            },
        ),
        compare(
            seen["kernel"]["grad"],
            for_kernel(x, v),
            "`kernel.grad`",
            simulated={
                "forgot_upstream": for_kernel(x, ones),
                "mean_over_batch": for_kernel(x, v) / len(x),
                "one_sample_only": [for_kernel(x[[i]], v[[i]]) for i in range(len(x))],
                "flipped": for_kernel(x, v).flip(2, 3),
            },
            says={
                "mean_over_batch": "{what} is the mean over the batch. Each sample used the same "
                "kernel: how do the gradients of several uses combine?",
                "one_sample_only": "{what} is the part of one sample alone. What do the others "
                "add?",
                "flipped": "{what} is turned by half a turn. Which way round does the kernel lie?",
            },
        ),
    ]
    for verdict in verdicts:
        if verdict.outcome != RIGHT:
            return verdict
    return misbehaved(seen["note"]) or right("Batch, channels and stride, both ways.")


CONV = Exercise(
    id="convolve",
    title="A convolution with batch, channels and stride",
    lesson=LESSON,
    points=4,
    minutes=15,
    difficulty=4,
    answer="Conv2d",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "What shape has each gradient, and which of the two sums over the batch?",
        "`torch.nn.grad` has a function for the input's gradient and one for the kernel's. Both "
        "want the shape of what they make, and the stride.",
        "Save both tensors, keep the stride on ctx. The input's gradient comes from the input's "
        "shape, the kernel and what comes in; the kernel's from the input and the kernel's shape.",
    ),
    symptom_hints={
        "gradient_of_wrong_shape": "With a stride, windows may stop short of the edge: several "
        "input sizes give one output size. Say which one it was, or use `output_padding`.",
        "number_of_gradients": "`stride` is the third argument.",
        "autograd_inside": "Look at what `torch.nn.grad` offers for 2-D convolutions.",
    },
    names=("Function",),
)
