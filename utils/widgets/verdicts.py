"""Why gradcheck said what it said, and what the chosen step size does: a sentence each."""

from __future__ import annotations

import math

import torch

from utils.pictures.numbers import number
from utils.widgets.differences import EPS, Measured, nearest

RIGHT = 1e-6  # relative error below which backward is the slope, in float64
DUST = 1e-11  # relative error that is nothing but rounding, in float64
FACTORS = (2, 3, 4, 5, 10)


def why(of: Measured, kinks: tuple[float, ...], note: str = "") -> str:
    """The reason for gradcheck's verdict at a point, as prose.

    Args:
        of: the point.
        kinks: where the function's slope jumps.
        note: what there is to add where backward is not the slope.
    """
    slope, difference = number(of.backward), number(of.checked)
    if not (math.isfinite(of.backward) and math.isfinite(of.checked)):
        return (
            f"There is nothing to compare: backward says {slope}, the difference {difference}. "
            "`x` is where the function ends, or its slope does."
        )
    if any(abs(kink - of.x) < EPS for kink in kinks):
        return _on_a_kink(of)
    if not of.follows:
        alike = math.isclose(of.backward, of.checked, rel_tol=1e-3)
        ignored = "this backward does not multiply by the upstream gradient `g`"
        if alike:
            return (
                f"At `g = {number(of.g)}` the number is right, but {ignored}. Move `g` to see it."
            )
        return f"The slope is wrong: {ignored}, which is {number(of.g)}."
    scale = max(1.0, abs(of.checked))
    if not of.exact <= RIGHT * scale:
        return f"Backward is wrong here, at every step size{_hint(of)}. {note}".rstrip()
    if not of.passed:
        if of.dtype == torch.float64:
            return "The slope is right here: what gradcheck objects to is in its message."
        return (
            "Backward is right. But with gradcheck's step of 10⁻⁶, rounding in float32 can move "
            f"the difference by {number(of.rounding / EPS, 1)}, and {number(of.allowed, 1)} is "
            "allowed. Check in float64."
        )
    if of.flat and of.exact > DUST * scale:
        return (
            f"Yet the error settles at about {number(of.exact, 1)}: digits are lost in backward."
            f" gradcheck allows {number(of.allowed, 1)}, and cannot see that."
        )
    if of.g == 0:
        return "`g` is 0: nothing arrives, so nothing may be sent on. Move `g` to see more."
    if of.backward == 0 and abs(of.checked) < DUST:
        return "Both slopes are 0 here, where a wrong sign or factor does not show. Move `x`."
    if of.rounding / EPS > of.allowed:
        return "Backward is right; in float32 this check passes by luck, at some points only."
    return f"Backward is right here: in float64 the two come within {number(of.exact, 1)}."


def at_step(of: Measured, kinks: tuple[float, ...], h: float) -> str:
    """What makes the error at step h, as prose."""
    k = nearest(h)
    difference, error = of.differences[k], of.errors[k]
    if not math.isfinite(error):
        return "`x + h` or `x - h` is where the function has no finite value or slope."
    point, step = (torch.tensor(part, dtype=of.dtype) for part in (of.x, h))
    if point + step == point:
        return (
            f"`x + h` rounds to `x` itself: in {_name(of)} no number lies between, so the "
            f"difference is {number(difference)}."
        )
    crossed = [kink for kink in kinks if EPS < abs(kink - of.x) < h]
    if crossed:
        return f"`h` reaches over {number(crossed[0])}, where the slope jumps: two slopes mixed."
    if error == 0:
        return "The two agree to the last digit."
    if any(abs(kink - of.x) < EPS for kink in kinks):
        return "On a kink no step size helps."
    if not of.exact <= RIGHT * max(1.0, abs(of.checked)):
        return "No step size helps."
    noise = of.rounding / h
    if error > 10 * noise:
        if of.flat and of.exact > error / 3:
            return "Neither the curve nor rounding in f: the digits that backward lost."
        return "The right arm of the V: over so wide a step the curve bends. Make `h` smaller."
    bend = of.errors[min(k + 8, len(of.errors) - 1)]
    if bend > 10 * error:
        return "Near the bottom of the V: bending and rounding are about even."
    return (
        f"Rounding: `f` is kept to about {_digits(of)} digits, what is lost is divided by 2h. "
        "Make `h` larger."
    )


def _on_a_kink(of: Measured) -> str:
    left, right = of.sides
    if max(map(abs, (left, right))) > 1e4:
        return (
            "The function jumps right at `x`: there is no slope, and differences grow without end."
        )
    mean, slope = number(of.checked, 3), number(of.backward)
    sides = (
        f"`x` is on a kink: slope {number(left, 3)} on the left, {number(right, 3)} on the right"
    )
    if of.passed:
        return f"{sides}. The difference gives their mean, {mean}, which backward happens to say."
    low, high = sorted((left, right))
    if low - 1e-4 <= of.backward <= high + 1e-4:
        return (
            f"{sides}. The difference gives their mean, {mean}; backward's {slope} is as good a "
            "choice. Check away from kinks."
        )
    return f"{sides}, and the difference gives their mean, {mean}. Backward's {slope} is neither."


def _hint(of: Measured) -> str:
    """How the wrong slope is related to the right one, where that is plain."""
    slope = sum(of.sides) / 2
    ratio = slope / of.backward if of.backward else math.nan
    if math.isclose(ratio, -1, rel_tol=1e-3):
        return ": the sign is wrong"
    for factor in FACTORS:
        if math.isclose(ratio, factor, rel_tol=1e-3):
            return f": a factor of {factor} is missing"
        if math.isclose(ratio, 1 / factor, rel_tol=1e-3):
            return f": it is {factor} times too large"
    return f": it says {number(of.backward)}, the slope is {number(slope)}"


def _digits(of: Measured) -> int:
    return round(-math.log10(torch.finfo(of.dtype).eps))


def _name(of: Measured) -> str:
    return str(of.dtype).removeprefix("torch.")
