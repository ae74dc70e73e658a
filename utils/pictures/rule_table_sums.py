"""Backward rules of reductions and of products of matrices."""

from __future__ import annotations

import math

from utils.pictures import small_array as sa
from utils.pictures.rule_algebra import POWER, PRODUCT, Formula, Kept, call, constant, g, result, x
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


def _cumsum(at: Site) -> Parts:
    dim = at.dims()[0]

    def later(a: Array) -> Array:
        size = a.shape[dim]
        sums = [sa.sum_dims(sa.along(a, dim, range(i, size)), (dim,)) for i in range(size)]
        return sa.join(sums, dim)

    return (
        Formula(f"sums of {{0}} from each entry of dim {dim} on", later, (g,), asks=(PRODUCT,)),
    )


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
_SHARED = "The gradient goes to the extreme entry, shared evenly between equals; others get 0."

SUMS: dict[str, Law] = {
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
        "Log-sum-exp sends each entry its share of the softmax.",
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
}
