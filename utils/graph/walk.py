"""Reads the autograd graph behind some tensors and describes it as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .data import Edge, Graph, Node, Root, Value
from .names import Namespace, annotate, caller_namespace
from .reasons import why_no_graph
from .saved import SavedReader
from .structure import Live, follow
from .unseen import unseen
from .values import dtype_name, sizes, value_of


def walk(
    root: object,
    *,
    names: Namespace | Mapping[str, object] | None = None,
    limit: int | None = None,
    saved: bool = True,
) -> Graph:
    """Describe the autograd graph behind `root`.

    It only looks: no checkpoint runs again, no hook runs, nothing is kept alive, and a graph that
    was freed, hooked, compiled or changed in place is described like any other.

    Args:
        root: a tensor, or a tuple, list, dict or dataclass of tensors, nested as you like. What
            has no graph gets a root that says why.
        names: variables to name tensors by, modules included; None for the caller's own, an empty
            dict for none.
        limit: describe only the first `limit` nodes in full: what is saved, other facts, the values
            of leaves. The others have their name, shapes and edges. `Graph.described` says so.
        saved: False to describe none in full, which spares most of the work.

    Returns:
        The graph. It holds no tensor and no node of torch.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> [node.name for node in walk((x * x).sum()).nodes]
        ['SumBackward0', 'MulBackward0', 'AccumulateGrad']
    """
    if names is None:
        names = caller_namespace()
    return describe(follow(root), names, limit=limit, saved=saved)


def describe(
    live: Live,
    names: Namespace | Mapping[str, object],
    *,
    limit: int | None = None,
    saved: bool = True,
) -> Graph:
    """`live` as plain data; the arguments are those of `walk`."""
    described = len(live.nodes) if limit is None else min(limit, len(live.nodes))
    if not saved:
        described = 0
    with unseen():
        nodes = _nodes(live, described)
    graph = Graph(
        nodes=tuple(nodes),
        edges=tuple([Edge(*row) for row in live.rows]),
        roots=tuple(_roots(live, names)),
        described=described,
    )
    return annotate(graph, live.nodes, names) if names else graph


def _nodes(live: Live, full: int) -> list[Node]:
    """The nodes, the first `full` of them with all they keep."""
    reader = SavedReader()
    kinds: dict[type, str] = {}
    shared: dict[tuple, tuple[Value, ...]] = {}
    nodes = []
    for index, node in enumerate(live.nodes):
        name = type(node).__name__
        kind = kinds.get(type(node))
        if kind is None:
            kind = kinds[type(node)] = _kind(type(node))
        outputs = _outputs(node, shared)
        if index >= full:
            nodes.append(Node(index, name, kind, outputs))
            continue
        if kind == "leaf":
            outputs = (value_of(node.variable),)
        nodes.append(Node(index, name, kind, outputs, *reader.read(node)))
    return nodes


def _kind(kind: type) -> str:
    if kind.__name__ == "AccumulateGrad" and not hasattr(kind, "_forward_cls"):
        return "leaf"
    if kind.__name__ == "BackwardHookFunctionBackward":
        return "hook"
    return "custom" if hasattr(kind, "_forward_cls") else "op"


def _outputs(node: Any, shared: dict[tuple, tuple[Value, ...]]) -> tuple[Value, ...]:
    """Shape and dtype of each forward output; equal ones are one object."""
    metas = node._input_metadata  # torch names it from backward's side
    try:
        key = tuple([(sizes(meta.shape), meta.dtype) for meta in metas])
    except RuntimeError:  # a strided nested tensor has no shape
        return tuple([Value(None, dtype_name(meta.dtype)) for meta in metas])
    values = shared.get(key)
    if values is None:
        values = shared[key] = tuple([Value(shape, dtype_name(dtype)) for shape, dtype in key])
    return values


def _roots(live: Live, names: Namespace | Mapping[str, object]) -> list[Root]:
    roots = []
    for place, ((path, item), start) in enumerate(zip(live.items, live.starts, strict=True)):
        if place in live.broken:
            words = live.broken[place].partition(". ")[0]
            roots.append(Root(path, "", None, 0, "forbidden_view", f"{words}."))
            continue
        reason, sentence = why_no_graph(item, names)
        if start is None:
            roots.append(Root(path, "", None, 0, reason, sentence))
        else:
            roots.append(Root(path, "", *start, reason, sentence))
    if not live.whole:
        sentence = f"Only the first {len(live.items):,} things in this container were looked at."
        roots.append(Root("[...]", "", None, 0, "not_a_tensor", sentence))
    return roots
