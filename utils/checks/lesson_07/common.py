"""What the exercises of this lesson share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from utils.checks.compare import close
from utils.checks.exercise import Case, Seen
from utils.checks.verdict import Verdict, not_yet

LESSON = "07_hooks"

# Starts a case's `given`. A handle may come alone or in a list; hooks are found by torch's own
# names for where it keeps them.
TOOLS = """\
def has_handle(thing):
    handles = thing if isinstance(thing, list | tuple) else [thing]
    return bool(handles) and all(
        callable(getattr(handle, "remove", None)) and not isinstance(handle, list)
        for handle in handles
    )


def remove_all(thing):
    for handle in thing if isinstance(thing, list | tuple) else [thing]:
        handle.remove()


def hooks_on(thing):
    parts = [thing]
    if isinstance(thing, torch.nn.Module):
        parts = [*thing.modules(), *thing.parameters()]
    places = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks",
              "_post_accumulate_grad_hooks")
    return sum(len(getattr(part, place, None) or ()) for part in parts for place in places)


def fill(module, seed):
    draw = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        torch.nn.init.uniform_(parameter, -1, 1, generator=draw)
    return module
"""


def numbers(rng: torch.Generator, *shape: int, low: float = -1, high: float = 1) -> torch.Tensor:
    """A float64 tensor of this shape, uniform between `low` and `high`."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)


def seed(rng: torch.Generator) -> int:
    """A number that makes a program's own draws fresh."""
    return int(torch.randint(2**31, (), generator=rng))


def run(case: Case) -> dict[str, Any]:
    """The names that the case's own `given` makes, for a reference to work on."""
    scope: dict[str, Any] = {"torch": torch}
    for name, value in case["inputs"].items():
        scope[name] = value.clone() if isinstance(value, torch.Tensor) else value
    for name in case.get("leaves", ()):
        scope[name].requires_grad_()
    exec(compile(case["given"], "<given>", "exec"), scope)
    return scope


def grads(module: Seen) -> dict[str, torch.Tensor | None]:
    """`.grad` of each parameter of a module, of which these are the facts."""
    return {name: fact["grad"] for name, fact in module["state"].items() if fact["parameter"]}


def same(seen: Mapping[str, torch.Tensor | None], want: Mapping[str, torch.Tensor]) -> bool:
    """Whether all tensors are there and agree."""
    return all(
        seen.get(name) is not None and close(seen[name], tensor) for name, tensor in want.items()
    )


def no_handle(what: str = "the handle") -> Verdict:
    """The caller has nothing to remove the hook with."""
    return not_yet(
        "no_handle",
        f"The hook works, but {what} does not come back to the caller. How is anybody to take the "
        "hook off again, and what did the registration return?",
    )


def not_removed() -> Verdict:
    """`remove()` was called on what came back, and the hook still runs."""
    return not_yet(
        "not_removed",
        "After the caller removed what you return, the hook still ran. "
        "How many hooks did you register, and does each of their handles come back?",
    )
