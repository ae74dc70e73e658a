"""One move of Hook timeline: two real steps of torch, one with the hooks, read and drawn anew.

In the kernel, from the control's message to the kernel's last answer, as every switch is put on one
after the other and taken off again.
"""

from __future__ import annotations

import statistics
import time

from jupyter_client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from utils.widgets.hook_journal import HOOKS

from .measure import Row
from .stepper import _run, _wait_until_idle

CELL = """
from utils import hook_timeline
widget = hook_timeline()
for switch in widget.switches.values():
    switch.value = False
models = " ".join(switch.model_id for switch in widget.switches.values())
widget"""


def rows() -> list[Row]:
    """The rows of the table."""
    times = in_the_kernel()
    what = "hook timeline, a move in the kernel"
    return [
        Row(f"{what}: median of {len(times)}", statistics.median(times), most=20),
        Row(f"{what}: slowest", max(times)),
    ]


def in_the_kernel() -> list[float]:
    """Milliseconds of each move: all hooks on, one by one, then off again."""
    manager, client = start_new_kernel()
    try:
        _run(client, CELL)
        reply = client.execute_interactive(
            "", user_expressions={"ids": "models"}, output_hook=lambda message: None
        )
        found = reply["content"]["user_expressions"]["ids"]["data"]["text/plain"]
        models = found.strip("'").split()
        assert len(models) == len(HOOKS)
        return [_move(client, model, on) for on in (True, False) for model in models]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _move(client: BlockingKernelClient, model: str, on: bool) -> float:
    """Put a switch on or off, as the browser does; milliseconds until all is shown."""
    state = {"method": "update", "state": {"value": on}, "buffer_paths": []}
    message = client.session.msg("comm_msg", {"comm_id": model, "data": state})
    start = time.perf_counter()
    client.shell_channel.send(message)
    _wait_until_idle(client, message["header"]["msg_id"])
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
