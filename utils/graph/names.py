"""Gives the boxes of a graph the learner's own names, and with them what was written, and where."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import torch
from torch import nn

from .data import Graph, Node, Root, Value
from .expressions import Named, Wording, explain
from .namespace import Namespace, as_namespace, caller_namespace
from .timeline import timeline
from .traces import learner_s_line, traces
from .values import KEEP, value_of

__all__ = ["Namespace", "annotate", "caller_namespace", "find_names", "name_of", "named_tensors"]

_LOOKED_AT = 10_000  # objects in one search, all told
_PER_CONTAINER = 1_000
_DEPTH = 4  # containers inside containers; modules inside modules do not count
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_CLOSED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def annotate(
    graph: Graph, live_nodes: Sequence[object], namespace: Namespace | Mapping[str, object]
) -> Graph:
    """The same graph with the learner's names in it.

    Args:
        graph: as walked.
        live_nodes: torch's nodes, aligned with `graph.nodes`. They are not kept.
        namespace: what the learner sees; from a plain dict come names, but no expressions.

    Returns:
        A Graph whose nodes have `variable`, and whose named small outputs have their entries.
        Roots get their names too. What is not known stays as it was.
    """
    namespace = as_namespace(namespace)
    number = {node: index for index, node in enumerate(live_nodes)}
    leaves = {
        id(node.variable): index
        for index, node in enumerate(live_nodes)
        if graph.nodes[index].kind == "leaf"
    }
    named: dict[tuple[int, int], list[str]] = {}
    places: dict[int, tuple[int, int]] = {}
    values: dict[tuple[int, int], Value] = {}
    outputs: list[Named] = []
    with torch._C.DisableTorchFunctionSubclass():
        for tensor, names in named_tensors(namespace).values():
            index, slot = leaves.get(id(tensor)), 0
            if index is None:
                try:
                    index, slot = number.get(tensor.grad_fn), tensor.output_nr
                except RuntimeError:  # torch forbids the grad_fn of some views changed in place
                    continue
            if index is None:
                continue
            named[index, slot] = names
            places[id(tensor)] = (index, slot)
            if graph.nodes[index].kind != "leaf":
                # A view shares its base's count; changed itself, its node is AsStrided. `v @ x`
                # ends with a squeeze in place of torch's own, which changes no entry.
                made_by = graph.nodes[index].name
                changed = tensor._version > 0 and not made_by.startswith("Squeeze")
                changed = changed and (not tensor._is_view() or made_by.startswith("AsStrided"))
                outputs.append(Named(index, slot, names, changed))
                if tensor.numel() <= KEEP:
                    values[index, slot] = value_of(tensor)
    variables = {index: named[index, slot][0] for index, slot in sorted(named, reverse=True)}
    noted = traces(live_nodes)
    wordings: dict[int, Wording] = {}
    if namespace.sources:
        line = timeline(namespace.sources)
        wordings, chosen = explain(graph, outputs, places, namespace.variables, line, noted)
        variables |= chosen
    nodes = list(graph.nodes)
    for index in variables.keys() | wordings.keys() | noted.keys():
        changes: dict[str, object] = {"variable": variables.get(index, "")}
        if index in wordings:
            words = wordings[index]
            changes |= {"expression": words.expression, "line": words.line, "file": words.file}
        if index in noted:
            changes["line"], changes["file"] = learner_s_line(noted[index], namespace.sources)
        nodes[index] = replace(nodes[index], **changes)
    for (index, slot), value in values.items():
        nodes[index] = _with_output(nodes[index], slot, value)
    return replace(graph, nodes=tuple(nodes), roots=_roots(graph.roots, named))


def name_of(thing: object, namespace: Namespace | Mapping[str, object]) -> str:
    """The learner's name for `thing`, such as "y", "net.0.weight" or "ws[1]"; "" if it has none."""
    namespace = as_namespace(namespace)
    if issubclass(type(thing), torch.Tensor):
        _, names = named_tensors(namespace).get(id(thing), (None, [""]))
        return names[0]
    return next((name for name, value in namespace.variables.items() if value is thing), "")


def named_tensors(namespace: Namespace) -> dict[int, tuple[torch.Tensor, list[str]]]:
    """The tensors of `find_names` by `id`, which is safe: they are alive while this dict is."""
    if "tensors" not in namespace.memo:
        found = find_names(namespace.variables)
        namespace.memo["tensors"] = {id(tensor): (tensor, names) for tensor, names in found}
    return namespace.memo["tensors"]


def find_names(variables: Mapping[str, object]) -> list[tuple[torch.Tensor, list[str]]]:
    """Every tensor that can be reached from `variables`, with its names, the best first.

    Looks into lists, tuples, dicts, modules and plain objects, near things first, and gives up
    after some ten thousand objects. Runs no code of theirs. A parameter is best known by its
    module ("net.0.weight"), any other tensor by a variable of its own.
    """
    found: dict[int, tuple[torch.Tensor, list[tuple[int, str]]]] = {}
    queue = deque((name, value, 0, False) for name, value in variables.items())
    room = _LOOKED_AT + len(queue)
    seen = set()
    while queue and room:
        room -= 1
        path, thing, depth, in_module = queue.popleft()
        kind = type(thing)
        if kind in _PLAIN or issubclass(kind, _CLOSED):
            continue
        if issubclass(kind, torch.Tensor):
            if kind is nn.Parameter:
                rank = 0 if in_module else 1 + (depth > 0)
            else:
                rank = int(depth > 0 or in_module)
            rank += 10 * path.startswith("_")
            found.setdefault(id(thing), (thing, []))[1].append((rank, path))
        elif id(thing) not in seen and depth < _DEPTH:
            seen.add(id(thing))
            for name, part, registered in islice(_parts(thing), _PER_CONTAINER):
                queue.append((path + name, part, depth + (not registered), registered))
    return [
        (tensor, [name for _, name in sorted(names, key=lambda pair: pair[0])])
        for tensor, names in found.values()
    ]


def _parts(thing: object) -> Iterator[tuple[str, object, bool]]:
    """(how to get there, what is there, whether a module registered it) for each part."""
    kind = type(thing)
    if issubclass(kind, list | tuple):
        base = list if issubclass(kind, list) else tuple
        for k, part in enumerate(base.__iter__(thing)):
            yield f"[{k}]", part, False
        return
    if issubclass(kind, dict):
        for key, part in dict.items(thing):
            if type(key) in (str, int):
                yield f"[{key!r}]", part, False
        return
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return
    if issubclass(kind, nn.Module):
        for register in ("_parameters", "_modules", "_buffers"):
            for name, part in attributes.get(register, {}).items():
                yield f".{name}", part, True
    for name, part in attributes.items():
        if not name.startswith("_"):
            yield f".{name}", part, False


def _with_output(node: Node, slot: int, value: Value) -> Node:
    if slot >= len(node.outputs):
        return node
    return replace(node, outputs=(*node.outputs[:slot], value, *node.outputs[slot + 1 :]))


def _roots(roots: tuple[Root, ...], named: Mapping[tuple[int, int], list[str]]) -> tuple[Root, ...]:
    return tuple(
        replace(root, variable=named[root.node, root.slot][0])
        if not root.variable and (root.node, root.slot) in named
        else root
        for root in roots
    )
