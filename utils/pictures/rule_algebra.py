"""Formulas that can be read, filled with numbers and computed: one source for all three.

A rule such as `g * other` is written once, with operators. `read` turns it into "g · y", or with
numbers in place of names into "0.75 ×4 · 3 ×4"; `compute` works it out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

from utils.graph.data import Number
from utils.pictures import small_array as sa
from utils.pictures.numbers import number
from utils.pictures.small_array import Array

# How tightly a formula binds: a part that binds less tightly than its place asks gets brackets.
# COUNTED is "3 ×4", equal entries written once.
WORDS, SUM, PRODUCT, COUNTED, POWER, ATOM = range(6)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in the upstream gradient, what was saved and constants.

    Attributes:
        form: how it reads, with {0}, {1}, ... for its parts.
        function: how it is computed from the arrays of its parts; None if it is only to be read.
        parts: formulas that it is made of.
        binds: how tightly the whole binds.
        asks: how tightly each part must bind to stand without brackets.
    """

    form: str
    function: Callable[..., Array] | None = None
    parts: tuple[Formula, ...] = ()
    binds: int = WORDS
    asks: tuple[int, ...] = ()

    def __add__(self, other: Formula | Number) -> Formula:
        return _binary("{0} + {1}", operator.add, self, other, SUM, (SUM, PRODUCT))

    def __radd__(self, other: Number) -> Formula:
        return constant(other) + self

    def __sub__(self, other: Formula | Number) -> Formula:
        return _binary("{0} - {1}", operator.sub, self, other, SUM, (SUM, PRODUCT))

    def __rsub__(self, other: Number) -> Formula:
        return constant(other) - self

    def __mul__(self, other: Formula | Number) -> Formula:
        return _binary("{0} · {1}", operator.mul, self, other, PRODUCT, (PRODUCT, COUNTED))

    def __rmul__(self, other: Number) -> Formula:
        return constant(other) * self

    def __truediv__(self, other: Formula | Number) -> Formula:
        return _binary("{0} / {1}", operator.truediv, self, other, PRODUCT, (PRODUCT, POWER))

    def __pow__(self, exponent: Formula | Number) -> Formula:
        if exponent == 2:
            return _binary("{0}²", lambda x, y: x**y, self, exponent, POWER, (ATOM, ATOM))
        return _binary("{0}^{1}", lambda x, y: x**y, self, exponent, POWER, (ATOM, ATOM))

    def __matmul__(self, other: Formula) -> Formula:
        return Formula("{0} @ {1}", sa.matmul, (self, other), PRODUCT, (POWER, POWER))

    def __neg__(self) -> Formula:
        return Formula("-{0}", _each(operator.neg), (self,), PRODUCT, (COUNTED,))

    @property
    def T(self) -> Formula:
        """The last two dimensions swapped."""
        return Formula("{0}ᵀ", sa.transpose, (self,), POWER, (ATOM,))


@dataclass(frozen=True, slots=True)
class Gradient(Formula):
    """The finished sum that arrived at a slot; zeros where nothing arrived."""

    slot: int = 0


@dataclass(frozen=True, slots=True)
class Kept(Formula):
    """Something the node keeps for backward.

    Attributes:
        saved: torch's name for it.
        input: which forward input it is; None when it is an output or neither.
        output: whether it is the node's own output.
    """

    saved: str = ""
    input: int | None = None
    output: bool = False


def constant(x: Formula | Number) -> Formula:
    """A number as a formula; a formula is returned as it is."""
    if isinstance(x, Formula):
        return x
    binds = ATOM if not isinstance(x, complex) and x >= 0 else PRODUCT
    return Formula(number(x), lambda: Array((), [x]), (), binds)


def call(name: str, function: Callable[..., Array] | None, *parts: Formula) -> Formula:
    """`name(part, part)`."""
    slots = ", ".join(f"{{{k}}}" for k in range(len(parts)))
    return Formula(f"{name}({slots})", function, parts, ATOM, (WORDS,) * len(parts))


def phrase(form: str, function: Callable[..., Array] | None, *parts: Formula | Number) -> Formula:
    """A formula that reads as words, such as "{0} where {1} > 0, else 0"."""
    return Formula(form, function, tuple(map(constant, parts)), WORDS, (PRODUCT,) * len(parts))


def each(name: str, f: Callable[..., Number], *parts: Formula) -> Formula:
    """`name(...)` of each entry."""
    return call(name, _each(f), *parts)


def each_phrase(form: str, f: Callable[..., Number], *parts: Formula | Number) -> Formula:
    """A phrase that is computed entry by entry."""
    return phrase(form, _each(f), *parts)


def read(formula: Formula, write: Callable[[Formula], tuple[str, int]]) -> str:
    """The formula as text.

    Args:
        formula: what to read.
        write: for a `Gradient` or `Kept`, its text and how tightly that binds.
    """
    return _read(formula, write)[0]


def compute(formula: Formula, fetch: Callable[[Formula], Array]) -> Array:
    """The formula's value.

    Args:
        formula: what to compute.
        fetch: the array of a `Gradient` or `Kept`.

    Raises:
        ValueError, ArithmeticError, IndexError: if something is not known, does not fit or has
            no value, such as a division by zero.
    """
    if isinstance(formula, Gradient | Kept):
        return fetch(formula)
    if formula.function is None:
        raise ValueError("this formula is only to be read")
    return formula.function(*(compute(part, fetch) for part in formula.parts))


def atoms(formula: Formula) -> list[Formula]:
    """Every `Gradient` and `Kept` in it."""
    if isinstance(formula, Gradient | Kept):
        return [formula]
    return [atom for part in formula.parts for atom in atoms(part)]


def _read(formula: Formula, write: Callable[[Formula], tuple[str, int]]) -> tuple[str, int]:
    if isinstance(formula, Gradient | Kept):
        return write(formula)
    texts = []
    for part, asked in zip(formula.parts, formula.asks, strict=True):
        text, binds = _read(part, write)
        texts.append(text if binds >= asked else f"({text})")
    whole = formula.form.format(*texts)
    # A transpose that is transposed is itself again.
    return (whole[:-2], formula.binds) if whole.endswith("ᵀᵀ") else (whole, formula.binds)


def _each(f: Callable[..., Number]) -> Callable[..., Array]:
    return lambda *arrays: sa.elementwise(f, *arrays)


def _binary(
    form: str,
    f: Callable[[Number, Number], Number],
    left: Formula,
    right: Formula | Number,
    binds: int,
    asks: tuple[int, int],
) -> Formula:
    return Formula(form, _each(f), (constant(left), constant(right)), binds, asks)


g = Gradient("g")
x = Kept("self", saved="self", input=0)
y = Kept("other", saved="other", input=1)
result = Kept("result", saved="result", output=True)


def sigmoid(formula: Formula) -> Formula:
    """σ of each entry."""
    return each("σ", lambda v: 1 / (1 + math.exp(-v)), formula)


def sign(formula: Formula) -> Formula:
    """-1, 0 or 1 for each entry; NaN stays NaN."""
    return each("sign", lambda v: v if v != v else (v > 0) - (v < 0), formula)
