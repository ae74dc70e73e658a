"""A function at a point: its outputs, and what weights on them send back, computed in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from utils.graph.data import Tape
from utils.graph.record import Backwards
from utils.pictures.bars import scale_end
from utils.pictures.flow_picture import FlowPicture
from utils.pictures.numbers import number
from utils.pictures.picture import Picture
from utils.widgets.maps import Map, checked

NEVER = 10**9  # x is drawn once, however often it is used


@dataclass(frozen=True, slots=True)
class Sent:
    """One backward from the weighted outputs, computed in two ways.

    Attributes:
        weights: v, the vector that was sent; m numbers.
        total: (v * y).sum(), a number.
        tape: `y.backward(v)`, recorded.
        gradient: what it made of `x.grad`; n numbers.
        by_sum: the gradient of `(v * y).sum()` with respect to x, by its own backward.
        agree: whether the two are equal up to rounding.
    """

    weights: tuple[float, ...]
    total: float
    tape: Tape
    gradient: tuple[float, ...]
    by_sum: tuple[float, ...]
    agree: bool


class Outputs:
    """A function at a point: its outputs, the graph behind them, and what weights make of it.

    Args:
        function: where it all comes from.

    Attributes:
        function: the same.
        y: the outputs, m numbers.
        rows: J, a row per output.
        loss: what the loss (y**2).sum() sends back into y, m numbers.

    Raises:
        TypeError, ValueError: as `checked` says.
    """

    def __init__(self, function: Map) -> None:
        self.function = function
        self._x = function.at(function.start).requires_grad_()
        with torch.enable_grad():
            variables = function.run(self._x)
            self._y = checked(variables["y"], self._x)
            (loss,) = torch.autograd.grad((self._y**2).sum(), self._y, retain_graph=True)
        self.y = _floats(self._y)
        self.loss = _floats(loss)
        self.rows = tuple(_floats(self._grad(self._y, one)) for one in torch.eye(len(self.y)))
        self._backwards = Backwards(self._y, function.names(variables))
        # Room for what the buttons send, and for a weight next to a slider's end.
        samples = [*self.presets.values(), (-0.95 * self.end,) * len(self.y)]
        tapes = [self.send(weights).tape for weights in samples]
        self._flow = FlowPicture(tapes, repeat=NEVER)

    def send(self, weights: Sequence[float]) -> Sent:
        """Run `y.backward(v)` for real, and differentiate the weighted sum beside it."""
        v = torch.tensor(weights, dtype=self._y.dtype)
        tape = self._backwards.run(v)
        landed = {step.change.variable: step.change.after for step in tape.steps if step.change}
        gradient = landed["x"].entries
        with torch.enable_grad():
            total = (v * self._y).sum()
        by_sum = self._grad(total)
        return Sent(
            _floats(v),
            total.item(),
            tape,
            gradient,
            _floats(by_sum),
            torch.allclose(torch.tensor(gradient), by_sum.float(), rtol=1e-4, atol=1e-6),
        )

    @property
    def end(self) -> float:
        """How far a weight may go to either side: to 2 at least, and to what a loss would send."""
        return max(2.0, scale_end(self.loss))

    @property
    def presets(self) -> dict[str, tuple[float, ...]]:
        """Vectors worth sending, by the words on their buttons."""
        count = len(self.y)
        rows = {f"row {i}": tuple(float(i == k) for k in range(count)) for i in range(count)}
        return rows | {"ones": (1.0,) * count, "what a loss would send": self.loss}

    def draw(self, sent: Sent) -> Picture:
        """The graph with what flowed through it."""
        return self._flow.draw(sent.tape, f"y.backward(v) with v = {vector(sent.weights)}")

    def _grad(self, of: torch.Tensor, seed: torch.Tensor | None = None) -> torch.Tensor:
        (grad,) = torch.autograd.grad(
            of, self._x, None if seed is None else seed.to(of.dtype), retain_graph=True
        )
        return grad


def vector(entries: Sequence[float]) -> str:
    """Numbers as a list, such as "[1, -0.5]"."""
    return f"[{', '.join(map(number, entries))}]"


def _floats(tensor: torch.Tensor) -> tuple[float, ...]:
    return tuple(float(entry) for entry in tensor.detach().tolist())
