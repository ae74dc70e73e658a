"""A slope in question: the curve, a close-up of it, and the error of differences by step size.

The slope that backward says is orange and solid, the secant of the central difference black and
dashed, the curve grey; kinks are marked with a dotted line and the word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from utils.pictures import svg
from utils.pictures.frame import Frame, marks, power_of_ten
from utils.pictures.numbers import number
from utils.pictures.picture import Picture

WIDE, HIGH = 222.0, 210.0  # each of the three panels
TOP = 74.0
LEFTS = (52.0, 334.0, 612.0)
WIDTH = LEFTS[2] + WIDE + svg.MARGIN
REACH = 2  # a close-up shows so many steps h to either side of x
STEPS = (-12, -1)  # powers of ten that the error panel spans
ERRORS = (-14, 3)  # the least span of its errors
ZERO = 1.7  # powers below the axis' end: where no error at all is drawn
CURVE, TANGENT, SECANT = (svg.MUTED, 1.6, ""), (svg.GRADIENT, 4.5, ""), (svg.INK, 2.2, "6 5")
KINK, ALLOWED, ROUNDING = (svg.INK, 1.4, "1 3"), (svg.MUTED, 1.2, "8 3"), (svg.MUTED, 1.2, "2 4")


@dataclass(frozen=True, slots=True)
class Closeup:
    """A function near a point, and two opinions on its slope there. L stands for g · f.

    Attributes:
        x, y, h: the point, L at it, and the step.
        backward: the slope that backward says.
        difference: (L(x + h) − L(x − h)) / 2h.
        curve: points (x, L) of the whole view, left to right.
        near: points (t / h, L(x + t) − L(x)) for t from −2h to 2h, as computed.
        ends: what `near` has at −h and at h.
        kinks: where in the whole view the slope jumps.
        errors: (step, |difference − backward|) for many steps, smallest step first.
        rounding: about how far rounding alone can move a difference, times its step.
        checked: (step, error) where gradcheck looks.
        allowed: the largest error that gradcheck lets pass.
        passed: whether it did pass.
    """

    x: float
    y: float
    h: float
    backward: float
    difference: float
    curve: tuple[svg.Point, ...]
    near: tuple[svg.Point, ...]
    ends: tuple[float, float]
    kinks: tuple[float, ...]
    errors: tuple[svg.Point, ...]
    rounding: float
    checked: svg.Point
    allowed: float
    passed: bool

    @property
    def error(self) -> float:
        """How far the two slopes are apart."""
        return abs(self.difference - self.backward)


def draw_curves(seen: Closeup, title: str) -> Picture:
    """Draw the three panels side by side, with what the lines mean below them.

    Args:
        seen: the numbers. What is not finite is left out of the drawing, and said in the text.
        title: which function, and where.
    """
    body = [
        _heading(0, "the curve"),
        _whole(seen),
        _heading(1, f"close-up, h = {_step(seen.h)}"),
        _near(seen),
        _heading(2, "error against step size h"),
        _errors(seen),
        _legend(seen),
    ]
    text = "\n".join([title, *_text(seen)])
    return Picture(svg.panel(title, text, "".join(body), (WIDTH, TOP + HIGH + 76)), title, text)


def _heading(panel: int, words: str) -> str:
    at = (LEFTS[panel] + WIDE / 2, TOP - 12)
    return svg.label(at, words, bold=True)


def _whole(seen: Closeup) -> str:
    values = [y for _, y in seen.curve if math.isfinite(y)]
    low, high = min(values, default=0.0), max(values, default=0.0)
    pad = 0.12 * (high - low) or 1.0
    span = (seen.curve[0][0], seen.curve[-1][0])
    frame = Frame((LEFTS[0], TOP), (WIDE, HIGH), span, (low - pad, high + pad))
    parts = [frame.ground()]
    for mark in marks(*frame.across):
        parts.append(_below(frame, mark, number(mark, 3)))
    for mark in marks(*frame.up):
        parts.append(_beside(frame, mark, number(mark, 3)))
    parts += [_kink(frame, kink) for kink in seen.kinks]
    here = (seen.x, seen.y)
    parts.append(frame.slope(here, seen.backward, *TANGENT))
    parts.append(frame.line(seen.curve, *CURVE))
    if frame.holds(here):
        parts.append(_dot(frame.at(here), 5, svg.BOX_FILL))
    return "".join(parts)


def _near(seen: Closeup) -> str:
    heights = [abs(y) for _, y in seen.near] + [
        abs(REACH * seen.h * slope) for slope in (seen.backward, seen.difference)
    ]
    end = 1.08 * max(filter(math.isfinite, heights), default=0.0) or seen.h
    frame = Frame((LEFTS[1], TOP), (WIDE, HIGH), (-REACH, REACH), (-end, end))
    parts = [frame.ground()]
    for place, words in ((-1, "x − h"), (0, "x"), (1, "x + h")):
        ends = [(place, -end), (place, end)]
        parts.append(frame.line(ends, svg.FAINT, 0.5) + _below(frame, place, words))
    parts += [_beside(frame, sign * end / 1.08, _signed(sign * end / 1.08)) for sign in (-1, 1)]
    parts.append(_beside(frame, 0, f"{number(seen.y, 3)}"))
    for kink in seen.kinks:
        if abs(kink - seen.x) < REACH * seen.h:
            parts.append(_kink(frame, (kink - seen.x) / seen.h))
    parts.append(frame.slope((0, 0), seen.backward * seen.h, *TANGENT))
    parts.append(frame.line(seen.near, *CURVE))
    ends = [(-1.0, seen.ends[0]), (1.0, seen.ends[1])]
    middle = (0.0, sum(seen.ends) / 2)
    parts.append(frame.slope(middle, seen.difference * seen.h, *SECANT))
    parts += [_dot(frame.at(point), 4, svg.INK) for point in ends if frame.holds(point)]
    return "".join(parts)


def _errors(seen: Closeup) -> str:
    up = _powers(error for _, error in (*seen.errors, seen.checked))
    across = (STEPS[0] - 0.4, STEPS[1] + 0.4)
    frame = Frame((LEFTS[2], TOP), (WIDE, HIGH), across, (up[0] - ZERO - 0.7, up[1] + 0.4))
    parts = [frame.ground()]
    for power in range(STEPS[0], STEPS[1] + 1):
        if power % 3 == 0 or power == STEPS[1]:
            parts.append(_below(frame, power, power_of_ten(power)))
    gap = 4 if up[1] - up[0] <= 20 else 6
    for power in range(up[0], up[1] + 1):
        if power % gap == 0:
            parts.append(_beside(frame, power, power_of_ten(power)))
    parts.append(_beside(frame, up[0] - ZERO, "0"))

    def spot(step: float, error: float) -> svg.Point:
        return frame.at((math.log10(step), math.log10(error) if error else up[0] - ZERO))

    now = math.log10(seen.h)
    parts.append(frame.line([(now, frame.up[0]), (now, frame.up[1])], svg.INK, 1))
    if seen.rounding:
        guide = [(power, math.log10(seen.rounding) - power) for power in STEPS]
        parts.append(frame.line(guide, *ROUNDING))
    allowed = math.log10(seen.allowed)
    parts.append(frame.line([(a, allowed) for a in across], *ALLOWED))
    line = [
        (math.log10(step), math.log10(error) if error else math.nan) for step, error in seen.errors
    ]
    parts.append(frame.line(line, svg.FAINT, 1.5))
    for step, error in seen.errors:
        if math.isfinite(error):
            parts.append(_dot(spot(step, error), 1.6, svg.MUTED, svg.MUTED))
    step, error = seen.checked
    if math.isfinite(error):
        parts.append(svg.box(spot(step, error), (11, 11), 0, "none", svg.INK, 2) + "/>")
    if math.isfinite(seen.error):
        parts.append(_diamond(spot(seen.h, seen.error)))
    return "".join(parts)


def _powers(errors: Iterable[float]) -> tuple[int, int]:
    """The powers of ten that an axis of these errors spans."""
    powers = [math.log10(error) for error in errors if error and math.isfinite(error)]
    low, high = min(powers, default=0.0), max(powers, default=0.0)
    return min(ERRORS[0], math.floor(low)), max(ERRORS[1], math.ceil(high))


def _legend(seen: Closeup) -> str:
    """What each line and mark means, in two rows: lines of the curve left, the error's right."""
    y = TOP + HIGH + 42
    verdict = "passes" if seen.passed else "fails"
    left, middle, right = svg.MARGIN, LEFTS[1] - 54, LEFTS[2] - 50
    parts = [
        _key((left, y), CURVE, "g · f(x), as computed"),
        _key((middle, y), TANGENT, f"slope from backward: {number(seen.backward)}"),
        _key((middle, y + 20), SECANT, f"slope from difference: {number(seen.difference)}"),
        _diamond((right + 10, y - 4)),
        _words((right + 24, y), f"error at this h: {number(seen.error, 2)}"),
        svg.box((right + 10, y + 16), (11, 11), 0, "none", svg.INK, 2) + "/>",
        _words((right + 24, y + 20), f"gradcheck looks here: {verdict}"),
        _key((right + 190, y), ALLOWED, "allowed"),
        _key((right + 190, y + 20), ROUNDING, "rounding"),
    ]
    if seen.kinks:
        parts.append(_key((left, y + 20), KINK, "kink or jump"))
    return "".join(parts)


