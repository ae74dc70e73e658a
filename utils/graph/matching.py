"""Compares an expression with the graph: could it have made this node?"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import torch

from .bindings import Binding
from .data import Edge
from .lookup import MISSING, Called, Lookup
from .operands import SAME, UNKNOWN, Fit, align, tensors_in
from .operators import ATTRIBUTES, MAY_RETURN_ITSELF, OPERATORS, WITH_PLACES, fitting, stem
from .skeleton import ANY, Skeleton
from .timeline import Timeline
from .traces import Frame

_DEPTH = 50  # rounds of `x = x * 2` that are followed back
_NEVER = (ast.Constant, ast.Compare, ast.JoinedStr, ast.Lambda, ast.Dict, ast.Set)
"""Expressions that give no tensor with a history."""


class Matcher:
    """Compares expressions with one graph. It holds no node of torch's.

    Every comparison gives a Fit, or None for a contradiction.
    """

    def __init__(
        self,
        graph: Skeleton,
        places: Mapping[int, tuple[int, int]],
        lookup: Lookup,
        line: Timeline,
        traces: Mapping[int, Sequence[Frame]],
    ) -> None:
        self._graph = graph
        self._places = places
        self._lookup = lookup
        self._line = line
        self._traces = traces
        self._known: dict[tuple, Fit | None] = {}
        self._depth = 0

    def one_of(self, bindings: Sequence[Binding], index: int, slot: int | None) -> Fit | None:
        """The fit of the only statement that does not contradict the graph.

        UNKNOWN when several do not, for then nobody knows which it was.
        """
        fits = [fit for b in bindings if (fit := self._of(b, index, slot)) is not None]
        if not fits:
            return None
        if len(fits) > 1 and any(not _same(fit, fits[0], index) for fit in fits):
            return UNKNOWN
        return fits[0]

    def _of(self, binding: Binding, index: int, slot: int | None) -> Fit | None:
        value = binding.value
        if value is None:
            return UNKNOWN
        if binding.item is None:
            return self.match(value, index, slot, binding)
        if not isinstance(value, ast.Call):
            return UNKNOWN
        callee = self._lookup.called(value, binding)
        if callee.kind != "torch" or not fitting(callee.name):
            return UNKNOWN
        return self.match(value, index, ANY, binding) if slot in (binding.item, ANY) else None

    def match(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Fit | None:
        """Whether `e`, in the statement `at`, may have made output `slot` of a node."""
        key = (id(e), index, slot, id(at))  # all of them are alive while this is
        if key not in self._known:
            if self._depth >= _DEPTH:
                return SAME  # far back: what is near has been compared
            self._depth += 1
            self._known[key] = self._match(e, index, slot, at)
            self._depth -= 1
        return self._known[key]

    def _match(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Fit | None:
        match e:
            case ast.BinOp() if type(e.op) in OPERATORS:
                return self._binary(e, index, slot, at)
            case ast.UnaryOp(ast.USub(), operand):
                return self._operation("neg", [operand], e, index, slot, at)
            case ast.Attribute(value, name) if name in ATTRIBUTES:
                return self._operation(name, [value], e, index, slot, at)
            case ast.Attribute(ast.Call() as call, "values") if slot in (0, ANY):
                return self._several(call, e, index, at)
            case ast.Name() | ast.Attribute():
                return self._reference(e, index, slot, at)
            case ast.Subscript():
                return self._subscript(e, index, slot, at)
            case ast.Call():
                return self._call(e, index, slot, at)
            case ast.IfExp(_, body, orelse):
                fits = [self.match(part, index, slot, at) for part in (body, orelse)]
                return UNKNOWN if all(fits) else fits[0] or fits[1]
            case ast.NamedExpr(_, value):
                return self.match(value, index, slot, at)
        return None if isinstance(e, _NEVER) else UNKNOWN

    def _reference(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Fit | None:
        """A name: it must be the very tensor, or have been it before it got another value."""
        thing = self._lookup.value(e, at)
        place = self._places.get(id(thing))
        if place is not None and place[0] == index and slot in (place[1], ANY):
            return SAME
        if thing is not MISSING and not self._lookup.may_differ(e, at):
            return None
        before = self._line.before(ast.unparse(e), at)
        fit = self.one_of([b for b, _ in before], index, slot) if before else UNKNOWN
        # Unseen, a function or another name may have changed it in place since, unless it is a
        # leaf. So no contradiction and no guesses; the rounds of a loop if nobody had a chance.
        if fit is None:
            return None if self._graph.nodes[index].kind == "leaf" else UNKNOWN
        if index not in fit.claims:
            return Fit({}, fit.sure)
        made = fit.claims[index][1]
        every_round = made.loops and made.blocks == at.blocks[: len(made.blocks)]
        ran = (made, True) in before
        if not ran and every_round and made.kind == "assign":
            ran = not self._lookup.exposed(made.name, at)
        return fit if fit.sure and ran else UNKNOWN

    def _binary(self, e: ast.BinOp, index: int, slot: int | None, at: Binding) -> Fit | None:
        name, operands = OPERATORS[type(e.op)], [e.left, e.right]
        node, inputs = self._graph.nodes[index], self._graph.inputs[index]
        if name == "matmul" or (name in ("add", "mul") and stem(node.name) == name):
            return self._operation(name, operands, e, index, slot, at)
        if name == "div" and stem(node.name) == "mul" and len(inputs) == 1:
            node, inputs = self._graph.nodes[inputs[0].target], self._graph.inputs[inputs[0].target]
            if stem(node.name) != "reciprocal":  # torch computes 2 / x as 1 / x * 2
                return None
            operands = [e.right]
        elif not self._graph.is_a(name, index, slot) or not _power_fits(e, node.facts):
            return None
        elif len(inputs) == 1:  # x - 2 is not 2 - x
            right = stem(node.name) == "rsub" or node.name == "PowBackward2" or inputs[0].input == 1
            operands = [e.right] if right else [e.left]
        fit = align(operands, inputs, self._lookup, at, self._operand(at))
        for other in {e.left, e.right} - set(operands):
            skipped = self._lookup.untracked(other, at)
            if skipped is False:
                return None
            fit = fit and Fit(fit.claims, fit.sure and skipped is True)
        return self._claim(e, index, at, fit)

    def _subscript(self, e: ast.Subscript, index: int, slot: int | None, at: Binding) -> Fit | None:
        if self._lookup.value(e, at) is not MISSING:
            return self._reference(e, index, slot, at)
        if isinstance(e.value, ast.Name | ast.Attribute):
            whole = self._lookup.value(e.value, at)
            if not issubclass(type(whole), torch.Tensor):
                return UNKNOWN  # a list, with an index that is not known
        node = self._graph.nodes[index]
        several = len(node.outputs) > 1 or stem(node.name) in WITH_PLACES
        if several and isinstance(e.slice, ast.Constant) and e.slice.value == slot:
            return self._several(e.value, e, index, at)
        parts = len(e.slice.elts) if isinstance(e.slice, ast.Tuple) else 1
        below = index
        for _ in range(parts):  # x[0, 1] selects twice
            inputs = self._graph.inputs[below]
            if not self._graph.is_a("getitem", below, slot) or len(inputs) != 1:
                return None
            below, slot = inputs[0].target, inputs[0].slot
            fit = self.match(e.value, below, slot, at)
            if fit is not None:
                return self._claim(e, index, at, fit)
        return None

    def _several(self, call: ast.expr, e: ast.expr, index: int, at: Binding) -> Fit | None:
        """One output of an operation that has several: `x.max(0).values`, `x.unbind()[1]`."""
        return self._claim(e, index, at, self.match(call, index, ANY, at))

    def _call(self, e: ast.Call, index: int, slot: int | None, at: Binding) -> Fit | None:
        callee = self._lookup.called(e, at)
        node = self._graph.nodes[index]
        if callee.kind == "custom":
            if node.kind != "custom" or node.name != callee.name:
                return None
            return self._claim(e, index, at, self._aligned(callee.operands, index, at))
        operation = callee.name if callee.kind == "torch" else ""
        if callee.kind == "module" and next(callee.module.parameters(), None) is None:
            kind = type(callee.module)
            operation = kind.__name__ if kind.__module__.startswith("torch.nn.") else ""
        if not fitting(operation):
            if callee.kind == "torch" and self._lookup.constants(e, at):
                return SAME if node.kind == "leaf" and _asks_for_grad(e) else None
            return UNKNOWN if node.kind == "leaf" else self._plausible(callee, e, index, slot, at)
        fit = self._operation(operation, callee.operands, e, index, slot, at)
        if fit is None and operation in MAY_RETURN_ITSELF:
            return self.match(callee.operands[0], index, slot, at)
        return fit

    def _operation(
        self,
        name: str,
        operands: Sequence[ast.expr],
        e: ast.expr,
        index: int,
        slot: int | None,
        at: Binding,
    ) -> Fit | None:
        """What has one node of its own; a matrix product may have reshaping around it."""
        if name != "matmul":
            fits = self._graph.is_a(name, index, slot)
            return self._claim(e, index, at, self._aligned(operands, index, at)) if fits else None
        for core in self._graph.through_shapes(index):
            if self._graph.is_a(name, core, ANY):
                return self._claim(e, index, at, self._aligned(operands, core, at, shaped=True))
        return None

    def _plausible(
        self, callee: Called, e: ast.expr, index: int, slot: int | None, at: Binding
    ) -> Fit | None:
        """A call whose inside is unknown: believed if what goes in lies behind the node."""
        goes_in = [
            tensor
            for operand in callee.operands
            if not self._lookup.may_differ(operand, at)
            for tensor in tensors_in(self._lookup.value(operand, at))
            if tensor.requires_grad
        ]
        trained = []
        if callee.module is not None:
            trained = [p for p in callee.module.parameters() if p.requires_grad]
        if slot is ANY or not (goes_in or trained):
            return UNKNOWN
        behind = self._graph.behind(index)
        fits = all(self._node(tensor) in behind for tensor in goes_in)
        if trained and not any(self._node(p) in behind for p in trained):
            fits = False
        claim = self._claim(e, index, at, UNKNOWN) if fits else UNKNOWN
        return claim and Fit(claim.claims, False)

    def _node(self, tensor: torch.Tensor) -> int | None:
        return self._places.get(id(tensor), (None, 0))[0]

    def _aligned(
        self, operands: Sequence[ast.expr], index: int, at: Binding, shaped: bool = False
    ) -> Fit | None:
        inputs = self._graph.inputs[index]
        return align(operands, inputs, self._lookup, at, self._operand(at, shaped))

    def _operand(self, at: Binding, shaped: bool = False):
        """Compares one operand with one edge; with `shaped`, also behind changes of shape."""

        def match(operand: object, edge: Edge) -> Fit | None:
            if isinstance(operand, torch.Tensor):
                place = self._places.get(id(operand))
                return SAME if place == (edge.target, edge.slot) else None
            fit = self.match(operand, edge.target, edge.slot, at)
            if fit is None and shaped:
                for below in self._graph.through_shapes(edge.target):
                    fit = fit or self.match(operand, below, 0, at)
            return fit

        return match

    def _claim(self, e: ast.expr, index: int, at: Binding, below: Fit | None) -> Fit | None:
        """`below` and this node too, unless torch noted that it was made elsewhere."""
        if below is None:
            return None
        frames, statement = self._traces.get(index, ()), at.statement
        if frames and at.source.path:
            lines = [frame.line for frame in frames if frame.path == at.source.path]
            if not any(statement.lineno <= line <= statement.end_lineno for line in lines):
                return None
        return Fit(below.claims | {index: (e, at)}, below.sure)


def _same(one: Fit, other: Fit, index: int) -> bool:
    """Whether two fits say the same of a node, and not nothing."""
    if index not in one.claims or index not in other.claims:
        return False
    (a, here), (b, there) = one.claims[index], other.claims[index]
    return a.lineno == b.lineno and here.source is there.source and ast.unparse(a) == ast.unparse(b)


def _asks_for_grad(call: ast.Call) -> bool:
    """Whether a call makes a leaf that gradients land in."""
    return "requires_grad" in ast.unparse(call) or "Parameter" in ast.unparse(call)


def _power_fits(e: ast.BinOp, facts: Mapping[str, object]) -> bool:
    """Whether a written exponent is the one that the node keeps."""
    if not isinstance(e.op, ast.Pow) or not isinstance(e.right, ast.Constant):
        return True
    return facts.get("exponent", e.right.value) == e.right.value
