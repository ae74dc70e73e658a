"""J as a table with both ways through it: u above, J u to its right; v to its left, v^T J below."""

from __future__ import annotations

import math
from collections.abc import Sequence

from utils.pictures import svg
from utils.pictures.numbers import indexed, number

CELL, ROW = 56.0, 30.0
REACH = 100.0  # half the length of the two arrows through the picture
LIT = "#e5e7eb"
FRAME = 3.0  # thickness of the frame around the row or column that is read out

Pair = tuple[Sequence[float], Sequence[float]]


def draw_matrix(rows: Sequence[Sequence[float]], forward: Pair, back: Pair, top: svg.Point) -> str:
    """The entries of J, what stands along its sides, and a frame around what is read out.

    Args:
        rows: J, m rows of 2 numbers.
        forward: u and J u.
        back: v and v^T J.
        top: the middle of its upper edge, in pixels.

    Returns:
        SVG elements, at most 236 pixels wide and 250 high. A u along one axis frames its column
        in black, a v along one axis its row in orange, each with a word.
    """
    (u, pushed), (v, pulled) = forward, back
    x, y = top[0] - CELL, top[1] + 76
    bottom = y + ROW * len(rows)
    column, line = only(u), only(v)
    body = [
        svg.label((top[0], top[1] + 14), f"push forward: {forward_words(u)}", bold=True),
        way((top[0] - REACH, top[1] + 28), (top[0] + REACH, top[1] + 28), cotangent=False),
        way((top[0] + REACH, bottom + 44), (top[0] - REACH, bottom + 44), cotangent=True),
        svg.label(
            (top[0], bottom + 66), f"pull back: {back_words(v)}", fill=svg.GRADIENT_INK, bold=True
        ),
        svg.label((x - 8, y - 12), "J", svg.TITLE, svg.INK, "end", bold=True),
        svg.label((x + CELL * len(u) + 10, y - 12), "J u", anchor="start", bold=True),
        svg.label((x - 8, bottom + 22), "vᵀJ", fill=svg.GRADIENT_INK, anchor="end", bold=True),
    ]
    for j in range(len(u)):
        middle = x + CELL * (j + 0.5)
        body.append(_number(u[j], (middle, y - 12), svg.INK, f"{indexed('u', j)}="))
        body.append(_number(pulled[j], (middle, bottom + 22), svg.GRADIENT_INK))
    for i, row in enumerate(rows):
        middle = y + ROW * (i + 0.5)
        weight = f"{indexed('v', i)}="
        body.append(_number(v[i], (x - 8, middle + 4), svg.GRADIENT_INK, weight, "end"))
        body.append(_number(pushed[i], (x + CELL * len(u) + 10, middle + 4), svg.INK, "", "start"))
        for j, entry in enumerate(row):
            centre = (x + CELL * (j + 0.5), middle)
            fill = LIT if j == column else svg.GRADIENT_FILL if i == line else svg.BOX_FILL
            body.append(svg.box(centre, (CELL, ROW), 0, fill, svg.FAINT, 1) + "/>")
            body.append(_number(entry, (centre[0], middle + 4), svg.INK))
    height, width = ROW * len(rows), CELL * len(u)
    if line is not None:
        centre = (x + width / 2, y + ROW * (line + 0.5))
        frame = svg.box(centre, (width + 6, ROW - 2), 4, "none", svg.GRADIENT, FRAME)
        body.append(frame + ' stroke-dasharray="7 4"/>')
    if column is not None:
        centre = (x + CELL * (column + 0.5), y + height / 2)
        body.append(svg.box(centre, (CELL - 2, height + 6), 4, "none", svg.INK, FRAME) + "/>")
    return "".join(body)


def way(start: svg.Point, tip: svg.Point, cotangent: bool) -> str:
    """An arrow: of a tangent black and solid, of a cotangent orange and dashed, its head open."""
    length = math.dist(start, tip)
    colour = svg.GRADIENT if cotangent else svg.INK
    if length < 0.5:
        return f'<circle cx="{svg.num(tip[0])}" cy="{svg.num(tip[1])}" r="4" fill="{colour}"/>'
    back, head = svg.arrow(tip, start, min(12.0, 0.6 * length))
    end = tip if cotangent else back
    line = (
        f'<path d="M{svg.num(start[0])} {svg.num(start[1])}L{svg.num(end[0])} {svg.num(end[1])}" '
        f'stroke="{colour}" stroke-width="3"'
    )
    if not cotangent:
        return f'{line}/><path d="{head}" fill="{colour}"/>'
    point, left, right = head[1:-1].split("L")
    return (
        f'{line} stroke-dasharray="7 4"/><path d="M{left}L{point}L{right}" fill="none" '
        f'stroke="{colour}" stroke-width="3" stroke-linejoin="round" stroke-linecap="round"/>'
    )


def only(weights: Sequence[float]) -> int | None:
    """The place of the one weight that is not zero; None when there are more, or none."""
    used = [k for k, weight in enumerate(weights) if weight]
    return used[0] if len(used) == 1 else None


def forward_words(u: Sequence[float]) -> str:
    """What J u is made of."""
    return _words(u, "J u", "column", "u")


def back_words(v: Sequence[float]) -> str:
    """What v^T J is made of."""
    return _words(v, "vᵀJ", "row", "v")


def _words(weights: Sequence[float], result: str, part: str, name: str) -> str:
    place = only(weights)
    if place is not None:
        weight = weights[place]
        times = "" if weight == 1 else f"{number(weight, 3)} × "
        return f"{result} = {times}{part} {place}"
    if not any(weights):
        return f"{result} = 0, for {name} is 0"
    return f"{result} mixes the {part}s"


def _number(x: float, at: svg.Point, fill: str, before: str = "", anchor: str = "middle") -> str:
    return svg.label(at, f"{before}{number(x, 3)}", fill=fill, anchor=anchor)
