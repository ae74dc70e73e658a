"""Pull back, push forward: J at work on arrows, forwards on u and backwards on v."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

import ipywidgets
import torch

from utils.pictures.numbers import number
from utils.pictures.picture import Picture
from utils.pictures.planes import Local, draw_planes
from utils.widgets.base import CourseWidget, code, prose, row, table
from utils.widgets.maps import PLANE, POLAR, SADDLE, SHEAR, TURN, Map, checked, own_map
from utils.widgets.outputs import vector

READY = (PLANE, TURN, SHEAR, POLAR, SADDLE)
HEAD = ("way", "in torch", "result", "dot product")
TURN_STEP = 15  # degrees
NOISE = 1e-6  # beside the largest number, what is left of a zero
REACH = 3.0  # how far the point may go from where it starts


def look(function: Map, x: Sequence[float], u: Sequence[float], v: Sequence[float]) -> Local:
    """Push u forward and pull v back through a map at a point, each with torch's own function.

    Args:
        function: a map from the plane to the plane or to space.
        x: the point, 2 numbers.
        u: a tangent at x, 2 numbers.
        v: a cotangent at f(x), as many numbers as the map has outputs.

    Returns:
        The numbers, what is only rounding's left as zero; J from its rows, a VJP each.

    Raises:
        ValueError: torch cannot push u forward, as through a Function that has no `jvp`.
    """
    point, tangent, cotangent = (function.at(part) for part in (x, u, v))
    try:
        y, pushed = torch.func.jvp(function, (point,), (tangent,))
    except (RuntimeError, NotImplementedError) as error:
        raise ValueError(
            f"torch cannot push u forward through {function.name}. It says: {error}"
        ) from error
    _, pull = torch.func.vjp(function, point)
    (pulled,) = pull(cotangent)
    rows = [pull(one)[0] for one in torch.eye(len(y), dtype=y.dtype)]
    # What rounding leaves of a zero would be written as 1.2e-08.
    dust = NOISE * max(part.abs().max().item() for part in (*rows, tangent, cotangent))

    def plain(vector: torch.Tensor) -> tuple[float, ...]:
        return tuple(0.0 if abs(entry) < dust else entry for entry in vector.tolist())

    return Local(
        x=tuple(point.tolist()),
        y=plain(y),
        jacobian=tuple(map(plain, rows)),
        u=tuple(tangent.tolist()),
        pushed=plain(pushed),
        v=tuple(cotangent.tolist()),
        pulled=plain(pulled),
        v_pushed=plain(pushed[None] @ cotangent)[0],
        pulled_u=plain(pulled[None] @ tangent)[0],
    )


class PullPush(CourseWidget):
    """The widget behind `pull_back_push_forward`; see there.

    Attributes:
        choice: which map; its options are the maps' names.
        point: a slider for each of the two numbers of x.
        u: its angle in degrees, and its length.
        v: the same, and the tilt out of the first two axes, which is there for three outputs.
    """

    def __init__(self, maps: Sequence[Map]) -> None:
        self._maps = maps
        self._outputs = [_outputs(function) for function in maps]
        self._moving = False
        self.choice = ipywidgets.Dropdown(
            options=[(function.name, k) for k, function in enumerate(maps)],
            description="Map",
            style={"description_width": "initial"},
        )
        self.program = ipywidgets.HTML()
        self.point = [_slider(f"point {name}", 0.0, -REACH, REACH, 0.25) for name in ("x₀", "x₁")]
        self.u = [_angle("u angle", 30), _slider("u length", 1.0, 0.0, 2.0, 0.25)]
        self.v = [
            _angle("v angle", 90),
            _slider("v length", 1.0, 0.0, 2.0, 0.25),
            _slider("v tilt", 0, -90, 90, TURN_STEP, ".0f"),
        ]
        self._columns = [ipywidgets.VBox(column) for column in (self.point, self.u, self.v[:2])]
        super().__init__(
            "Pull back, push forward: what does J do to an arrow?",
            [row(self.choice, self.program), row(*self._columns, align="flex-start")],
        )
        self.choice.observe(self._choose, "value")
        for slider in (*self.point, *self.u, *self.v):
            slider.observe(self._turn, "value")
        self._choose()

    @property
    def local(self) -> Local:
        """What the chosen map does at the chosen point to the chosen arrows."""
        v = _direction(self.v[0].value, self.v[1].value)
        if self._outputs[self.choice.value] == 3:
            tilt, length = _direction(self.v[2].value, 1.0)
            v = (v[0] * tilt, v[1] * tilt, self.v[1].value * length)
        return look(
            self._maps[self.choice.value],
            [slider.value for slider in self.point],
            _direction(self.u[0].value, self.u[1].value),
            v,
        )

    def _choose(self, _: object = None) -> None:
        chosen = self.choice.value
        function = self._maps[chosen]
        self._moving = True
        for slider, start in zip(self.point, function.start, strict=True):
            with slider.hold_trait_notifications():  # value and range are checked together
                slider.min, slider.max, slider.value = start - REACH, start + REACH, start
        self._moving = False
        self._columns[2].children = self.v[: self._outputs[chosen]]
        self.program.value = f"<pre>{html.escape(function.program)}</pre>"
        self._turn()

    def _turn(self, _: object = None) -> None:
        if self._moving:
            return
        local = self.local
        function = self._maps[self.choice.value]
        if not finite(local):
            where = vector(local.x)
            words = f"At x = {where} the map or its slopes are not finite, so there is no arrow."
            self.show(None, f"<p>{prose(words)} Move the point.</p>")
            return
        self.show(_draw(function, local), _told(local), _table(local))

    def still(self) -> str:
        function, local = self._maps[0], self._start()
        return (
            f"<p><strong>{prose(self.heading)}</strong></p>"
            f"<pre>{html.escape(function.program)}</pre>{_draw(function, local).img}"
            f"{_told(local)}{_table(local)}<p>Run this cell to turn the arrows yourself.</p>"
        )

    def text(self) -> str:
        function, local = self._maps[0], self._start()
        story = _story(local).replace("`", "")
        return "\n".join([self.heading, function.program, _draw(function, local).text, story])

    def _start(self) -> Local:
        """The first map with the arrows that the widget opens with."""
        v = (0.0, 1.0, 0.0)[: self._outputs[0]]
        return look(self._maps[0], self._maps[0].start, _direction(30, 1.0), v)


def finite(local: Local) -> bool:
    """Whether every number can be drawn."""
    parts = (local.y, local.pushed, local.pulled, *local.jacobian)
    return all(math.isfinite(entry) for part in parts for entry in part)


def _outputs(function: Map) -> int:
    """How many outputs a map has, after a look at what it returns."""
    x = function.at(function.start).requires_grad_()
    with torch.enable_grad():
        return len(checked(function(x), x, least=2, most=3))


def _direction(degrees: float, length: float) -> tuple[float, float]:
    """A vector of the plane; exact along the axes."""
    turn = math.radians(degrees)
    return tuple(round(length * part, 12) + 0.0 for part in (math.cos(turn), math.sin(turn)))


def _slider(
    words: str, value: float, least: float, most: float, step: float, digits: str = ".2f"
) -> ipywidgets.FloatSlider:
    return ipywidgets.FloatSlider(
        value,
        min=least,
        max=most,
        step=step,
        description=words,
        readout_format=digits,
        style={"description_width": "66px"},
        layout={"width": "254px"},
    )


def _angle(words: str, degrees: float) -> ipywidgets.FloatSlider:
    return _slider(words, degrees, 0, 360 - TURN_STEP, TURN_STEP, ".0f")


def _draw(function: Map, local: Local) -> Picture:
    return draw_planes(local, f"{function.name} at x = {vector(local.x)}")


def _story(local: Local) -> str:
    """What the two numbers are, and what all of J costs either way, as prose."""
    rows = len(local.jacobian)
    same = math.isclose(local.v_pushed, local.pulled_u, rel_tol=1e-4, abs_tol=1e-6)
    return (
        f"Forwards, ⟨v, J u⟩ = {number(local.v_pushed)}. Backwards, ⟨vᵀJ, u⟩ = "
        f"{number(local.pulled_u)}: {'the same number' if same else 'not the same number'}.\n"
        f"All of J would take 2 pushes (a column each) or {rows} pulls (a row each). "
        "Point u or v along an axis to read one out."
    )


def _told(local: Local) -> str:
    return "".join(f"<p>{prose(line)}</p>" for line in _story(local).splitlines())


def _table(local: Local) -> str:
    """Both ways side by side."""
    forward = [
        "forward",
        code("func.jvp(f, (x,), (u,))"),
        f"J u = {code(vector(local.pushed))}",
        f"⟨v, J u⟩ = {_sum(local.v, local.pushed)} = {number(local.v_pushed)}",
    ]
    back = [
        "back",
        code("func.vjp(f, x)[1](v)"),
        f"vᵀJ = {code(vector(local.pulled))}",
        f"⟨vᵀJ, u⟩ = {_sum(local.pulled, local.u)} = {number(local.pulled_u)}",
    ]
    return table(HEAD, [forward, back])


def _sum(a: Sequence[float], b: Sequence[float]) -> str:
    return " + ".join(f"{_factor(p)}·{_factor(q)}" for p, q in zip(a, b, strict=True))


def _factor(x: float) -> str:
    return f"({number(x, 3)})" if x < 0 else number(x, 3)


def pull_back_push_forward(
    function: Callable[[torch.Tensor], torch.Tensor] | None = None, x: object = None
) -> PullPush:
    """See J push a tangent u forward and pull a cotangent v back, as arrows.

    Each move runs `torch.func.jvp` and `torch.func.vjp` on the map itself.

    Args:
        function: your own map, from a tensor of shape (2,) to one of shape (2,) or (3,); it comes
            before the ready ones. None for the ready ones alone.
        x: the point to begin at: 2 numbers.

    Returns:
        The widget; left as the last line of a cell, it is shown.

    Raises:
        TypeError: one of `function` and `x` is missing, `function` cannot be called, or it returns
            no tensor of floating-point numbers.
        ValueError: `x` is not 2 finite numbers, `function` does not return 2 or 3 of them or none
            that depend on `x`, or torch has no forward derivative for it.

    Example:
        >>> pull_back_push_forward(lambda x: x.exp(), [0.0, 1.0])
    """
    if function is None and x is None:
        return PullPush(READY)
    own = own_map(function, x, "pull_back_push_forward")
    if len(own.start) != 2:
        raise ValueError(
            f"x has {len(own.start)} numbers, but pull_back_push_forward draws the plane: it needs "
            "2. Fix the other inputs inside your function."
        )
    return PullPush((own, *READY))
