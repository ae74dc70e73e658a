"""Arrays of a few numbers in plain Python: enough to re-do one backward step by hand.

Pictures never import torch, and the numbers that a rule shows are checked before they are shown.
This is the arithmetic for that check; sizes are those that fit into a sentence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from utils.graph.data import Number, Value

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A shape and that many entries in row-major order."""

    shape: Shape
    data: list[Number]

    @classmethod
    def of(cls, value: Value | None) -> Array:
        """The entries of a value.

        Raises:
            ValueError: if they are not known.
        """
        if value is None or value.entries is None or value.shape is None:
            raise ValueError("the entries of this value are not known")
        return cls(tuple(int(size) for size in value.shape), list(value.entries))


def full(shape: Shape, x: Number) -> Array:
    """An array that holds `x` everywhere."""
    return Array(shape, [x] * math.prod(shape))


def positions(shape: Shape) -> Array:
    """0, 1, 2, ... in row-major order: each entry says where it stands."""
    return Array(shape, list(range(math.prod(shape))))


def elementwise(f: Callable[..., Number], *arrays: Array) -> Array:
    """`f` entry by entry, after broadcasting."""
    rank = max(len(a.shape) for a in arrays)
    padded = [(1,) * (rank - len(a.shape)) + a.shape for a in arrays]
    shape = tuple(next((s for s in sizes if s != 1), 1) for sizes in zip(*padded, strict=True))
    columns = [expand(a, shape).data for a in arrays]
    return Array(shape, [f(*row) for row in zip(*columns, strict=True)])


def expand(a: Array, shape: Shape) -> Array:
    """`a` repeated along new dimensions and dimensions of size 1.

    Raises:
        ValueError: if the shapes do not fit.
    """
    if a.shape == shape:
        return a
    lead = len(shape) - len(a.shape)
    if lead < 0 or any(s not in (1, t) for s, t in zip(a.shape, shape[lead:], strict=True)):
        raise ValueError(f"{a.shape} does not expand to {shape}")
    rows = [[0] * size for size in shape[:lead]]
    rows += [[0] * t if s == 1 else range(t) for s, t in zip(a.shape, shape[lead:], strict=True)]
    return pick(reshape(a, (1,) * lead + a.shape), rows)


def sum_to(a: Array, shape: Shape) -> Array:
    """The reverse of `expand`: sums whatever was repeated."""
    return a if a.shape == shape else scatter(a, expand(positions(shape), a.shape), shape)


def reshape(a: Array, shape: Shape) -> Array:
    """The same entries under another shape.

    Raises:
        ValueError: if the number of entries differs.
    """
    if math.prod(shape) != len(a.data):
        raise ValueError(f"{a.shape} cannot be seen as {shape}")
    return Array(shape, a.data)


def pick(a: Array, rows: Sequence[Iterable[int]]) -> Array:
    """For each dimension the indices to take, in order."""
    rows = [list(row) for row in rows]
    places = itertools.product(*rows)
    return Array(tuple(map(len, rows)), [a.data[_offset(a.shape, place)] for place in places])


def along(a: Array, dim: int, indices: Iterable[int]) -> Array:
    """`pick` on one dimension, everything on the others."""
    return pick(
        a, [indices if d == dim % len(a.shape) else range(n) for d, n in enumerate(a.shape)]
    )


def permute(a: Array, dims: Sequence[int]) -> Array:
    """The dimensions of `a` in another order."""
    dims = [d % len(dims) for d in dims]
    shape = tuple(a.shape[d] for d in dims)
    data = []
    for place in itertools.product(*map(range, shape)):
        source = [0] * len(dims)
        for d, i in zip(dims, place, strict=True):
            source[d] = i
        data.append(a.data[_offset(a.shape, source)])
    return Array(shape, data)


def join(pieces: Sequence[Array], dim: int) -> Array:
    """Pieces side by side along a dimension that they have."""
    fronts = [permute(p, _to_front(dim, len(p.shape))) for p in pieces]
    rows = sum(front.shape[0] for front in fronts)
    joined = Array((rows, *fronts[0].shape[1:]), [v for front in fronts for v in front.data])
    order = _to_front(dim, len(joined.shape))
    return permute(joined, [order.index(d) for d in range(len(order))])


def scatter(g: Array, places: Array, shape: Shape) -> Array:
    """Zeros of `shape`, with each entry of `g` added where `places` says (row-major positions)."""
    out: list[Number] = [0.0] * math.prod(shape)
    for place, entry in zip(places.data, g.data, strict=True):
        out[int(place)] += entry
    return Array(shape, out)


def sum_dims(a: Array, dims: Sequence[int] | None) -> Array:
    """The sum over some dimensions (None or empty: all), each kept with size 1."""
    rank = len(a.shape)
    gone = {d % rank for d in dims} if dims and rank else set(range(rank))
    return sum_to(a, tuple(1 if d in gone else n for d, n in enumerate(a.shape)))


def matmul(a: Array, b: Array) -> Array:
    """The product of two matrices, or of two equally long stacks of them."""
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    data = []
    for n in range(math.prod(a.shape[:-2])):
        for i, j in itertools.product(range(rows), range(columns)):
            left = a.data[(n * rows + i) * inner : (n * rows + i + 1) * inner]
            right = b.data[n * inner * columns + j : (n + 1) * inner * columns : columns]
            data.append(sum(x * y for x, y in zip(left, right, strict=True)))
    return Array((*a.shape[:-1], columns), data)


def transpose(a: Array) -> Array:
    """The last two dimensions swapped; a vector stays as it is."""
    rank = len(a.shape)
    return a if rank < 2 else permute(a, [*range(rank - 2), rank - 1, rank - 2])


def _to_front(dim: int, rank: int) -> list[int]:
    return [dim, *(d for d in range(rank) if d != dim)]


def _offset(shape: Sequence[int], place: Sequence[int]) -> int:
    offset = 0
    for size, i in zip(shape, place, strict=True):
        offset = offset * size + i % size
    return offset
