"""What can be said about a value as plain data, without judging it. Imports torch alone."""

from __future__ import annotations

from typing import Any

import torch


def facts(obj: Any) -> dict[str, Any]:
    """What can be said about `obj` without judging it.

    Returns:
        for a tensor {"kind": "tensor", "value": a detached copy, "requires_grad", "is_leaf",
        "grad_fn": torch's name or "", "grad": a copy or None, "version": None for an inference
        tensor, "parameter": whether it is one, "attributes": names that were assigned to it and
        mean nothing to torch};
        {"kind": "plain", "value"} for numbers, strings and None; the same for each item under
        "items" for lists, tuples and dicts; {"kind": "module", "training": the flag of each part
        by name, "state": facts of each parameter and buffer by name} for a module;
        {"kind": "other", "type"} for the rest.
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
            # A tensor that was made in inference mode keeps no count.
            "version": None if obj.is_inference() else obj._version,
            "parameter": isinstance(obj, torch.nn.Parameter),
            "attributes": sorted(vars(obj)),
        }
    if obj is None or isinstance(obj, bool | int | float | complex | str):
        return {"kind": "plain", "value": obj}
    if isinstance(obj, dict):
        return {"kind": "dict", "items": {str(key): facts(value) for key, value in obj.items()}}
    if isinstance(obj, list | tuple):
        return {
            "kind": "list" if isinstance(obj, list) else "tuple",
            "items": [facts(value) for value in obj],
        }
    if isinstance(obj, set | frozenset):
        return {"kind": "set", "items": [facts(value) for value in sorted(obj, key=repr)]}
    if isinstance(obj, torch.nn.Module):
        return {
            "kind": "module",
            "type": type(obj).__name__,
            "training": {name: part.training for name, part in obj.named_modules()},
            "state": {
                name: facts(tensor)
                for name, tensor in (*obj.named_parameters(), *obj.named_buffers())
            },
        }
    return {"kind": "other", "type": type(obj).__name__}
