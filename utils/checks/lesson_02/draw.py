"""What the exercises of this lesson draw their cases from."""

from __future__ import annotations

import torch

LESSON = "02_grad_fn"


def numbers(rng: torch.Generator, *shape: int) -> torch.Tensor:
    """Distinct values away from zero, in double precision."""
    return torch.rand(shape, generator=rng, dtype=torch.float64) + 0.5


def whole(rng: torch.Generator, low: int, high: int) -> int:
    return int(torch.randint(low, high, (), generator=rng))