def _key(at: svg.Point, style: tuple[str, float, str], words: str) -> str:
    stroke, width, dash = style
    (x, y), dashes = at, f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="M{svg.num(x)} {svg.num(y - 4)}h24" stroke="{stroke}" '
        f'stroke-width="{svg.num(width)}"{dashes}/>' + _words((x + 30, y), words)
    )


def _words(at: svg.Point, words: str) -> str:
    return svg.label(at, words, anchor="start")


def _kink(frame: Frame, x: float) -> str:
    return frame.line([(x, frame.up[0]), (x, frame.up[1])], *KINK)


def _below(frame: Frame, x: float, words: str) -> str:
    at = frame.at((x, frame.up[0]))
    return svg.label((at[0], at[1] + 16), words.replace("-", "−", 1), fill=svg.MUTED)


def _beside(frame: Frame, y: float, words: str) -> str:
    at = frame.at((frame.across[0], y))
    words = words.replace("-", "−", 1) if words[0] == "-" else words
    return svg.label((at[0] - 5, at[1] + 4), words, fill=svg.MUTED, anchor="end")


def _dot(at: svg.Point, radius: float, fill: str, stroke: str = svg.INK) -> str:
    line = f' stroke="{stroke}" stroke-width="2"' if stroke != fill else ""
    return (
        f'<circle cx="{svg.num(at[0])}" cy="{svg.num(at[1])}" r="{svg.num(radius)}" '
        f'fill="{fill}"{line}/>'
    )


