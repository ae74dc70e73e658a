"""Runs an answer on a case and reports what was seen. No reference and no expectation in here.

This module imports torch alone: it is all of ours that enters the process of a stranger's code.
An observer takes `(answer, case)` and returns a dict of plain data: tensors (detached copies),
numbers, strings, flags. It never judges. An exception of the answer passes through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
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
    """Fresh copies of `case["args"]`; positions listed in `case["leaves"]` require grad."""
    leaves = case.get("leaves", ())
    fresh = []
    for position, arg in enumerate(case.get("args", ())):
        if isinstance(arg, torch.Tensor):
            arg = arg.detach().clone().requires_grad_(position in leaves)
        fresh.append(arg)
    return fresh


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
    result = answer(*args)
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


OBSERVERS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "value": value,
    "call": call,
    "call_then_backward": call_then_backward,
    "call_watching_backward": call_watching_backward,
}
