"""Finds the tensors whose `.grad` a backward may write, and puts every `.grad` back."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import compress
from typing import Any

import torch

from .data import Graph
from .unseen import unseen


def grad_owners(graph: Graph, live: list[Any]) -> list[tuple[int, torch.Tensor]]:
    """The tensors whose `.grad` backward writes over this graph, each with its node's index.

    They are the leaf of each AccumulateGrad, and every tensor that was told to `retain_grad()`.
    Torch does not say where the latter are, so they are looked for among all living objects.
    """
    owners = [(leaf.index, live[leaf.index].variable) for leaf in graph.leaves]
    place = {node: index for index, node in enumerate(live)}
    for tensor in _living_tensors():
        try:
            if tensor.retains_grad and not tensor.is_leaf and tensor.grad_fn in place:
                owners.append((place[tensor.grad_fn], tensor))
        except RuntimeError:  # a view whose grad_fn torch forbids
            continue
    return owners


def hidden_leaves(graph: Graph) -> list[torch.Tensor]:
    """Leaves that backward may write although the graph does not show them.

    A custom Function may run a backward of its own, over a graph that does not exist yet: a
    re-entrant checkpoint does. Then every leaf of the process may be meant.
    """
    if not any(node.kind == "custom" for node in graph.nodes):
        return []
    leaves = []
    for tensor in _living_tensors():
        try:
            if tensor.requires_grad and tensor.is_leaf:
                leaves.append(tensor)
        except RuntimeError:
            continue
    return leaves


def _living_tensors() -> Iterator[torch.Tensor]:
    kinds = {torch.Tensor}
    todo = [torch.Tensor]
    while todo:
        for kind in type.__subclasses__(todo.pop()):
            if kind not in kinds:
                kinds.add(kind)
                todo.append(kind)
    # `type` asks the objects nothing (`isinstance` would run code of proxies), and this way the
    # hundreds of thousands of them pass at the speed of C.
    things = gc.get_objects()
    tensors = list(compress(things, map(kinds.__contains__, map(type, things))))
    del things
    with unseen():
        yield from tensors


@contextmanager
def untouched(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    """Inside, backward accumulates into stand-ins; after it, each `.grad` is the object it was.

    A stand-in has the same numbers, so a hook that looks at `.grad` sees what it would see in a
    real backward. To put the old object back would not be enough without it: torch adds in place.
    """
    with unseen():
        kept = {id(tensor): (tensor, tensor.grad) for tensor in tensors}
    try:
        with unseen():
            for tensor, grad in kept.values():
                tensor.grad = None if grad is None else grad.detach().clone()
        yield
    finally:
        with unseen():
            for tensor, grad in kept.values():
                tensor.grad = grad
