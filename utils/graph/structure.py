"""Follows the graph from its roots: the nodes torch holds, and the edges between them.

The live nodes are torch's own objects. Everything that keeps them does so within one call: a graph
that is looked at must die when its owner lets go of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch.autograd.graph import GradientEdge

from .roots import edge_of, find_roots

Row = tuple[int, int, int | None, int]
"""An edge as (source, input, target, slot), with the meaning that `Edge` gives to them."""


class Structure(NamedTuple):
    """Names and edges of a graph, and nothing else.

    Attributes:
        names: per node, torch's name, such as "MulBackward0"; breadth-first from the roots.
        edges: rows of (source, input, target, slot), see `Edge`.
        roots: per root that has a graph, (node, slot).
    """

    names: tuple[str, ...]
    edges: tuple[Row, ...]
    roots: tuple[tuple[int, int], ...]


def structure(root: object) -> Structure:
    """Only the structure of the graph behind `root`: as fast as Python can follow it.

    For counting and for searching. `walk` describes the same nodes and edges in full.

    Args:
        root: a tensor, or a tuple, list, dict of tensors.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> structure((x * x).sum()).names
        ('SumBackward0', 'MulBackward0', 'AccumulateGrad')
    """
    live = follow(root)
    starts = tuple(start for start in live.starts if start is not None)
    return Structure(tuple([type(node).__name__ for node in live.nodes]), tuple(live.rows), starts)


@dataclass(slots=True)
class Live:
    """A graph as torch holds it. Let it go before the call ends.

    Attributes:
        nodes: torch's nodes, breadth-first from the roots.
        rows: the edges between them.
        items: per root, its path and what stood there.
        starts: per root, (node, slot); None for one without a graph.
        broken: per root whose `grad_fn` torch refuses to give, its words on why; by place.
        whole: False when the search for roots was cut short.
    """

    nodes: list[Any]
    rows: list[Row]
    items: list[tuple[str, object]]
    starts: list[tuple[int, int] | None]
    broken: dict[int, str]
    whole: bool


def follow(root: object) -> Live:
    """The live graph behind `root`, complete. Iterative; runs nothing of anyone's."""
    items, whole = find_roots(root)
    broken: dict[int, str] = {}
    edges: list[GradientEdge | None] = []
    for place, (_, item) in enumerate(items):
        try:
            edges.append(edge_of(item))
        except RuntimeError as problem:
            broken[place] = str(problem)
            edges.append(None)

    # `id(node)` would be no identity: torch makes a new wrapper for each look when nobody holds
    # the last one, often at the same address. A node as a key is held, and so stays the same.
    number: dict[Any, int] = {}
    nodes: list[Any] = []
    starts: list[tuple[int, int] | None] = []
    for edge in edges:
        if edge is None:
            starts.append(None)
            continue
        at = number.setdefault(edge.node, len(nodes))
        if at == len(nodes):
            nodes.append(edge.node)
        starts.append((at, edge.output_nr))
    rows: list[Row] = []
    for source, node in enumerate(nodes):  # grows while it is read
        for k, (parent, slot) in enumerate(node.next_functions):
            if parent is None:
                rows.append((source, k, None, slot))
                continue
            target = number.get(parent)
            if target is None:
                target = number[parent] = len(nodes)
                nodes.append(parent)
            rows.append((source, k, target, slot))
    return Live(nodes, rows, items, starts, broken, whole)
