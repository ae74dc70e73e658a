"""Runs an answer on a case and reports what was seen. No reference and no expectation in here.

This module imports torch alone: it is all of ours that enters the process of a stranger's code.
An observer takes `(answer, case)` and returns a dict of plain data: tensors (detached copies),
numbers, strings, flags. It never judges. An exception of the answer passes through.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def facts(obj: Any) -> dict[str, Any]:
    """What can be said about `obj` without judging it.

    Returns:
        {"kind": "tensor", "value": a detached copy, "requires_grad", "is_leaf", "grad_fn": torch's
        name or "", "grad": facts or None, "version"} for a tensor; {"kind": "plain", "value"} for
        numbers, strings and None; the same for each item under "items" for lists, tuples and
        dicts; {"kind": "other", "type"} for the rest.
    """
    if isinstance(obj, torch.Tensor):
        grad = obj.grad if obj.is_leaf or obj.retains_grad else None
        return {
            "kind": "tensor",
            "value": obj.detach().clone(),
            "requires_grad": obj.requires_grad,
            "is_leaf": obj.is_leaf,
            "grad_fn": "" if obj.grad_fn is None else type(obj.grad_fn).__name__,
            "grad": None if grad is None else grad.detach().clone(),
            "version": obj._version,
            "parameter": isinstance(obj, torch.nn.Parameter),
        }
    if obj is None or isinstance(obj, bool | int | float | complex | str):
        return {"kind": "plain", "value": obj}
    if isinstance(obj, dict):
        return {"kind": "dict", "items": {str(key): facts(value) for key, value in obj.items()}}
    if isinstance(obj, list | tuple):
        return {"kind": type(obj).__name__, "items": [facts(value) for value in obj]}
    if isinstance(obj, set | frozenset):
        return {"kind": "set", "items": [facts(value) for value in sorted(obj, key=repr)]}
    return {"kind": "other", "type": type(obj).__name__}


def arguments(case: dict[str, Any]) -> list[Any]:
    """Fresh arguments for one call of the answer.

    `case["args"]` come first: tensors are copied; positions listed in `case["leaves"]` require
    grad, and `case["grads"]` maps positions to what their `.grad` holds already. What is no plain
    data (a graph, a function, a module) is built by `case["given"]`, source that runs with `torch`
    and copies of the values in `case["inputs"]`; the names in `case["built"]` come last.
    """
    leaves, grads = case.get("leaves", ()), case.get("grads", {})
    fresh = []
    for position, arg in enumerate(case.get("args", ())):
        if isinstance(arg, torch.Tensor):
            arg = arg.detach().clone().requires_grad_(position in leaves)
            if position in grads:
                arg.grad = grads[position].clone()
        fresh.append(arg)
    scope = {"torch": torch, **copy.deepcopy(case.get("inputs", {}))}
    exec(compile(case.get("given", ""), "<given>", "exec"), scope)
    return fresh + [scope[name] for name in case.get("built", ())]


def value(answer: Any, case: dict[str, Any]) -> dict[str, Any]:
    """The answer is a value: a number, a string, a tensor, or a container of them."""
    return {"result": facts(answer)}


def call(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """Calls the answer once on fresh copies of `case["args"]`.

    Returns:
        "result": facts of what came back; "args": facts of each argument afterwards, so that
        `.grad`, flags and versions can be judged; "same": for each argument, whether it came back
        as the very same object.
    """
    args = arguments(case)
    return _after_call(args, answer(*args))


def _after_call(args: list[Any], result: Any) -> dict[str, Any]:
    return {
        "result": facts(result),
        "args": [facts(arg) for arg in args],
        "same": [arg is result for arg in args],
        "shares_storage": [shares_storage(arg, result) for arg in args],
    }


def call_then_backward(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """Calls the answer, then sends `case["v"]` (ones if absent) back through what it returned.

    Returns:
        what `call` returns, with `.grad` of the arguments as it is after backward, and
        "backward": "" or, if torch refused, its message.
    """
    args = arguments(case)
    result = answer(*args)
    before = facts(result)
    problem = ""
    if isinstance(result, torch.Tensor):
        try:
            v = case.get("v")
            result.backward(torch.ones_like(result) if v is None else v.to(result.dtype))
        except RuntimeError as error:
            problem = str(error)
    else:
        problem = f"a {type(result).__name__} has no backward"
    return {"result": before, "args": [facts(arg) for arg in args], "backward": problem}


def shares_storage(a: Any, b: Any) -> bool:
    """Whether two tensors look at the same memory."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


