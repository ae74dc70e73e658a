"""What the rule tables are written in: `Law`, one per torch node, and `Site`, where it applies."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from utils.graph.data import Graph, Node, Value
from utils.pictures import small_array as sa
from utils.pictures.rule_algebra import PRODUCT, Formula, call, g
from utils.pictures.small_array import Array, Shape

Parts = Sequence[Formula | str | None]


@dataclass(frozen=True, slots=True)
class Law:
    """The backward rule of one kind of node.

    Attributes:
        words: one plain sentence.
        parts: from the site, per forward input: a formula, or plain text where it cannot be
            computed here, or None where nothing is known.
        inputs: torch's names of the forward inputs, in order; the last one is repeated as needed.
        broadcast: how many of the inputs, from the first, are broadcast to the output's shape, so
            that their gradients are summed back.
    """

    words: str
    parts: Callable[[Site], Parts] | None = None
    inputs: tuple[str, ...] = ("self",)
    broadcast: int = 0

    def input_name(self, k: int) -> str:
        """Torch's name of the k-th forward input."""
        if not self.inputs:
            return f"input {k + 1}"
        return self.inputs[min(k, len(self.inputs) - 1)]


@dataclass(frozen=True, slots=True)
class Site:
    """One node with its surroundings: what a law needs to know of it."""

    node: Node
    graph: Graph

    @property
    def out(self) -> Shape:
        """The shape of the first output.

        Raises:
            ValueError: if it is not known.
        """
        return _known(self.node.outputs[0] if self.node.outputs else None)

    def shape(self, k: int = 0) -> Shape:
        """The shape of the k-th forward input, from its node or from what this one keeps.

        Raises:
            ValueError: if neither tells.
        """
        edges = self.graph.edges_from(self.node.index)
        if k < len(edges) and edges[k].target is not None:
            return _known(self.graph.nodes[edges[k].target].outputs[edges[k].slot])
        if k == 0 and (sizes := self.fact("self_sym_sizes")):
            return tuple(int(size) for size in sizes)
        raise ValueError("the shape of this input is not known")

    def fact(self, name: str, default: object = None) -> object:
        """What the node keeps beside tensors; negative numbers as they were written.

        Torch hands -1 out as 2**64 - 1.
        """
        facts = self.node.facts
        value = facts.get(name, facts.get(f"_saved_{name}", default))
        if isinstance(value, str) and value[:1] in "([":
            value = ast.literal_eval(value)
        if isinstance(value, list | tuple):
            return tuple(map(_signed, value))
        return default if value is None else _signed(value)

    def number(self, name: str, default: float | int = 1) -> float | int | complex:
        """A fact that is a number.

        Raises:
            ValueError: if it is something else.
        """
        value = self.fact(name, default)
        if not isinstance(value, int | float | complex):
            raise ValueError(f"{name} is {value!r}, not a number")
        return value

    def dims(self, k: int = 0) -> tuple[int, ...]:
        """The dimensions that a reduction went over, none of them negative."""
        rank = len(self.shape(k))
        dims = self.fact("dim")
        dims = (dims,) if isinstance(dims, int) else tuple(dims or range(rank))
        return tuple(dim % rank for dim in dims) if rank else ()

    def saved(self, name: str) -> Value | None:
        """The value of a saved tensor; None when it is not at hand."""
        return next((s.value for s in self.node.saved if s.name == name), None)

    def spread(self, formula: Formula = g) -> Formula:
        """Something of the output's shape, repeated over what a reduction has summed."""
        shape, gone = self.shape(), set(self.dims())
        kept = tuple(1 if d in gone else n for d, n in enumerate(shape))
        return call("expand", lambda a: sa.expand(sa.reshape(a, kept), shape), formula)

    def picked(self, form: str, places: Callable[[], Array]) -> Formula:
        """For an output that took entries of its input: the gradient put back in their places.

        Args:
            form: how that reads, with {0} for what came in.
            places: for each entry of the output, where in the input it was (row-major).
        """
        return Formula(form, lambda a: sa.scatter(a, places(), self.shape()), (g,), asks=(PRODUCT,))


def _known(value: Value | None) -> Shape:
    if value is None or value.shape is None or any(isinstance(s, str) for s in value.shape):
        raise ValueError("this shape is not known")
    return tuple(int(size) for size in value.shape)


def _signed(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 2**63:
        return value - 2**64
    return value
