"""Finds the tensors in what somebody hands over: one, or a tuple, list, dict, dataclass of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge

from .unseen import unseen

LIMIT = 10_000
"""So many things are looked at. A real output has a few; only a container without end has more."""


def find_roots(root: object) -> tuple[list[tuple[str, object]], bool]:
    """Everything in `root` that is no container, with its path, in reading order.

    A path is what one would type after the name: "['loss']", "[0]", ".logits", and "" for a lone
    tensor. A None inside a container is left out, a container that holds itself is entered once.

    Returns:
        The pairs, and whether that was all: False when `LIMIT` things were looked at.
    """
    found: list[tuple[str, object]] = []
    entered: set[int] = set()  # ids are safe: `root` and the stack keep the containers alive
    kept: list[object] = []
    stack: list[tuple[str, object]] = [("", root)]
    looked = 0
    while stack:
        path, item = stack.pop()
        looked += 1
        if looked > LIMIT:
            return found, False
        inside = _inside(item)
        if inside is None:
            if item is not None or not path:
                found.append((path, item))
        elif id(item) not in entered:
            entered.add(id(item))
            kept.append(item)
            stack.extend((path + step, child) for step, child in reversed(inside[:LIMIT]))
    return found, True


def _inside(item: object) -> list[tuple[str, object]] | None:
    """What a container holds, with the step to each; None when `item` is no container."""
    if isinstance(item, torch.Tensor | GradientEdge | Node | torch.nn.Module):
        return None
    if isinstance(item, Mapping):
        return [(f"[{key!r}]", item[key]) for key in item]
    if isinstance(item, tuple | list):
        return [(f"[{k}]", child) for k, child in enumerate(item)]
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = [field.name for field in dataclasses.fields(item)]
        return [(f".{name}", getattr(item, name)) for name in fields if hasattr(item, name)]
    return None


def edge_of(item: object) -> GradientEdge | None:
    """Where the graph behind `item` begins; None when there is no graph behind it.

    A leaf that requires grad has one too: its AccumulateGrad.

    Raises:
        RuntimeError: torch forbids this tensor's `grad_fn`, for it is a view that was changed
            in place in a way that autograd does not follow.
    """
    if isinstance(item, GradientEdge):
        return item
    if isinstance(item, Node):
        return GradientEdge(item, 0)
    if isinstance(item, torch.Tensor) and item.requires_grad:
        with unseen():
            return get_gradient_edge(item)
    return None