class _NodesRun(TorchDispatchMode):
    """Notes which autograd nodes are at work while operations run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        node = torch._C._current_autograd_node()
        if node is not None:
            self.names.append(type(node).__name__)
        return func(*args, **(kwargs or {}))


def call_watching_backward(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """As `call`, and tells whether torch's engine was at work inside the answer.

    Returns:
        what `call` returns, and "nodes_run": torch's names of the autograd nodes that ran, in
        order (a node that runs several operations is named several times). Empty when no
        backward, `autograd.grad` or `torch.func.grad` ran: the answer computed by hand.
    """
    with _NodesRun() as mode:
        seen = call(answer, case)
    return {**seen, "nodes_run": mode.names}


def call_counting(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """As `call_watching_backward`, and counts what reached the leaves and who moved them.

    Returns:
        also "arrived": for each argument, how many backward passes brought it a gradient (0 for
        what is not watched), and "optimiser_steps": how often any optimiser stepped.
    """
    args = arguments(case)
    arrived = [0] * len(args)
    steps = []

    def count(position: int) -> Callable[[torch.Tensor], None]:
        def hook(gradient: torch.Tensor) -> None:
            arrived[position] += 1

        return hook

    for position, arg in enumerate(args):
        if isinstance(arg, torch.Tensor) and arg.requires_grad:
            arg.register_hook(count(position))
    handle = register_optimizer_step_pre_hook(lambda *_: steps.append(1))
    try:
        with _NodesRun() as mode:
            result = answer(*args)
    finally:
        handle.remove()
    return {
        **_after_call(args, result),
        "nodes_run": mode.names,
        "arrived": arrived,
        "optimiser_steps": len(steps),
    }


def call_then_train(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """The answer gets a module first and returns an optimiser; then one training step is made.

    The step is made with `case["batch"]`, a pair of inputs and targets, and the squared error.

    Returns:
        "result": facts of what came back; "optimiser": whether it is one; "parameters": for each
        name in the module, "requires_grad" and "optimised" (held by the optimiser) as they were
        before the step, "got_grad" and "moved" after it; "strangers": how many tensors the
        optimiser holds that are not the module's; "attributes": for each part of the module and
        each parameter, attributes like requires_grad that were made by assignment and do nothing;
        "backward": "" or, if torch refused the step, its message.
    """
    args = arguments(case)
    model = args[0]
    result = answer(*args)
    is_optimiser = isinstance(result, torch.optim.Optimizer)
    held = [p for group in result.param_groups for p in group["params"]] if is_optimiser else []
    named = dict(model.named_parameters())
    own = {id(parameter) for parameter in named.values()}
    seen = {
        name: {
            "requires_grad": parameter.requires_grad,
            "optimised": any(parameter is other for other in held),
        }
        for name, parameter in named.items()
    }
    attributes = {
        name: sorted(key for key in vars(part) if "require" in key)
        for name, part in (*model.named_modules(), *named.items())
    }
    before = {name: parameter.detach().clone() for name, parameter in named.items()}
    problem = ""
    try:
        inputs, targets = case["batch"]
        (model(inputs) - targets).square().mean().backward()
        if is_optimiser:
            result.step()
    except RuntimeError as error:
        problem = str(error)
    for name, parameter in named.items():
        seen[name]["got_grad"] = parameter.grad is not None
        seen[name]["moved"] = not torch.equal(before[name], parameter)
    return {
        "result": facts(result),
        "optimiser": is_optimiser,
        "parameters": seen,
        "strangers": sum(id(parameter) not in own for parameter in held),
        "attributes": {name: keys for name, keys in attributes.items() if keys},
        "backward": problem,
    }


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
    """Runs `case["program"]` on fresh arguments, named by `case["names"]`.

    Returns:
        all names afterwards; the program leaves its result in `y`.
    """
    scope: dict[str, Any] = {"torch": torch}
    scope.update(zip(case["names"], arguments(case), strict=True))
    exec(case.get("program", ""), scope)
    return scope


def call_on_graph(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """Builds a graph (see `build`) and calls the answer on parts of it.

    `case["call"]` lists the arguments as expressions, such as ("y.grad_fn", "v"). An error whose
    words contain one of `case["expects"]` is seen, not passed on.

    Returns:
        "result": facts, where a tensor that is one of the arguments carries its name under "is",
        and a node its place in `graph_nodes` under "index"; "args": facts by name; "raised": words
        of an expected error, or ""; "ran": how many nodes the engine ran; "freed": whether the
        graph has lost its saved tensors; "inside": operations that ran inside a node which was
        called by hand; "calls": how many torch functions were called.
    """
    scope = build(case)
    nodes = graph_nodes(scope["y"]) if "y" in scope else []
    named = {name: scope[name] for name in case["names"]}
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
        "args": {name: facts(arg) for name, arg in named.items()},
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
    result = answer(*arguments(case))
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


class _Below(TorchDispatchMode):
    def __init__(self, work: _Work) -> None:
        super().__init__()
        self.work = work

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if self.work.depth == 0:
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


OBSERVERS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "value": value,
    "call": call,
    "call_then_backward": call_then_backward,
    "call_on_graph": call_on_graph,
    "call_for_edges": call_for_edges,
    "call_watching_backward": call_watching_backward,
    "call_counting": call_counting,
    "call_then_train": call_then_train,
}
