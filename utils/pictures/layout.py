"""Where to draw boxes and lines: a layered layout in plain Python.

Every box gets a layer, one past the furthest box that points to it; long lines get a bend in each
layer they pass; `order` sorts the layers, `align` straightens them, and `routes` draws the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from utils.pictures.align import positions
from utils.pictures.order import ordered
from utils.pictures.routes import Frame, Point, Size, Spacing, routed

BOX_GAP = 30.0  # between two boxes of a layer
LINE_GAP = 22.0  # between a box and a passing line
BEND_GAP = 14.0  # between two passing lines

# Upright, the word "now" needs room between a box and its lines' labels.
LEVEL, UPRIGHT = Spacing(8.0, 0.45, 130.0), Spacing(18.0, 0.25, 70.0)


@dataclass(frozen=True, slots=True)
class Layout:
    """A finished layout, in pixels, from (0, 0) to (width, height).

    Attributes:
        centres: the middle of each box.
        routes: per line a path of cubic Bézier pieces, from the side of its source to the side of
            its target: a start, then three points for each piece.
        labels: per line a point on it with free room around it for its label; for a line that
            leads nowhere, its end.
        layers: how many layers there are.
    """

    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    labels: tuple[Point, ...]
    width: float
    height: float
    layers: int


def layered(
    sizes: Sequence[Size],
    edges: Sequence[tuple[int, int | None]],
    labels: Sequence[Size | None] | None = None,
    vertical: bool = False,
) -> Layout:
    """Lay out boxes and the lines between them.

    Sources stand at the right and lines run to the left; with `vertical`, sources stand at the
    bottom and lines run up. Parallel lines are kept apart. Same input, same layout.

    Args:
        sizes: (width, height) of each box.
        edges: (source, target) of each line, by box number. A target of None makes a short stub at
            the source. There must be no cycle; parallel lines are fine.
        labels: (width, height) of each line's label; None for a line without one.
        vertical: whether lines run upwards instead of to the left.

    Raises:
        ValueError: if the edges contain a cycle.

    Example:
        >>> layered([(80, 40), (80, 40)], [(0, 1)]).centres
        ((160.0, 20.0), (40.0, 20.0))
    """
    wanted = labels or [None] * len(edges)
    if vertical:
        sizes = [(h, w) for w, h in sizes]
        wanted = [label and (label[1], label[0]) for label in wanted]
    plan = _plan(sizes, edges, wanted, UPRIGHT if vertical else LEVEL)

    def turned(points: Sequence[Point]) -> tuple[Point, ...]:
        if vertical:
            return tuple((across, plan.width - along) for along, across in points)
        return tuple((plan.width - along, across) for along, across in points)

    return Layout(
        turned(plan.centres),
        tuple(turned(route) for route in plan.routes),
        turned(plan.labels),
        plan.height if vertical else plan.width,
        plan.width if vertical else plan.height,
        plan.layers,
    )


def _plan(
    sizes: Sequence[Size],
    edges: Sequence[tuple[int, int | None]],
    labels: Sequence[Size | None],
    spacing: Spacing,
) -> Layout:
    """The layout in (along, across): layers follow each other along, sources first.

    Here a size or a label is (along, across) too.
    """
    count = len(sizes)
    chains, rank = _chains(edges, _ranks(count, edges))
    above: list[list[int]] = [[] for _ in rank]
    below: list[list[int]] = [[] for _ in rank]
    for chain in chains:
        for a, b in pairwise(chain):
            below[a].append(b)
            above[b].append(a)
    layers = ordered(rank, above, below)
    half = [size[1] / 2 for size in sizes] + [0.0] * (len(rank) - count)

    def separation(a: int, b: int) -> float:
        bends = (a >= count) + (b >= count)
        return half[a] + half[b] + (BOX_GAP, LINE_GAP, BEND_GAP)[bends]

    across = positions(layers, above, below, count, separation)
    low = min((at - room for at, room in zip(across, half, strict=True)), default=0.0)
    across = [at - low for at in across]
    height = max((at + room for at, room in zip(across, half, strict=True)), default=0.0)
    frame = Frame(sizes, edges, labels, chains, rank, len(layers), across, spacing)
    centres, routes, spots, width = routed(frame)
    return Layout(centres, tuple(routes), tuple(spots), width, height, len(layers))


def _ranks(count: int, edges: Sequence[tuple[int, int | None]]) -> list[int]:
    """A layer for each box: one past the last box that points to it."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in edges:
        if target is not None:
            after[source].append(target)
            waiting[target] += 1
    sources = [i for i in range(count) if not waiting[i]]
    rank, ready, done = [0] * count, list(sources), 0
    while ready:
        item = ready.pop()
        done += 1
        for other in after[item]:
            rank[other] = max(rank[other], rank[item] + 1)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    if done < count:
        raise ValueError(
            f"the edges contain a cycle through some of {count - done} boxes; a layered layout "
            "needs a graph without cycles"
        )
    for source in sources:  # a second root stands next to what it feeds on
        if after[source]:
            rank[source] = min(rank[other] for other in after[source]) - 1
    low = min(rank, default=0)
    return [level - low for level in rank]


def _chains(
    edges: Sequence[tuple[int, int | None]], rank: list[int]
) -> tuple[list[list[int]], list[int]]:
    """Per line the items it passes: source, a new bend in each layer between, target."""
    rank = rank[:]
    chains = []
    for source, target in edges:
        chain = [source]
        if target is not None:
            for level in range(rank[source] + 1, rank[target]):
                chain.append(len(rank))
                rank.append(level)
            chain.append(target)
        chains.append(chain)
    return chains, rank
