"""A few numbers as bars around a zero line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from utils.pictures import svg
from utils.pictures.numbers import number
from utils.pictures.picture import Picture

HALF = 130.0  # pixels on either side of the zero line
BAR, STEP = 18.0, 30.0  # a bar's thickness, and from one bar to the next
TOP = 62.0
AFTER = 58.0  # room for the number behind the longest bar


def draw_bars(values: Sequence[float], names: Sequence[str], title: str) -> Picture:
    """Draw gradients as bars: to the right of zero when positive, to the left when negative.

    Args:
        values: the numbers; whatever is not finite has a word in place of its bar.
        names: what each is the gradient of, such as "x₀"; as many as there are values.
        title: what the bars are.

    Returns:
        The picture. Both ends of the scale are the next of 1, 2, 5, 10, ... around the largest
        magnitude, and are written there.

    Raises:
        ValueError: there are not as many names as values.
    """
    if len(names) != len(values):
        raise ValueError(f"{len(values)} values need as many names, not {len(names)}")
    end = scale_end(values)
    room = max(map(svg.text_width, names), default=0.0)
    zero = svg.MARGIN + room + 8 + AFTER + HALF
    bottom = TOP + STEP * len(values)
    body = [_line(x, bottom, dash) for x, dash in ((zero - HALF, "2 3"), (zero, ""))]
    body.append(_line(zero + HALF, bottom, "2 3"))
    for x, mark in ((zero - HALF, -end), (zero, 0.0), (zero + HALF, end)):
        body.append(svg.label((x, TOP - 8), number(mark).replace("-", "−"), fill=svg.MUTED))
    for k, (value, name) in enumerate(zip(values, names, strict=True)):
        middle = TOP + STEP * (k + 0.5)
        body.append(svg.label((svg.MARGIN, middle + 4), name, anchor="start", bold=True))
        body.append(_bar(value, (zero, middle), end))
    text = [title, *(f"{n}: {number(value)}" for n, value in zip(names, values, strict=True))]
    size = (zero + HALF + AFTER + svg.MARGIN, bottom + 14)
    said = "\n".join(text)
    return Picture(svg.panel(title, said, "".join(body), size), title, said)


def scale_end(values: Sequence[float]) -> float:
    """The least of 1, 2, 5 times a power of ten that no finite magnitude passes; 1 without any."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest == 0:
        return 1.0
    power = math.floor(math.log10(largest))
    ends = (step * 10.0**p for p in (power, power + 1) for step in (1, 2, 5))
    return next(end for end in ends if end >= largest * (1 - 1e-9))


def _bar(value: float, at: svg.Point, end: float) -> str:
    """One bar from the zero line at a point, with its number behind it."""
    x, y = at
    if not math.isfinite(value):
        return svg.label((x + 6, y + 4), number(value), anchor="start", bold=True, halo=True)
    length = HALF * value / end
    drawn = ""
    if abs(length) >= 0.5:
        size = (abs(length), BAR)
        drawn = svg.box((x + length / 2, y), size, 0, svg.GRADIENT, svg.GRADIENT_INK, 1) + "/>"
    anchor, gap = ("start", 6) if value >= 0 else ("end", -6)
    words = number(value).replace("-", "−", 1)
    words = svg.label((x + length + gap, y + 4), words, anchor=anchor, bold=True, halo=True)
    return drawn + words


def _line(x: float, bottom: float, dash: str) -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="M{svg.num(x)} {svg.num(TOP - 3)}V{svg.num(bottom + 3)}" '
        f'stroke="{svg.FAINT}" stroke-width="1"{dashes}/>'
    )
