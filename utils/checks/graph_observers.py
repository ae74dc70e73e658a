"""Observers for exercises on the graph itself. Imports torch and `facts`, nothing else of ours.

As in `observers`: each takes `(answer, case)`, returns plain data and never judges.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from utils.checks.facts import facts
from utils.checks.modes import Watch


def graph_nodes(root: torch.Tensor) -> list[Any]:
    """The nodes behind `root`, each once, breadth first; the same program gives the same order."""
    nodes = {} if root.grad_fn is None else {root.grad_fn: None}
    queue = list(nodes)
    for node in queue:  # grows while it is read
        for parent, _ in node.next_functions:
            if parent is not None and parent not in nodes:
                nodes[parent] = None
                queue.append(parent)
    return queue


def build(case: dict[str, Any]) -> dict[str, Any]:
    """Runs the source `case["given"]` on copies of `case["inputs"]`, a dict by name.

    The names in `case["leaves"]` require grad. The source leaves its result in `y`.

    Returns:
        all names afterwards.
    """
    scope: dict[str, Any] = {"torch": torch, **copy.deepcopy(case["inputs"])}
    for name in case.get("leaves", ()):
        scope[name].requires_grad_()
    exec(compile(case.get("given", ""), "<given>", "exec"), scope)
    return scope


def call_on_graph(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """Builds a graph (see `build`) and calls the answer on parts of it.

    `case["call"]` lists the arguments as expressions, such as ("y.grad_fn", "v"). An error whose
    words contain one of `case["expects"]` is seen, not passed on.

    Returns:
        "result": facts, where a tensor that is one of the inputs carries its name under "is",
        and a node its place in `graph_nodes` under "index"; "inputs": facts by name;
        "raised": the words of an expected error, or ""; "ran": how many nodes the engine ran;
        "freed": whether the graph has lost its saved tensors; and, with `case["watch"]`,
        "inside": operations that ran inside a node which was called by hand,
        "calls": how many torch functions were called.
    """
    scope = build(case)
    nodes = graph_nodes(scope["y"]) if "y" in scope else []
    named = {name: scope[name] for name in case["inputs"]}
    ran: list[int] = []
    for index, node in enumerate(nodes):  # closes over a number: a node would keep itself alive
        node.register_prehook(lambda _, index=index: ran.append(index))
    given = [eval(part, scope) for part in case["call"]]
    work, result, raised = _Work(), None, ""
    try:
        with work if case.get("watch") else contextlib.nullcontext():
            result = answer(*given)
    except Exception as error:
        if not any(words in str(error) for words in case.get("expects", ())):
            raise
        raised = str(error)
    return {
        "result": _facts_in_graph(result, named, {node: i for i, node in enumerate(nodes)}),
        "inputs": {name: facts(arg) for name, arg in named.items()},
        "raised": raised,
        "ran": len(ran),
        "freed": any(map(_is_freed, nodes)),
        "inside": list(work.inside),
        "calls": work.calls,
    }


def call_for_edges(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """Calls the answer, which gives a loss and a dict of edges, then asks for their gradients.

    Returns:
        "result": facts of all that came back; "loss": of the first part; "edges": by key,
        {"type", "node": torch's name or "", "output_nr", "gradient": facts or None, "problem"}.
    """
    scope = build(case)
    result = answer(*[eval(part, scope) for part in case["call"]])
    loss, edges = result if isinstance(result, tuple | list) and len(result) == 2 else (None, None)
    seen: dict[str, Any] = {}
    for key, edge in edges.items() if isinstance(edges, dict) else ():
        is_edge = isinstance(edge, torch.autograd.graph.GradientEdge)
        node = edge.node if is_edge else None
        gradient, problem = None, ""
        if node is not None:
            try:
                gradient = torch.autograd.grad(loss, edge, retain_graph=True)[0]
            except (RuntimeError, IndexError, AttributeError) as error:
                problem = str(error)
        seen[str(key)] = {
            "type": "GradientEdge" if is_edge else _kind(edge),
            "node": "" if node is None else type(node).__name__,
            "output_nr": edge.output_nr if is_edge else 0,
            "gradient": None if gradient is None else facts(gradient),
            "problem": problem,
        }
    return {"result": facts(result), "loss": facts(loss), "edges": seen}


class _Work(TorchFunctionMode):
    """Tells torch functions that Python calls from operations that run inside a node.

    Below Python, a call passes here first and its operations come after it; what a node does when
    it is called by hand (`node(g)`) comes without any such call.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.depth, self.inside = 0, 0, []
        self.below = _Below(self)

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.calls += 1
        self.depth += 1
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.depth -= 1

    def __enter__(self) -> _Work:
        self.below.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.below.__exit__(*error)


class _Below(Watch):
    def __init__(self, work: _Work) -> None:
        super().__init__()
        self.work = work

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        # Reading a saved result makes a detached twin of it: that is no work of a node.
        if self.work.depth == 0 and func is not torch.ops.aten.detach.default:
            self.work.inside.append(str(func))
        return func(*args, **(kwargs or {}))


def _is_freed(node: Any) -> bool:
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                getattr(node, name)
            except RuntimeError:
                return True
    return False


def _kind(obj: Any) -> str:
    return "node" if isinstance(obj, torch.autograd.graph.Node) else type(obj).__name__


def _facts_in_graph(obj: Any, named: dict[str, Any], nodes: dict[Any, int]) -> dict[str, Any]:
    def again(part: Any) -> dict[str, Any]:
        return _facts_in_graph(part, named, nodes)

    def name_of(part: Any) -> str:
        part = getattr(part, "variable", part)  # a leaf's node speaks for the leaf
        return next((name for name, arg in named.items() if arg is part), "")

    if isinstance(obj, torch.autograd.graph.Node):
        return {"kind": "node", "name": type(obj).__name__, "index": nodes.get(obj, -1)}
    if isinstance(obj, torch.Tensor):
        return {**facts(obj), "is": name_of(obj)}
    if isinstance(obj, dict):
        items = {name_of(key) or str(key): again(value) for key, value in obj.items()}
        return {"kind": "dict", "items": items}
    if isinstance(obj, Iterable) and not isinstance(obj, str):
        return {"kind": type(obj).__name__, "items": [again(part) for part in obj]}
    return facts(obj)
