"""One move of the Gradient microscope, in the kernel.

From the control's message to the kernel's last answer: a move of the point runs the function, its
backward, the differences of all step sizes and gradcheck; a move of the step size looks closer at
what was measured. Every ready function takes part, in both precisions.
"""

from __future__ import annotations

import statistics
import time

from jupyter_client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from utils.widgets.backwards import READY

from .cut import _model
from .measure import Row
from .stepper import _run, _wait_until_idle

CELL = """
from utils import gradient_microscope
widget = gradient_microscope()
widget"""
POINTS = (0.05, 0.4, 1.35)
STEPS = (1e-3, 1e-6, 1e-11)
MOST = 20  # milliseconds


def rows() -> list[Row]:
    """The rows of the table: the median and the slowest of each kind of move."""
    found = []
    for what, times in in_the_kernel().items():
        named = f"gradient microscope, {what} in the kernel"
        found.append(Row(f"{named}: median of {len(times)}", statistics.median(times), most=MOST))
        found.append(Row(f"{named}: slowest", max(times)))
    return found


def in_the_kernel() -> dict[str, list[float]]:
    """Milliseconds of each move, by what was moved."""
    times: dict[str, list[float]] = {"a new point": [], "a new step size": []}
    manager, client = start_new_kernel()
    try:
        _run(client, CELL)
        names = ("choice", "dtype", "point", "step")
        choice, dtype, point, step = (_model(client, f"widget.{name}") for name in names)
        for precision in (0, 1):
            _move(client, dtype, index=precision)
            for chosen in range(len(READY)):
                _move(client, choice, index=chosen)
                times["a new point"] += [_move(client, point, value=x) for x in POINTS]
                times["a new step size"] += [_move(client, step, value=h) for h in STEPS]
        return times
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _move(client: BlockingKernelClient, model: str, **state: float) -> float:
    """Move a control as the browser does; milliseconds until all is shown."""
    update = {"method": "update", "state": state, "buffer_paths": []}
    message = client.session.msg("comm_msg", {"comm_id": model, "data": update})
    start = time.perf_counter()
    client.shell_channel.send(message)
    _wait_until_idle(client, message["header"]["msg_id"])
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
