"""Turns a tensor into a `Value`: plain numbers that keep nothing alive and that nothing can change.

A kept `detach()` would not do: it shares its storage with the tensor, which a later
`zero_grad(set_to_none=False)` or in-place step rewrites, and with it what was recorded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from .data import Number, Value
from .unseen import in_the_open, unseen

KEEP = 64
"""Up to this many entries are kept; of a bigger tensor only the norm."""

_NUMBERS = (float, int, bool, complex)
_DTYPES: dict[torch.dtype, str] = {}


def dtype_name(dtype: torch.dtype) -> str:
    """Torch's name without its prefix, such as "float32"."""
    name = _DTYPES.get(dtype)
    if name is None:
        name = _DTYPES[dtype] = str(dtype).removeprefix("torch.")
    return name


def sizes(shape: Iterable) -> tuple[int | str, ...]:
    """Sizes as plain integers; a symbolic or ragged one, such as `j1`, as its name."""
    plain = tuple(shape)
    for size in plain:
        if type(size) is not int:
            return tuple([size if type(size) is int else str(size) for size in plain])
    return plain


def value_of(tensor: torch.Tensor, keep: int = KEEP) -> Value:
    """What `tensor` holds now. Never raises, whatever kind of tensor it is.

    Args:
        tensor: any tensor: sparse, nested, meta, complex, of a subclass, requiring grad or not.
        keep: the largest number of entries to keep.

    Returns:
        Its shape and dtype; its entries when there are at most `keep`; its 2-norm. Entries and
        norm are None where they cannot be read: on "meta", or inside a `vmap`.

    Example:
        >>> value_of(torch.tensor([3.0, -4.0]))
        Value(shape=(2,), dtype='float32', entries=(3.0, -4.0), norm=5.0)
    """
    if in_the_open(tensor):
        return _read(tensor, keep)
    with unseen():
        return _read(tensor, keep)


def bytes_of(tensor: torch.Tensor) -> int:
    """Bytes of its entries, and of its indices if it is sparse. Never raises."""
    try:
        if tensor.layout is torch.sparse_coo:
            return tensor._values().nbytes + tensor._indices().nbytes
        return tensor.numel() * tensor.element_size()
    except Exception:  # a subclass with its own mind
        return 0


def _read(tensor: torch.Tensor, keep: int) -> Value:
    dtype = dtype_name(tensor.dtype)
    try:
        shape = sizes(tensor.shape)
    except (RuntimeError, TypeError):  # a strided nested tensor has no shape
        shape = None
    try:
        if shape is not None and tensor.numel() <= keep and not tensor.is_nested:
            entries = _entries(tensor)
            return Value(shape, dtype, entries, _norm_of_entries(entries))
        return Value(shape, dtype, None, _norm(tensor.detach()))
    except Exception:  # no storage, no kernel for this layout, a subclass with its own mind
        return Value(shape, dtype)


def _entries(tensor: torch.Tensor) -> tuple[Number, ...]:
    if tensor.layout is not torch.strided:
        tensor = tensor.detach().to_dense()
    if tensor.dim() == 0:
        entries = (tensor.tolist(),)
    elif tensor.dim() == 1:
        entries = tuple(tensor.tolist())
    else:
        entries = tuple(tensor.detach().reshape(-1).tolist())
    if entries and type(entries[0]) not in _NUMBERS:
        raise TypeError("symbols, no numbers")  # a fake tensor while something is traced
    return entries


def _norm_of_entries(entries: tuple[Number, ...]) -> float | None:
    if entries and isinstance(entries[0], bool):
        return None
    if entries and isinstance(entries[0], complex):
        return math.hypot(*map(abs, entries))
    return math.hypot(*entries)


def _norm(tensor: torch.Tensor) -> float | None:
    if tensor.dtype is torch.bool:
        return None
    if tensor.layout is torch.sparse_coo:
        tensor = tensor.coalesce().values()
    elif tensor.layout is not torch.strided or tensor.is_nested:
        tensor = tensor.values()
    # Half precision would overflow at 65504, and integers have no norm of their own.
    if not tensor.is_complex() and tensor.dtype is not torch.float64:
        tensor = tensor.to(torch.float32)
    return float(torch.linalg.vector_norm(tensor))
