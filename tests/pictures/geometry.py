"""Measures a drawing: overlaps, lines through boxes, crossings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

Point = tuple[float, float]


def boxes_that_overlap(centres: Sequence[Point], sizes: Sequence[Point]) -> list[tuple[int, int]]:
    """Pairs of boxes with a common inner point."""
    found = []
    by_x = sorted(range(len(sizes)), key=lambda k: centres[k][0] - sizes[k][0] / 2)
    for i, a in enumerate(by_x):
        right = centres[a][0] + sizes[a][0] / 2
        for b in by_x[i + 1 :]:
            if centres[b][0] - sizes[b][0] / 2 >= right - 0.01:
                break
            if abs(centres[a][1] - centres[b][1]) < (sizes[a][1] + sizes[b][1]) / 2 - 0.01:
                found.append((a, b))
    return found


def sampled(route: Sequence[Point], pieces: int = 16) -> list[Point]:
    """Points on a path of cubic Bézier pieces (a start, then three points a piece)."""
    points = [route[0]]
    for k in range(1, len(route), 3):
        a, (b, c, d) = route[k - 1], route[k : k + 3]
        for step in range(1, pieces + 1):
            t = step / pieces
            u = 1 - t
            weights = (u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t)
            points.append(
                (
                    sum(w * p[0] for w, p in zip(weights, (a, b, c, d), strict=True)),
                    sum(w * p[1] for w, p in zip(weights, (a, b, c, d), strict=True)),
                )
            )
    return points


def lines_through_boxes(
    centres: Sequence[Point],
    sizes: Sequence[Point],
    edges: Sequence[tuple[int, int | None]],
    lines: Sequence[Sequence[Point]],
    slack: float = 1.0,
) -> list[tuple[int, int]]:
    """(line, box) for each line, given as points, that enters a box which is not its own."""
    found = []
    spans = [
        (x - w / 2 + slack, x + w / 2 - slack, y - h / 2 + slack, y + h / 2 - slack)
        for (x, y), (w, h) in zip(centres, sizes, strict=True)
    ]
    for number, (ends, points) in enumerate(zip(edges, lines, strict=True)):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        low_x, high_x, low_y, high_y = min(xs), max(xs), min(ys), max(ys)
        for box, (left, right, top, bottom) in enumerate(spans):
            if box in ends or left > high_x or right < low_x or top > high_y or bottom < low_y:
                continue
            if any(_enters(a, b, left, right, top, bottom) for a, b in pairwise(points)):
                found.append((number, box))
    return found


def crossings(edges: Sequence[tuple[int, int | None]], lines: Sequence[Sequence[Point]]) -> int:
    """Pairs of lines that cross, not counting pairs with an end in common."""
    import numpy as np

    total = 0
    pieces = [np.array(points) for points in lines]
    spans = [(p.min(axis=0), p.max(axis=0)) for p in pieces]
    for a, b in combinations(range(len(lines)), 2):
        if set(edges[a]) & set(edges[b]):
            continue
        if (spans[a][0] > spans[b][1]).any() or (spans[b][0] > spans[a][1]).any():
            continue
        total += _cross(pieces[a], pieces[b])
    return total


def _enters(a: Point, b: Point, left: float, right: float, top: float, bottom: float) -> bool:
    """Whether the straight piece from a to b has a point inside the rectangle."""
    first, last = 0.0, 1.0
    for start, end, low, high in ((a[0], b[0], left, right), (a[1], b[1], top, bottom)):
        step = end - start
        if abs(step) < 1e-9:
            if not low < start < high:
                return False
            continue
        one, two = sorted(((low - start) / step, (high - start) / step))
        first, last = max(first, one), min(last, two)
    return first < last


def _cross(p, q) -> bool:
    """Whether two polylines, as arrays of points, cross anywhere."""

    def side(origin, ends, others):
        # z of the cross product, per (piece of one, point of the other)
        d, o = ends - origin, others[None, :, :] - origin[:, None, :]
        return d[:, None, 0] * o[:, :, 1] - d[:, None, 1] * o[:, :, 0]

    a = side(p[:-1], p[1:], q)
    b = side(q[:-1], q[1:], p)
    return bool(((a[:, :-1] * a[:, 1:] < 0) & (b[:, :-1] * b[:, 1:] < 0).T).any())
