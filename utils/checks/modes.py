"""Ways to see every operation that runs, for observers. Imports torch alone."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode


class Watch(TorchDispatchMode):
    """A dispatch mode that leaves torch's compiler alone.

    Torch keeps its compiler out of every dispatch mode, and loads all of it to do so: seconds, at a
    learner's first check. No check compiles anything, so ours say that it is not needed.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


def _address(obj: Any) -> int:
    """Where the memory of a tensor begins; 0 for what is no tensor, or has no memory of its own."""
    try:
        return obj.untyped_storage().data_ptr() if isinstance(obj, torch.Tensor) else 0
    except RuntimeError:  # a wrapper, as functional transforms use, or a sparse tensor
        return 0


class NodesRun(Watch):
    """Notes which autograd nodes are at work while operations run, and the biggest thing made."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.runs: dict[int, list[str]] = {}  # by the engine's own number of the run
        self.largest = 0
        self.made = 0
        self.from_nodes: set[int] = set()  # where what nodes made lies, and what came of that

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        node = torch._C._current_autograd_node()
        if node is not None:
            self.names.append(type(node).__name__)
            run = self.runs.setdefault(torch._C._current_graph_task_id(), [])
            run.append(type(node).__name__)
        comes_from_node = node is not None or any(map(self.holds, pytree.tree_leaves(args)))
        made = func(*args, **(kwargs or {}))
        for part in pytree.tree_leaves(made):
            # An address is used again after its tensor has gone, so it is also taken out.
            note = self.from_nodes.add if comes_from_node else self.from_nodes.discard
            note(_address(part))
        if isinstance(made, torch.Tensor) and not func.is_view:  # a view needs no memory
            size = made.numel() * made.element_size()
            self.largest, self.made = max(self.largest, size), self.made + size
        return made

    def holds(self, obj: Any) -> bool:
        """Whether `obj` is a tensor that a node made, or that was computed from such a one."""
        return bool(_address(obj)) and _address(obj) in self.from_nodes
