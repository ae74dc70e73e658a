"""Backward rules of operations that take entries, move them about or put them together."""

from __future__ import annotations

from utils.pictures import small_array as sa
from utils.pictures.rule_algebra import (
    PRODUCT,
    Formula,
    Gradient,
    call,
    g,
)
from utils.pictures.rule_law import Law, Parts, Site
from utils.pictures.small_array import Array


def _winner_along(at: Site) -> Parts:
    """max(dim), min(dim), sort, topk: the saved indices say who won."""

    def places() -> Array:
        indices, dim = Array.of(at.saved("indices")), at.dims()[0]
        shape = at.shape()
        if len(indices.shape) < len(shape):
            indices = sa.reshape(indices, (*indices.shape[:dim], 1, *indices.shape[dim:]))
        return _gathered(shape, dim, indices)

    return (at.picked("{0} in the places of the chosen entries, zeros elsewhere", places),)


def _gathered(shape: sa.Shape, dim: int, indices: Array) -> Array:
    """The row-major places that `gather(dim, indices)` reads."""
    here = sa.positions(indices.shape).data
    data = []
    for place, index in zip(here, indices.data, strict=True):
        at = []
        for size in reversed(indices.shape):
            place, i = divmod(place, size)
            at.insert(0, i)
        at[dim] = int(index)
        data.append(sa.pick(sa.positions(shape), [[i] for i in at]).data[0])
    return Array(indices.shape, data)


def _reshaped(at: Site) -> Parts:
    shape = at.shape()
    return (call("reshape", lambda a: sa.reshape(a, shape), g),)


def _permuted(at: Site) -> Parts:
    dims = at.fact("dims")
    if dims is None:  # a transpose keeps its two dimensions, and t() nothing
        dims = list(range(len(at.out)))
        if len(dims) > 1:
            a, b = at.number("dim0", 0), at.number("dim1", 1)
            dims[a], dims[b] = dims[b], dims[a]
    if [d % 2 for d in dims] == [1, 0]:
        return (g.T,)
    return (
        at.picked(
            "{0} with its dimensions back in order",
            lambda: sa.permute(sa.positions(at.shape()), dims),
        ),
    )


def _select(at: Site) -> Parts:
    dim, index = at.dims()[0], at.number("index")
    return (
        at.picked(
            f"{{0}} at index {index} of dim {dim}, zeros elsewhere",
            lambda: sa.along(sa.positions(at.shape()), dim, [index]),
        ),
    )


def _slice(at: Site) -> Parts:
    dim = at.dims()[0]
    rows = range(*slice(at.fact("start"), at.fact("end"), at.fact("step")).indices(at.shape()[dim]))
    step = f":{rows.step}" if rows.step != 1 else ""
    return (
        at.picked(
            f"{{0}} at {rows.start}:{rows.stop}{step} of dim {dim}, zeros elsewhere",
            lambda: sa.along(sa.positions(at.shape()), dim, rows),
        ),
    )


def _flip(at: Site) -> Parts:
    gone = {d % len(at.shape()) for d in at.fact("dims")}
    rows = [range(n)[::-1] if d in gone else range(n) for d, n in enumerate(at.shape())]
    return (at.picked("{0} flipped back", lambda: sa.pick(sa.positions(at.shape()), rows)),)


def _index(at: Site) -> Parts:
    def places() -> Array:
        values = [s.value for s in at.node.saved if s.name.startswith("indices")]
        if len(values) != 1 or values[0] is None or values[0].dtype == "bool":
            raise ValueError("only one tensor of whole numbers is followed here")
        size, *rest = at.shape()
        rows = [int(i) for i in Array.of(values[0]).data]
        return sa.pick(sa.positions((size, *rest)), [rows, *map(range, rest)])

    return (at.picked("{0} added at the entries taken, zeros elsewhere", places),)


def _index_select(at: Site) -> Parts:
    def places() -> Array:
        rows = [int(i) for i in Array.of(at.saved("index")).data]
        return sa.along(sa.positions(at.shape()), at.dims()[0], rows)

    return (at.picked("{0} added at the rows taken, zeros elsewhere", places),)


def _gather(at: Site) -> Parts:
    return (
        at.picked(
            "{0} added at the entries taken, zeros elsewhere",
            lambda: _gathered(at.shape(), at.dims()[0], Array.of(at.saved("index"))),
        ),
    )


