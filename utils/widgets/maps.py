"""Functions from a few numbers to a few numbers: ready ones as programs, and the learner's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from utils.graph.namespace import Namespace
from utils.graph.sources import Source

MOST = 8  # inputs, and outputs, that a widget has room for

Function = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Map:
    """A function R^n -> R^m with a point to look at it.

    Attributes:
        name: what it is called in a list of choices.
        program: what makes `y` out of `x`, as it is run and shown.
        start: the point, n numbers.
        function: the learner's own function; None for a ready one, which runs its program.
        dtype: of x, when the function is asked.
    """

    name: str
    program: str
    start: tuple[float, ...]
    function: Function | None = None
    dtype: torch.dtype = torch.float32

    def at(self, x: Sequence[float]) -> torch.Tensor:
        """Numbers as a tensor that the function takes."""
        return torch.tensor(x, dtype=self.dtype)

    def run(self, x: torch.Tensor) -> dict[str, object]:
        """Every variable of the program, `x` and `y` among them, after it ran on `x`."""
        if self.function is not None:
            return {"x": x, "y": self.function(x)}
        variables: dict[str, object] = {"torch": torch, "x": x}
        exec(self.program, variables)
        del variables["__builtins__"]
        return variables

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(x)["y"]

    def names(self, variables: dict[str, object]) -> Namespace:
        """What a graph's boxes are to be named by, given what `run` returned."""
        sources = () if self.function is not None else (Source(self.program),)
        return Namespace(variables, sources)


PLANE = Map(
    "plane map (x₀x₁, x₀² + x₁)",
    "x0, x1 = x\na = x0 * x1\nb = x0**2 + x1\ny = torch.stack([a, b])",
    (2.0, 1.0),
)
PRODUCTS = Map(
    "three to two (x₀x₁, x₁x₂)",
    "x0, x1, x2 = x\na = x0 * x1\nb = x1 * x2\ny = torch.stack([a, b])",
    (1.0, 2.0, 3.0),
)
# At (0, 0, log 2) the outputs are 1/4, 1/4 and 1/2.
SOFTMAX = Map("softmax of three", "y = torch.softmax(x, dim=0)", (0.0, 0.0, math.log(2)))
NETWORK = Map(
    "small network",
    "W = torch.tensor([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.5]])\n"
    "U = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])\n"
    "h = (W @ x).tanh()\n"
    "y = U @ h",
    (1.0, 0.5),
)
TURN = Map(
    "turn by 30° and stretch by 1.5",
    "t = torch.deg2rad(torch.tensor(30.0, dtype=x.dtype))\n"
    "y = 1.5 * torch.stack([t.cos() * x[0] - t.sin() * x[1], t.sin() * x[0] + t.cos() * x[1]])",
    (1.0, 1.0),
)
SHEAR = Map("shear (x₀ + x₁, x₁)", "y = torch.stack([x[0] + x[1], x[1]])", (1.0, 1.0))
POLAR = Map(
    "polar (x₀ cos x₁, x₀ sin x₁)",
    "y = torch.stack([x[0] * x[1].cos(), x[0] * x[1].sin()])",
    (2.0, 0.5),
)
SADDLE = Map(
    "into space (x₀, x₁, x₀x₁)",
    "y = torch.stack([x[0], x[1], x[0] * x[1]])",
    (1.0, 0.5),
)


def own_map(function: Function, x: object, widget: str) -> Map:
    """The learner's function at the learner's point, checked.

    Args:
        function: takes a tensor of shape (n,), returns one of shape (m,).
        x: n numbers: a tensor, list or tuple.
        widget: the public function that was called, for its errors.

    Raises:
        TypeError: `function` cannot be called, or only one of the two was given.
        ValueError: `x` is not a vector of 1 to 8 finite numbers.
    """
    example = f"{widget}(f, torch.tensor([2.0, 1.0]))"
    if function is None or x is None:
        missing = "x, the point to look at" if x is None else "the function"
        raise TypeError(f"{widget} needs {missing}, too: {example}. Without both it has its own.")
    if not callable(function):
        raise TypeError(
            f"{widget} needs a function first, not a {type(function).__name__}: {example}"
        )
    point = torch.as_tensor(x).detach()
    if point.dim() != 1 or not 1 <= point.numel() <= MOST:
        raise ValueError(
            f"x has shape {tuple(point.shape)}, but {widget} draws vectors of 1 to {MOST} numbers. "
            "Pass a vector, and give it its shape inside your function: x.reshape(2, 3)."
        )
    if point.is_complex() or not torch.isfinite(point).all():
        raise ValueError(f"x is {point.tolist()}, but its numbers must be real and finite.")
    name = getattr(function, "__name__", type(function).__name__)
    name = "f" if name == "<lambda>" else name
    start = tuple(float(entry) for entry in point.tolist())
    dtype = point.dtype if point.is_floating_point() else torch.get_default_dtype()
    return Map(f"yours: {name}", f"y = {name}(x)", start, function, dtype)


def checked(y: object, x: torch.Tensor, least: int = 1, most: int = MOST) -> torch.Tensor:
    """`y`, if it is a vector that was computed from `x` and that can be drawn.

    Args:
        y: what the learner's function returned.
        x: what it was called with, requiring grad.
        least: the least number of outputs.
        most: the largest number of outputs.

    Raises:
        TypeError: `y` is no tensor of real floating-point numbers.
        ValueError: `y` is no vector of so many finite numbers, or does not depend on `x`.
    """
    if not isinstance(y, torch.Tensor):
        raise TypeError(
            f"The function returned a {type(y).__name__}, but a tensor is needed. "
            "torch.stack([...]) makes one vector of several scalars."
        )
    if not y.is_floating_point():
        raise TypeError(f"The function returned {y.dtype}, but gradients need real floating point.")
    counts = str(most) if least == most else f"{least} to {most}"
    if y.dim() != 1:
        repair = "y.reshape(1)" if y.dim() == 0 else "y.reshape(-1)"
        kind = "a scalar" if y.dim() == 0 else f"shape {tuple(y.shape)}"
        raise ValueError(
            f"The function returned {kind}, but a vector of {counts} outputs is needed. "
            f"Return {repair}, say."
        )
    if not least <= y.numel() <= most:
        raise ValueError(
            f"The function returned {y.numel()} outputs, but there is room for {counts}. "
            f"Return some of them, such as y[:{most}]."
        )
    if not torch.isfinite(y).all():
        raise ValueError(
            f"The function returned {y.tolist()} at x = {x.tolist()}. "
            "Choose an x where every output is finite."
        )
    if not _depends(y, x):
        raise ValueError(
            "No path leads from the function's result back to x. Compute y from x by torch "
            "operations only: no .item(), .detach(), .numpy() or no_grad on the way."
        )
    return y


def _depends(y: torch.Tensor, x: torch.Tensor) -> bool:
    if not y.requires_grad:
        return False
    found = torch.autograd.grad(y.sum(), x, retain_graph=True, allow_unused=True)
    return found[0] is not None
