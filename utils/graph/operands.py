"""Gives the edges of a node to the operands that were written, one by one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from .bindings import Binding
from .data import Edge
from .lookup import Lookup

_MANY = 1_000  # tensors of a list that are looked at
_WILD = object()  # operands that the text does not count, such as `*ts`

Claims = dict[int, tuple[ast.expr, Binding]]
"""For the nodes, by index, that an expression accounts for: their part of it, and where it is."""


class Fit(NamedTuple):
    """An expression and the graph do not contradict each other.

    Attributes:
        claims: what the expression says of which nodes.
        sure: whether all of it was compared; False when a part of it cannot be known.
    """

    claims: Claims
    sure: bool


SAME = Fit({}, True)
"""The very tensor."""

UNKNOWN = Fit({}, False)
"""It may be so, and nothing tells."""

Match = Callable[[object, Edge], Fit | None]


def align(
    operands: Sequence[ast.expr], inputs: Sequence[Edge], lookup: Lookup, at: Binding, match: Match
) -> Fit | None:
    """Give each edge an operand, in order; an operand without an edge must need no gradient.

    Args:
        operands: as written.
        inputs: the edges on which the node sends gradients, in order.
        lookup: for the operands' values.
        at: the statement they stand in.
        match: compares one operand (an expression, or a tensor out of a list) with one edge.

    Returns:
        How all of it fits; None when there is no way.
    """
    spread = [part for operand in operands for part in _spread(operand, lookup, at)]
    return _align(spread, inputs, lookup, at, match)


def _align(
    operands: Sequence[object], inputs: Sequence[Edge], lookup: Lookup, at: Binding, match: Match
) -> Fit | None:
    if not operands:
        return None if inputs else SAME
    operand, rest = operands[0], operands[1:]
    if operand is _WILD:
        return UNKNOWN
    if inputs:
        here = match(operand, inputs[0])
        after = None if here is None else _align(rest, inputs[1:], lookup, at, match)
        if after is not None:
            return Fit(here.claims | after.claims, here.sure and after.sure)
    skipped = untracked(operand, lookup, at)
    after = None if skipped is False else _align(rest, inputs, lookup, at, match)
    return after and Fit(after.claims, after.sure and skipped is True)


def untracked(operand: object, lookup: Lookup, at: Binding) -> bool | None:
    """Whether an operand may have needed no gradient; None when nothing tells."""
    if isinstance(operand, torch.Tensor):
        return not operand.requires_grad
    return lookup.untracked(operand, at)


def tensors_in(thing: object) -> list[torch.Tensor]:
    """The tensor itself, or those in a list or tuple."""
    things = thing[:_MANY] if type(thing) in (list, tuple) else [thing]
    return [tensor for tensor in things if issubclass(type(tensor), torch.Tensor)]


def _spread(operand: ast.expr, lookup: Lookup, at: Binding) -> Sequence[object]:
    """`[a, b]`, and a variable that holds a list of tensors, are as many operands."""
    match operand:
        case ast.List(elements) | ast.Tuple(elements):
            return [part for element in elements for part in _spread(element, lookup, at)]
        case ast.Starred() | ast.ListComp() | ast.GeneratorExp():
            return [_WILD]
        case ast.Name() | ast.Attribute():
            thing = lookup.value(operand, at)
            if type(thing) in (list, tuple) and thing:
                return [_WILD] if lookup.may_differ(operand, at) else tensors_in(thing)
    return [operand]
