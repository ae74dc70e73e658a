"""What the exercises of this lesson share."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from utils.checks.exercise import Case, Seen
from utils.checks.mistakes import MISTAKES
from utils.checks.verdict import Verdict, not_yet

LESSON = "03_backward_with_a_vector"

# A map from n numbers to m. Its nodes save what they need, so a second backward is refused.
SMALL_MAP = """\
x.requires_grad_()
y = torch.tanh(weight @ x)
"""


def numbers(rng: torch.Generator, *shape: int, low: float = -1, high: float = 1) -> torch.Tensor:
    """A float64 tensor of this shape, uniform between `low` and `high`."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)


def whole(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number, `high` excluded."""
    return int(torch.randint(low, high, (), generator=rng))


def small_jacobian(case: Case) -> torch.Tensor:
    """J of `SMALL_MAP`: a row per output, a column per input; shape (m, n)."""
    weight, x = case["inputs"]["weight"], case["inputs"]["x"]
    return (1 - torch.tanh(weight @ x) ** 2)[:, None] * weight


def no_tensor(fact: Seen, what: str, leaf: Seen | None = None) -> Verdict | None:
    """The verdict on None, or on a tuple around one tensor, where a tensor was asked for.

    `leaf` is what was seen of a leaf that may have got its `.grad` meanwhile.
    """
    if fact == {"kind": "plain", "value": None}:
        if leaf is not None and leaf.get("grad") is not None:
            return not_yet(
                "backward_returns_none",
                f"{what} is None, although a gradient did arrive at the leaf. `backward` itself "
                "returns None: where does it leave the gradient?",
            )
        return not_yet("none", MISTAKES["none"].format(what=what))
    if fact["kind"] == "tuple" and len(fact["items"]) == 1:
        return not_yet(
            "tuple_not_unpacked",
            f"{what} is a tuple that holds one thing. `torch.autograd.grad` always gives a tuple, "
            "one entry for each input: how do you take yours out?",
        )
    return None


def others(run: Iterable[str], own: set[str]) -> set[str]:
    """Names of the nodes that ran and are not among `own`; those of leaves don't count."""
    return {name for name in run if "AccumulateGrad" not in name} - own
