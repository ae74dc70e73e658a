"""Compares what was seen with a reference, and recognises usual mistakes by simulating them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from utils.checks.mistakes import MISTAKES
from utils.checks.verdict import Verdict, not_yet, right

# Half the digits of float32, for a plain number that may have come out of such a tensor.
PLAIN = 1e-5


def close(seen: torch.Tensor, want: torch.Tensor, tolerance: float | None = None) -> bool:
    """Whether two tensors agree in shape and, up to the coarser dtype's rounding, in value.

    `tolerance`, relative and absolute, replaces rounding where an answer may be less exact.
    """
    if seen.shape != want.shape:
        return False
    if seen.dtype == torch.bool or want.dtype == torch.bool:
        return bool((seen.bool() == want.bool()).all())
    return bool(_close_entries(seen, want, tolerance).all())


def _close_entries(
    seen: torch.Tensor, want: torch.Tensor, tolerance: float | None = None
) -> torch.Tensor:
    """For each entry, whether it agrees; the same shape as both."""
    coarse = any(t.is_floating_point() and t.dtype != torch.float64 for t in (seen, want))
    if tolerance is None:
        tolerance = 1e-4 if coarse else 1e-8
    return torch.isclose(
        seen.to(torch.float64), want.to(torch.float64), rtol=tolerance, atol=tolerance
    )


def compare(
    seen: Any,
    want: torch.Tensor,
    what: str,
    *,
    simulated: Mapping[str, torch.Tensor | Sequence[torch.Tensor]] | None = None,
    says: Mapping[str, str] | None = None,
    tolerance: float | None = None,
) -> Verdict:
    """Judges one tensor.

    Args:
        seen: what the answer gave: a tensor, None, or facts as `observers.facts` returns them.
        want: the reference.
        what: how to call it in a message, such as "`x.grad`".
        simulated: for each usual mistake that applies, the value that it would have produced, or
            several where it comes in several shapes. They are tried in this order, after the
            reference.
        says: own messages for some of these mistakes; others come from the shared bank.
        tolerance: relative and absolute, where rounding alone is too strict.

    Returns:
        "right", or "not yet" with the mistake that it looks like. The message never holds `want`.

    Example:
        compare(seen["args"][0]["grad"], 2 * x * v, "`x.grad`",
                simulated={"ones_instead_of_v": 2 * x, "accumulated_twice": 4 * x * v})
    """
    says = says or {}

    def mistake(slug: str, **words: object) -> Verdict:
        said = says[slug] if slug in says else MISTAKES[slug]
        return not_yet(slug, said.format(what=what, **words))

    if isinstance(seen, dict):
        if seen.get("kind") == "plain" and seen["value"] is None:
            seen = None
        elif seen.get("kind") == "plain" and not isinstance(seen["value"], str):
            if isinstance(seen["value"], float) and tolerance is None:
                tolerance = PLAIN
            seen = torch.tensor(seen["value"], dtype=want.dtype)
        elif seen.get("kind") == "tensor":
            seen = seen["value"]
        else:
            kind = "str" if seen.get("kind") == "plain" else seen.get("type") or seen.get("kind")
            return mistake("not_a_tensor", kind=kind)
    if seen is None:
        return mistake("none")
    seen = seen.detach()
    if close(seen, want, tolerance):
        return right()
    for slug, values in (simulated or {}).items():
        for value in [values] if isinstance(values, torch.Tensor) else values:
            # A mistake that happens to give the right values here cannot be told from them.
            if close(seen, value, tolerance) and not close(value, want, tolerance):
                return mistake(slug)
    if seen.shape != want.shape:
        if want.ndim == 2 and want.T.shape == seen.shape and close(seen.T, want):
            return mistake("transposed")
        return mistake("wrong_shape", seen=tuple(seen.shape), want=tuple(want.shape))
    if seen.is_floating_point() and seen.isnan().any() and not want.isnan().any():
        return mistake("nan")
    if close(seen, -want):
        return mistake("wrong_sign")
    if close(seen, 2 * want):
        return mistake("accumulated_twice")
    if want.ndim == 2 and want.shape[0] == want.shape[1] and close(seen, want.T):
        return mistake("transposed")
    if not seen.any() and want.any():
        return mistake("all_zero")
    if want.ndim == 0:
        return mistake("wrong_number")
    wrong = ~_close_entries(seen, want, tolerance)
    return mistake("wrong_values", wrong=int(wrong.sum()), total=wrong.numel())


def items(seen: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Facts of the items of a list, tuple or set, or of the rows of a tensor; None otherwise."""
    if seen["kind"] in ("list", "tuple", "set"):
        return seen["items"]
    if seen["kind"] == "tensor" and seen["value"].ndim:
        return [{**seen, "value": row} for row in seen["value"]]
    return None
