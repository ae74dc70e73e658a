"""Finds the statements that give a name its value, or change it, in the text of one scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .sources import FUNCTIONS, NOWHERE, Source, function_at, parse

GRAD_MODE = "<grad mode>"
"""The name under which calls of `torch.set_grad_enabled` are filed."""

_MARKS = {"requires_grad_", "share_memory_"}
"""Methods that end in an underscore and yet leave value and history alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One statement that gave a name its value, changed it in place, or may have.

    Attributes:
        name: the target as written: "z", "self.h", "ws[0]".
        value: the expression on the right; None when it cannot be known (a loop variable, ...).
        statement: the statement itself.
        kind: "assign", "augmented", "walrus", "inplace" or "mark" (`requires_grad_`, no new value).
        item: k when this name takes the k-th item of `value`; None when it takes the whole.
        order: its statement's place in its scope: what one statement binds, it reads before.
        blocks: the branches and loop bodies around it, outermost first.
        loops: those of `blocks` that are loop bodies.
        contexts: the expressions of the `with` statements around it, outermost first.
        source: where it is.
        scope, moment: which scope, and which of its sources in order of time.
    """

    name: str
    value: ast.expr | None
    statement: ast.AST
    kind: str = "assign"
    item: int | None = None
    order: int = 0
    blocks: tuple[int, ...] = ()
    loops: frozenset[int] = frozenset()
    contexts: tuple[ast.expr, ...] = ()
    source: Source = NOWHERE
    scope: int = 0
    moment: int = 0

    @property
    def place(self) -> str:
        """Where it is written, for a sentence: "cell 3, line 4", or "line 4"."""
        line = f"line {self.statement.lineno}"
        return f"{self.source.file}, {line}" if self.source.file else line


@lru_cache(maxsize=512)
def scan(text: str, function: int | None) -> Scope:
    scope = Scope()
    root = parse(text) if function is None else function_at(text, function)
    if isinstance(root, FUNCTIONS):
        every = root.args
        for arg in (*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg):
            if arg is not None:
                scope.bind(arg.arg, None, root)
    if root is not None:
        try:
            scope.visit(root.body)
        except RecursionError:  # a sum of a thousand terms, written out
            return Scope()
    return scope


class Scope:
    """Files the bindings of one scope, in order.

    Attributes:
        bindings: by name, in order.
        statements: (order, blocks, statement) of each.
        foreign: names that code of another scope may bind.
        aliased: names whose value has got another name too, by `other = name`.
        handed: by name, the calls that it is an argument of.
    """

    def __init__(self) -> None:
        self.bindings: dict[str, list[Binding]] = {}
        self.statements: list[tuple[int, tuple[int, ...], ast.stmt]] = []
        self.foreign: set[str] = set()
        self.aliased: set[str] = set()
        self.handed: dict[str, list[ast.Call]] = {}
        self._order = 0
        self._blocks: tuple[int, ...] = ()
        self._loops: frozenset[int] = frozenset()
        self._contexts: tuple[ast.expr, ...] = ()
        self._count = 0

    def bind(
        self,
        name: str,
        value: ast.expr | None,
        statement: ast.AST,
        kind: str = "assign",
        item: int | None = None,
    ) -> None:
        binding = Binding(
            name, value, statement, kind, item, self._order, self._blocks, self._loops,
            self._contexts,
        )  # fmt: skip
        self.bindings.setdefault(name, []).append(binding)

    def visit(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._order += 1
            self.statements.append((self._order, self._blocks, statement))
            self._visit(statement)

    def _block(self, body: list[ast.stmt], loop: bool = False, targets: ast.AST | None = None):
        if not body:
            return
        self._count += 1
        blocks, loops = self._blocks, self._loops
        self._blocks = (*blocks, self._count)
        if loop:
            self._loops = loops | {self._count}
        if targets is not None:
            self._unknowable(targets)
        self.visit(body)
        self._blocks, self._loops = blocks, loops

    def _visit(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.bind(node.name, None, node)
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Global | ast.Nonlocal):
                        self.foreign.update(inner.names)
            case ast.Assign():
                self._inside(node.value, node)
                for target in node.targets:
                    self._target(target, node.value, node)
            case ast.AnnAssign(value=value) if value is not None:
                self._inside(value, node)
                self._target(node.target, value, node)
            case ast.AugAssign():
                self._inside(node.value, node)
                self._augmented(node)
            case ast.Delete():
                for target in node.targets:
                    self._unknowable(target)
            case ast.For() | ast.AsyncFor():
                self._inside(node.iter, node)
                self._block(node.body, loop=True, targets=node.target)
                self._block(node.orelse)
            case ast.While():
                self._inside(node.test, node)
                self._block(node.body, loop=True)
                self._block(node.orelse)
            case ast.If():
                self._inside(node.test, node)
                self._block(node.body)
                self._block(node.orelse)
            case ast.With() | ast.AsyncWith():
                contexts = self._contexts
                for item in node.items:
                    self._contexts = (*self._contexts, item.context_expr)
                    if item.optional_vars is not None:
                        self._unknowable(item.optional_vars)
                self.visit(node.body)
                self._contexts = contexts
            case ast.Try() | ast.TryStar():
                self._block(node.body)
                for handler in node.handlers:
                    if handler.name:
                        self.bind(handler.name, None, handler)
                    self._block(handler.body)
                self._block(node.orelse)
                self.visit(node.finalbody)
            case ast.Match():
                self._inside(node.subject, node)
                for case in node.cases:
                    self._unknowable(case.pattern)
                    self._block(case.body)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    self.bind(alias.asname or alias.name.partition(".")[0], None, node)
            case ast.Global() | ast.Nonlocal():
                self.foreign.update(node.names)
            case _:
                for child in ast.iter_child_nodes(node):
                    self._inside(child, node)

    def _target(
        self, target: ast.expr, value: ast.expr, node: ast.stmt, item: int | None = None
    ) -> None:
        if isinstance(value, ast.Name):
            self.aliased.add(value.id)
        match target:
            case ast.Name():
                self.bind(target.id, value, node, item=item)
            case ast.Tuple() | ast.List():
                starred = any(isinstance(t, ast.Starred) for t in target.elts)
                each = isinstance(value, ast.Tuple | ast.List) and item is None
                each = each and not any(isinstance(v, ast.Starred) for v in value.elts)
                if starred or item is not None or (each and len(value.elts) != len(target.elts)):
                    self._unknowable(target)
                elif each:
                    for part, its_value in zip(target.elts, value.elts, strict=True):
                        self._target(part, its_value, node)
                else:
                    for k, part in enumerate(target.elts):
                        self._target(part, value, node, k)
            case ast.Attribute(attr="requires_grad"):
                self.bind(ast.unparse(target.value), value, node, "mark")
            case ast.Attribute():
                self.bind(ast.unparse(target), value, node, item=item)
            case ast.Subscript():
                self.bind(ast.unparse(target), value, node, item=item)
                self._unknowable(target.value)  # `z[0] = 5` changes z itself
            case _:
                self._unknowable(target)

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name | ast.Attribute):
            name = ast.unparse(node.target)
            read = ast.parse(name, mode="eval").body
            value = ast.BinOp(ast.copy_location(read, node.target), node.op, node.value)
            self.bind(name, ast.copy_location(value, node), node, "augmented")
        elif isinstance(node.target, ast.Subscript):
            self._unknowable(node.target.value)

    def _unknowable(self, target: ast.AST) -> None:
        """Everything named in `target` gets a value that nothing here tells."""
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                self.bind(part.id, None, target)
            elif isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                self.bind(part.name, None, target)
            elif isinstance(part, ast.Attribute | ast.Subscript):
                self.bind(ast.unparse(part), None, target)

    def _inside(self, expression: ast.AST, node: ast.stmt) -> None:
        """What an expression binds or changes on its way: `:=`, `x.add_(1)`, grad mode."""
        for part in _calls(expression):
            if isinstance(part, ast.NamedExpr):
                self.bind(part.target.id, part.value, node, "walrus")
                continue
            for argument in (*part.args, *(keyword.value for keyword in part.keywords)):
                if isinstance(argument, ast.Name):
                    self.handed.setdefault(argument.id, []).append(part)
            name = called(part)
            if name == "set_grad_enabled":
                self.bind(GRAD_MODE, part, node)
            changed = None
            if name.endswith("_") and not name.endswith("__"):
                changed = _receiver(part)
            elif any(k.arg == "inplace" for k in part.keywords) and part.args:
                changed = part.args[0]
            if isinstance(changed, ast.Name | ast.Attribute):
                kind = "mark" if name in _MARKS else "inplace"
                self.bind(ast.unparse(changed), part, node, kind)


def called(call: ast.Call) -> str:
    """The last name of what is called: "mean" for `z.mean()`; "" where it has none."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _receiver(call: ast.Call) -> ast.expr | None:
    """`x` of `x.mul_(2).add_(1)`, or of `torch.relu_(x)` and `F.relu_(x)`."""
    func = call.func
    if isinstance(func, ast.Name) or ast.unparse(func).startswith(("torch.", "F.", "nn.")):
        return call.args[0] if call.args else None
    below = func.value
    while isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute):
        below = below.func.value
    return below


def _calls(node: ast.AST) -> Iterator[ast.AST]:
    """Calls and walruses in the order of evaluation; bodies that may not run are left out."""
    if isinstance(node, ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from _calls(child)
    if isinstance(node, ast.Call | ast.NamedExpr):
        yield node
