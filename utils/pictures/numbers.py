"""How numbers, shapes and sizes are written: short, stable, the same in every picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from utils.graph.data import Number, Value


def number(x: Number, digits: int = 4) -> str:
    """One number with about `digits` significant digits and no float noise.

    Whole parts below a million are never cut to powers of ten, and zero has no sign.

    Example:
        >>> number(2.25), number(1 / 3), number(0.000012), number(-0.0), number(123456.7)
        ('2.25', '0.3333', '1.2e-05', '0', '123457')
    """
    if isinstance(x, bool | int):
        return str(x)
    if isinstance(x, complex):
        imaginary = number(x.imag, digits)
        return number(x.real, digits) + ("" if imaginary[0] == "-" else "+") + imaginary + "j"
    if math.isfinite(x) and 10**digits <= abs(x) < 999_999.5:
        return f"{x:.0f}"
    text = f"{x:.{digits}g}"
    return "0" if text == "-0" else text


def short(value: Value | None, limit: int = 6) -> str:
    """A value in a few characters, fit for the label of an edge.

    Args:
        value: the value, or None for "nothing was sent".
        limit: how many different entries are still written out. Entries that read the same are
            written once whatever their number.

    Returns:
        "27" for a scalar, "2.25 ×4" where all entries read the same, "[1, 2, 3]" or
        "[[1, 2], [3, 4]]" for a small array, "(32, 784), norm 3.1" for a big one, "none" for None.
    """
    if value is None:
        return "none"
    shape = value.shape
    if shape is not None and 0 in shape:
        return f"empty {shape_text(shape)}"
    if written_out(value, limit):
        texts = [number(entry) for entry in value.entries]
        uniform = len(texts) > 1 and len(set(texts)) == 1
        return f"{texts[0]} ×{len(texts)}" if uniform else _nested(texts, shape)
    norm = "" if value.norm is None else f", norm {number(value.norm, 3)}"
    return shape_text(shape) + norm


def written_out(value: Value | None, limit: int = 6) -> bool:
    """Whether `short` with this limit writes every entry of `value`, not its shape and norm."""
    if value is None or value.shape is None or not value.entries:
        return False
    return len(value.entries) <= limit or len({number(entry) for entry in value.entries}) == 1


def indexed(name: str, k: int) -> str:
    """A name with a subscript, such as "x₀"."""
    return name + str(k).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def shape_text(shape: Sequence[int | str] | None) -> str:
    """A shape as Python writes it: "(2, 3)", "(3,)", "()"; a ragged size by its name, "(2, j1)"."""
    if shape is None:
        return "shape unknown"
    sizes = ", ".join(str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def shape_words(value: Value | None) -> str:
    """Shape and dtype, such as "(2, 2) float32"; "none" for None."""
    if value is None:
        return "none"
    return f"{shape_text(value.shape)} {value.dtype}"


def bytes_words(n: int) -> str:
    """A size in memory: "1 byte", "512 bytes", "1.5 KiB", "120 MiB" (1 KiB is 1,024 bytes)."""
    if n < 1024:
        return "1 byte" if n == 1 else f"{n} bytes"
    size, unit = n / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if size < 1023.5:
            break
        size, unit = size / 1024, larger
    return f"{number(size, 3)} {unit}"


def _nested(texts: Sequence[str], shape: Sequence[int | str]) -> str:
    """Entries in row-major order, bracketed as the shape says."""
    if not shape:
        return texts[0]
    size = int(shape[0])
    step = len(texts) // size
    rows = (_nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(size))
    return "[" + ", ".join(rows) + "]"
