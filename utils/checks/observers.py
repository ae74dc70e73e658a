"""Runs an answer on a case and reports what was seen. No reference and no expectation in here.

This module, `graph_observers`, `program_observers` and `facts` import torch alone: they are all of
ours that enters the process of a stranger's code.
An observer takes `(answer, case)` and returns a dict of plain data: tensors (detached copies),
numbers, strings, flags. It never judges. An exception of the answer passes through.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from utils.checks.facts import facts
from utils.checks.graph_observers import call_for_edges, call_on_graph
from utils.checks.modes import NodesRun
from utils.checks.program_observers import call_in_program


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
        as the very same object; "repeats": whether a list or tuple that came back holds one
        tensor twice, be it as two views of the same entries.
    """
    args = arguments(case)
    return _after_call(args, answer(*args))


def _after_call(args: list[Any], result: Any) -> dict[str, Any]:
    return {
        "result": facts(result),
        "args": [facts(arg) for arg in args],
        "same": [arg is result for arg in args],
        "shares_storage": [shares_storage(arg, result) for arg in args],
        "repeats": _repeats(result),
    }


def _repeats(result: Any) -> bool:
    parts = result if isinstance(result, list | tuple) else ()
    dense = [p for p in parts if isinstance(p, torch.Tensor) and p.layout == torch.strided]
    return len({(part.data_ptr(), part.shape) for part in dense}) < len(dense)


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


def call_watching_backward(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """As `call`, and tells whether torch's engine was at work inside the answer.

    Returns:
        what `call` returns, and "nodes_run": torch's names of the autograd nodes that ran, in
        order (a node that runs several operations is named several times). Empty when no
        backward, `autograd.grad` or `torch.func.grad` ran: the answer computed by hand.
        "runs": the same for each run of the engine on its own, so `len(runs)` counts them.
        "largest": bytes of the largest tensor that an operation made. "from_nodes": whether the
        tensor that came back was made by a node, or computed from what one made.
    """
    args = arguments(case)
    with NodesRun() as mode:
        result = answer(*args)
    return {
        **_after_call(args, result),
        "nodes_run": mode.names,
        "from_nodes": mode.holds(result),
        "runs": list(mode.runs.values()),
        "largest": mode.largest,
    }


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
        with NodesRun() as mode:
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
        "result": facts of what came back; "optimiser": whether it is one; "rates": its learning
        rates; "parameters": for each name in the module, "requires_grad" and "optimised" (held by
        the optimiser) as they were before the step, "got_grad" and "moved" after it; "strangers":
        how many tensors the optimiser holds that are not the module's; "attributes": for each part
        of the module and each parameter, attributes like requires_grad that were made by
        assignment and do nothing; "backward": "" or, if torch refused the step, its message.
    """
    args = arguments(case)
    model = args[0]
    result = answer(*args)
    is_optimiser = isinstance(result, torch.optim.Optimizer)
    groups = result.param_groups if is_optimiser else []
    held = [p for group in groups for p in group["params"]]
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
        "rates": [float(group["lr"]) for group in groups],
        "parameters": seen,
        "strangers": sum(id(parameter) not in own for parameter in held),
        "attributes": {name: keys for name, keys in attributes.items() if keys},
        "backward": problem,
    }


def call_counting_cost(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """As `call_watching_backward`, and counts how the functions among the arguments were used.

    Returns:
        also "calls": how often functions and modules ran, "dual_calls": how many of these within
        a dual level, where forward mode works, and "made": bytes of all tensors that were made.
    """
    args = arguments(case)
    ran: list[bool] = []

    def note(*_: Any) -> None:
        ran.append(torch.autograd.forward_ad._current_level >= 0)

    def noting(arg: Any) -> Any:
        if isinstance(arg, torch.nn.Module):
            arg.register_forward_pre_hook(note)
        elif callable(arg):
            return lambda *a, **k: (note(), arg(*a, **k))[1]
        return arg

    with NodesRun() as mode:
        result = answer(*map(noting, args))
    return {
        **_after_call(args, result),
        "runs": list(mode.runs.values()),
        "largest": mode.largest,
        "made": mode.made,
        "calls": len(ran),
        "dual_calls": sum(ran),
    }


OBSERVERS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "value": value,
    "call": call,
    "call_then_backward": call_then_backward,
    "call_on_graph": call_on_graph,
    "call_for_edges": call_for_edges,
    "call_watching_backward": call_watching_backward,
    "call_counting": call_counting,
    "call_then_train": call_then_train,
    "call_counting_cost": call_counting_cost,
    "call_in_program": call_in_program,
}
