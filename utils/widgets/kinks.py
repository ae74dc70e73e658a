"""Where the slope of a function of one number jumps."""

from __future__ import annotations

import torch

from utils.widgets.backwards import Function

GRID = 400  # pieces of the interval
PARTS, ZOOMS = 8, 7  # each look cuts what is left into so many parts
SUSPECTS = 6
LEAST = 1e-4  # a jump smaller than this, beside the largest slope, is none


def find_kinks(function: Function, low: float, high: float) -> tuple[float, ...]:
    """The points between two where the slope jumps, or the function itself does.

    The change of slope between neighbouring pieces shrinks with the pieces where a function is
    smooth, and stays where it has a kink: so the places of greatest change are looked at closer
    and closer. Runs the function in float64.
    """
    xs = torch.linspace(low, high, GRID + 1, dtype=torch.float64)
    bends = _bends(function, xs)
    if not bends.numel() or bends.max() == 0:
        return ()
    found: list[float] = []
    for k in bends.topk(min(SUSPECTS, len(bends))).indices.tolist():
        kink = _closer(function, xs[k].item(), xs[k + 2].item(), bends[k].item())
        if kink is not None and all(abs(kink - other) > (high - low) / GRID for other in found):
            found.append(kink)
    return tuple(sorted(found))


def _bends(function: Function, xs: torch.Tensor) -> torch.Tensor:
    """How much the slope changes at each inner point; 0 where that is unknown."""
    with torch.no_grad():
        slopes = function(xs).diff() / xs.diff()
    return slopes.diff().abs().nan_to_num(0.0, 0.0, 0.0)


def _closer(function: Function, low: float, high: float, bend: float) -> float | None:
    """Where between two points the slope jumps by about `bend`; None where it is smooth."""
    for _ in range(ZOOMS):
        # Half a part more on each side, so that the kink is at no end.
        margin = (high - low) / PARTS
        xs = torch.linspace(low - margin, high + margin, PARTS + 3, dtype=torch.float64)
        bends = _bends(function, xs)
        k = int(bends.argmax())
        if bends[k] < 0.4 * bend or bends[k] < LEAST:
            return None
        low, high = xs[k].item(), xs[k + 2].item()
    return round((low + high) / 2, 5) + 0.0
