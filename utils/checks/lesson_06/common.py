"""What the exercises of this lesson share."""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.exercise import Case, Seen
from utils.checks.verdict import Verdict, not_yet

LESSON = "06_custom_functions"

# `go` sends v back from y and notes, in plain data, what the custom node did. `inputs` maps names
# to tensors, so that a saved tensor can be called by its name.
HELPERS = """\
def go(y, v, **inputs):
    note = {"custom": False, "saved": [], "attributes": [], "made": [], "runs": 0}
    note |= {"v_changed": False, "type": type(y).__name__}
    if not isinstance(y, torch.Tensor):
        return note
    node = y.grad_fn
    note["custom"] = isinstance(node, torch.autograd.function.BackwardCFunction)
    if note["custom"]:
        named = {"y": y, **inputs}
        for saved in node.saved_tensors:
            names = [
                name
                for name, tensor in named.items()
                if saved is not None and tensor.data_ptr() == saved.data_ptr()
                and tensor.numel() == saved.numel()
            ]
            note["saved"].append("".join(names[-1:]) or str(getattr(saved, "dtype", None)))
        kept = [key for key, value in vars(node).items() if isinstance(value, torch.Tensor)]
        note["attributes"] = sorted(kept)
    if v.shape != y.shape:
        return note
    before = v.clone()
    with Allocations() as work:
        y.backward(v)
    note["v_changed"] = not torch.equal(v, before)
    note["made"] = [made.detach().clone() for made in work.kept]
    note["runs"] = len(work.runs)
    return note


"""


def numbers(rng: torch.Generator, *shape: int, low: float = -2, high: float = 2) -> torch.Tensor:
    """A float64 tensor of this shape, uniform between `low` and `high`."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)


def case(program: str, *leaves: str, facts: tuple[str, ...] = ("y",), **inputs: Any) -> Case:
    """A case whose program uses `go` and leaves its note in `note`."""
    return {
        "inputs": inputs,
        "leaves": list(leaves),
        "program": HELPERS + program,
        "report": ["note"],
        "facts": [*facts, *leaves],
    }


def not_recorded(note: Seen) -> Verdict | None:
    """The verdict on an output that is no tensor, or that no custom Function made."""
    if note["type"] in ("int", "float", "bool", "ndarray", "float64", "float32"):
        return not_yet(
            "number_from_forward",
            f"`forward` returned a `{note['type']}`, and torch records nothing for that. "
            "What do you return so that a graph can hang on it?",
        )
    if note["type"] in ("Tensor", "Parameter") and not note["custom"]:
        return not_yet(
            "no_custom_node",
            "The numbers come back, but no custom Function stands behind them: torch differentiates"
            " your code by itself, and your `backward` never runs. Which call puts a node of your "
            "own into the graph?",
        )
    return None


def misbehaved(note: Seen) -> Verdict | None:
    """The verdict on a right gradient that was come by in a wrong way."""
    if note["v_changed"]:
        return not_yet(
            "changed_upstream",
            "The gradient is right, but `backward` changed in place the gradient that it was given."
            " Other branches of the graph may hold the very same tensor. Can you make a new one?",
        )
    if note["runs"] > 1:
        return not_yet(
            "autograd_inside",
            "The gradient is right, but your `backward` started autograd again to get it. "
            "Which formula, or which function of `torch.nn.grad`, gives it directly?",
        )
    if note["attributes"]:
        return not_yet(
            "tensor_on_ctx",
            f"The gradient is right, but `ctx.{note['attributes'][0]}` holds a tensor. Backward "
            "does not free it and no version counter guards it. Which method of ctx keeps tensors?",
        )
    return None
