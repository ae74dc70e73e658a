"""Where the items of each layer stand across it: straight lines, balanced, nothing too close.

The method of Brandes and Koepf (2001): align each item with a median neighbour in four ways (from
above or below, leaning left or right), pack each of the four tightly, and take for every item the
mean of its two middle positions. One thing is added: a line may only be aligned with the child
that leads on furthest. A parameter that hangs on a deep chain thus never bends the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from utils.pictures.order import Layers, Neighbours

Separation = Callable[[int, int], float]


def positions(
    layers: Layers,
    above: Neighbours,
    below: Neighbours,
    boxes: int,
    separation: Separation,
) -> list[float]:
    """A position across its layer for each item; the order within the layers is kept.

    Args:
        layers: the items of each layer, in order.
        above: per item, its neighbours in the layer before.
        below: per item, its neighbours in the layer after.
        boxes: items from this number on are bends of long lines, which stay straight.
        separation: the least distance between the centres of two neighbours in a layer.
    """
    place = [0] * len(above)
    for layer in layers:
        for k, item in enumerate(layer):
            place[item] = k
    links = _links(layers, above, below, place, boxes)
    up: list[list[int]] = [[] for _ in above]
    down: list[list[int]] = [[] for _ in above]
    for upper, lower in links:
        down[upper].append(lower)
        up[lower].append(upper)
    for near in (up, down):
        for others in near:
            if len(others) > 1:
                others.sort(key=place.__getitem__)

    mirrored = [layer[::-1] for layer in layers]
    candidates = []
    for near, step in ((up, 1), (down, -1)):
        candidates.append(_packed(layers, _blocks(layers[::step], near, place, 1), separation))
        leaning = _packed(mirrored, _blocks(mirrored[::step], near, place, -1), separation)
        candidates.append([-x for x in leaning])
    return _balanced(candidates)


def _links(
    layers: Layers, above: Neighbours, below: Neighbours, place: Sequence[int], boxes: int
) -> list[tuple[int, int]]:
    """The lines that may be drawn straight, as (upper, lower) without repetition."""
    reach = [0] * len(above)  # how many layers lie below, along the longest way
    for layer in reversed(layers):
        for item in layer:
            if below[item]:
                reach[item] = 1 + max(reach[other] for other in below[item])
    links = []
    for upper, lower in pairwise(layers):
        # A straight piece of a long line wins over every other line that crosses it.
        straight = [
            (place[above[item][0]], place[item])
            for item in lower
            if item >= boxes and above[item][0] >= boxes
        ]
        for item in upper:
            if not below[item]:
                continue
            furthest = max(reach[other] for other in below[item])
            for other in dict.fromkeys(below[item]):
                if reach[other] < furthest:
                    continue
                inner = item >= boxes and other >= boxes
                if inner or not _crossed(straight, place[item], place[other]):
                    links.append((item, other))
    return links


def _crossed(straight: list[tuple[int, int]], upper: int, lower: int) -> bool:
    return any((a - upper) * (b - lower) < 0 for a, b in straight)


def _blocks(layers: Layers, near: Neighbours, place: Sequence[int], sign: int) -> list[int]:
    """Which block each item belongs to, named by its first item: all on one straight line."""
    block = list(range(len(place)))
    for layer in layers:
        last: float = float("-inf")
        for item in layer:
            others = near[item]
            count = len(others)
            if not count:
                continue
            middle = {others[(count - 1) // 2], others[count // 2]}
            for other in sorted(middle, key=lambda i: sign * place[i]):
                if sign * place[other] > last:
                    block[item] = block[other]
                    last = sign * place[other]
                    break
    return block


def _packed(layers: Layers, block: list[int], separation: Separation) -> list[float]:
    """Every block as far left as it can be, then right again where there is room."""
    after: dict[int, dict[int, float]] = {name: {} for name in block}
    before = dict.fromkeys(after, 0)
    for layer in layers:
        for left, right in pairwise(layer):
            a, b = block[left], block[right]
            if b not in after[a]:
                before[b] += 1
            after[a][b] = max(after[a].get(b, 0.0), separation(left, right))
    x = dict.fromkeys(after, 0.0)
    done = [name for name, count in before.items() if not count]
    for name in done:  # grows while it is walked: first come the blocks with nothing to their left
        for other, distance in after[name].items():
            x[other] = max(x[other], x[name] + distance)
            before[other] -= 1
            if not before[other]:
                done.append(other)
    for name in reversed(done):
        if after[name]:
            room = min(x[other] - distance for other, distance in after[name].items())
            x[name] = max(x[name], room)
    return [x[name] for name in block]


def _balanced(candidates: list[list[float]]) -> list[float]:
    """The mean of the two middle ones of four layouts, all shifted onto the narrowest."""
    if not candidates[0]:
        return []
    spans = [(min(xs), max(xs)) for xs in candidates]
    low, high = min(spans, key=lambda span: span[1] - span[0])
    shifts = [
        low - span[0] if k % 2 == 0 else high - span[1]  # left-leaning ones by their left edge
        for k, span in enumerate(spans)
    ]
    result = []
    for xs in zip(*candidates, strict=True):
        placed = sorted(x + shift for x, shift in zip(xs, shifts, strict=True))
        result.append((placed[1] + placed[2]) / 2)
    return result
