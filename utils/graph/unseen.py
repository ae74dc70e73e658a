"""Keeps what we do out of the sight of the learner's own machinery."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes


@contextmanager
def unseen() -> Iterator[None]:
    """Inside, no tensor subclass and no mode takes part in what we call, and nothing is recorded.

    A subclass may answer every call with code of its own, and a mode may count operations: a look
    at the graph must not be among them.
    """
    with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.no_grad():
        yield


def anyone_watching() -> bool:
    """Whether a mode is active: where none is, and no subclass either, `unseen` can be spared."""
    return bool(torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack())
