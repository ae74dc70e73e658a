"""One move of Cut the graph: the program is written, run on torch, read and drawn anew.

In the kernel, from the control's message to the kernel's last answer, over every place and way.
"""

from __future__ import annotations

import statistics
import time
from itertools import pairwise, product

from jupyter_client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from utils.widgets.cut_program import PLACES, WAYS

from .measure import Row
from .stepper import _run, _wait_until_idle

LAB = """
from utils import cut_the_graph
lab = cut_the_graph()
lab.write.value = True
lab"""


def rows() -> list[Row]:
    """The rows of the table."""
    times = in_the_kernel()
    what = "cut the graph, a move in the kernel"
    return [
        Row(f"{what}: median of {len(times)}", statistics.median(times), most=20),
        Row(f"{what}: slowest", max(times)),
    ]


def in_the_kernel() -> list[float]:
    """Milliseconds of each move through all places and ways, with the write on."""
    manager, client = start_new_kernel()
    try:
        _run(client, LAB)
        place, way = _model(client, "lab.place"), _model(client, "lab.way")
        settings = list(product(range(len(PLACES)), range(len(WAYS))))
        _move(client, place, settings[0][0])
        _move(client, way, settings[0][1])
        times = []
        for before, after in pairwise(settings):
            if after[0] != before[0]:
                times.append(_move(client, place, after[0]))
            times.append(_move(client, way, after[1]))
        return times
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _model(client: BlockingKernelClient, widget: str) -> str:
    reply = client.execute_interactive(
        "", user_expressions={"id": f"{widget}.model_id"}, output_hook=lambda message: None
    )
    return reply["content"]["user_expressions"]["id"]["data"]["text/plain"].strip("'")


def _move(client: BlockingKernelClient, model: str, index: int) -> float:
    """Choose the option number `index`, as the browser does; milliseconds until all is shown."""
    state = {"method": "update", "state": {"index": index}, "buffer_paths": []}
    message = client.session.msg("comm_msg", {"comm_id": model, "data": state})
    start = time.perf_counter()
    client.shell_channel.send(message)
    _wait_until_idle(client, message["header"]["msg_id"])
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
