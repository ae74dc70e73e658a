"""Backward rules of operations that work entry by entry.

Each key is torch's own name of the node. Each rule is one formula per forward input: `g` is the
upstream gradient, `x`, `y` and `result` are what the node keeps.
"""

from __future__ import annotations

import math

from utils.pictures.rule_algebra import (
    Formula,
    Kept,
    constant,
    each,
    each_phrase,
    g,
    phrase,
    result,
    sigmoid,
    sign,
    x,
    y,
)
from utils.pictures.rule_law import Law, Parts, Site

PAIR = ("self", "other")
zeros = 0 * g


def scaled(formula: Formula, factor: float | int | complex) -> Formula:
    """`formula · factor`, without a factor of one."""
    return formula if factor == 1 else formula * factor


def pair(words: str, left: Formula, right: Formula) -> Law:
    """A law of two broadcast inputs, the same wherever it applies."""
    return Law(words, lambda at: (left, right), PAIR, broadcast=2)


def one(words: str, part: Formula) -> Law:
    """A law of one input, the same wherever it applies."""
    return Law(words, lambda at: (part,))


def _power(at: Site) -> Parts:
    n = at.number("exponent")
    if n == 0:
        return (zeros,)
    return (g * n * (x if n == 2 else constant(1) if n == 1 else x ** constant(n - 1)),)


def _clamp(at: Site) -> Parts:
    low, high = at.fact("min"), at.fact("max")
    if low is not None and high is not None:
        form, inside = "{0} where {2} ≤ {1} ≤ {3}, else 0", (low, high)
        return (each_phrase(form, lambda v, w, a, b: v if a <= w <= b else 0.0, g, x, *inside),)
    if low is not None:
        return (each_phrase("{0} where {1} ≥ {2}, else 0", _if(lambda w, a: w >= a), g, x, low),)
    if high is not None:
        return (each_phrase("{0} where {1} ≤ {2}, else 0", _if(lambda w, b: w <= b), g, x, high),)
    return (g,)


def _hardtanh(at: Site) -> Parts:
    low, high = at.number("min_val"), at.number("max_val")
    form = "{0} where {2} < {1} < {3}, else 0"
    return (each_phrase(form, lambda v, w, a, b: v if a < w < b else 0.0, g, x, low, high),)


def _gelu(at: Site) -> Parts:
    if at.fact("approximate") != "none":
        return ("g times the slope of the tanh approximation",)
    area = each("Φ", lambda v: (1 + math.erf(v / math.sqrt(2))) / 2, x)
    bell = each("φ", lambda v: math.exp(-v * v / 2) / math.sqrt(2 * math.pi), x)
    return (g * (area + x * bell),)


def _leaky(at: Site) -> Parts:
    form = "{0} where {1} > 0, else {0} · {2}"
    slope = at.number("negative_slope")
    return (each_phrase(form, lambda v, w, s: v if w > 0 else v * s, g, x, slope),)


def _elu(at: Site) -> Parts:
    if at.number("scale") != 1 or at.number("input_scale") != 1:
        return ("g times the slope",)
    form = "{0} where {1} > 0, else {0} · {2} · exp({1})"
    alpha = at.number("alpha")
    return (each_phrase(form, lambda v, w, a: v if w > 0 else v * a * math.exp(w), g, x, alpha),)


def _softplus(at: Site) -> Parts:
    beta = at.number("beta")
    return (g * sigmoid(x if beta == 1 else constant(beta) * x),)


def _winner(mark: str) -> Parts:
    def share(wins, ties):  # ties are halved, as torch does
        return lambda v, a, b: v if wins(a, b) else v / 2 if a == b and ties else 0.0

    wins = (lambda a, b: a > b) if mark == ">" else (lambda a, b: a < b)
    form = f"{{0}} where {{1}} {mark} {{2}}, half of it where they are equal, else 0"
    f = share(wins, True)
    return (each_phrase(form, f, g, x, y), each_phrase(form, f, g, y, x))


def _if(test):
    return lambda v, *rest: v if test(*rest) else 0.0


