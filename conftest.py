"""Lets nbval run a cell as JupyterLab does: with its number and its place in the history.

nbval leaves the history out. Then nobody can tell which cell a line came from, as the course's
pictures do, and a semicolon at the end of a cell no longer hides its result.
"""

from __future__ import annotations

from nbval.kernel import RunningKernel


def _execute(kernel: RunningKernel, source: str, allow_stdin: bool | None = None) -> str:
    return kernel.kc.execute(
        source, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
    )


RunningKernel.execute_cell_input = _execute
