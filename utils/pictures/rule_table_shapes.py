"""Backward rules of reductions, products of matrices, and operations that move entries about."""

from __future__ import annotations

import math

from utils.pictures import small_array as sa
from utils.pictures.rule_algebra import (
    POWER,
    PRODUCT,
    Formula,
    Gradient,
    Kept,
    call,
    constant,
    g,
    result,
    x,
)
from utils.pictures.rule_law import Law, Parts, Site
from utils.pictures.rule_table import scaled
from utils.pictures.small_array import Array

_mat2 = Kept("mat2", saved="mat2", input=1)


def _mean_of(at: Site, formula: Formula) -> Formula:
    """The mean over the reduced dimensions, each kept with size 1."""
    count = math.prod(at.shape()[d] for d in at.dims())

    def mean(a: Array) -> Array:
        return sa.elementwise(lambda v: v / count, sa.sum_dims(a, at.dims()))

    return call("mean", mean, formula)


def _mean(at: Site) -> Parts:
    return (at.spread() / math.prod(at.shape()[d] for d in at.dims()),)


def _var(at: Site) -> Parts:
    count = math.prod(at.shape()[d] for d in at.dims()) - at.number("correction")
    return (at.spread() * 2 * (x - _mean_of(at, x)) / count,)


def _std(at: Site) -> Parts:
    count = math.prod(at.shape()[d] for d in at.dims()) - at.number("correction")
    return (at.spread() * (x - _mean_of(at, x)) / (constant(count) * at.spread(result)),)


def _norm(at: Site) -> Parts:
    order = at.number("ord")
    if order == 2:
        return (at.spread() * x / at.spread(result),)
    return (f"g times the slope of the {order}-norm",)


def _extreme(at: Site) -> Parts:
    """max(), min(), amax, amin: winners share the gradient."""

    def share(up: Array, entries: Array, best: Array) -> Array:
        wins = sa.elementwise(lambda v, b: float(v == b), entries, best)
        ties = sa.sum_dims(wins, at.dims())
        return sa.elementwise(lambda v, w, n: v * w / n, up, wins, ties)

    form = "{0} where {1} = {2}, shared between equals, else 0"
    return (Formula(form, share, (at.spread(), x, at.spread(result)), asks=(PRODUCT,) * 3),)


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


def _cumsum(at: Site) -> Parts:
    dim = at.dims()[0]

    def later(a: Array) -> Array:
        size = a.shape[dim]
        sums = [sa.sum_dims(sa.along(a, dim, range(i, size)), (dim,)) for i in range(size)]
        return sa.join(sums, dim)

    return (
        Formula(f"sums of {{0}} from each entry of dim {dim} on", later, (g,), asks=(PRODUCT,)),
    )


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


def _addmm(at: Site) -> Parts:
    alpha, beta = at.number("alpha"), at.number("beta")
    one, two = Kept("mat1", saved="mat1", input=1), Kept("mat2", saved="mat2", input=2)
    return (scaled(g, beta), scaled(g @ two.T, alpha), scaled(one.T @ g, alpha))


def _baddbmm(at: Site) -> Parts:
    alpha, beta = at.number("alpha"), at.number("beta")
    one, two = (Kept(f"batch{n}", saved=f"batch{n}", input=n) for n in (1, 2))
    return (scaled(g, beta), scaled(g @ two.T, alpha), scaled(one.T @ g, alpha))


def _mv(at: Site) -> Parts:
    def outer(a: Array, b: Array) -> Array:
        return sa.matmul(sa.reshape(a, (len(a.data), 1)), sa.reshape(b, (1, len(b.data))))

    def times(a: Array, b: Array) -> Array:
        return sa.reshape(sa.matmul(a, sa.reshape(b, (len(b.data), 1))), a.shape[:1])

    vector = Kept("vec", saved="vec", input=1)
    return (
        call("outer", outer, g, vector),
        Formula("{0} @ {1}", times, (x.T, g), asks=(POWER, POWER)),
    )


_MATRIX = (
    "A product of matrices sends each factor the upstream gradient times the other, transposed, "
    "on the side where it stood."
)
_VIEW = "Only the shape has changed: the gradient goes back in the input's shape."
_MOVED = "The entries have only moved: each one's gradient moves back."
_TAKEN = "What was taken gets its gradient back in its place; everything else gets 0."
_REPEATED = "An entry that was used several times gets the sum of its copies' gradients."
_CHOSEN = "The gradient goes to the chosen entries alone; all others get 0."
_SHARED = "The gradient goes to the extreme entry, shared evenly between equals; others get 0."

SHAPES: dict[str, Law] = {
    **{
        f"SumBackward{n}": Law(
            "A sum sends the upstream gradient to every entry it added up.",
            lambda at: (at.spread(),),
        )
        for n in (0, 1)
    },
    **{
        f"MeanBackward{n}": Law(
            "A mean sends every entry the upstream gradient over the number of entries averaged.",
            _mean,
        )
        for n in (0, 1)
    },
    **{
        f"ProdBackward{n}": Law(
            "A product sends each factor the upstream gradient times all the other factors.",
            lambda at: (at.spread() * at.spread(result) / x,),
        )
        for n in (0, 1)
    },
    "VarBackward0": Law("A variance sends more to the entries farther from the mean.", _var),
    "StdBackward0": Law(
        "A standard deviation sends each entry its distance from the mean, in standard "
        "deviations, over the count.",
        _std,
    ),
    "LinalgVectorNormBackward0": Law(
        "A norm sends the upstream gradient along the input's own direction.", _norm
    ),
    "LogsumexpBackward0": Law(
        "log-sum-exp sends each entry its share of the softmax.",
        lambda at: (
            at.spread()
            * call(
                "exp",
                lambda a: sa.elementwise(math.exp, a),
                x - at.spread(result),
            ),
        ),
    ),
    **{
        f"{name}Backward{n}": Law(_SHARED, _extreme)
        for name, n in (("Max", 1), ("Min", 1), ("Amax", 0), ("Amin", 0))
    },
    **{f"{name}Backward0": Law(_CHOSEN, _winner_along) for name in ("Max", "Min", "Sort", "Topk")},
    "CumsumBackward0": Law(
        "An entry is in every later running sum, so it gets the sum of their gradients.", _cumsum
    ),
    "MmBackward0": Law(_MATRIX, lambda at: (g @ _mat2.T, x.T @ g), ("self", "mat2")),
    "BmmBackward0": Law(_MATRIX, lambda at: (g @ _mat2.T, x.T @ g), ("self", "mat2")),
    "AddmmBackward0": Law(
        "The added term gets the upstream gradient; each matrix gets it times the other, "
        "transposed.",
        _addmm,
        ("self", "mat1", "mat2"),
        broadcast=1,
    ),
    "BaddbmmBackward0": Law(
        "The added term gets the upstream gradient; each matrix gets it times the other, "
        "transposed.",
        _baddbmm,
        ("self", "batch1", "batch2"),
        broadcast=1,
    ),
    "MvBackward0": Law(
        "Matrix times vector: the matrix gets an outer product, the vector the transposed matrix "
        "times the upstream gradient.",
        _mv,
        ("self", "vec"),
    ),
    "DotBackward0": Law(
        "A dot product sends each vector the upstream gradient times the other one.",
        lambda at: (g * Kept("tensor", saved="tensor", input=1), g * x),
        ("self", "tensor"),
    ),
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
