"""Says why something has no graph: in a code for programs, in a sentence for the learner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType

import torch
from torch.autograd.graph import GradientEdge, Node

from .causes import find_call, find_cause, is_tracked, running_text, switched_on_late
from .names import name_of, named_tensors
from .namespace import Namespace, as_namespace

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_COMMON = (int, bool, str, type(None))  # Python shares such objects between many names


def why_no_graph(thing: object, namespace: Namespace | Mapping[str, object]) -> tuple[str, str]:
    """Why `thing` has no graph behind it.

    Args:
        thing: whatever was given where a tensor with a graph was expected.
        namespace: what the learner sees. With its sources the sentence names the line; without
            evidence it says which causes are possible.

    Returns:
        (reason, sentence): the codes are listed at `Root.reason`; ("", "") when it has a graph.

    Example:
        >>> y = torch.ones(2)
        >>> why_no_graph(y.sum, {"y": y})
        ('method', '`y.sum` is a method that was not called: add the parentheses, `y.sum()`.')
    """
    namespace = as_namespace(namespace)
    if isinstance(thing, GradientEdge | Node):
        return "", ""
    if issubclass(type(thing), torch.Tensor):
        with torch._C.DisableTorchFunctionSubclass():
            try:
                made = thing.grad_fn is not None
            except RuntimeError:  # torch forbids it for some views that were changed in place
                made = True
            return ("", "") if made else _of_tensor(thing, namespace)
    if isinstance(thing, torch.nn.Module):
        name = name_of(thing, namespace)
        what = f"`{name}` is a module" if name else f"This is a module ({type(thing).__name__})"
        call = f"`{name or 'net'}(x)`"
        return "module", f"{what}: its graph begins when you call it. Give its output, {call}."
    if isinstance(thing, _FUNCTIONS):
        return "method", _of_function(thing, namespace)
    numpy = type(thing).__module__.partition(".")[0] == "numpy"
    if isinstance(thing, int | float | complex) and not numpy:
        return "number", _of_number(thing, namespace)
    return "not_a_tensor", _of_stranger(thing, namespace, numpy)


def _of_tensor(tensor: torch.Tensor, namespace: Namespace) -> tuple[str, str]:
    name = name_of(tensor, namespace)
    it = f"`{name}`" if name else "This tensor"
    if tensor.requires_grad:
        return "leaf", _of_leaf(it, name, namespace)
    if tensor.is_inference():
        cause = find_cause(name, namespace)
        where = f" ({cause.place})" if cause and cause.code == "inference_mode" else ""
        return "inference_mode", (
            f"{it} has no graph: it was made under `torch.inference_mode()`{where}, and such a "
            "tensor can never join one. Compute it outside."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        kind = str(tensor.dtype).removeprefix("torch.")
        return "dtype", (
            f"{it} has no graph: its dtype is {kind}, and autograd follows only floating-point and "
            "complex numbers. Make it with decimal points or `dtype=torch.float32`."
        )
    cause = find_cause(name, namespace)
    if cause is not None:
        return cause.code, f"{it} has no graph: {cause.words}"
    return _without_evidence(tensor, it, namespace)


def _without_evidence(tensor: torch.Tensor, it: str, namespace: Namespace) -> tuple[str, str]:
    twin = _shares_memory(tensor, namespace)
    if twin:
        return "detached", (
            f"{it} has no graph, yet it shares its memory with `{twin}`, which requires grad: you "
            f"either cut it off with `.detach()` or `.data`, or took it from `{twin}` under "
            "`torch.no_grad()`. Use "
            f"`{twin}` itself, or compute it again without the cut."
        )
    if not torch.is_grad_enabled():
        return "no_grad", (
            f"{it} has no graph, and recording is switched off right now: either it was computed "
            "under `torch.no_grad()`, or from tensors that do not require grad. Compute it "
            "outside, from tensors with `requires_grad=True`."
        )
    return "untracked", (
        f"{it} has no graph: either nothing it was made from requires grad, or it was computed "
        "under `torch.no_grad()`, or cut off with `.detach()`. Set `requires_grad=True` on an "
        "input, and compute it again."
    )


def _of_leaf(it: str, name: str, namespace: Namespace) -> str:
    late = switched_on_late(name, namespace)
    if late:
        return (
            f"{it} is a leaf, for `requires_grad` was switched on ({late}) after it was computed: "
            "a graph begins at it, and what was computed before is not in it. Switch it on for "
            f"the inputs instead, then compute {it} from them."
        )
    field = f"`{name}.grad`" if name else "its `.grad`"
    return (
        f"{it} is a leaf: you made it, no operation did, so it has no `grad_fn`. Gradients land "
        f"in {field}. Compute something from it, and give that."
    )


def _of_number(number: object, namespace: Namespace) -> str:
    name = _name_of_object(number, namespace)
    it = f"`{name}` is" if name else "This is"
    how = find_call(name, namespace, {"item", "tolist", "float", "int"})
    if how:
        words, place = how
        return (
            f"{it} a Python number: `{words}` ({place}) left the graph behind. To go back from it, "
            "keep the tensor."
        )
    return (
        f"{it} a Python number, and numbers have no graph. Give the tensor that it came from, "
        "before `.item()` or `float()`."
    )


def _of_function(function: object, namespace: Namespace) -> str:
    owner = getattr(function, "__self__", None)
    called = getattr(function, "__name__", "f")
    if isinstance(owner, torch.nn.Module):
        net = name_of(owner, namespace) or "net"
        return (
            f"`{net}.{called}` is a method that was not called. Call the module with its input, "
            f"`{net}(x)`, and give the output."
        )
    if issubclass(type(owner), torch.Tensor):
        called = f"{name_of(owner, namespace) or 'y'}.{called}"
        return f"`{called}` is a method that was not called: add the parentheses, `{called}()`."
    name = _name_of_object(function, namespace) or called
    return f"`{name}` is a function that was not called. Give what it returns: `{name}(...)`."


def _of_stranger(thing: object, namespace: Namespace, numpy: bool) -> str:
    name = _name_of_object(thing, namespace)
    it = f"`{name}` is" if name else "This is"
    if thing is None:
        how = find_call(name, namespace, {"backward"})
        if how:
            return f"{it} None: `{how[0]}` ({how[1]}) returns nothing. Give the tensor itself."
        grad = re.search(r"[\w.\[\]]+\.grad\b", running_text(namespace))
        if grad and not name:
            return f"`{grad[0]}` is None: no gradient has arrived there yet. Call `backward` first."
        return f"{it} None. A function without `return`, and `backward()`, give None."
    if numpy:
        how = find_call(name, namespace, {"numpy"})
        came = f": `{how[0]}` ({how[1]}) left the graph behind" if how else ""
        return f"{it} from NumPy, which autograd cannot follow{came}. Give the tensor."
    if isinstance(thing, type):
        return f"{it} a class ({thing.__name__}). Make one, call it, and give the output."
    kind = type(thing).__name__
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    return f"{it} {article} {kind}. Give a tensor, or a tuple, list or dict of tensors."


def _name_of_object(thing: object, namespace: Namespace) -> str:
    """The variable that holds `thing`; of several, one that the running line mentions."""
    names = [name for name, value in namespace.variables.items() if value is thing]
    words = set(re.findall(r"\w+", running_text(namespace)))
    spoken = [name for name in names if name in words]
    if spoken:
        return spoken[0]
    return "" if not names or isinstance(thing, _COMMON) else names[0]


def _shares_memory(tensor: torch.Tensor, namespace: Namespace) -> str:
    """The name of a tracked tensor in the same memory; "" if there is none."""
    if "memory" not in namespace.memo:
        known = named_tensors(namespace).values()
        namespace.memo["memory"] = {
            _memory(other): names[0] for other, names in reversed(known) if is_tracked(other)
        }
    return namespace.memo["memory"].get(_memory(tensor) or None, "")


def _memory(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # sparse, functorch, fake: no storage to compare
        return 0