_condition = Kept("condition", saved="condition")
_mask = Kept("mask", saved="mask")
_base = Kept("self", saved="self", input=None)
_exponent = Kept("exponent", saved="exponent", input=1)
_only_exponent = Kept("exponent", saved="exponent", input=0)
_end = Kept("end", saved="end", input=1)
_one, _two = (Kept(f"tensor{n}", saved=f"tensor{n}", input=n) for n in (1, 2))
_flat = "A step function is flat wherever it has a slope, so it sends zeros."

ELEMENTWISE: dict[str, Law] = {
    "AddBackward0": Law(
        "Addition sends the upstream gradient unchanged to each term.",
        lambda at: (g, scaled(g, at.number("alpha"))),
        PAIR,
        broadcast=2,
    ),
    "SubBackward0": Law(
        "Subtraction sends the upstream gradient to the first term, and its negative to the other.",
        lambda at: (g, scaled(-g, at.number("alpha"))),
        PAIR,
        broadcast=2,
    ),
    "RsubBackward1": Law(
        "Being subtracted from a constant turns the sign of the upstream gradient.",
        lambda at: (scaled(-g, at.number("alpha")),),
    ),
    "MulBackward0": pair(
        "Multiplication sends each factor the upstream gradient times the other factor.",
        g * y,
        g * x,
    ),
    "DivBackward0": pair(
        "Division sends the numerator the upstream gradient over the denominator, and the "
        "denominator the negative of it times the quotient.",
        g / y,
        -g * x / y**2,
    ),
    "AddcmulBackward0": Law(
        "The added term gets the upstream gradient, each factor gets it times the other factor.",
        lambda at: (
            g,
            scaled(g, at.number("value")) * _two,
            scaled(g, at.number("value")) * _one,
        ),
        ("self", "tensor1", "tensor2"),
        broadcast=3,
    ),
    "LerpBackward0": Law(
        "A blend sends each end its share of the upstream gradient.",
        lambda at: (g * constant(1 - at.number("weight")), g * at.number("weight")),
        ("self", "end"),
        broadcast=2,
    ),
    "NegBackward0": one("A minus sign turns the sign of the upstream gradient.", -g),
    "PowBackward0": Law(
        "A power with a constant exponent n sends the upstream gradient times n times the base "
        "to the power n - 1.",
        _power,
    ),
    "PowBackward1": Law(
        "A power sends its base the gradient times exponent · base^(exponent - 1), and its "
        "exponent the gradient times result · log(base).",
        lambda at: (
            g * _exponent * x ** (_exponent - 1),
            g * result * each("log", math.log, x),
        ),
        ("self", "exponent"),
        broadcast=2,
    ),
    "PowBackward2": one(
        "A constant to the power of a tensor sends the upstream gradient times the result times "
        "the logarithm of the base.",
        g * result * each("log", math.log, _base),
    ),
    "ReciprocalBackward0": one(
        "A reciprocal sends the upstream gradient times minus the square of the result.",
        -g * result**2,
    ),
    "ExpBackward0": one(
        "The exponential is its own slope: it sends the gradient times the result.", g * result
    ),
    "Expm1Backward0": one(
        "The slope of exp(x) - 1 is exp(x), which is the result + 1.", g * (result + 1)
    ),
    "LogBackward0": one("The logarithm sends the upstream gradient over its input.", g / x),
    "Log2Backward0": one(
        "The logarithm to base 2 sends the upstream gradient over its input times log(2).",
        g / (x * math.log(2)),
    ),
    "Log10Backward0": one(
        "The logarithm to base 10 sends the upstream gradient over its input times log(10).",
        g / (x * math.log(10)),
    ),
    "Log1PBackward0": one(
        "The logarithm of 1 + x sends the upstream gradient over 1 + x.", g / (x + 1)
    ),
    "SqrtBackward0": one(
        "A square root sends the upstream gradient over twice the result.", g / (2 * result)
    ),
    "RsqrtBackward0": one(
        "A reciprocal square root sends the upstream gradient times minus half the result cubed.",
        constant(-0.5) * g * result ** constant(3),
    ),
    "SinBackward0": one("The slope of sin is cos.", g * each("cos", math.cos, x)),
    "CosBackward0": one("The slope of cos is minus sin.", -g * each("sin", math.sin, x)),
    "TanBackward0": one("The slope of tan is 1 + tan².", g * (1 + result**2)),
    "AtanBackward0": one("The slope of atan is 1/(1 + x²).", g / (1 + x**2)),
    "SinhBackward0": one("The slope of sinh is cosh.", g * each("cosh", math.cosh, x)),
    "CoshBackward0": one("The slope of cosh is sinh.", g * each("sinh", math.sinh, x)),
    "ErfBackward0": one(
        "The slope of erf is a bell curve.",
        g * (2 / math.sqrt(math.pi)) * each("exp", math.exp, -(x**2)),
    ),
    "TanhBackward0": one(
        "The slope of tanh is 1 - tanh², so a saturated unit sends almost nothing.",
        g * (1 - result**2),
    ),
    "SigmoidBackward0": one(
        "The slope of the sigmoid is s · (1 - s), at most a quarter.", g * result * (1 - result)
    ),
    "LogSigmoidBackward0": one("The slope of log-sigmoid is the sigmoid of -x.", g * sigmoid(-x)),
    "SoftplusBackward0": Law("The slope of softplus is the sigmoid.", _softplus),
    "SiluBackward0": one(
        "SiLU is x · σ(x): the product rule gives its slope.",
        g * sigmoid(x) * (1 + x * (1 - sigmoid(x))),
    ),
    "GeluBackward0": Law("GELU is x · Φ(x): the product rule gives its slope.", _gelu),
    "ReluBackward0": one(
        "ReLU lets the gradient through where its output is positive, and sends 0 elsewhere.",
        each_phrase("{0} where {1} > 0, else 0", _if(lambda w: w > 0), g, result),
    ),
    "LeakyReluBackward0": Law(
        "Leaky ReLU lets the gradient through where its input is positive, and scales it down "
        "elsewhere.",
        _leaky,
    ),
    "EluBackward0": Law(
        "ELU lets the gradient through where its input is positive, and damps it elsewhere.", _elu
    ),
    "HardtanhBackward0": Law(
        "A hard bound lets the gradient through strictly inside it, and sends 0 elsewhere.",
        _hardtanh,
    ),
    "ClampBackward1": Law(
        "Clamp lets the gradient through where the input was within the bounds, and sends 0 "
        "where it was clipped.",
        _clamp,
    ),
    "AbsBackward0": one(
        "The absolute value sends the upstream gradient times the sign of its input, 0 at 0.",
        g * sign(x),
    ),
    "MaximumBackward0": Law(
        "Each entry's gradient goes to the larger input, and is halved between equals.",
        lambda at: _winner(">"),
        PAIR,
        broadcast=2,
    ),
    "MinimumBackward0": Law(
        "Each entry's gradient goes to the smaller input, and is halved between equals.",
        lambda at: _winner("<"),
        PAIR,
        broadcast=2,
    ),
    "WhereBackward0": Law(
        "Each entry's gradient goes to the input it was taken from; the other one gets 0.",
        lambda at: (
            each_phrase("{0} where {1}, else 0", _if(lambda c: c), g, _condition),
            each_phrase("{0} where not {1}, else 0", _if(lambda c: not c), g, _condition),
        ),
        PAIR,
        broadcast=2,
    ),
    "MaskedFillBackward0": Law(
        "Filled entries are constants: the gradient passes where nothing was filled.",
        lambda at: (each_phrase("{0} where not {1}, else 0", _if(lambda c: not c), g, _mask),),
        broadcast=1,
    ),
    "CloneBackward0": one("A copy sends the upstream gradient unchanged.", g),
    "AliasBackward0": one("Another name for the same data sends the gradient unchanged.", g),
    "ToCopyBackward0": one(
        "A conversion sends the gradient back, converted to the dtype and device of its input.",
        phrase("{0}", lambda a: a, g),
    ),
    "ZeroBackward0": one("What was overwritten with zeros does not matter: it gets 0.", zeros),
    **{
        f"{name}Backward0": one(_flat, zeros)
        for name in ("Sign", "Round", "Floor", "Ceil", "Trunc")
    },
}
