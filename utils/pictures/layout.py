"""Where to draw boxes and lines: a layered layout in plain Python.

Every box gets a layer, one past the furthest box that points to it; long lines get a bend in each
layer they pass; `order` sorts the layers and `align` straightens them. Between two layers lies a
lane for the lines' labels, in which all lines run straight, and then a lane in which they curve.
So a line never meets a box and a label never meets a line that is not its own, by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from utils.pictures.align import positions
from utils.pictures.order import ordered

Point = tuple[float, float]
Size = tuple[float, float]

BOX_GAP = 30.0  # between two boxes of a layer
LINE_GAP = 22.0  # between a box and a passing line
BEND_GAP = 14.0  # between two passing lines
PORT_GAP = 20.0  # between two lines that leave or reach one box
LEAST_CURVE = 10.0  # length of the lane in which lines curve, when all of them are straight
ARROW = 14.0  # straight end of each line, for its arrowhead
STRAIGHT = 0.5  # a line that bends less than this is straight
STUB = 12.0  # length of a line that leads nowhere


@dataclass(frozen=True, slots=True)
class _Spacing:
    """How much room there is between two layers.

    Attributes:
        margin: parts a box from its lines' labels, and those from the curves.
        slope: length of a curve for each pixel that it bends.
        longest: the length of the longest curve.
    """

    margin: float
    slope: float
    longest: float


# Upright, the word "now" needs room between a box and its lines' labels.
_LEVEL, _UPRIGHT = _Spacing(8.0, 0.45, 130.0), _Spacing(18.0, 0.25, 70.0)


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
        ((152.0, 20.0), (40.0, 20.0))
    """
    wanted = labels or [None] * len(edges)
    if vertical:
        sizes = [(h, w) for w, h in sizes]
        wanted = [label and (label[1], label[0]) for label in wanted]
    plan = _plan(sizes, edges, wanted, _UPRIGHT if vertical else _LEVEL)

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
    spacing: _Spacing,
) -> Layout:
    """The layout in (along, across): layers follow each other along, sources first.

    Here a size or a label is (along, across) too.
    """
    count = len(sizes)
    rank = _ranks(count, edges)
    chains, rank = _chains(edges, rank)
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

    leaves, arrives = _ports(chains, edges, labels, across, half)
    # A line's height in each layer it touches: at its source's port, its bends, its target's port.
    tracks = [
        [leaves[k], *(across[i] for i in chain[1:-1]), arrives[k]] if len(chain) > 1 else []
        for k, chain in enumerate(chains)
    ]
    begin, end, lane = _lanes(sizes, edges, labels, rank, layers, tracks, chains, spacing)
    centres = tuple(((begin[rank[i]] + end[rank[i]]) / 2, across[i]) for i in range(count))
    routes, spots = [], []
    for k, ((source, _), chain, label) in enumerate(zip(edges, chains, labels, strict=True)):
        start = centres[source][0] + sizes[source][0] / 2
        if len(chain) == 1:
            tip = (start + STUB, leaves[k])
            routes.append(_straight((start, leaves[k]), tip))
            spots.append(tip)
            continue
        target = chain[-1]
        stop = centres[target][0] - sizes[target][0] / 2
        routes.append(_route(tracks[k], rank[source], start, stop, begin, lane))
        room = label[0] if label else 0.0
        spots.append((max(start, end[rank[source]]) + spacing.margin + room / 2, leaves[k]))
    width = max(end, default=0.0)
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