def _repeat(at: Site) -> Parts:
    repeats = at.fact("repeats")

    def places() -> Array:
        shape = (1,) * (len(repeats) - len(at.shape())) + at.shape()
        rows = [[i % n for i in range(n * r)] for n, r in zip(shape, repeats, strict=True)]
        return sa.pick(sa.positions(shape), rows)

    return (at.picked("{0} summed over the repeats", places),)


def _cat(at: Site) -> Parts:
    dim = at.number("dim") % len(at.out)
    parts: list[Formula | str] = []
    start: int | None = 0
    for k, edge in enumerate(at.graph.edges_from(at.node.index)):
        if start is None or edge.target is None:  # from here on the places are not known
            start = None
            parts.append("its piece of g")
            continue
        stop = start + at.shape(k)[dim]
        cut = lambda a, rows=range(start, stop): sa.along(a, dim, rows)  # noqa: E731
        parts.append(Formula(f"{{0}} at {start}:{stop} of dim {dim}", cut, (g,), asks=(PRODUCT,)))
        start = stop
    return parts


def _stack(at: Site) -> Parts:
    dim = at.number("dim") % len(at.out)
    shape = tuple(n for d, n in enumerate(at.out) if d != dim)
    return [
        Formula(
            f"{{0}} at index {k} of dim {dim}",
            lambda a, k=k: sa.reshape(sa.along(a, dim, [k]), shape),
            (g,),
            asks=(PRODUCT,),
        )
        for k, _ in enumerate(at.graph.edges_from(at.node.index))
    ]


def _pieces(at: Site) -> Parts:
    """unbind, split, chunk: every output slot goes back to its place."""
    slots = tuple(Gradient(f"g{j + 1}", slot=j) for j in range(len(at.node.outputs)))
    dim, shape = at.dims()[0], at.shape()

    def put(*pieces: Array) -> Array:
        if len(pieces[0].shape) < len(shape):  # unbind dropped the dimension
            pieces = [sa.reshape(p, (*p.shape[:dim], 1, *p.shape[dim:])) for p in pieces]
        return sa.join(pieces, dim)

    form = ", ".join(f"{{{j}}}" for j in range(len(slots))) + f" side by side along dim {dim}"
    return (Formula(form, put, slots, asks=(PRODUCT,) * len(slots)),)


_VIEW = "Only the shape has changed: the gradient goes back in the input's shape."
_MOVED = "The entries have only moved: each one's gradient moves back."
_TAKEN = "What was taken gets its gradient back in its place; everything else gets 0."
_REPEATED = "An entry that was used several times gets the sum of its copies' gradients."
_CHOSEN = "The gradient goes to the chosen entries alone; all others get 0."
SHAPES: dict[str, Law] = {
    **{f"{name}Backward0": Law(_CHOSEN, _winner_along) for name in ("Max", "Min", "Sort", "Topk")},
    **{
        name: Law(_VIEW, _reshaped)
        for name in (
            "ViewBackward0",
            "UnsafeViewBackward0",
            "ReshapeAliasBackward0",
            "SqueezeBackward0",
            "SqueezeBackward1",
            "SqueezeBackward2",
            "UnsqueezeBackward0",
        )
    },
    **{
        f"{name}Backward0": Law(
            "A transpose moves entries, so their gradients are moved back.", _permuted
        )
        for name in ("T", "Transpose", "Permute")
    },
    "FlipBackward0": Law(_MOVED, _flip),
    "ExpandBackward0": Law(
        "An expanded entry was used several times, so it gets the sum of its copies' gradients.",
        lambda at: (call("sum", lambda a: sa.sum_to(a, at.shape()), g),),
    ),
    "RepeatBackward0": Law(_REPEATED, _repeat),
    "SelectBackward0": Law(_TAKEN, _select),
    "SliceBackward0": Law(_TAKEN, _slice),
    "IndexBackward0": Law(_TAKEN, _index),
    "IndexSelectBackward0": Law(_TAKEN, _index_select),
    "GatherBackward0": Law(_TAKEN, _gather),
    "CatBackward0": Law("Each part gets its own piece of the upstream gradient.", _cat, ()),
    "StackBackward0": Law("Each part gets its own slice of the upstream gradient.", _stack, ()),
    **{
        f"{name}Backward0": Law(
            "The pieces' gradients are put together again; a piece that nobody used counts as 0.",
            _pieces,
        )
        for name in ("Unbind", "Split", "SplitWithSizes")
    },
    "AsStridedBackward0": Law(
        "A strided view sends each entry's gradient back to the place in memory it was read from.",
        lambda at: ("g put back where it was read",),
    ),
}
