"""One move of Cut the graph: the program is written, run on torch, read and drawn anew.

In the kernel, from the control's message to the kernel's last answer, over every place and way.
"""

from __future__ import annotations

import statistics
from itertools import pairwise, product

from utils.widgets.cut_program import PLACES, WAYS

from .kernel import Kernel
from .measure import Row

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
    with Kernel() as kernel:
        kernel.run(LAB)
        place, way = kernel.model("lab.place"), kernel.model("lab.way")
        settings = list(product(range(len(PLACES)), range(len(WAYS))))
        kernel.move(place, index=settings[0][0])
        kernel.move(way, index=settings[0][1])
        times = []
        for before, after in pairwise(settings):
            if after[0] != before[0]:
                times.append(kernel.move(place, index=after[0]))
            times.append(kernel.move(way, index=after[1]))
        return times


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
