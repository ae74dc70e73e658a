"""To NumPy, as a copy that nobody can reach."""

from __future__ import annotations

import torch

from utils.checks.compare import close
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers
from utils.checks.verdict import Verdict, not_yet, right

# A leaf with a graph on top, a result in the middle of one, plain numbers, and a single number.
PROGRAM = """\
x.requires_grad_(kind != "plain")
tensor = x * 1 if kind == "inner" else x
tensor = tensor.sum() if kind == "number" else tensor
y = tensor.sigmoid().sum() if kind != "plain" else None
version, tracked, is_leaf = tensor._version, tensor.requires_grad, tensor.is_leaf
refused, result = False, None
try:
    result = answer(tensor)
except RuntimeError as error:
    refused = "Can't call numpy()" in str(error)
    if not refused:
        raise
type_name = type(result).__name__
is_array = type_name == "ndarray"
flags_kept = (tensor.requires_grad, tensor.is_leaf) == (tracked, is_leaf)
shape, dtype, values, leaks, numbers = [], "", None, [], tensor.detach().clone()
if is_array:
    shape, dtype, values = list(result.shape), str(result.dtype), result.tolist()
    with torch.no_grad():
        tensor.add_(1)
    leaks += ["tensor to array"] if result.tolist() != values else []
    before = tensor.detach().clone()
    writable = result.flags.writeable
    if writable:
        result[...] = -7
    leaks += ["array to tensor"] if not torch.equal(tensor.detach(), before) else []
want_dtype = str(numbers.dtype).removeprefix("torch.")
"""
REPORT = [
    "refused",
    "type_name",
    "is_array",
    "flags_kept",
    "shape",
    "dtype",
    "want_dtype",
    "values",
    "leaks",
]


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": (10 * numbers(rng, *shape)).to(dtype), "kind": kind},
            "program": PROGRAM,
            "report": REPORT,
            "facts": ["numbers"],
        }
        for kind, shape, dtype in (
            ("leaf", (2, 3), torch.float32),
            ("inner", (4,), torch.float64),
            ("plain", (3, 2), torch.int64),
            ("number", (5,), torch.float32),
            ("plain", (0, 3), torch.float32),
        )
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    kind, numbers = case["inputs"]["kind"], seen["numbers"]["value"]
    if seen["refused"]:
        return not_yet(
            "numpy_on_tracked",
            "Torch refused to hand over a tensor that requires grad: NumPy would carry the numbers "
            "out of the graph, and backward would never know. What has to be left behind first?",
        )
    if not seen["is_array"]:
        if kind == "number":
            return not_yet(
                "scalar_for_array",
                f"For a tensor without dimensions you return `{seen['type_name']}`. "
                "Which of your calls gives an array for any number of dimensions?",
            )
        return not_yet(
            "not_an_array",
            f"`to_numpy` should return a NumPy array, and yours gives `{seen['type_name']}`. "
            "Which method of a tensor makes an array?",
        )
    if not close(numbers, case["inputs"]["x"] if kind != "number" else numbers):
        return not_yet(
            "changed_input",
            "The numbers in the tensor changed while you copied it. Which call wrote to it?",
        )
    if not seen["flags_kept"]:
        return not_yet(
            "cut_the_caller",
            "The array is there, but the caller's tensor is not what it was: its history or its "
            "`requires_grad` is gone. Which call gives you a tensor without history and leaves "
            "theirs alone?",
        )
    if seen["shape"] != list(numbers.shape):
        return not_yet(
            "wrong_shape",
            f"The tensor has shape {tuple(numbers.shape)}, your array {tuple(seen['shape'])}. "
            "Where did it change?",
        )
    if seen["dtype"] != seen["want_dtype"]:
        return not_yet(
            "wrong_dtype",
            f"The tensor holds {seen['want_dtype']} and your array {seen['dtype']}: it went "
            "through Python's own numbers, or through a cast. Is there a way without?",
        )
    values = torch.tensor(seen["values"], dtype=numbers.dtype).reshape(numbers.shape)
    if not torch.equal(values, numbers):
        return not_yet(
            "wrong_values",
            "The array does not hold the tensor's numbers. What happens to them on the way?",
        )
    if seen["leaks"]:
        return not_yet(
            "shared_memory",
            "The array and the tensor share their memory: a change of one was a change of the "
            "other. `detach`, `.data` and `numpy` all hand out the same memory: who makes a copy?",
        )
    return right("A copy of the numbers, and the tensor never noticed.")


TO_NUMPY = Exercise(
    id="to_numpy",
    title="To NumPy, safely",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="to_numpy",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Why does torch refuse to hand a tensor that requires grad to NumPy?",
        "Two things have to go: the history, and the shared memory. One method for each; neither "
        "may touch the caller's tensor.",
        "`detach` and `numpy` both look at the same memory. A `copy` of the array, or a `clone` "
        "before it, gives it memory of its own.",
    ),
    symptom_hints={
        "shared_memory": "Change one entry of the array, then print the tensor.",
        "numpy_on_tracked": "The error itself names a method. Does it copy?",
    },
    names=("detach",),
)
