"""A map near one point, both ways: u pushed forward by J, v pulled back by it.

Inputs left, outputs right, the numbers of J between them. Tangents (u and J u) are black and solid,
cotangents (v and v^T J) orange and dashed with open heads; each arrow has its name at its tip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from utils.pictures import svg
from utils.pictures.matrix import draw_matrix, way
from utils.pictures.numbers import number
from utils.pictures.picture import Picture

Vector = tuple[float, ...]

SIDE = 270.0  # of each of the two panels
MIDDLE = 236.0  # width of what stands between them
GAP = 12.0
TOP = 92.0
TURNS = 72  # points on the unit circle
DEPTH = (-0.45, -0.35)  # where the first of three axes points, in a picture of space
ROOM = 1.25  # beyond the longest arrow, for its name
ENDS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # times a power of ten: half a panel's width


@dataclass(frozen=True, slots=True)
class Local:
    """What a map f from the plane does near a point, to one u and one v.

    Attributes:
        x: the point, 2 numbers.
        y: f(x), m numbers, m being 2 or 3.
        jacobian: J, m rows of 2.
        u, pushed: a tangent at x, and J u at y.
        v, pulled: a cotangent at y, and v^T J at x.
        v_pushed: <v, J u>.
        pulled_u: <v^T J, u>, the same number by the other way.
    """

    x: Vector
    y: Vector
    jacobian: tuple[Vector, ...]
    u: Vector
    pushed: Vector
    v: Vector
    pulled: Vector
    v_pushed: float
    pulled_u: float


def draw_planes(local: Local, title: str) -> Picture:
    """Draw both planes (or plane and space), J between them, and the four arrows.

    Args:
        local: the numbers; all of them finite.
        title: what map it is, and where.

    Returns:
        The picture. Both panels have one scale, written below them. Space is drawn in a fixed
        oblique projection, its first axis towards the reader.
    """
    circle = [(math.cos(t), math.sin(t)) for t in (k * math.tau / TURNS for k in range(TURNS))]
    image = [tuple(_dot(row, point) for row in local.jacobian) for point in circle]
    every = [*circle, *map(flat, image), local.u, local.pulled]
    every += [flat(local.pushed), flat(local.v)]
    end = panel_end([part for point in every for part in point])
    left = _Panel((svg.MARGIN, TOP), end)
    right = _Panel((svg.MARGIN + SIDE + MIDDLE + 2 * GAP, TOP), end)
    top = TOP - 10
    spot = _point(local.x), _point(local.y)
    space = "plane" if len(local.y) == 2 else "space"
    body = [
        svg.label((left.centre[0], top), f"input plane, around x = {spot[0]}", bold=True),
        svg.label((right.centre[0], top), f"output {space}, around y = {spot[1]}", bold=True),
        left.ground(("x₀", "x₁")),
        right.ground(("y₀", "y₁", "y₂")[: len(local.y)]),
        left.outline(circle),
        right.outline([flat(point) for point in image]),
        *left.arrows(("u", local.u, False), ("vᵀJ", local.pulled, True)),
        *right.arrows(("J u", local.pushed, False), ("v", local.v, True)),
        draw_matrix(
            local.jacobian,
            (local.u, local.pushed),
            (local.v, local.pulled),
            (svg.MARGIN + SIDE + GAP + MIDDLE / 2, TOP),
        ),
    ]
    bottom = TOP + SIDE
    same = f"⟨v, J u⟩ = {number(local.v_pushed)} = ⟨vᵀJ, u⟩"
    if not math.isclose(local.v_pushed, local.pulled_u, rel_tol=1e-4, abs_tol=1e-6):
        same = f"⟨v, J u⟩ = {number(local.v_pushed)}, ⟨vᵀJ, u⟩ = {number(local.pulled_u)}"
    body += [
        svg.label((svg.MARGIN + SIDE + GAP + MIDDLE / 2, bottom - 6), same, svg.TITLE, bold=True),
        svg.label((left.centre[0], bottom + 18), "dotted: every u of length 1", fill=svg.MUTED),
        svg.label((right.centre[0], bottom + 18), "dotted: what J makes of them", fill=svg.MUTED),
    ]
    caption = [
        "solid: tangents, pushed forward; dashed: cotangents, pulled back; "
        f"each panel reaches {number(end)} to all sides"
    ]
    text = "\n".join([title, *_text(local)])
    size = (2 * (svg.MARGIN + SIDE + GAP) + MIDDLE, bottom + 34)
    return Picture(svg.panel(title, text, "".join(body), size, caption), title, text)


def flat(point: Sequence[float]) -> svg.Point:
    """A point of the plane as it is; one of space in the oblique projection of the pictures."""
    if len(point) == 2:
        return point[0], point[1]
    towards, across, up = point
    return across + DEPTH[0] * towards, up + DEPTH[1] * towards


def panel_end(parts: Sequence[float]) -> float:
    """Half the side of a panel that shows all these coordinates, a round number."""
    largest = max(map(abs, parts), default=0.0) * ROOM
    if largest == 0:
        return 1.0
    power = math.floor(math.log10(largest))
    ends = (step * 10.0**p for p in (power, power + 1) for step in ENDS)
    return next(end for end in ends if end >= largest)


class _Panel:
    """One square with the zero of its vectors in the middle."""

    def __init__(self, corner: svg.Point, end: float) -> None:
        self.corner = corner
        self.centre = (corner[0] + SIDE / 2, corner[1] + SIDE / 2)
        self.unit = SIDE / 2 / end
        self._axes: list[svg.Point] = []  # where their names stand

    def at(self, point: svg.Point) -> svg.Point:
        return (self.centre[0] + self.unit * point[0], self.centre[1] - self.unit * point[1])

    def ground(self, axes: Sequence[str]) -> str:
        """The square and its axes, each with its name at its positive end."""
        parts = [svg.box(self.centre, (SIDE, SIDE), 4, svg.BOX_FILL, "#d1d5db", 1) + "/>"]
        reach = SIDE / 2 / self.unit
        for k, name in enumerate(axes):
            unit = [0.0] * len(axes)
            unit[k] = 1.0
            way = flat(tuple(unit))
            far = reach / max(map(abs, way))
            a, b = (self.at((sign * far * way[0], sign * far * way[1])) for sign in (-1, 1))
            parts.append(
                f'<path d="M{svg.num(a[0])} {svg.num(a[1])}L{svg.num(b[0])} {svg.num(b[1])}" '
                f'stroke="#d1d5db" stroke-width="1"/>'
            )
            aside = (-12, -6) if abs(way[0]) > abs(way[1]) and way[0] > 0 else (12, 14)
            if way[0] < 0:
                aside = (14, -6)
            place = (b[0] + aside[0], b[1] + aside[1])
            self._axes.append((place[0], place[1] - 5))
            parts.append(svg.label(place, name, fill=svg.MUTED))
        return "".join(parts)

    def outline(self, points: Sequence[svg.Point]) -> str:
        """A closed dotted line."""
        path = "L".join(f"{svg.num(x)} {svg.num(y)}" for x, y in map(self.at, points))
        return (
            f'<path d="M{path}Z" fill="none" stroke="{svg.FAINT}" stroke-width="1.6" '
            f'stroke-dasharray="2 4"/>'
        )

    def arrows(self, *arrows: tuple[str, Vector, bool]) -> list[str]:
        """Two of (name, vector, whether it is a cotangent) from the middle, each with its name."""
        parts, taken = [], [[axis] for axis in self._axes]
        for k, (name, vector, cotangent) in enumerate(arrows):
            tip = self.at(flat(vector))
            if len(vector) == 3:
                parts.append(self._foot(vector))
            parts.append(way(self.centre, tip, cotangent))
            words = name if any(vector) else f"{name} = 0"
            other = self.at(flat(arrows[1 - k][1]))
            spot = self._spot(words, tip, [self._along(other), *taken])
            taken.append([spot])
            fill = svg.GRADIENT_INK if cotangent else svg.INK
            at = (spot[0], spot[1] + 5)
            parts.append(svg.label(at, words, svg.TITLE, fill, bold=True, halo=True))
        return parts

    def _foot(self, vector: Vector) -> str:
        """A thin line from the tip of an arrow in space down to the floor."""
        tip, foot = self.at(flat(vector)), self.at(flat((*vector[:2], 0.0)))
        return (
            f'<path d="M{svg.num(tip[0])} {svg.num(tip[1])}L{svg.num(foot[0])} {svg.num(foot[1])}" '
            f'stroke="{svg.FAINT}" stroke-width="1"/>'
        )

    def _along(self, tip: svg.Point) -> list[svg.Point]:
        """Points on the arrow from the middle to `tip`."""
        (a, b), (c, d) = self.centre, tip
        return [(a + (c - a) * k / 12, b + (d - b) * k / 12) for k in range(13)]

    def _spot(self, words: str, tip: svg.Point, taken: list[list[svg.Point]]) -> svg.Point:
        """The middle of a name by its arrow's tip: inside the panel, and clear of what is there."""
        width = svg.text_width(words, svg.TITLE, bold=True)
        turn = math.atan2(tip[1] - self.centre[1], tip[0] - self.centre[0])
        (left, top), best = self.corner, None
        for aside in (0.0, 0.9, -0.9, 1.8, -1.8, math.pi):
            way_x, way_y = math.cos(turn + aside), math.sin(turn + aside)
            x = tip[0] + (width / 2 + 9) * way_x
            y = tip[1] + 15 * way_y
            x = min(max(x, left + width / 2 + 4), left + SIDE - width / 2 - 4)
            y = min(max(y, top + 11), top + SIDE - 11)
            room = min(
                max(abs(x - p) / (width / 2 + 8), abs(y - q) / 14)
                for points in [[tip], *taken]
                for p, q in points
            )
            if best is None or room > best[0] + 0.05:
                best = room, (x, y)
            if room >= 1:
                break
        return best[1]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))


def _point(entries: Sequence[float]) -> str:
    return f"({', '.join(number(entry, 3) for entry in entries)})"


def _text(local: Local) -> list[str]:
    rows = "; ".join(_point(row) for row in local.jacobian)
    return [
        f"x = {_point(local.x)}, y = {_point(local.y)}",
        f"rows of J: {rows}",
        f"push forward: u = {_point(local.u)}, J u = {_point(local.pushed)}",
        f"pull back: v = {_point(local.v)}, vᵀJ = {_point(local.pulled)}",
        f"⟨v, J u⟩ = {number(local.v_pushed)}, ⟨vᵀJ, u⟩ = {number(local.pulled_u)}",
    ]
