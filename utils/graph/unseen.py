"""Keeps what we do out of the sight of the learner's own machinery."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes

_PLAIN = (torch.Tensor, torch.nn.Parameter)


@contextmanager
def unseen() -> Iterator[None]:
    """Inside, no tensor subclass and no mode takes part in what we call, and nothing is recorded.

    A subclass may answer every call with code of its own, and a mode may count operations: a look
    at the graph must not be among them.
    """
    with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.no_grad():
        yield


def in_the_open(tensor: torch.Tensor) -> bool:
    """Whether nobody would notice: no subclass, and no mode is active. It spares `unseen`."""
    return type(tensor) in _PLAIN and not (
        torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack()
    )


def grad_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """Its `.grad`, unseen."""
    if in_the_open(tensor):
        return tensor.grad
    with unseen():
        return tensor.grad
