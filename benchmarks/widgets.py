"""One move of each widget that computes as it moves, in the kernel.

From the slider's message to the kernel's last answer: a real backward or a real jvp and vjp, the
picture of it, and everything sent to the browser.
"""

from __future__ import annotations

from .kernel import Kernel
from .measure import Row
from .stepper import median_move

MOST = 20  # milliseconds

WEIGHTS = """
from utils import weights_on_outputs
widget = weights_on_outputs()
widget.choice.value = {choice}
slider = widget.sliders[0]
widget"""
ARROWS = """
from utils import pull_back_push_forward
widget = pull_back_push_forward()
widget.choice.value = {choice}
slider = widget.u[0]
widget"""
CELLS = {
    "weights on the outputs, map of the plane": WEIGHTS.format(choice=0),
    "weights on the outputs, small network": WEIGHTS.format(choice=3),
    "pull back, push forward, map of the plane": ARROWS.format(choice=0),
    "pull back, push forward, into space": ARROWS.format(choice=4),
}


def rows() -> list[Row]:
    """The rows of the table, a widget each."""
    with Kernel() as kernel:
        found = []
        for what, cell in CELLS.items():
            kernel.run(cell)
            found.append(Row(f"{what}: a move in the kernel", median_move(kernel), most=MOST))
        return found
