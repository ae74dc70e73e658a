"""Looks up what an expression stands for, without running any of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType

import torch
from torch import nn

from .bindings import Binding
from .operators import ATTRIBUTES, fitting
from .timeline import Timeline

MISSING = object()
"""What is not among the variables, or could only be had by running something."""
_SAFE = {"builtins", __name__.partition(".")[0]}
"""Whose functions change no tensor that they are given."""


@dataclass(frozen=True, slots=True)
class Called:
    """What a call calls.

    Attributes:
        kind: "torch" for an operation of torch's, "custom" for an autograd.Function's `apply`,
            "module" for an nn.Module, "other" for anything else.
        name: of the operation, or of the custom node.
        operands: the arguments, with the object before the dot first where it is a tensor.
        module: the nn.Module.
    """

    kind: str
    name: str
    operands: list[ast.expr]
    module: nn.Module | None = None


class Lookup:
    """The learner's variables, as the text refers to them."""

    def __init__(self, variables: Mapping[str, object], line: Timeline) -> None:
        self._variables = variables
        self._line = line
        self._untracked: dict[tuple[int, int], bool] = {}

    def value(self, e: ast.expr, at: Binding) -> object:
        """What a name, `a.b` or `a[0]` in the statement `at` stands for now; MISSING if unknown."""
        match e:
            case ast.Name(name):
                if self._line.visible(name, at):
                    return self._variables.get(name, MISSING)
            case ast.Attribute(owner, name):
                owner = self.value(owner, at)
                try:
                    attributes = object.__getattribute__(owner, "__dict__")
                except (AttributeError, TypeError):
                    return MISSING
                if issubclass(type(owner), nn.Module):
                    for register in ("_parameters", "_modules", "_buffers"):
                        if name in attributes.get(register, ()):
                            return attributes[register][name]
                return attributes.get(name, MISSING)
            case ast.Subscript(owner, place):
                owner = self.value(owner, at)
                if type(owner) in (list, tuple, dict):
                    try:
                        return owner[ast.literal_eval(place)]
                    except (LookupError, TypeError, ValueError):
                        return MISSING
        return MISSING

    def may_differ(self, e: ast.expr, at: Binding) -> bool:
        """Whether a name, `a.b` or `a[0]` may have stood for something else when `at` ran."""
        if self._line.may_rebind(ast.unparse(e), at) or _changed(self.value(e, at)):
            return True
        while isinstance(e, ast.Attribute | ast.Subscript):
            e = e.value
        return isinstance(e, ast.Name) and self._line.may_rebind(e.id, at)

    def exposed(self, name: str, at: Binding) -> bool:
        """Whether another name, or a function that is not known, had a chance to change `name`."""
        if self._line.aliased(name, at):
            return True
        for call in self._line.handed(name, at):
            function = self.value(call.func, at)
            safe = isinstance(function, FunctionType | BuiltinFunctionType)
            safe = safe and (function.__module__ or "").partition(".")[0] in _SAFE
            if not safe and self.called(call, at).kind not in ("torch", "module"):
                return True
        return False

    def untracked(self, e: ast.expr, at: Binding) -> bool | None:
        """Whether `e` may have needed no gradient; None when nothing tells."""
        match e:
            case ast.BinOp(left, _, right):
                return _both([self.untracked(left, at), self.untracked(right, at)])
            case ast.UnaryOp(_, operand):
                return self.untracked(operand, at)
            case ast.Attribute(value, name) if name in ATTRIBUTES:
                return self.untracked(value, at)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                thing = self.value(e, at)
                if thing is MISSING or self.may_differ(e, at):
                    return self._was_untracked(e, at)
                return not issubclass(type(thing), torch.Tensor) or not thing.requires_grad
            case ast.Call():
                called = self.called(e, at)
                if called.kind == "torch" and fitting(called.name):
                    return _both([self.untracked(operand, at) for operand in called.operands])
                return True if called.kind == "torch" and self.constants(e, at) else None
        return True if isinstance(e, ast.Constant | ast.Compare) else None

    def _was_untracked(self, e: ast.expr, at: Binding) -> bool | None:
        """The same for what has another value now: by the statements that gave it the old one."""
        key = (id(e), id(at))
        if key not in self._untracked:
            self._untracked[key] = False  # in a loop the other statements decide
            found = [binding for binding, _ in self._line.before(ast.unparse(e), at)]
            answers = [
                self.untracked(b.value, b)
                if b.value is not None and b.item is None and not b.contexts
                else None
                for b in found
            ]
            self._untracked[key] = True if True in answers else None if None in answers else False
            if not found:
                self._untracked[key] = None
        return self._untracked[key]

    def constants(self, call: ast.Call, at: Binding) -> bool:
        """Whether only numbers, sizes and the like go into a call: `torch.zeros(n, 2)`."""
        return all(
            part.id not in self._variables
            or (
                not self.may_differ(part, at)
                and not issubclass(type(self.value(part, at)), torch.Tensor | list | tuple | dict)
            )
            for argument in (*call.args, *(keyword.value for keyword in call.keywords))
            for part in ast.walk(argument)
            if isinstance(part, ast.Name)
        )

    def called(self, call: ast.Call, at: Binding) -> Called:
        """What `call` calls, as far as the variables tell."""
        func = call.func
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        name = getattr(func, "attr", getattr(func, "id", ""))
        target = self.value(func, at)
        owner = self.value(func.value, at) if isinstance(func, ast.Attribute) else MISSING
        bound = isinstance(target, BuiltinFunctionType | MethodType)
        function = target.__self__ if bound else owner if name == "apply" else None
        if isinstance(function, type) and issubclass(function, torch.autograd.Function):
            return Called("custom", f"{function.__name__}Backward", arguments)
        if isinstance(target, nn.Module):
            return Called("module", "", arguments, target)
        if target is not MISSING:
            if _is_torch_s(target):
                return Called("torch", target.__name__, arguments)
            return Called("other", "", arguments)
        if isinstance(func, ast.Attribute):
            if owner is MISSING or issubclass(type(owner), torch.Tensor):
                return Called("torch", name, [func.value, *arguments])
        elif name in ("abs", "pow") and self._line.visible(name, at):
            return Called("torch", name, arguments)
        return Called("other", "", arguments)


def _is_torch_s(function: object) -> bool:
    """Whether it is a function of torch's own, such as `torch.exp` or `F.relu`."""
    if not isinstance(function, FunctionType | BuiltinFunctionType):
        return False
    return (function.__module__ or "").partition(".")[0] == "torch"


def _changed(thing: object) -> bool:
    """Whether an operation changed a tensor in place; under another name, it may be."""
    if not issubclass(type(thing), torch.Tensor) or thing.is_inference():
        return False
    return thing.requires_grad and thing._version > 0 and not thing.is_leaf


def _both(answers: list[bool | None]) -> bool | None:
    """False if one is False, else None if one is None, else True."""
    return False if False in answers else None if None in answers else True
