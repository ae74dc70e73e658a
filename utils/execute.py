"""Run a notebook top to bottom on a fresh kernel."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from utils.notebooks import RAISES, is_check, tags

BREAKS = "break-it"
SECONDS_PER_CELL = 120


class BadCell(Exception):
    """A cell did what it should not: its notebook, its id and what happened."""

    def __init__(self, path: Path, cell: NotebookNode, trouble: str) -> None:
        super().__init__(f"{path.name}, cell {cell.get('id', '?')}: {trouble}")


def steady_environment(private: str) -> dict[str, str]:
    """Return an environment in which a kernel gives the same outputs on each machine and run.

    Args:
        private: an empty folder for IPython, so that nobody's own start-up files are run.
    """
    return {
        **os.environ,
        "AUTOGRAD_PROGRESS": "off",
        "IPYTHONDIR": private,
        "PYTHONHASHSEED": "0",
        "PYTHONWARNINGS": "",
    }


def execute(notebook: NotebookNode, path: Path) -> None:
    """Run ``notebook`` in place, in the folder of ``path``, and see that it did what it should.

    Raises:
        BadCell: a cell raised an error without the tag ``raises-exception``; a check that gives
            points was not passed; or a cell tagged ``break-it`` and ``raises-exception`` raised
            nothing.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        skip_cells_with_tag="",  # nbgrader and nbval run every cell, so does this
        resources={"metadata": {"path": str(path.parent)}},
    )
    with tempfile.TemporaryDirectory() as private:
        try:
            client.execute(env=steady_environment(private))
        except CellExecutionError as error:
            cell = _first_error(notebook)
            raise BadCell(path, cell, f"{error.ename}: {error.evalue}") from None
        except CellTimeoutError:
            cell = _last_started(notebook)
            raise BadCell(path, cell, f"took over {SECONDS_PER_CELL} seconds") from None
        except DeadKernelError:
            raise BadCell(path, _last_started(notebook), "the kernel died") from None
    for cell in notebook.cells:
        error = _error(cell)
        if error and is_check(cell):
            raise BadCell(path, cell, f"the answer does not pass: {error.ename}: {error.evalue}")
        if not error and {BREAKS, RAISES} <= set(tags(cell)):
            raise BadCell(path, cell, "it is meant to raise an error, and raised none")


def _error(cell: NotebookNode) -> NotebookNode | None:
    outputs = cell.get("outputs", [])
    return next((output for output in outputs if output.output_type == "error"), None)


def _first_error(notebook: NotebookNode) -> NotebookNode:
    return next(cell for cell in notebook.cells if _error(cell) and RAISES not in tags(cell))


def _last_started(notebook: NotebookNode) -> NotebookNode:
    """Return the first code cell without a result: the one that was running."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    return next((cell for cell in code if cell.execution_count is None), code[-1])
