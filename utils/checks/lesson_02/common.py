"""What the exercises of this lesson share."""

from __future__ import annotations

import torch

from utils.checks.exercise import Seen
from utils.checks.mistakes import MISTAKES
from utils.checks.verdict import Verdict, not_yet

LESSON = "02_grad_fn"


def numbers(rng: torch.Generator, *shape: int) -> torch.Tensor:
    """Distinct values away from zero, in double precision."""
    return torch.rand(shape, generator=rng, dtype=torch.float64) + 0.5


def whole(rng: torch.Generator, low: int, high: int) -> int:
    return int(torch.randint(low, high, (), generator=rng))


def nothing_came(seen: Seen, answer: str, when: str = "") -> Verdict | None:
    """The verdict on an answer that gave None where something was asked for, else None.

    `when` says on which input, such as " for AddBackward0".
    """
    result = seen["result"]
    if result["kind"] != "plain" or result["value"] is not None:
        return None
    return not_yet("none", MISTAKES["none"].format(what=f"What `{answer}` gave{when}"))
