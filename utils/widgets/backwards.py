"""Functions with a backward of their own: ready ones, right and wrong, and the learner's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch

Function = Callable[[torch.Tensor], torch.Tensor]

_SAVED = """\
class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward({saved})
        return {forward}

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return {backward}"""


@dataclass(frozen=True, slots=True)
class Case:
    """A function of one number with its backward.

    Attributes:
        name: what it is called in a list of choices.
        program: the class, as it is run and shown; for the learner's own, the call.
        start: where to look first.
        low, high: how far the point may go.
        own: the learner's own function; None for a ready one, which runs its program.
        note: what else there is to say when backward disagrees with differences.
    """

    name: str
    program: str
    start: float = 1.0
    low: float = -2.0
    high: float = 2.0
    own: Function | None = None
    note: str = ""

    @property
    def function(self) -> Function:
        """What takes a tensor and applies the function to each entry."""
        return self.own or _made(self.program)


@cache
def _made(program: str) -> Function:
    variables: dict[str, object] = {"torch": torch}
    exec(program, variables)
    (made,) = (
        value
        for value in variables.values()
        if isinstance(value, type) and issubclass(value, torch.autograd.Function)
    )
    return made.apply


def _saving(name: str, forward: str, backward: str, saved: str = "x") -> str:
    return _SAVED.format(name=name, forward=forward, backward=backward, saved=saved)


READY = (
    Case("x³, right", _saving("Cube", "x**3", "3 * x**2 * g")),
    Case("x³, a factor missing", _saving("Cube", "x**3", "x**2 * g")),
    Case("x³, saved in float32", _saving("Cube", "x**3", "3 * x**2 * g", "x.float()"), 0.7),
    Case("x², right", _saving("Square", "x**2", "2 * x * g")),
    Case("x², upstream g forgotten", _saving("Square", "x**2", "2 * x")),
    Case("x², wrong sign", _saving("Square", "x**2", "-2 * x * g")),
    Case("ReLU, slope 0 at 0", _saving("ReLU", "x.clamp(min=0)", "g * (x > 0)"), 0.5),
    Case("|x|, slope 0 at 0", _saving("Abs", "x.abs()", "g * x.sign()"), 0.5),
    Case(
        "√x, output saved",
        """\
class Sqrt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (2 * y)""",
        0.5,
        low=0.0,
    ),
    Case(
        "step, straight-through",
        """\
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g  # as if the step were x""",
        0.5,
        note="Here that is on purpose: a step is flat, and a slope of 0 would teach nothing.",
    ),
)


def own_case(function: object, x: float) -> Case:
    """The learner's function as a case, after a look at what it does.

    Raises:
        TypeError: it cannot be called, or returns no floating-point tensor.
        ValueError: it is not elementwise, its backward gives nothing, or `x` is not finite.
    """
    example = "gradient_microscope(MyFunction, x=1.0)"
    if isinstance(function, type) and issubclass(function, torch.autograd.Function):
        name, call, apply = function.__name__, f"{function.__name__}.apply", function.apply
    elif callable(function):
        name = getattr(function, "__name__", type(function).__name__)
        call, apply = name, function
    else:
        raise TypeError(
            "gradient_microscope needs a torch.autograd.Function class or a function of one "
            f"tensor, not a {type(function).__name__}: {example}"
        )
    try:
        start = float(x)
    except (TypeError, ValueError) as error:
        raise TypeError(f"x is one number to look at, not {x!r}: {example}") from error
    if not abs(start) < 1e6:
        raise ValueError(f"x is {start}; the microscope looks at points between -1e6 and 1e6")
    _look_over(name, apply, start)
    return Case(f"yours: {name}", f"y = {call}(x)", start, start - 2.0, start + 2.0, own=apply)


def _look_over(name: str, function: Function, start: float) -> None:
    """Raise unless a function is elementwise and has a backward."""
    x = torch.tensor([start, start + 0.25], dtype=torch.float64, requires_grad=True)
    with torch.enable_grad():
        y = function(x)
        if not isinstance(y, torch.Tensor) or not y.is_floating_point():
            kind = y.dtype if isinstance(y, torch.Tensor) else f"a {type(y).__name__}"
            raise TypeError(f"{name}(x) has to be one floating-point tensor, but is {kind}")
        entries = [function(entry).detach() for entry in x.detach().split(1)]
        same = y.shape == x.shape and all(entry.shape == (1,) for entry in entries)
        if not same or not torch.allclose(y.detach(), torch.cat(entries), equal_nan=True):
            raise ValueError(
                f"{name} has to work on each entry by itself: for x of shape (2,) it returned "
                f"shape {tuple(y.shape)}, and not what it returns for each of them alone. Wrap it, "
                "so that one number goes in and one comes out."
            )
        missing = not y.requires_grad
        if not missing:
            (gradient,) = torch.autograd.grad(y.sum(), x, allow_unused=True)
            missing = gradient is None
    if missing:
        raise ValueError(
            f"No gradient comes back from {name} to x: its backward has to return the gradient "
            "of x, a tensor, not None. Call it through .apply, and outside of no_grad."
        )