def _ports(
    chains: list[list[int]],
    edges: Sequence[tuple[int, int | None]],
    labels: Sequence[Size | None],
    across: list[float],
    half: list[float],
) -> tuple[list[float], list[float]]:
    """Where each line leaves its source and arrives at its target, across.

    Lines from different boxes arrive at one point, for there their gradients are added. Parallel
    lines, and lines that leave the same box, are kept apart; stubs leave last.
    """
    room = [max(PORT_GAP, label[1] if label else 0.0) for label in labels]
    leaves = [0.0] * len(edges)
    arrives = [0.0] * len(edges)
    parallel: dict[tuple[int, int], list[int]] = {}
    leaving: dict[int, list[int]] = {}
    for k, (source, target) in enumerate(edges):
        leaving.setdefault(source, []).append(k)
        if target is not None:
            parallel.setdefault((source, target), []).append(k)
    for (_, target), lines in parallel.items():
        lines.sort(key=lambda k: (across[chains[k][-2]], k))
        offset = -sum(room[k] for k in lines) / 2
        for k in lines:
            arrives[k] = across[target] + offset + room[k] / 2
            offset += room[k]

    for source, lines in leaving.items():
        solid = [k for k in lines if len(chains[k]) > 1]
        aim = {k: across[chains[k][1]] if len(chains[k]) > 2 else arrives[k] for k in solid}
        solid.sort(key=lambda k: (aim[k], k))
        offset = -sum(room[k] for k in solid) / 2
        at = {}
        for k in solid:
            at[k] = across[source] + offset + room[k] / 2
            offset += room[k]
        stubs = sum(room[k] for k in lines if len(chains[k]) == 1)
        shift = _straightening(at, aim, across[source], half[source] - 6, stubs)
        for k in solid:
            leaves[k] = at[k] + shift
        edge = across[source] + offset + shift if solid else across[source] - PORT_GAP / 2
        for k in lines:
            if len(chains[k]) == 1:
                leaves[k] = edge + room[k] / 2
                edge += room[k]
    return leaves, arrives


def _straightening(
    at: dict[int, float], aim: dict[int, float], centre: float, half: float, after: float
) -> float:
    """The shift of a box's ports that makes most of its lines straight.

    All ports stay within `half` of the centre, with room of `after` behind the last one.
    """
    shifts = [0.0]
    for k in at:
        shift = aim[k] - at[k]
        before = min(at.values()) + shift
        behind = max(at.values()) + shift + after
        if centre - half <= before and behind <= centre + half:
            shifts.append(shift)

    def bent(shift: float) -> tuple[int, float]:
        return sum(abs(at[k] + shift - aim[k]) > STRAIGHT for k in at), abs(shift)

    return min(shifts, key=bent)


def _lanes(
    sizes: Sequence[Size],
    edges: Sequence[tuple[int, int | None]],
    labels: Sequence[Size | None],
    rank: list[int],
    layers: list[list[int]],
    tracks: list[list[float]],
    chains: list[list[int]],
    spacing: _Spacing,
) -> tuple[list[float], list[float], list[float]]:
    """Along, per layer: where its boxes begin and end, and where its lines start to curve."""
    count = len(sizes)
    thick = [max((sizes[i][0] for i in layer if i < count), default=0.0) for layer in layers]
    label_room = [0.0] * len(layers)
    curve = [LEAST_CURVE] * len(layers)
    for (source, _), label, track, chain in zip(edges, labels, tracks, chains, strict=True):
        level = rank[source]
        room = (label[0] if label else 0.0) + 2 * spacing.margin
        if len(chain) == 1:
            room += STUB
        label_room[level] = max(label_room[level], room)
        for k, (here, there) in enumerate(pairwise(track), level):
            bend = abs(here - there)
            if bend > STRAIGHT:
                curve[k] = max(curve[k], min(spacing.longest, 12 + spacing.slope * bend))
    begin, end, lane = [], [], []
    at = 0.0
    for level in range(len(layers)):
        begin.append(at)
        end.append(at + thick[level])
        lane.append(end[-1] + label_room[level])
        at = lane[-1] + curve[level] + ARROW
    return begin, end, lane


def _route(
    track: list[float],
    level: int,
    start: float,
    stop: float,
    begin: list[float],
    lane: list[float],
) -> tuple[Point, ...]:
    """One line: straight through each layer, curved in between."""
    points: list[Point] = [(start, track[0])]
    for k, (here, there) in enumerate(pairwise(track), level):
        if abs(here - there) <= STRAIGHT:
            continue
        a, b = lane[k], begin[k + 1] - ARROW
        if points[-1][0] < a:
            points += _straight(points[-1], (a, here))[1:]
        middle = (a + b) / 2
        points += [(middle, here), (middle, there), (b, there)]
    return (*points, *_straight(points[-1], (stop, track[-1]))[1:])


def _straight(a: Point, b: Point) -> tuple[Point, ...]:
    """A straight cubic piece from a to b."""
    (x, y), (u, v) = a, b
    return (a, ((2 * x + u) / 3, (2 * y + v) / 3), ((x + 2 * u) / 3, (y + 2 * v) / 3), b)
