"""A frame with two axes: numbers to pixels, and lines that end where the frame does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from utils.pictures import svg

Span = tuple[float, float]
EDGE = "#d1d5db"


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle of pixels that shows a rectangle of numbers.

    Attributes:
        corner: its upper left corner, in pixels.
        size: width and height, in pixels.
        across, up: the least and the largest number of each axis.
    """

    corner: svg.Point
    size: svg.Point
    across: Span
    up: Span

    def at(self, point: svg.Point) -> svg.Point:
        """The pixel of a point."""
        (left, top), (width, height) = self.corner, self.size
        x = (point[0] - self.across[0]) / (self.across[1] - self.across[0])
        y = (point[1] - self.up[0]) / (self.up[1] - self.up[0])
        return left + width * x, top + height * (1 - y)

    def holds(self, point: svg.Point) -> bool:
        """Whether a point is finite and inside."""
        spans = zip(point, (self.across, self.up), strict=True)
        return all(low <= part <= high for part, (low, high) in spans)

    def ground(self) -> str:
        """The empty frame."""
        (left, top), (width, height) = self.corner, self.size
        centre = (left + width / 2, top + height / 2)
        return svg.box(centre, self.size, 4, svg.BOX_FILL, EDGE, 1) + "/>"

    def line(self, points: Sequence[svg.Point], stroke: str, width: float, dash: str = "") -> str:
        """A line through points, cut at the frame; points that are not finite leave a gap."""
        parts, last = [], None
        for start, end in self._inside(points):
            start, end = (f"{svg.num(x)} {svg.num(y)}" for x, y in map(self.at, (start, end)))
            parts.append(f"L{end}" if start == last else f"M{start}L{end}")
            last = end
        if not parts:
            return ""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        return (
            f'<path d="{"".join(parts)}" fill="none" stroke="{stroke}" '
            f'stroke-width="{svg.num(width)}"{dashes}/>'
        )

    def slope(self, through: svg.Point, slope: float, stroke: str, width: float, dash: str) -> str:
        """A straight line through a point, from side to side; nothing where it is not finite."""
        ends = [(x, through[1] + slope * (x - through[0])) for x in self.across]
        return self.line(ends, stroke, width, dash)

    def _inside(self, points: Sequence[svg.Point]) -> Iterator[tuple[svg.Point, svg.Point]]:
        """What of each piece between two points lies in the frame."""
        for (x, y), (p, q) in pairwise(points):
            if not all(map(math.isfinite, (x, y, p, q))):
                continue
            enter, leave = 0.0, 1.0
            for a, step, (low, high) in ((x, p - x, self.across), (y, q - y, self.up)):
                if step == 0:
                    if not low <= a <= high:
                        leave = -1.0
                    continue
                first, second = sorted(((low - a) / step, (high - a) / step))
                enter, leave = max(enter, first), min(leave, second)
            if enter <= leave:
                yield (
                    (x + enter * (p - x), y + enter * (q - y)),
                    (x + leave * (p - x), y + leave * (q - y)),
                )


def marks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two: 1, 2 or 5 times a power of ten apart, at most so many."""
    power = math.floor(math.log10((high - low) / most))
    steps = (factor * 10.0**p for p in (power, power + 1, power + 2) for factor in (1, 2, 5))
    step = next(s for s in steps if math.floor(high / s) - math.ceil(low / s) < most)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def power_of_ten(exponent: int) -> str:
    """A power of ten as people write it, such as "10⁻⁶".

    Example:
        >>> power_of_ten(-6), power_of_ten(0)
        ('10⁻⁶', '1')
    """
    if exponent == 0:
        return "1"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
