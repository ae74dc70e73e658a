"""The picture at the head of the README: a step of a real backward, drawn by every build."""

from __future__ import annotations

import re
from pathlib import Path

PATH = Path("notebooks/pictures/stepper.svg")
STEP = 3


def cover() -> str:
    """Return the SVG of the third step of the backward of o = mean(3(x + 2)²)."""
    import torch

    from utils.graph import record
    from utils.pictures.tape_picture import TapePicture

    x = torch.ones(2, 2, requires_grad=True)
    y = x + 2
    z = 3 * y**2
    o = z.mean()
    tape = record(o, names={"x": x, "y": y, "z": z, "o": o})
    svg = TapePicture(tape).draw(STEP).svg
    # A page shrinks it as it likes: the least width that a notebook asks for would crop it there.
    return re.sub(r"^(<svg[^>]*?) style=\"[^\"]*\"", r"\1", svg) + "\n"
