"""The ways of the lines, once every box has a layer and a place across it.

Between two layers lies a lane for the lines' labels, in which all lines run straight, and then a
lane in which they curve. So a line never meets a box, and a label never meets another's line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
Size = tuple[float, float]

PORT_GAP = 20.0  # between two lines that leave or reach one box
LEAST_CURVE = 10.0  # length of the lane in which lines curve, when all of them are straight
ARROW = 14.0  # straight end of each line, for its arrowhead
STRAIGHT = 0.5  # a line that bends less than this is straight
STUB = 12.0  # length of a line that leads nowhere


@dataclass(frozen=True, slots=True)
class Spacing:
    """How much room there is between two layers.

    Attributes:
        margin: parts a box from its lines' labels, and those from the curves.
        slope: length of a curve for each pixel that it bends.
        longest: the length of the longest curve.
    """

    margin: float
    slope: float
    longest: float


@dataclass(frozen=True, slots=True)
class Frame:
    """What is known before lines are drawn. All sizes are (along, across), in pixels.

    Attributes:
        sizes: of each box.
        edges: (source, target) of each line; the target of a stub is None.
        labels: the size of each line's label, or None.
        chains: per line, the items it passes: source, bends, target; a stub has its source alone.
        rank: the layer of each item. The first items are the boxes, the others bends.
        layers: how many there are.
        across: the place of each item across its layer.
        spacing: the room between two layers.
    """

    sizes: Sequence[Size]
    edges: Sequence[tuple[int, int | None]]
    labels: Sequence[Size | None]
    chains: Sequence[Sequence[int]]
    rank: Sequence[int]
    layers: int
    across: Sequence[float]
    spacing: Spacing

    def is_stub(self, line: int) -> bool:
        return self.edges[line][1] is None

    def room(self, line: int) -> float:
        """How far apart a line keeps from the next one at its box."""
        label = self.labels[line]
        return max(PORT_GAP, label[1]) if label else PORT_GAP


@dataclass(frozen=True, slots=True)
class Lanes:
    """Along, per layer: where its boxes begin and end, and where its lines start to curve."""

    begin: list[float]
    end: list[float]
    curve: list[float]


def routed(
    frame: Frame,
) -> tuple[tuple[Point, ...], list[tuple[Point, ...]], list[Point], float]:
    """The centre of each box, the route and the label's place of each line, and the length of all.

    Points are (along, across). A route is a start and then three points for each cubic piece.
    """
    leaves, arrives = _leaves_and_arrives(frame)
    # A line's place across in each layer it touches: where it leaves, its bends, where it arrives.
    tracks = [
        [] if frame.is_stub(k) else [leaves[k], *(frame.across[i] for i in chain[1:-1]), arrives[k]]
        for k, chain in enumerate(frame.chains)
    ]
    lanes = _lanes(frame, tracks)
    centres = tuple(
        ((lanes.begin[frame.rank[k]] + lanes.end[frame.rank[k]]) / 2, frame.across[k])
        for k in range(len(frame.sizes))
    )
    routes, spots = [], []
    for k, (source, target) in enumerate(frame.edges):
        start = centres[source][0] + frame.sizes[source][0] / 2
        if target is None:
            tip = (start + STUB, leaves[k])
            routes.append(_straight((start, leaves[k]), tip))
            spots.append(tip)
            continue
        stop = centres[target][0] - frame.sizes[target][0] / 2
        level, label = frame.rank[source], frame.labels[k]
        routes.append(_route(tracks[k], level, start, stop, lanes))
        middle = frame.spacing.margin + (label[0] if label else 0.0) / 2
        spots.append((lanes.end[level] + middle, leaves[k]))
    return centres, routes, spots, max(lanes.end, default=0.0)


def _leaves_and_arrives(frame: Frame) -> tuple[list[float], list[float]]:
    """Where each line leaves its source and arrives at its target, across.

    Lines from different boxes arrive at one point, for there their gradients are added. Parallel
    lines, and lines that leave the same box, are kept apart; stubs leave last.
    """
    arrives = [0.0] * len(frame.edges)
    parallel: dict[tuple[int, int], list[int]] = {}
    leaving: dict[int, list[int]] = {}
    for k, (source, target) in enumerate(frame.edges):
        leaving.setdefault(source, []).append(k)
        if target is not None:
            parallel.setdefault((source, target), []).append(k)
    for (_, target), lines in parallel.items():
        lines.sort(key=lambda k: (frame.across[frame.chains[k][-2]], k))
        places = _spread([frame.room(k) for k in lines], frame.across[target])
        for k, place in zip(lines, places, strict=True):
            arrives[k] = place

    leaves = [0.0] * len(frame.edges)
    for source, lines in leaving.items():
        centre, half = frame.across[source], frame.sizes[source][1] / 2
        whole = [k for k in lines if not frame.is_stub(k)]
        stubs = [k for k in lines if frame.is_stub(k)]
        aim = {
            k: frame.across[frame.chains[k][1]] if len(frame.chains[k]) > 2 else arrives[k]
            for k in whole
        }
        whole.sort(key=lambda k: (aim[k], k))
        places = _spread([frame.room(k) for k in whole], centre)
        at = dict(zip(whole, places, strict=True))
        shift = _straightening(at, aim, centre, half - 6, sum(frame.room(k) for k in stubs))
        for k in whole:
            leaves[k] = at[k] + shift
        edge = leaves[whole[-1]] + frame.room(whole[-1]) / 2 if whole else centre - PORT_GAP / 2
        for k in stubs:
            leaves[k] = edge + frame.room(k) / 2
            edge += frame.room(k)
    return leaves, arrives


def _spread(rooms: Sequence[float], centre: float) -> list[float]:
    """Places side by side around `centre`, each in the middle of its room."""
    at = centre - sum(rooms) / 2
    places = []
    for room in rooms:
        places.append(at + room / 2)
        at += room
    return places


def _straightening(
    at: dict[int, float], aim: dict[int, float], centre: float, half: float, after: float
) -> float:
    """The shift of a box's ports that makes most of its lines straight.

    All ports stay within `half` of the centre, with room of `after` behind the last one.
    """
    shifts = [0.0]
    for k in at:
        shift = aim[k] - at[k]
        first, last = min(at.values()) + shift, max(at.values()) + shift
        if centre - half <= first and last + after <= centre + half:
            shifts.append(shift)

    def bent(shift: float) -> tuple[int, float]:
        return sum(abs(at[k] + shift - aim[k]) > STRAIGHT for k in at), abs(shift)

    return min(shifts, key=bent)


def _lanes(frame: Frame, tracks: Sequence[Sequence[float]]) -> Lanes:
    thick = [0.0] * frame.layers
    for size, level in zip(frame.sizes, frame.rank, strict=False):
        thick[level] = max(thick[level], size[0])
    straight = [0.0] * frame.layers
    curved = [LEAST_CURVE] * frame.layers
    spacing = frame.spacing
    for k, (source, target) in enumerate(frame.edges):
        level, label = frame.rank[source], frame.labels[k]
        room = 2 * spacing.margin + (label[0] if label else 0.0) + (STUB if target is None else 0.0)
        straight[level] = max(straight[level], room)
        for here, (a, b) in enumerate(pairwise(tracks[k]), level):
            if abs(a - b) > STRAIGHT:
                length = min(spacing.longest, 12 + spacing.slope * abs(a - b))
                curved[here] = max(curved[here], length)
    lanes, at = Lanes([], [], []), 0.0
    for level in range(frame.layers):
        lanes.begin.append(at)
        lanes.end.append(at + thick[level])
        lanes.curve.append(lanes.end[-1] + straight[level])
        at = lanes.curve[-1] + curved[level] + ARROW
    return lanes


def _route(
    track: Sequence[float], level: int, start: float, stop: float, lanes: Lanes
) -> tuple[Point, ...]:
    """One line: straight through each layer, curved in between."""
    points: list[Point] = [(start, track[0])]
    for here, (a, b) in enumerate(pairwise(track), level):
        if abs(a - b) <= STRAIGHT:
            continue
        begin, end = lanes.curve[here], lanes.begin[here + 1] - ARROW
        points += _straight(points[-1], (begin, a))[1:]
        middle = (begin + end) / 2
        points += [(middle, a), (middle, b), (end, b)]
    return (*points, *_straight(points[-1], (stop, track[-1]))[1:])


def _straight(a: Point, b: Point) -> tuple[Point, ...]:
    """A straight cubic piece from a to b."""
    (x, y), (u, v) = a, b
    return (a, ((2 * x + u) / 3, (2 * y + v) / 3), ((x + 2 * u) / 3, (y + 2 * v) / 3), b)
