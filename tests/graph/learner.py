"""Runs code as a learner would: as a file, or cell by cell in a real IPython shell."""

from __future__ import annotations

import gc
import itertools
import linecache
import textwrap
from contextlib import contextmanager
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from IPython.core.interactiveshell import InteractiveShell

from utils.graph.names import annotate, caller_namespace
from utils.graph.walk import walk

_NUMBER = itertools.count()


def run(code: str, name: str = "lesson.py") -> SimpleNamespace:
    """Execute `code` as the file `name`; its variables afterwards, as attributes."""
    path = f"/learner/{next(_NUMBER)}/{name}"
    text = textwrap.dedent(code).strip("\n") + "\n"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    variables = {"__name__": "learner", "torch": torch, "F": F, "nn": torch.nn}
    variables |= {"walk": walk, "namespace": caller_namespace, "annotate": annotate}
    exec(compile(text, path, "exec"), variables)
    return SimpleNamespace(**{key: value for key, value in variables.items() if key[0] != "_"})


class Notebook:
    """An IPython shell with its own history."""

    def __init__(self) -> None:
        self.shell = InteractiveShell()
        self.shell.history_manager.enabled = False
        self.run("import torch\nfrom utils.graph.walk import walk")  # cell 1

    def run(self, cell: str, fails: bool = False) -> SimpleNamespace:
        """Run one cell; all variables afterwards, as attributes."""
        result = self.shell.run_cell(textwrap.dedent(cell).strip("\n"), store_history=True)
        assert result.success is not fails, result
        return SimpleNamespace(**{k: v for k, v in self.shell.user_ns.items() if k[0] != "_"})


def boxes(graph) -> dict[str, str]:
    """{torch's name, or the variable where there is one: what was written}; ops only."""
    return {
        node.variable or node.name: node.expression for node in graph.nodes if node.kind != "leaf"
    }


def variables(graph) -> list[str]:
    """The names in the boxes, in the order of the nodes."""
    return [node.variable for node in graph.nodes]


@contextmanager
def no_collector():
    """Reference counts alone must do: whatever survives inside is held by somebody."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
