"""Compares an expression with the graph: could it have made this node?"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import torch

from .bindings import Binding
from .data import Edge
from .lookup import MISSING, Called, Lookup
from .operators import ATTRIBUTES, MAY_RETURN_ITSELF, OPERATORS, WITH_PLACES, fitting, stem
from .skeleton import ANY, Skeleton
from .timeline import Timeline
from .traces import Frame

_MANY = 1_000  # tensors of a list that are looked at
_DEPTH = 50  # rounds of `x = x * 2` that are followed back
_WILD = object()  # operands that the text does not count, such as `*ts`

Claims = dict[int, tuple[ast.expr, Binding]]
"""For the nodes, by index, that an expression accounts for: their part of it, and where it is."""


class Matcher:
    """Compares expressions with one graph. It holds no tensor and no node of torch's."""

    def __init__(
        self,
        skeleton: Skeleton,
        places: Mapping[int, tuple[int, int]],
        lookup: Lookup,
        line: Timeline,
        traces: Mapping[int, Sequence[Frame]],
    ) -> None:
        self._graph = skeleton
        self._places = places
        self._lookup = lookup
        self._line = line
        self._traces = traces
        self._known: dict[tuple, Claims | None] = {}
        self._depth = 0

    def one_of(self, bindings: Sequence[Binding], index: int, slot: int | None) -> Claims | None:
        """What fits; {} when several things do, for then nobody knows which it was."""
        fits = [claims for b in bindings if (claims := self._of(b, index, slot)) is not None]
        texts = {ast.unparse(claims[index][0]) if index in claims else "" for claims in fits}
        if not fits:
            return None
        return fits[0] if len(texts) == 1 else {}

    def _of(self, binding: Binding, index: int, slot: int | None) -> Claims | None:
        if binding.value is None:
            return {}
        if binding.item is None:
            return self.match(binding.value, index, slot, binding)
        if slot not in (binding.item, ANY) or not isinstance(binding.value, ast.Call):
            return None
        return self.match(binding.value, index, ANY, binding)

    def match(self, expression: ast.expr, index: int, slot: int | None, at: Binding):
        """The claims of `expression` if it may have made output `slot` of a node, else None."""
        key = (id(expression), index, slot, id(at))  # all of them are alive while this is
        if key not in self._known:
            if self._depth >= _DEPTH:
                return {}
            self._depth += 1
            self._known[key] = self._match(expression, index, slot, at)
            self._depth -= 1
        return self._known[key]

    def _match(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Claims | None:
        match e:
            case ast.Name():
                return self._reference(e, index, slot, at)
            case ast.BinOp() if type(e.op) in OPERATORS:
                return self._binary(e, index, slot, at)
            case ast.UnaryOp(ast.USub(), operand):
                return self._operation("neg", [operand], e, index, slot, at)
            case ast.Attribute(value, attribute) if attribute in ATTRIBUTES:
                return self._operation(attribute, [value], e, index, slot, at)
            case ast.Attribute(ast.Call() as call, "values") if slot in (0, ANY):
                return self._several(call, e, index, at)
            case ast.Attribute():
                return self._reference(e, index, slot, at)
            case ast.Subscript():
                return self._subscript(e, index, slot, at)
            case ast.Call():
                return self._call(e, index, slot, at)
            case ast.IfExp():
                fits = [self.match(part, index, slot, at) for part in (e.body, e.orelse)]
                fits = [claims for claims in fits if claims is not None]
                return fits[0] if len(fits) == 1 else ({} if fits else None)
            case ast.NamedExpr():
                return self.match(e.value, index, slot, at)
        return None

    def _reference(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Claims | None:
        """A name: it must be the very tensor, or have been it before it got another value."""
        thing = self._lookup.value(e, at)
        place = self._places.get(id(thing))
        if place is not None and place[0] == index and slot in (place[1], ANY):
            return {}
        if thing is not MISSING and not self._lookup.may_differ(e, at):
            return None
        earlier = [binding for binding, _ in self._line.before(ast.unparse(e), at)]
        return self.one_of(earlier, index, slot)

    def _binary(self, e: ast.BinOp, index: int, slot: int | None, at: Binding) -> Claims | None:
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
        for other in {e.left, e.right} - set(operands):
            if not self._lookup.untracked(other, at):
                return None
        return self._claim(e, index, at, self._align(operands, inputs, at))

    def _subscript(self, e: ast.Subscript, index: int, slot: int | None, at: Binding):
        if self._lookup.value(e, at) is not MISSING:
            return self._reference(e, index, slot, at)
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
            claims = self.match(e.value, below, slot, at)
            if claims is not None:
                return self._claim(e, index, at, claims)
        return None

    def _several(self, call: ast.expr, e: ast.expr, index: int, at: Binding) -> Claims | None:
        """One output of an operation that has several: `x.max(0).values`, `x.unbind()[1]`."""
        claims = self.match(call, index, ANY, at)
        return None if claims is None else claims | {index: (e, at)}

    def _call(self, e: ast.Call, index: int, slot: int | None, at: Binding) -> Claims | None:
        callee = self._lookup.called(e, at)
        operation = callee.name if callee.kind == "torch" else ""
        if callee.kind == "module" and not any(True for _ in callee.module.parameters()):
            operation = type(callee.module).__name__
            operation = operation if type(callee.module).__module__.startswith("torch.nn") else ""
        fits = operation and fitting(operation)
        if self._graph.nodes[index].kind == "leaf":
            return None if fits else {}
        if callee.kind == "custom":
            node, inputs = self._graph.nodes[index], self._graph.inputs[index]
            if node.kind != "custom" or node.name != callee.name:
                return None
            return self._claim(e, index, at, self._align(callee.operands, inputs, at))
        if not fits:
            return None
        return fits[0] if len(texts) == 1 else {}

    def _of(self, binding: Binding, index: int, slot: int | None) -> Claims | None:
        if binding.value is None:
            return {}
        if binding.item is None:
            return self.match(binding.value, index, slot, binding)
        if slot not in (binding.item, ANY) or not isinstance(binding.value, ast.Call):
            return None
        return self.match(binding.value, index, ANY, binding)

    def match(self, expression: ast.expr, index: int, slot: int | None, at: Binding):
        """The claims of `expression` if it may have made output `slot` of a node, else None."""
        key = (id(expression), index, slot, id(at))  # all of them are alive while this is
        if key not in self._known:
            if self._depth >= _DEPTH:
                return {}
            self._depth += 1
            self._known[key] = self._match(expression, index, slot, at)
            self._depth -= 1
        return self._known[key]

    def _match(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Claims | None:
        match e:
            case ast.Name():
                return self._reference(e, index, slot, at)
            case ast.BinOp() if type(e.op) in OPERATORS:
                return self._binary(e, index, slot, at)
            case ast.UnaryOp(ast.USub(), operand):
                return self._operation("neg", [operand], e, index, slot, at)
            case ast.Attribute(value, attribute) if attribute in ATTRIBUTES:
                return self._operation(attribute, [value], e, index, slot, at)
            case ast.Attribute(ast.Call() as call, "values") if slot in (0, ANY):
                return self._several(call, e, index, at)
            case ast.Attribute():
                return self._reference(e, index, slot, at)
            case ast.Subscript():
                return self._subscript(e, index, slot, at)
            case ast.Call():
                return self._call(e, index, slot, at)
            case ast.IfExp():
                fits = [self.match(part, index, slot, at) for part in (e.body, e.orelse)]
                fits = [claims for claims in fits if claims is not None]
                return fits[0] if len(fits) == 1 else ({} if fits else None)
            case ast.NamedExpr():
                return self.match(e.value, index, slot, at)
        return None

    def _reference(self, e: ast.expr, index: int, slot: int | None, at: Binding) -> Claims | None:
        """A name: it must be the very tensor, or have been it before it got another value."""
        thing = self._lookup.value(e, at)
        place = self._places.get(id(thing))
        if place is not None and place[0] == index and slot in (place[1], ANY):
            return {}
        if thing is not MISSING and not self._lookup.may_differ(e, at):
            return None
        earlier = [binding for binding, _ in self._line.before(ast.unparse(e), at)]
        return self.one_of(earlier, index, slot)

    def _binary(self, e: ast.BinOp, index: int, slot: int | None, at: Binding) -> Claims | None:
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
        for other in {e.left, e.right} - set(operands):
            if not self._lookup.untracked(other, at):
                return None
        return self._claim(e, index, at, self._align(operands, inputs, at))

    def _subscript(self, e: ast.Subscript, index: int, slot: int | None, at: Binding):
        if self._lookup.value(e, at) is not MISSING:
            return self._reference(e, index, slot, at)
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
            claims = self.match(e.value, below, slot, at)
            if claims is not None:
                return self._claim(e, index, at, claims)
        return None

    def _several(self, call: ast.expr, e: ast.expr, index: int, at: Binding) -> Claims | None:
        """One output of an operation that has several: `x.max(0).values`, `x.unbind()[1]`."""
        claims = self.match(call, index, ANY, at)
        return None if claims is None else claims | {index: (e, at)}

    def _call(self, e: ast.Call, index: int, slot: int | None, at: Binding) -> Claims | None:
        callee = self._lookup.called(e, at)
        operation = callee.name if callee.kind == "torch" else ""
        if callee.kind == "module" and not any(True for _ in callee.module.parameters()):
            operation = type(callee.module).__name__
            operation = operation if type(callee.module).__module__.startswith("torch.nn") else ""
        fits = operation and fitting(operation)
        if self._graph.nodes[index].kind == "leaf":
            return None if fits else {}
        if callee.kind == "custom":
            if (
                self._graph.nodes[index].kind != "custom"
                or self._graph.nodes[index].name != callee.name
            ):
                return None
            return self._claim(
                e, index, at, self._align(callee.operands, self._graph.inputs[index], at)
            )
        if not fits:
            return self._plausible(callee, e, index, at) if slot is not ANY else None
        claims = self._operation(operation, callee.operands, e, index, slot, at)
        if claims is None and operation in MAY_RETURN_ITSELF:
            return self.match(callee.operands[0], index, slot, at)
        return claims

    def _operation(
        self,
        name: str,
        operands: Sequence[ast.expr],
        e: ast.expr,
        index: int,
        slot: int | None,
        at: Binding,
    ) -> Claims | None:
        """A call that has one node of its own."""
        if name == "matmul":
            return self._product(operands, e, index, at)
        if not self._graph.is_a(name, index, slot):
            return None
        return self._claim(e, index, at, self._align(operands, self._graph.inputs[index], at))

    def _product(
        self, operands: Sequence[ast.expr], e: ast.expr, index: int, at: Binding
    ) -> Claims | None:
        """A matrix product, with the reshaping that torch puts around it."""
        for core in self._graph.through_shapes(index):
            if self._graph.is_a("matmul", core, ANY):
                below = self._align(operands, self._graph.inputs[core], at, shaped=True)
                return self._claim(e, index, at, below)
        return None

    def _plausible(self, callee: Called, e: ast.expr, index: int, at: Binding) -> Claims | None:
        """A call whose inside is unknown: what goes in must lie behind the node, all of it."""
        behind = self._graph.behind(index)
        evidence = False
        if callee.module is not None:
            trained = [p for p in callee.module.parameters() if p.requires_grad]
            evidence = any(self._places.get(id(p), (None,))[0] in behind for p in trained)
            if trained and not evidence:
                return None
        for operand in callee.operands:
            for tensor in _tensors_in(self._lookup.value(operand, at)):
                if not tensor.requires_grad or self._lookup.may_differ(operand, at):
                    continue
                if self._places.get(id(tensor), (None,))[0] not in behind:
                    return None
                evidence = True
        return self._claim(e, index, at, {}) if evidence else None

    def _align(
        self,
        operands: Sequence[object],
        inputs: Sequence[Edge],
        at: Binding,
        shaped: bool = False,
    ) -> Claims | None:
        """Give each edge an operand, in order; what gets none must need no gradient."""
        operands = [part for operand in operands for part in self._spread(operand, at)]
        return self._align_from(operands, 0, inputs, 0, at, shaped)

    def _align_from(self, operands, first, inputs, used, at, shaped) -> Claims | None:
        if first == len(operands):
            return {} if used == len(inputs) else None
        operand = operands[first]
        if operand is _WILD:
            return {}
        if used < len(inputs):
            here = self._operand(operand, inputs[used], at, shaped)
            if here is not None:
                rest = self._align_from(operands, first + 1, inputs, used + 1, at, shaped)
                if rest is not None:
                    return here | rest
        if isinstance(operand, torch.Tensor):
            skipped = not operand.requires_grad
        else:
            skipped = self._lookup.untracked(operand, at)
        return self._align_from(operands, first + 1, inputs, used, at, shaped) if skipped else None

    def _operand(self, operand: object, edge: Edge, at: Binding, shaped: bool) -> Claims | None:
        if isinstance(operand, torch.Tensor):
            return {} if self._places.get(id(operand)) == (edge.target, edge.slot) else None
        claims = self.match(operand, edge.target, edge.slot, at)
        if claims is None and shaped:
            for below in self._graph.through_shapes(edge.target):
                claims = self.match(operand, below, 0, at)
                if claims is not None:
                    break
        return claims

    def _spread(self, operand: ast.expr, at: Binding) -> Sequence[object]:
        """`[a, b]` and a variable that holds a list of tensors are as many operands."""
        match operand:
            case ast.List(elements) | ast.Tuple(elements):
                return [part for element in elements for part in self._spread(element, at)]
            case ast.Starred() | ast.ListComp() | ast.GeneratorExp():
                return [_WILD]
            case ast.Name() | ast.Attribute():
                thing = self._lookup.value(operand, at)
                if type(thing) in (list, tuple):
                    return _tensors_in(thing)
        return [operand]

    def _claim(self, e: ast.expr, index: int, at: Binding, below: Claims | None) -> Claims | None:
        """`below` and this node too, unless torch noted that it was made elsewhere."""
        if below is None:
            return None
        frames, statement = self._traces.get(index, ()), at.statement
        if frames and at.source.path:
            lines = [frame.line for frame in frames if frame.path == at.source.path]
            if not any(statement.lineno <= line <= statement.end_lineno for line in lines):
                return None
        return below | {index: (e, at)}


def _tensors_in(thing: object) -> list[torch.Tensor]:
    """The tensor itself, or those in a list or tuple."""
    things = thing[:_MANY] if type(thing) in (list, tuple) else [thing]
    return [tensor for tensor in things if issubclass(type(tensor), torch.Tensor)]


def _power_fits(e: ast.BinOp, facts: Mapping[str, object]) -> bool:
    """Whether a written exponent is the one that the node keeps."""
    if not isinstance(e.op, ast.Pow) or not isinstance(e.right, ast.Constant):
        return True
    return facts.get("exponent", e.right.value) == e.right.value
