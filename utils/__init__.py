"""What a notebook of the course imports.

Each name is loaded when it is first used, so ``import utils`` costs next to nothing over
``import torch``, and the parts that need no torch can be imported without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.checks.notebook import check, hint, progress, solution
    from utils.graph import record, walk
    from utils.versions import environment
    from utils.widgets import (
        cut_the_graph,
        gradient_microscope,
        hook_timeline,
        leaf_lab,
        predict,
        pull_back_push_forward,
        show_graph,
        step_backward,
        weights_on_outputs,
    )

__all__ = [
    "check",
    "cut_the_graph",
    "environment",
    "gradient_microscope",
    "hint",
    "hook_timeline",
    "leaf_lab",
    "predict",
    "progress",
    "pull_back_push_forward",
    "record",
    "show_graph",
    "solution",
    "step_backward",
    "walk",
    "weights_on_outputs",
]

_HOMES = {
    "check": "utils.checks.notebook",
    "cut_the_graph": "utils.widgets",
    "environment": "utils.versions",
    "gradient_microscope": "utils.widgets",
    "hint": "utils.checks.notebook",
    "hook_timeline": "utils.widgets",
    "leaf_lab": "utils.widgets",
    "predict": "utils.widgets",
    "progress": "utils.checks.notebook",
    "pull_back_push_forward": "utils.widgets",
    "record": "utils.graph",
    "show_graph": "utils.widgets",
    "solution": "utils.checks.notebook",
    "step_backward": "utils.widgets",
    "walk": "utils.graph",
    "weights_on_outputs": "utils.widgets",
}


def __getattr__(name: str) -> object:
    """Load ``name`` from where it lives, on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'utils' has no attribute {name!r}; it has {__all__}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
