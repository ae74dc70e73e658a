"""Backward rules of layers and losses, and of nodes that are not operations."""

from __future__ import annotations

import math

from utils.pictures import small_array as sa
from utils.pictures.rule_algebra import (
    ATOM,
    PRODUCT,
    SUM,
    WORDS,
    Formula,
    Kept,
    each,
    g,
    result,
    sigmoid,
    x,
)
from utils.pictures.rule_law import Law, Parts, Site
from utils.pictures.small_array import Array

_target = Kept("target", saved="target", input=1)
LOSS = ("self", "target")


def _summed(at: Site, formula: Formula) -> Formula:
    """The sum along the softmax, kept with size 1."""
    (dim,) = at.dims()
    return Formula(
        f"sum({{0}}, dim {dim})", lambda a: sa.sum_dims(a, (dim,)), (formula,), ATOM, (WORDS,)
    )


def _softmax(at: Site) -> Parts:
    return (result * (g - _summed(at, g * result)),)


def _log_softmax(at: Site) -> Parts:
    probabilities = each("exp", math.exp, result)
    return (g - probabilities * _summed(at, g),)


def _averaged(at: Site, formula: Formula) -> Formula:
    """Over the number of entries, when the loss took a mean (torch's reduction 1)."""
    return formula / math.prod(at.shape()) if at.number("reduction") == 1 else formula


def _mse(at: Site) -> Parts:
    return (_averaged(at, g * 2 * (x - _target)), _averaged(at, g * 2 * (_target - x)))


def _logits(at: Site) -> Parts:
    if at.saved("weight") or at.saved("pos_weight"):
        return ("g times the weighted error",)
    return (_averaged(at, g * (sigmoid(x) - _target)),)


def _binary(at: Site) -> Parts:
    if at.saved("weight"):
        return ("g times the weighted error",)
    return (_averaged(at, g * (x - _target) / (x * (1 - x))),)


def _nll(at: Site) -> Parts:
    """-g over the batch at each target class; weights and ignored targets are not followed."""
    ignored, shape = at.number("ignore_index"), at.shape()

    def place(up: Array, classes: Array) -> Array:
        if at.saved("weight") or ignored in classes.data or len(shape) > 2:
            raise ValueError("this loss is not followed here")
        places = [n * shape[-1] + int(c) for n, c in enumerate(classes.data)]
        up = sa.expand(up, (len(places),))
        return sa.scatter(up, Array((len(places),), places), shape)

    count = shape[0] if len(shape) > 1 else 1
    share = -g / count if at.number("reduction") == 1 and count > 1 else -g
    if at.saved("weight"):
        return ("-g times its weight over all weights at each target class, 0 elsewhere",)
    form = "{0} at the target classes {1}, 0 elsewhere"
    return (Formula(form, place, (share, _target), asks=(SUM, PRODUCT)),)


def _rows(at: Site) -> Parts:
    def add(a: Array) -> Array:
        rows = [int(i) for i in Array.of(at.saved("indices")).data]
        if at.fact("scale_grad_by_freq") or at.number("padding_idx", -1) in rows:
            raise ValueError("this embedding is not followed here")
        shape = at.shape()
        places = sa.along(sa.positions(shape), 0, rows)
        return sa.scatter(a, places, shape)

    return (
        Formula("{0} added at the rows looked up, zeros elsewhere", add, (g,), asks=(PRODUCT,)),
    )


def _normalised(over: str) -> Law:
    return Law(
        f"A normalisation over {over} sends back what is left of the gradient after its mean and "
        "its part along the normalised input are taken away.",
        lambda at: (
            "(ĝ - mean(ĝ) - x̂ · mean(ĝ · x̂)) / σ, with ĝ = g · weight, x̂ = (x - mean) / σ",
            "sum(g · x̂)",
            "sum(g)",
        ),
        ("input", "weight", "bias"),
    )


def _batch(at: Site) -> Parts:
    if at.fact("training") in (False, "False"):
        return ("g · weight / √(running variance + eps)", "sum(g · x̂)", "sum(g)")
    return _normalised("").parts(at)


def _plain(words: str) -> Law:
    return Law(words, None, ())


LAYERS: dict[str, Law] = {
    "SoftmaxBackward0": Law(
        "Softmax entries compete: each gets its gradient less the weighted mean of all, times its "
        "own probability.",
        _softmax,
    ),
    "LogSoftmaxBackward0": Law(
        "Log-softmax sends each entry its gradient less its probability times their sum.",
        _log_softmax,
    ),
    "NllLossBackward0": Law(
        "The negative log-likelihood depends on the target classes alone: each gets minus the "
        "upstream gradient, shared over the batch when it is a mean.",
        _nll,
    ),
    "MseLossBackward0": Law(
        "The squared error sends twice the difference, shared over the entries when it is a mean.",
        _mse,
        LOSS,
    ),
    "BinaryCrossEntropyBackward0": Law(
        "Binary cross-entropy sends (p - target) / (p · (1 - p)), shared when it is a mean.",
        _binary,
        LOSS,
    ),
    "BinaryCrossEntropyWithLogitsBackward0": Law(
        "Cross-entropy on logits sends probability minus target, shared when it is a mean.",
        _logits,
        LOSS,
    ),
    "NativeLayerNormBackward0": _normalised("each row"),
    "NativeGroupNormBackward0": _normalised("each group of channels"),
    "NativeBatchNormBackward0": Law(
        "A batch norm in training sends back what is left of the gradient after its mean over the "
        "batch and its part along the normalised input are taken away; in evaluation it only "
        "scales.",
        _batch,
        ("input", "weight", "bias"),
    ),
    "ConvolutionBackward0": Law(
        "A convolution sends its input the gradient spread through the same kernel, the kernel "
        "the input matched with the gradient, and the bias the gradient's sum per channel.",
        lambda at: (
            "conv_transpose(g, weight)",
            "correlate(input, g), summed over the batch",
            "sum(g) over the batch and all positions",
        ),
        ("input", "weight", "bias"),
    ),
    "MaxPool2DWithIndicesBackward0": Law(
        "Each window's gradient goes to its largest entry; all others get 0.",
        lambda at: ("g at each window's largest entry, zeros elsewhere",),
    ),
    "AvgPool2DBackward0": Law(
        "Each window's gradient is shared evenly by its entries.",
        lambda at: ("g over the window's size, added up where windows overlap",),
    ),
    "EmbeddingBackward0": Law(
        "A look-up sends each row of the table the sum of the gradients of its uses; unused rows "
        "get 0.",
        _rows,
        ("weight",),
    ),
    "ScaledDotProductFlashAttentionForCpuBackward0": Law(
        "Attention sends the values the weights times the gradient, and goes back through the "
        "softmax to queries and keys.",
        lambda at: (
            "dS @ key · scale, dS from softmax's own rule",
            "dSᵀ @ query · scale",
            "weightsᵀ @ g",
        ),
        ("query", "key", "value"),
    ),
    "CopySlices": _plain(
        "A part of this tensor was changed in place through a view: the gradient of that part "
        "goes through the change, the rest passes unchanged."
    ),
    "BackwardHookFunctionBackward": _plain(
        "A module's full backward hook put this node here: it passes the gradient on, after the "
        "hook has seen it and perhaps changed it."
    ),
    "CheckpointFunctionBackward": _plain(
        "A checkpoint kept only its inputs: it runs its forward again now, then a backward inside."
    ),
}
