"""Gradient microscope: a backward of your own against differences, by step size and dtype."""

from __future__ import annotations

import html
from collections.abc import Sequence

import ipywidgets
import torch

from utils.pictures.curves import Closeup, draw_curves
from utils.pictures.numbers import number
from utils.pictures.picture import Picture
from utils.widgets.backwards import READY, Case, Function, own_case
from utils.widgets.base import CourseWidget, prose, row
from utils.widgets.differences import STEPS, Measured, close_up, measure, nearest
from utils.widgets.kinks import find_kinks
from utils.widgets.verdicts import at_step, why

DTYPES = (torch.float64, torch.float32)
START = 1e-2  # the step size it opens with


class Microscope(CourseWidget):
    """The widget behind `gradient_microscope`; see there.

    Attributes:
        choice: which function; its options are the functions' names.
        point, upstream: x, and the upstream gradient g.
        step: h, from 10^-12 to 10^-1.
        dtype: of x, and of all that is computed.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self._kinks = [find_kinks(case.function, case.low, case.high) for case in cases]
        self._known: dict[tuple[object, ...], Measured] = {}
        self._moving = False
        words = {"style": {"description_width": "84px"}, "layout": {"width": "340px"}}
        self.choice = ipywidgets.Dropdown(
            options=[(case.name, k) for k, case in enumerate(cases)],
            description="Function",
            **words,
        )
        self.point = ipywidgets.FloatSlider(
            description="point x", step=0.05, readout_format=".2f", **words
        )
        self.step = ipywidgets.FloatLogSlider(
            START, min=-12, max=-1, step=0.25, description="step size h", **words
        )
        self.step.readout_format = ".1e"
        self.upstream = ipywidgets.FloatSlider(
            1.0, min=-2.0, max=3.0, step=0.5, description="upstream g", **words
        )
        self.upstream.readout_format = ".1f"
        self.dtype = ipywidgets.RadioButtons(
            options=[(str(dtype).removeprefix("torch."), dtype) for dtype in DTYPES],
            description="dtype",
            orientation="horizontal",
            **words,
        )
        self.dtype.add_class("widget-inline-hbox")  # its label stands like those of the others
        self.program = ipywidgets.HTML(layout={"min_height": "212px"})
        controls = [self.choice, self.point, self.step, self.upstream, self.dtype]
        super().__init__(
            "Gradient microscope: is this backward the slope?",
            [row(ipywidgets.VBox(controls), self.program, align="flex-start")],
        )
        self.choice.observe(self._choose, "value")
        for control in controls[1:]:
            control.observe(self._turn, "value")
        self._choose()

    def _choose(self, _: object = None) -> None:
        case = self._cases[self.choice.value]
        self._moving = True
        with self.point.hold_trait_notifications():  # value and range are checked together
            self.point.min, self.point.max, self.point.value = case.low, case.high, case.start
        self._moving = False
        self.program.value = f"<pre>{html.escape(case.program)}</pre>"
        self._turn()

    def _turn(self, _: object = None) -> None:
        if self._moving:
            return
        x, g = round(self.point.value, 9), self.upstream.value
        try:
            of, seen = self._look(self.choice.value, x, g, self.dtype.value, self.step.value)
        except Exception as error:
            stopped = f"At x = {number(x)} it stopped."
            self.show(None, _words(stopped, f"{type(error).__name__}: {error}"))
            return
        case, kinks = self._cases[self.choice.value], self._kinks[self.choice.value]
        self.show(_draw(case, of, seen), _told(case, kinks, of, seen), _said(of))

    def _look(
        self, choice: int, x: float, g: float, dtype: torch.dtype, h: float
    ) -> tuple[Measured, Closeup]:
        """The numbers at a setting; all but the step is measured once."""
        case, key = self._cases[choice], (choice, x, g, dtype)
        if key not in self._known:
            self._known[key] = measure(case.function, x, g, dtype)
        of = self._known[key]
        return of, close_up(case, self._kinks[choice], of, STEPS[nearest(h)])

    def _start(self) -> tuple[Case, tuple[float, ...], Measured, Closeup]:
        """The first function, as the widget opens."""
        case = self._cases[0]
        return case, self._kinks[0], *self._look(0, case.start, 1.0, DTYPES[0], START)

    def still(self) -> str:
        case, kinks, of, seen = self._start()
        return (
            f"<p><strong>{prose(self.heading)}</strong></p><pre>{html.escape(case.program)}</pre>"
            f"{_draw(case, of, seen).img}{_told(case, kinks, of, seen)}{_said(of)}"
            "<p>Run this cell to choose a function, a point and a step size.</p>"
        )

    def text(self) -> str:
        case, kinks, of, seen = self._start()
        story = "\n".join(_story(case, kinks, of, seen)).replace("`", "")
        return "\n".join([self.heading, case.program, _draw(case, of, seen).text, story])


def _draw(case: Case, of: Measured, seen: Closeup) -> Picture:
    dtype = str(of.dtype).removeprefix("torch.")
    title = f"{case.name}: at x = {number(of.x)}, with g = {number(of.g)}, in {dtype}"
    return draw_curves(seen, title)


def _story(case: Case, kinks: tuple[float, ...], of: Measured, seen: Closeup) -> tuple[str, str]:
    """What gradcheck says and why, and what this step does, as prose."""
    verdict = "gradcheck passes." if of.passed else "gradcheck fails."
    step = f"This h, error {number(seen.error, 2)}:"
    return (
        f"{verdict} {why(of, kinks, case.note)}",
        f"{step} {at_step(of, kinks, seen.h)}",
    )


def _told(case: Case, kinks: tuple[float, ...], of: Measured, seen: Closeup) -> str:
    return _words(*_story(case, kinks, of, seen))


def _words(*lines: str) -> str:
    """Lines of prose, what each begins with in bold."""
    parts = []
    for line in lines:
        end = min(line.find(mark) + 1 or len(line) for mark in (". ", ": "))
        parts.append(f"<p><strong>{prose(line[:end])}</strong>{prose(line[end:])}</p>")
    return "".join(parts)


def _said(of: Measured) -> str:
    """The call, and torch's own words."""
    lines = ["torch.autograd.gradcheck(lambda x: g * f(x), (x,))", of.said]
    if of.warned:
        lines.append(f"UserWarning: {of.warned}")
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def gradient_microscope(function: Function | type | None = None, x: float = 1.0) -> Microscope:
    """Hold a backward against central differences, at any point, step size and dtype.

    Each move runs the function, its backward, the differences for 89 step sizes and
    `torch.autograd.gradcheck`, all in the chosen dtype. L = g · f(x), so that g is the upstream
    gradient that backward gets.

    Args:
        function: your own `torch.autograd.Function` class, or a function that applies one, such
            as `lambda x: Power.apply(x, 3)`. It works on each entry of a tensor by itself, and
            comes before the ready ones. None for the ready ones alone.
        x: where to look first at your own; the ready ones bring their own point.

    Returns:
        The widget; left as the last line of a cell, it is shown.

    Raises:
        TypeError: `function` cannot be called or returns no floating-point tensor, or `x` is no
            number.
        ValueError: `function` is not elementwise, no gradient comes back from it, or `x` is not
            finite.

    Example:
        >>> gradient_microscope(MyReLU, x=0.0)
    """
    return Microscope(READY if function is None else (own_case(function, x), *READY))
