"""What the exercises of this lesson share."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from utils.checks.compare import close
from utils.checks.exercise import Case, Seen

LESSON = "05_no_grad_and_detach"


def numbers(rng: torch.Generator, *shape: int, low: float = -1, high: float = 1) -> torch.Tensor:
    """A float64 tensor of this shape, uniform between `low` and `high`."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)


def seed(rng: torch.Generator) -> int:
    """A number that makes a program's own draws fresh."""
    return int(torch.randint(2**31, (), generator=rng))


def run(case: Case) -> dict[str, object]:
    """The names that the case's own `given` makes, for a reference to work on."""
    scope: dict[str, object] = {"torch": torch}
    scope |= {
        name: value.clone() if isinstance(value, torch.Tensor) else value
        for name, value in case["inputs"].items()
    }
    exec(compile(case["given"], "<given>", "exec"), scope)
    return scope


def flat(tensors: Iterable[torch.Tensor | None]) -> torch.Tensor | None:
    """All entries in one vector; None if one of the tensors is None or there is none."""
    parts = list(tensors)
    if not parts or any(part is None for part in parts):
        return None
    return torch.cat([part.detach().reshape(-1) for part in parts])


def grads(module: Seen) -> list[torch.Tensor | None]:
    """`.grad` of each parameter of a module, of which these are the facts."""
    return [fact["grad"] for fact in module["state"].values() if fact["parameter"]]


def changed(before: Seen, after: Seen, what: str) -> list[str]:
    """Names in a module's state whose "value", "grad" or "requires_grad" is not what it was."""

    def same(a: object, b: object) -> bool:
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            return a.dtype == b.dtype and close(a, b)
        return a is b or (not isinstance(a, torch.Tensor) and a == b)

    return [
        name
        for name, was in before["state"].items()
        if name in after["state"] and not same(was[what], after["state"][name][what])
    ]
