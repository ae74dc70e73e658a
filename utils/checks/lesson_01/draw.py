"""Draws numbers for the cases of this lesson."""

from __future__ import annotations

import torch


def uniform(rng: torch.Generator, *shape: int, low: float = -2, high: float = 2) -> torch.Tensor:
    """A float64 tensor of this shape, uniform between `low` and `high`."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)
