"""The order of the boxes within each layer of a layered drawing: few crossings."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

Layers = list[list[int]]
Neighbours = Sequence[Sequence[int]]

SWEEPS = 12
PATIENCE = 3


def ordered(rank: Sequence[int], above: Neighbours, below: Neighbours) -> Layers:
    """Items by layer, each layer in an order that keeps crossings low.

    A depth-first walk gives the first order, in which a tree has no crossing at all; barycentre
    sweeps with swaps of neighbours then improve on it while they can.

    Args:
        rank: the layer of each item, from 0. Every line joins neighbouring layers.
        above: per item, its neighbours in the layer before.
        below: per item, its neighbours in the layer after.
    """
    layers = _first_order(rank, above, below)
    place = [0] * len(rank)
    for layer in layers:
        _index(layer, place)
    fewest, best, stale = crossings(layers, below, place), [layer[:] for layer in layers], 0
    for sweep in range(SWEEPS):
        if not fewest or stale == PATIENCE:
            break
        downwards = sweep % 2 == 0
        near = above if downwards else below
        for layer in layers[1:] if downwards else layers[-2::-1]:
            _by_barycentre(layer, near, place)
        for layer in layers:
            _swap_neighbours(layer, place, above, below)
        now = crossings(layers, below, place)
        if now < fewest:
            fewest, best, stale = now, [layer[:] for layer in layers], 0
        else:
            stale += 1
    return best


def crossings(layers: Layers, below: Neighbours, place: Sequence[int]) -> int:
    """How many pairs of lines cross, given each item's place in its layer."""
    total = 0
    for layer in layers:
        ends: list[int] = []
        for item in layer:
            mine = [place[other] for other in below[item]]
            if ends:
                total += sum(len(ends) - bisect_right(ends, end) for end in mine)
            for end in mine:
                insort(ends, end)
    return total


def _first_order(rank: Sequence[int], above: Neighbours, below: Neighbours) -> Layers:
    layers: Layers = [[] for _ in range(max(rank, default=-1) + 1)]
    seen = [False] * len(rank)
    for source in range(len(rank)):
        if above[source]:
            continue
        todo = [source]
        while todo:
            item = todo.pop()
            if not seen[item]:
                seen[item] = True
                layers[rank[item]].append(item)
                todo.extend(reversed(below[item]))
    return layers


def _index(layer: list[int], place: list[int]) -> None:
    for k, item in enumerate(layer):
        place[item] = k


def _by_barycentre(layer: list[int], near: Neighbours, place: list[int]) -> None:
    centre = {
        item: sum(place[other] for other in near[item]) / len(near[item])
        if near[item]
        else place[item]
        for item in layer
    }
    layer.sort(key=centre.__getitem__)
    _index(layer, place)


def _swap_neighbours(
    layer: list[int], place: list[int], above: Neighbours, below: Neighbours
) -> None:
    """Swap two neighbours wherever that removes crossings, until nothing moves."""
    for _ in range(4):
        moved = False
        for k in range(len(layer) - 1):
            a, b = layer[k], layer[k + 1]
            gain = 0
            for near in (above, below):
                for p in near[a]:
                    for q in near[b]:
                        gain += (place[p] > place[q]) - (place[p] < place[q])
            if gain > 0:
                layer[k], layer[k + 1] = b, a
                place[a], place[b] = k + 1, k
                moved = True
        if not moved:
            return
