"""Backward against central differences, and what gradcheck says: measured, for one point."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass

import torch

from utils.pictures.curves import REACH, Closeup
from utils.widgets.backwards import Case, Function

# Eight step sizes a decade, from 10^-12 to 10^-1.
STEPS = tuple(10 ** (k / 8 - 12) for k in range(89))
EPS, ATOL, RTOL = 1e-6, 1e-5, 1e-3  # gradcheck's own defaults
PIECES = 160  # of a drawn curve


@dataclass(frozen=True, slots=True)
class Measured:
    """What backward and differences say of L = g · f at a point, in one dtype.

    Attributes:
        x, g: the point, rounded to the dtype, and the upstream gradient.
        dtype: of x; all but `exact`, `flat` and `sides` is computed in it.
        y: L(x).
        backward: the slope that backward gives.
        differences: (L(x + h) − L(x − h)) / 2h for each of STEPS.
        checked: the same for the step of gradcheck.
        rounding: about how far rounding of f and of x ± h can move a difference, times its step.
        exact: how small |difference − backward| gets in float64, and stays for half a decade of
            STEPS: a single step may be right by luck.
        flat: whether that error stays the same over a decade of STEPS, which neither the curve nor
            rounding in f explains.
        sides: the slopes just left and right of x, in float64.
        follows: whether backward is proportional to the upstream gradient.
        passed, said, warned: gradcheck's verdict and its own words, shortened.
    """

    x: float
    g: float
    dtype: torch.dtype
    y: float
    backward: float
    differences: tuple[float, ...]
    checked: float
    rounding: float
    exact: float
    flat: bool
    sides: tuple[float, float]
    follows: bool
    passed: bool
    said: str
    warned: str

    @property
    def errors(self) -> tuple[float, ...]:
        """|difference − backward| for each of STEPS."""
        return tuple(abs(difference - self.backward) for difference in self.differences)

    @property
    def allowed(self) -> float:
        """The error that gradcheck lets pass."""
        return ATOL + RTOL * abs(self.checked if math.isfinite(self.checked) else 0.0)


def measure(function: Function, x: float, g: float, dtype: torch.dtype) -> Measured:
    """Look at a function at a point.

    Args:
        function: elementwise.
        x: the point.
        g: the upstream gradient.
        dtype: torch.float32 or torch.float64.
    """
    point = torch.tensor([x], dtype=dtype)
    slope, idle, twice = (_backward(function, point, upstream) for upstream in (g, 0.0, 2 * g))
    exact = point.double()
    passed, said, warned = _gradcheck(function, point, g)
    full_slope = _backward(function, exact, g)
    in_full = _differences(function, exact, g, STEPS)
    with torch.no_grad():
        y, *beside = (
            g * function(exact + torch.tensor([0.0, EPS, -EPS], dtype=torch.float64))
        ).tolist()
    steep = max(map(abs, filter(math.isfinite, (slope, in_full[nearest(EPS)]))), default=0.0)
    differences = in_full if dtype == torch.float64 else _differences(function, point, g, STEPS)
    full_errors = [abs(difference - full_slope) for difference in in_full]
    return Measured(
        x=point.item(),
        g=g,
        dtype=dtype,
        y=y,
        backward=slope,
        differences=differences,
        checked=_differences(function, point, g, (EPS,))[0],
        rounding=torch.finfo(dtype).eps / 2 * (abs(y) + abs(x) * steep),
        exact=_settled(full_errors),
        flat=_flat(full_errors),
        sides=((y - beside[1]) / EPS, (beside[0] - y) / EPS),
        follows=idle == 0 and math.isclose(twice, 2 * slope, rel_tol=1e-5),
        passed=passed,
        said=said,
        warned=warned,
    )


def close_up(case: Case, kinks: tuple[float, ...], of: Measured, h: float) -> Closeup:
    """What to draw of a measured point at step h, which is one of STEPS."""
    function, tensor = case.function, torch.tensor
    whole = torch.linspace(case.low, case.high, PIECES + 1, dtype=torch.float64)
    spots = torch.linspace(-REACH, REACH, PIECES + 1, dtype=torch.float64)
    point = tensor([of.x], dtype=of.dtype)
    offsets = tensor([0.0, -h, h], dtype=torch.float64)
    with torch.no_grad():
        curve = (of.g * function(whole)).tolist()
        # Rounded as a program would: x + t first, then f of it.
        asked = point + torch.cat([offsets, spots * h]).to(of.dtype)
        here, *heights = (of.g * function(asked)).double().tolist()
    left, right, *near = [height - here for height in heights]
    return Closeup(
        x=of.x,
        y=of.y,
        h=h,
        backward=of.backward,
        difference=of.differences[nearest(h)],
        curve=tuple(zip(whole.tolist(), curve, strict=True)),
        near=tuple(zip(spots.tolist(), near, strict=True)),
        ends=(left, right),
        kinks=kinks,
        errors=tuple(zip(STEPS, of.errors, strict=True)),
        rounding=of.rounding,
        checked=(EPS, abs(of.checked - of.backward)),
        allowed=of.allowed,
        passed=of.passed,
    )


def nearest(h: float) -> int:
    """The index in STEPS of a step size."""
    return min(max(round((math.log10(h) + 12) * 8), 0), len(STEPS) - 1)


def _settled(errors: list[float]) -> float:
    """The least bound that five neighbouring errors share; NaN where none are finite."""
    bounds = (max(errors[k : k + 5]) for k in range(len(errors) - 4))
    return min(filter(math.isfinite, bounds), default=math.nan)


def _flat(errors: list[float]) -> bool:
    """Whether a decade of errors in a row are nearly the same, and not zero."""
    runs = (errors[k : k + 9] for k in range(len(errors) - 8))
    return any(0 < max(run) < 1.2 * min(run) for run in runs)


def _backward(function: Function, point: torch.Tensor, upstream: float) -> float:
    """The slope at a point as backward gives it."""
    x = point.detach().clone().requires_grad_()
    with torch.enable_grad():
        y = function(x)
    (gradient,) = torch.autograd.grad(y, x, torch.full_like(y, upstream))
    return gradient.item()


def _differences(
    function: Function, point: torch.Tensor, g: float, steps: tuple[float, ...]
) -> tuple[float, ...]:
    """Central differences of g · f at a point, computed in its dtype."""
    h = torch.tensor(steps, dtype=point.dtype)
    with torch.no_grad():
        return ((g * function(point + h) - g * function(point - h)) / (2 * h)).tolist()


def _gradcheck(function: Function, point: torch.Tensor, g: float) -> tuple[bool, str, str]:
    """Whether gradcheck passes g · f at a point, what it says, and what it warns of."""
    x = point.detach().clone().requires_grad_()
    with warnings.catch_warnings(record=True) as heard, torch.enable_grad():
        warnings.simplefilter("always")
        try:
            passed = torch.autograd.gradcheck(lambda x: g * function(x), (x,))
            said = f"{passed}"
        except Exception as error:
            passed, said = False, f"{type(error).__name__}: {_shorter(str(error))}"
    return passed, said, " ".join(_first(str(one.message)) for one in heard)


def _first(words: str) -> str:
    """The first sentence."""
    return _shorter(words.partition(". ")[0] + ".")


def _shorter(words: str) -> str:
    """torch's words in one line, its 1 by 1 tensors as numbers."""
    words = re.sub(r"tensor\(\[\[(.*?)\.?\]\](?:, dtype=[\w.]+)?\)", r" \1,", words)
    words = " ".join(words.split()).rstrip(",")
    return words if len(words) <= 240 else words[:239].rstrip() + "…"
