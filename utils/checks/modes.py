"""A way to see every operation that runs, for observers. Imports torch alone."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class Watch(TorchDispatchMode):
    """A dispatch mode that leaves torch's compiler alone.

    Torch keeps its compiler out of every dispatch mode, and loads all of it to do so: seconds, at a
    learner's first check. No check compiles anything, so ours say that it is not needed.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