def _diamond(at: svg.Point) -> str:
    return f'<path d="M{svg.num(at[0])} {svg.num(at[1] - 7)}l7 7-7 7-7-7z" fill="{svg.INK}"/>'


def _signed(x: float) -> str:
    return ("+" if x > 0 else "") + number(x, 2)


def _step(h: float) -> str:
    power = math.log10(h)
    return power_of_ten(round(power)) if abs(power - round(power)) < 1e-9 else number(h, 2)


def _text(seen: Closeup) -> list[str]:
    by_step = [
        f"{_step(step)}: {number(error, 1)}"
        for step, error in reversed(seen.errors)
        if abs(math.log10(step) - round(math.log10(step))) < 1e-9
    ]
    kinks = ", ".join(number(kink) for kink in seen.kinks)
    verdict = "passes" if seen.passed else "fails"
    return [
        f"x = {number(seen.x)}, g · f(x) = {number(seen.y)}, h = {_step(seen.h)}",
        f"slope from backward: {number(seen.backward)}",
        f"slope from difference: {number(seen.difference)}, error {number(seen.error, 2)}",
        f"kinks in view: {kinks or 'none'}",
        f"error by h: {'; '.join(by_step)}",
        f"gradcheck at h = {_step(seen.checked[0])}: error {number(seen.checked[1], 1)}, "
        f"allows {number(seen.allowed, 2)}: {verdict}",
    ]
