"""Knows which of torch's node names fit which operator, method or function."""

from __future__ import annotations

import ast
from functools import cache

import torch

_MATMUL = {"mm", "mv", "dot", "bmm", "addmm", "baddbmm", "addbmm", "matmul"}
_VIEW = {"view", "unsafeview", "reshapealias", "clone", "alias"}
_COPY = {"tocopy"}

# Where the node is not called what the learner wrote. Torch's own choices, so one list.
_DIFFERENT = {
    "absolute": {"abs"},
    "adaptive_avg_pool2d": {"adaptiveavgpool2d", "mean"},
    "arccos": {"acos"},
    "arcsin": {"asin"},
    "arctan": {"atan"},
    "arctan2": {"atan2"},
    "batch_norm": {"nativebatchnorm", "cudnnbatchnorm"},
    "bfloat16": _COPY,
    "chunk": {"chunk", "split"},
    "clamp": {"clamp", "clampmin", "clampmax"},
    "clip": {"clamp", "clampmin", "clampmax"},
    "concat": {"cat"},
    "concatenate": {"cat"},
    "contiguous": {"clone"},
    "conv1d": {"convolution"},
    "conv2d": {"convolution"},
    "conv3d": {"convolution"},
    "conv_transpose1d": {"convolution"},
    "conv_transpose2d": {"convolution"},
    "diag": {"diagonal"},
    "divide": {"div"},
    "double": _COPY,
    "dropout": {"mul", "nativedropout"},
    "expand_as": {"expand"},
    "flatten": _VIEW,
    "float": _COPY,
    "getitem": {"select", "slice", "index", "unsqueeze", "squeeze", "alias"},
    "group_norm": {"nativegroupnorm"},
    "half": _COPY,
    "hstack": {"cat"},
    "layer_norm": {"nativelayernorm"},
    "linalg_inv": {"linalginvex"},
    "linalg_norm": {"linalgvectornorm"},
    "matmul": _MATMUL,
    "max": {"max", "maximum"},
    "max_pool1d": {"squeeze"},
    "max_pool2d": {"maxpool2dwithindices", "maxpool2d"},
    "min": {"min", "minimum"},
    "multiply": {"mul"},
    "narrow": {"slice"},
    "negative": {"neg"},
    "norm": {"norm", "linalgvectornorm"},
    "ravel": _VIEW,
    "relu6": {"hardtanh"},
    "reshape": _VIEW,
    "reshape_as": _VIEW,
    "special_expit": {"sigmoid"},
    "split": {"split", "splitwithsizes"},
    "square": {"pow"},
    "sub": {"sub", "rsub"},
    "subtract": {"sub", "rsub"},
    "swapaxes": {"transpose"},
    "swapdims": {"transpose"},
    "to": _COPY,
    "true_divide": {"div"},
    "type": _COPY,
    "type_as": _COPY,
    "unflatten": _VIEW,
    "view_as": {"view"},
    "vstack": {"cat"},
    # attributes
    "T": {"permute", "t", "transpose"},
    "mT": {"transpose"},
    "H": {"transpose", "conj"},
    "mH": {"transpose", "conj"},
}

# Nodes that carry these names exist, but the function is built from several others.
_COMPOSITE = {"linear", "cross_entropy", "einsum", "max_pool1d", "lstm", "gru"}

SHAPES = {"view", "unsafeview", "reshapealias", "squeeze", "unsqueeze", "expand", "t"}
SHAPES |= {"transpose", "permute", "clone", "alias", "tocopy"}
"""Nodes that torch adds around a matrix product to give its inputs the right form."""

MAY_RETURN_ITSELF = {"to", "float", "double", "half", "bfloat16", "type", "type_as", "contiguous"}
MAY_RETURN_ITSELF |= {"dropout", "Dropout"}
"""What does nothing, and makes no node, when there is nothing to do."""

WITH_PLACES = {"max", "min", "median", "mode", "sort", "topk", "kthvalue", "cummax", "cummin"}
"""Nodes of operations that return values and their places: `x.max(0)[0]`."""

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.Mod: "remainder",
    ast.MatMult: "matmul",
}

ATTRIBUTES = {"T", "mT", "H", "mH"}
"""Attributes of a tensor whose reading is an operation."""


def stem(node_name: str) -> str:
    """What a node does: "mul" for "MulBackward0", "maxpool2dwithindices" for that pooling."""
    return node_name.partition("Backward")[0].lower()


@cache
def fitting(operation: str) -> frozenset[str] | None:
    """The stems of nodes that `operation` may end with; None when it has no node of its own.

    Args:
        operation: the name of a method, function or operator, such as "mean", "relu_", "add".

    Example:
        >>> sorted(fitting("sub"))
        ['rsub', 'sub']
    """
    operation = operation.rstrip("_")
    if operation in _COMPOSITE:
        return None
    different = _DIFFERENT.get(operation)
    if different is not None:
        return frozenset(different)
    same = operation.replace("_", "").lower()
    return frozenset({same}) if same in _stems() else None


@cache
def _stems() -> frozenset[str]:
    """The stems of all nodes that this torch can make."""
    return frozenset(stem(name) for name in dir(torch._C._functions) if "Backward" in name)
