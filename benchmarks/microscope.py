"""One move of the Gradient microscope, in the kernel.

From the control's message to the kernel's last answer: a move of the point runs the function, its
backward, the differences of all step sizes and gradcheck; a move of the step size looks closer at
what was measured. Every ready function takes part, in both precisions.
"""

from __future__ import annotations

import statistics

from utils.widgets.backwards import READY

from .kernel import Kernel
from .measure import Row

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
    with Kernel() as kernel:
        kernel.run(CELL)
        names = ("choice", "dtype", "point", "step")
        choice, dtype, point, step = (kernel.model(f"widget.{name}") for name in names)
        for precision in (0, 1):
            kernel.move(dtype, index=precision)
            for chosen in range(len(READY)):
                kernel.move(choice, index=chosen)
                times["a new point"] += [kernel.move(point, value=x) for x in POINTS]
                times["a new step size"] += [kernel.move(step, value=h) for h in STEPS]
        return times


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
