"""Searches what was written for the statement that left a tensor without a graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import torch

from .bindings import GRAD_MODE, Binding, called
from .namespace import Namespace
from .sources import function_at
from .timeline import timeline

_HOPS = 8  # `a` from `b` from `c` ...: a sentence needs no longer chain
_CUTS = {"detach", "detach_", "numpy", "item", "tolist"}
_MAKERS = {"tensor", "as_tensor", "from_numpy"}
_OFF = {"no_grad", "inference_mode"}


class Cause(NamedTuple):
    """What the sources say.

    Attributes:
        code: a reason, as listed at `Root.reason`.
        words: the end of a sentence that begins "`z` has no graph: ".
        place: where the statement is, such as "cell 3, line 4".
    """

    code: str
    words: str
    place: str


def find_cause(name: str, namespace: Namespace) -> Cause | None:
    """Why the untracked floating-point tensor called `name` has no graph; None without evidence."""
    return _cause(name, None, namespace, _HOPS) if name else None


def _cause(name: str, at: Binding | None, namespace: Namespace, hops: int) -> Cause | None:
    """The cause on which all statements agree that may have made `name`."""
    found = timeline(namespace.sources).before(name, at)
    causes = [_of_binding(binding, namespace, hops) for binding, _ in found]
    if causes and all(cause and cause.code == causes[0].code for cause in causes):
        return causes[0]
    return None


def _of_binding(binding: Binding, namespace: Namespace, hops: int) -> Cause | None:
    value, place = binding.value, binding.place
    if value is None:
        return None
    off = _recording_off(binding, namespace)
    if off is not None:
        return off
    cut = next(_cuts(value), None)
    names = list(dict.fromkeys(_tensor_names(value, namespace)))
    variables = namespace.variables
    tracked = [name for name in names if is_tracked(variables[name])]
    if cut is not None and not tracked:
        return Cause(
            "detached",
            f"`{ast.unparse(cut)}` ({place}) cuts it off. Leave that out to keep the graph.",
            place,
        )
    if tracked:
        one = tracked[0]
        return Cause(
            "no_grad",
            f"it was made from `{one}` ({place}), which requires grad now, so either recording was "
            f"off (`torch.no_grad()`), or `{one}` was asked to require grad only later. "
            "Compute it again.",
            place,
        )
    for name in names:
        deeper = None
        if name != binding.name and hops:
            deeper = _cause(name, binding, namespace, hops - 1)
        if deeper is not None:
            words = f"it was made from `{name}` ({place}), and `{name}` has none: {deeper.words}"
            return Cause(deeper.code, words, place)
    if not names and isinstance(value, ast.Call) and _is_torch(value, variables):
        return Cause(
            "untracked",
            f"it was made without `requires_grad=True` ({place}). Add that, and compute something "
            "from it.",
            place,
        )
    return None


def _recording_off(binding: Binding, namespace: Namespace) -> Cause | None:
    """The `no_grad` around a statement, over its function, before it, or over what it calls."""
    place = binding.place
    for context in reversed(binding.contexts):
        mode = _mode(context)
        if mode is True:
            return None
        if mode is False:
            return _off(context, f"it was computed under `{ast.unparse(context)}` ({place})", place)
    if binding.source.function is not None:
        function = function_at(binding.source.text, binding.source.function)
        for decorator in getattr(function, "decorator_list", ()):
            if _mode(decorator) is False:
                words = f"`{function.name}` is decorated with `@{ast.unparse(decorator)}`"
                return _off(decorator, f"{words} (line {decorator.lineno})", place)
    line = timeline(namespace.sources)
    switches = line.before(GRAD_MODE, binding)
    if switches and switches[0][1] and _mode(switches[0][0].value) is False:
        switch = switches[0][0]
        words = f"`{ast.unparse(switch.value)}` ({switch.place}) came before"
        return _off(switch.value, words, place)
    value = binding.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        for maker, _ in line.before(value.func.id, binding):
            for decorator in getattr(maker.statement, "decorator_list", ()):
                if _mode(decorator) is False:
                    words = f"`{value.func.id}` is decorated with `@{ast.unparse(decorator)}`"
                    return _off(decorator, f"{words} ({maker.place})", place)
    return None


def _off(context: ast.expr, words: str, place: str) -> Cause:
    inference = "inference_mode" in ast.unparse(context)
    code = "inference_mode" if inference else "no_grad"
    return Cause(code, f"{words}. Compute it outside if you want its gradients.", place)


def _mode(context: ast.expr) -> bool | None:
    """What a context manager or decorator does to recording; None when it does nothing to it."""
    call = context if isinstance(context, ast.Call) else None
    func = call.func if call else context
    name = getattr(func, "attr", getattr(func, "id", ""))
    argument = True
    if call and call.args:
        argument = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
    if name == "enable_grad":
        return True
    if name in _OFF:
        return False if argument is True else None  # inference_mode(False) leaves all as it is
    if name == "set_grad_enabled":
        return argument
    return None


def switched_on_late(name: str, namespace: Namespace) -> str:
    """Where `requires_grad` was switched on for what other tensors had made; "" if it was not."""
    line = timeline(namespace.sources)
    found = line.before(name) if name else []
    if not found or found[0][0].value is None:
        return ""
    binding = found[0][0]
    if not set(_tensor_names(binding.value, namespace)) - {name}:
        return ""
    if any(called(part) == "requires_grad_" for part in _calls(binding.value)):
        return binding.place
    marks = line.marks(name)
    return marks[-1].place if marks else ""


def find_call(name: str, namespace: Namespace, methods: set[str]) -> tuple[str, str] | None:
    """The call of one of `methods` that last gave `name` its value, as (text, place)."""
    found = timeline(namespace.sources).before(name) if name else []
    if found and found[0][0].value is not None:
        for call in _calls(found[0][0].value):
            if called(call) in methods:
                return ast.unparse(call), found[0][0].place
    return None


def running_text(namespace: Namespace) -> str:
    """The line that is being run, such as "show_graph(y)"; "" if unknown."""
    functions = [source for source in namespace.sources if source.function is not None]
    for source in [*functions[:1], *namespace.sources[-1:]]:
        if source.line is not None:
            lines = source.text.splitlines()
            return lines[source.line - 1] if source.line <= len(lines) else ""
    return ""


def is_tracked(thing: object) -> bool:
    """Whether it is a tensor that requires grad."""
    return issubclass(type(thing), torch.Tensor) and thing.requires_grad


def _cuts(value: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that leave the graph."""
    for part in ast.walk(value):
        if isinstance(part, ast.Attribute):
            cut = part.attr == "data"
        else:
            name = called(part) if isinstance(part, ast.Call) else ""
            cut = name in _CUTS or (name in _MAKERS and _copies(part))
        if cut:
            yield part


def _copies(call: ast.Call) -> bool:
    """Whether `torch.tensor(...)` copies something that has a name, rather than fresh numbers."""
    return any(isinstance(argument, ast.Name) for argument in call.args)


def _calls(value: ast.expr) -> Iterator[ast.Call]:
    return (part for part in ast.walk(value) if isinstance(part, ast.Call))


def _tensor_names(value: ast.expr, namespace: Namespace) -> Iterator[str]:
    """Variables in an expression that hold floating-point tensors; what is cut off is left out."""
    inside = {id(part) for cut in _cuts(value) for part in ast.walk(cut)}
    for part in ast.walk(value):
        if isinstance(part, ast.Name) and id(part) not in inside:
            tensor = namespace.variables.get(part.id)
            if issubclass(type(tensor), torch.Tensor) and tensor.is_floating_point():
                yield part.id


def _is_torch(call: ast.Call, variables) -> bool:
    root = call.func
    while isinstance(root, ast.Attribute | ast.Call):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    owner = variables.get(getattr(root, "id", ""))
    return isinstance(owner, ModuleType) and owner.__name__.partition(".")[0] == "torch"
