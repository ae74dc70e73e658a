"""One move of Hook timeline: two real steps of torch, one with the hooks, read and drawn anew.

In the kernel, from the control's message to the kernel's last answer, as every switch is put on one
after the other and taken off again.
"""

from __future__ import annotations

import statistics

from utils.widgets.hook_journal import HOOKS

from .kernel import Kernel
from .measure import Row

CELL = """
from utils import hook_timeline
widget = hook_timeline()
for switch in widget.switches.values():
    switch.value = False
switches = list(widget.switches.values())
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
    with Kernel() as kernel:
        kernel.run(CELL)
        models = [kernel.model(f"switches[{k}]") for k in range(len(HOOKS))]
        return [kernel.move(model, value=on) for on in (True, False) for model in models]


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
