"""Weights on the outputs: choose the vector of backward, and see what it makes of x's gradient."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

import ipywidgets
import torch

from utils.pictures.bars import draw_bars
from utils.pictures.numbers import indexed, number
from utils.pictures.picture import Picture
from utils.widgets.base import CourseWidget, code, prose, row, table
from utils.widgets.maps import (
    NETWORK,
    PLANE,
    PRODUCTS,
    SOFTMAX,
    Map,
    own_map,
)
from utils.widgets.outputs import Outputs, Sent, vector

READY = (PLANE, PRODUCTS, SOFTMAX, NETWORK)
HEAD = ("output", "y", "weight v", "row of J", "v × row")
STEPS = 20  # positions of a slider on each side of zero


class Weights(CourseWidget):
    """The widget behind `weights_on_outputs`; see there.

    Attributes:
        choice: which function; its options are the functions' names.
        sliders: v, a slider per output of the chosen function.
    """

    def __init__(self, functions: Sequence[Map]) -> None:
        self._functions = functions
        self._known: dict[int, tuple[Outputs, list[ipywidgets.FloatSlider]]] = {}
        self._moving = False
        self.choice = ipywidgets.Dropdown(
            options=[(function.name, k) for k, function in enumerate(functions)],
            description="Function",
            style={"description_width": "initial"},
        )
        self.choice.observe(self._choose, "value")
        self.program, self.bars = ipywidgets.HTML(), ipywidgets.HTML()
        self._column, self._buttons = ipywidgets.VBox(), row()
        super().__init__(
            "Weights on the outputs: what does each one send back to x?",
            [
                row(self.choice, self.program),
                row(self._column, self.bars, align="flex-start"),
                self._buttons,
            ],
        )
        self._choose()

    @property
    def outputs(self) -> Outputs:
        """The chosen function at its point."""
        return self._known[self.choice.value][0]

    @property
    def sliders(self) -> list[ipywidgets.FloatSlider]:
        """A slider per output of the chosen function."""
        return self._known[self.choice.value][1]

    def put(self, weights: Sequence[float]) -> None:
        """Move every slider, and draw once."""
        self._moving = True
        for slider, weight in zip(self.sliders, weights, strict=True):
            slider.value = weight
        self._moving = False
        self._turn()

    def _choose(self, _: object = None) -> None:
        chosen = self.choice.value
        if chosen not in self._known:
            outputs = Outputs(self._functions[chosen])
            sliders = [_slider(indexed("y", i), outputs.end) for i in range(len(outputs.y))]
            sliders[0].value = 1.0
            for slider in sliders:
                slider.observe(self._turn, "value")
            self._known[chosen] = outputs, sliders
        buttons = []
        for words, weights in self.outputs.presets.items():
            button = ipywidgets.Button(description=words)
            button.on_click(lambda _, weights=weights: self.put(weights))
            buttons.append(button)
        self._column.children, self._buttons.children = self.sliders, buttons
        function = self.outputs.function
        self.program.value = f"<pre>{html.escape(_program(function))}</pre>"
        self._turn()

    def _turn(self, _: object = None) -> None:
        if self._moving:
            return
        sent = self.outputs.send([slider.value for slider in self.sliders])
        self.bars.value = _bars(sent).svg
        self.show(self.outputs.draw(sent), _told(self.outputs, sent), _table(self.outputs, sent))

    def still(self) -> str:
        outputs, sent = self._start()
        presets = "".join(f"<li>{html.escape(line)}</li>" for line in self._lines())
        return (
            f"<p><strong>{prose(self.heading)}</strong></p>"
            f"<pre>{html.escape(_program(outputs.function))}</pre>"
            f"{outputs.draw(sent).img}{_bars(sent).img}{_told(outputs, sent)}"
            f"{_table(outputs, sent)}<ul>{presets}</ul>"
            "<p>Run this cell to choose weights yourself.</p>"
        )

    def text(self) -> str:
        outputs, sent = self._start()
        story = _story(outputs, sent).replace("`", "")
        rows = [f"row {i} of J: {vector(row)}" for i, row in enumerate(outputs.rows)]
        return "\n".join([self.heading, _program(outputs.function), *rows, story, *self._lines()])

    def _start(self) -> tuple[Outputs, Sent]:
        """The first function with the weights that the widget opens with."""
        outputs = self._known[0][0]
        return outputs, outputs.send(outputs.presets["row 0"])

    def _lines(self) -> list[str]:
        """What each button sends, and what comes of it."""
        outputs = self._known[0][0]
        return [
            f"{words}: v = {vector(weights)} gives x.grad = "
            f"{vector(outputs.send(weights).gradient)}"
            for words, weights in outputs.presets.items()
        ]


def _slider(output: str, end: float) -> ipywidgets.FloatSlider:
    return ipywidgets.FloatSlider(
        0.0,
        min=-end,
        max=end,
        step=end / STEPS,
        description=f"weight on {output}",
        readout_format=".2f" if end <= 100 else ".3g",
        style={"description_width": "initial"},
        layout={"width": "340px"},
    )


def _program(function: Map) -> str:
    return f"# x = {vector(function.start)}\n{function.program}"


def _bars(sent: Sent) -> Picture:
    names = [indexed("x", j) for j in range(len(sent.gradient))]
    return draw_bars(sent.gradient, names, "x.grad, what arrives at the inputs")


def _story(outputs: Outputs, sent: Sent) -> str:
    """What these weights ask for, and that both ways agree, as prose."""
    return f"{_meaning(outputs, sent.weights)}\n{_agreement(sent)}"


def _meaning(outputs: Outputs, weights: tuple[float, ...]) -> str:
    used = [i for i, weight in enumerate(weights) if weight]
    if not used:
        return "Every weight is 0: no output counts, and the gradient is 0."
    if len(used) == 1:
        i, weight = used[0], weights[used[0]]
        times = "" if weight == 1 else f"{number(weight)} times "
        return f"Only {indexed('y', i)} counts: the gradient is {times}row {i} of J."
    if set(weights) == {1.0}:
        return "Every weight is 1: the rows of J are added up. `y.sum()` has the same gradient."
    if all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(weights, outputs.loss, strict=True)):
        return "These are the slopes 2y of the loss `(y ** 2).sum()`: what it sends back into `y`."
    return "Each weight scales its row of J, and the scaled rows are added up."


def _agreement(sent: Sent) -> str:
    verdict = "the same" if sent.agree else "not the same: some backward here is not linear"
    return (
        f"`y.backward(v)` puts {vector(sent.gradient)} into `x.grad`. "
        f"`(v * y).sum()` is {number(sent.total)}, and its own backward gives "
        f"{vector(sent.by_sum)}: {verdict}."
    )


def _told(outputs: Outputs, sent: Sent) -> str:
    return "".join(f"<p>{prose(line)}</p>" for line in _story(outputs, sent).splitlines())


def _table(outputs: Outputs, sent: Sent) -> str:
    """How the gradient is put together, a row per output."""
    lines = [
        [
            indexed("y", i),
            number(y),
            number(weight),
            code(vector(slopes)),
            code(vector([weight * slope for slope in slopes])),
        ]
        for i, (y, weight, slopes) in enumerate(
            zip(outputs.y, sent.weights, outputs.rows, strict=True)
        )
    ]
    total = ["sum", "", "", "", f"<strong>{code(vector(sent.gradient))}</strong>"]
    return table(HEAD, [*lines, total])


def weights_on_outputs(
    function: Callable[[torch.Tensor], torch.Tensor] | None = None, x: object = None
) -> Weights:
    """Choose a weight for each output of a function, and see the gradient of the weighted sum.

    Each move runs one real `y.backward(v)` and shows what flowed along every edge of its graph.

    Args:
        function: your own, from a tensor of shape (n,) to one of shape (m,), both of 1 to 8
            entries; it comes before the ready ones. None for the ready ones alone.
        x: where to look at it: n numbers.

    Returns:
        The widget; left as the last line of a cell, it is shown.

    Raises:
        TypeError: one of `function` and `x` is missing, `function` cannot be called, or it returns
            no tensor of floating-point numbers.
        ValueError: `x` or what `function` returns is no vector of 1 to 8 finite numbers, or the
            result does not depend on `x`.

    Example:
        >>> weights_on_outputs(lambda x: x * x.sum(), [1.0, 2.0])
    """
    if function is None and x is None:
        return Weights(READY)
    return Weights((own_map(function, x, "weights_on_outputs"), *READY))
