"""What the exercises of this lesson share."""

from __future__ import annotations

import torch

from utils.checks.exercise import Case, Seen
from utils.checks.facts import facts
from utils.checks.mistakes import MISTAKES
from utils.checks.observers import arguments
from utils.checks.verdict import Verdict, not_yet

LESSON = "04_vjps_and_jacobians"

# n numbers to m through a few in the middle: J has m * n entries, and f never holds as many.
MAP = """\
def f(x):
    return A @ torch.tanh(B @ x)
"""


def numbers(rng: torch.Generator, *shape: int, low: float = -1, high: float = 1) -> torch.Tensor:
    """A float64 tensor of this shape, uniform between `low` and `high`."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)


def map_inputs(rng: torch.Generator, m: int, n: int, middle: int) -> dict[str, torch.Tensor]:
    """A, B and x of `MAP`, of such a size that tanh is bent and not flat."""
    return {
        "A": numbers(rng, m, middle),
        "B": numbers(rng, middle, n) * 2 / n**0.5,
        "x": numbers(rng, n),
    }


def map_jacobian(case: Case, x: torch.Tensor | None = None) -> torch.Tensor:
    """J of `MAP` at x: a row per output, a column per input; shape (m, n)."""
    inputs = case["inputs"]
    bend = 1 - torch.tanh(inputs["B"] @ (inputs["x"] if x is None else x)) ** 2
    return (inputs["A"] * bend) @ inputs["B"]


def no_tensor(seen: Seen, answer: str) -> Verdict | None:
    """The verdict on an answer that gave what an API returns as a whole, in place of one part."""
    result = seen["result"]
    kinds = [part["kind"] for part in result.get("items", ())] if result["kind"] != "dict" else []
    if result == {"kind": "plain", "value": None}:
        return not_yet("none", MISTAKES["none"].format(what=f"What `{answer}` returned"))
    if result["kind"] == "other" and result["type"] in ("function", "partial"):
        return not_yet(
            "function_not_called",
            f"`{answer}` returned a function. `torch.func` often hands back a function that still "
            "waits for a vector: what do you call it with?",
        )
    if kinds == ["tensor"]:
        return not_yet(
            "tuple_not_unpacked",
            f"`{answer}` returned a {result['kind']} that holds one tensor. There is an entry for "
            "each input, even if there is one input only: how do you take yours out?",
        )
    if len(kinds) == 2 and kinds[0] == "tensor":
        return not_yet(
            "pair_returned",
            f"`{answer}` returned two things. Many functions here give the value as well as the "
            "product: which of the two was asked for?",
        )
    return None


def left_alone(case: Case, seen: Seen) -> Verdict | None:
    """The verdict on tensors and modules that came as arguments and were changed; None if none."""
    names = case["built"]
    for name, arg, now in zip(names, arguments(case), seen["args"], strict=True):
        was = facts(arg)
        if was["kind"] == "module":
            return module_left_alone(was, now)
        if was["kind"] != "tensor":
            continue
        if not torch.equal(now["value"], was["value"]):
            return not_yet("changed_input", MISTAKES["changed_input"].format(what=f"`{name}`"))
        if now["requires_grad"] or now["grad"] is not None:
            return not_yet(
                "marked_the_input",
                f"The result is right, but the caller's `{name}` requires grad now, or holds a "
                "`.grad`: whoever calls you twice gets two gradients, added up. What could you "
                "watch in its place?",
            )
    return None


def module_left_alone(was: Seen, now: Seen) -> Verdict | None:
    """The same for the facts of a module; its `.grad` is for the exercise to judge."""
    if now["training"] != was["training"]:
        return not_yet(
            "training_flags_changed",
            "The result is right, but the module, or a part of it, is in another mode than before: "
            "`eval()` and `train()` are about Dropout and BatchNorm. Was that asked for?",
        )
    for name, before in was["state"].items():
        after = now["state"].get(name, {})
        same = after and torch.equal(after["value"], before["value"])
        if not same or after["requires_grad"] != before["requires_grad"]:
            return not_yet(
                "changed_module",
                f"The result is right, but the module's `{name}` is not what it was. What lets a "
                "module run with other tensors in the place of its parameters?",
            )
    return None


def by_differences(seen: Seen, want: torch.Tensor, what: str) -> Verdict | None:
    """The verdict on double-precision numbers that are near, but not as near as autograd's."""
    value = seen["result"].get("value")
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float64:
        return None
    if value.shape != want.shape or not want.any():
        return None
    error = float((value - want).abs().max() / want.abs().max())
    if not 1e-12 < error < 2e-3:
        return None
    return not_yet(
        "finite_differences",
        f"{what} is nearly right, off in a late digit. That looks like a difference of two values "
        "of `f`, divided by a small step. Autograd makes no such error: which call asks it?",
    )


def built(seen: Seen, m: int, n: int) -> int:
    """How many numbers the largest tensor held, if that is near m * n; else 0."""
    largest = seen["largest"] // 8
    return largest if 4 * largest >= m * n else 0
