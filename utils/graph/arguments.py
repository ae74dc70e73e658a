"""Checks what `record` was given, and says in plain words what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.autograd.graph import GradientEdge, Node

from .data import Graph, Root
from .roots import edge_of, find_roots
from .structure import Live
from .values import dtype_name, sizes


@dataclass(frozen=True, slots=True)
class Call:
    """What to hand to `torch.autograd.backward`.

    Attributes:
        roots: the roots that have a graph.
        seeds: per such root, the vector to start from, never None.
        places: per such root, its place in `Graph.roots`.
        inputs: what gradients were asked for; None for every leaf.
    """

    roots: list[torch.Tensor | GradientEdge]
    seeds: list[torch.Tensor]
    places: list[int]
    inputs: list[torch.Tensor | GradientEdge] | None


def backward_call(live: Live, graph: Graph, gradient: object, inputs: object) -> Call:
    """The backward that `record` is asked to run.

    Raises:
        TypeError: `gradient` or `inputs` holds something that is no tensor.
        ValueError: no root has a graph, a vector is missing or has another shape than its root, or
            an input needs no gradient.
    """
    places = [place for place, start in enumerate(live.starts) if start is not None]
    if not places:
        why = graph.roots[0].sentence if graph.roots else "There is no tensor in it."
        raise ValueError(f"There is no graph to run backward over. {why}".strip())
    roots = [_as_root(live.items[place][1]) for place in places]
    given = _gradients(gradient, [graph.roots[place] for place in places])
    seeds = [
        _seed(root, vector, graph.roots[place])
        for root, vector, place in zip(roots, given, places, strict=True)
    ]
    return Call(roots, seeds, places, None if inputs is None else _inputs(inputs))


def _as_root(item: object) -> torch.Tensor | GradientEdge:
    return GradientEdge(item, 0) if isinstance(item, Node) else item


def _gradients(gradient: object, roots: Sequence[Root]) -> list[torch.Tensor | None]:
    """Per root, the vector given for it; None where none was."""
    if gradient is None:
        return [None] * len(roots)
    given = dict(find_roots(gradient)[0])
    for path, vector in given.items():
        if not isinstance(vector, torch.Tensor):
            raise TypeError(
                f"gradient{path} is of type {type(vector).__name__}, not a tensor: give one of the "
                "root's shape, made with torch.tensor(...)."
            )
    if len(roots) == 1 and list(given) in ([""], ["[0]"]):
        return list(given.values())
    unknown = set(given) - {root.path for root in roots}
    if unknown:
        places = ", ".join(root.path for root in roots) or "one root"
        raise ValueError(
            f"gradient{min(unknown)} belongs to no root with a graph: give one tensor, or None, "
            f"for each of {places}, in the same tuple, list or dict."
        )
    return [given.get(root.path) for root in roots]


def _seed(
    root: torch.Tensor | GradientEdge, vector: torch.Tensor | None, described: Root
) -> torch.Tensor:
    """The vector to start from: the one given, or 1 for a root of one real entry."""
    name = described.variable or f"root{described.path}"
    try:
        if isinstance(root, GradientEdge):
            meta = root.node._input_metadata[root.output_nr]
            shape, dtype = sizes(meta.shape), meta.dtype
        else:
            shape, dtype = sizes(root.shape), root.dtype
    except RuntimeError:  # a strided nested tensor has no shape; torch compares them itself
        if vector is None:
            raise ValueError(
                f"{name} is nested, so backward needs a weight for each of its entries: give a "
                f"nested tensor like it, such as torch.ones_like({name})."
            ) from None
        return vector
    if vector is not None:
        if sizes(vector.shape) != shape:
            raise ValueError(
                f"gradient has shape {sizes(vector.shape)}, but {name} has shape {shape}: "
                f"give a vector of {name}'s shape, one weight for each of its entries."
            )
        return vector
    if any(size != 1 for size in shape):
        example = f"torch.ones_like({name})" if described.variable else f"torch.ones{shape}"
        raise ValueError(
            f"{name} has shape {shape}, so backward needs a weight for each of its entries: give "
            f"a vector of {name}'s shape {shape}, such as {example}, or reduce {name} to one "
            "number first, such as by .sum()."
        )
    if not dtype.is_floating_point:
        raise ValueError(
            f"{name} has dtype {dtype_name(dtype)}, and only from a real number does backward "
            f"start by itself: give a vector of {name}'s shape and dtype, or take .real or .abs() "
            "first."
        )
    if isinstance(root, GradientEdge):
        return torch.ones(shape, dtype=dtype, device=meta.device)
    return torch.ones_like(root)


def _inputs(inputs: object) -> list[torch.Tensor | GradientEdge]:
    found = find_roots(inputs)[0]
    if not found:
        raise ValueError("inputs is empty: name at least one tensor, or leave it out for all.")
    for path, item in found:
        if not isinstance(item, torch.Tensor | GradientEdge):
            raise TypeError(
                f"inputs{path} is of type {type(item).__name__}: give tensors that the root was "
                "computed from."
            )
        if edge_of(item) is None:
            raise ValueError(
                f"inputs{path} does not require grad, so backward has nothing to find for it: call "
                ".requires_grad_() on it before the forward."
            )
    return [item for _, item in found]
