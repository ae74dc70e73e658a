"""The code that has run, as text and as syntax trees. Nothing is imported, run or looked up."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Source:
    """Code that has run, or is running.

    Attributes:
        text: the whole text of the file or cell.
        file: what to call it: "cell 3" or a file's base name.
        line: the line being run now, 1-based; None when it has run to its end.
        column: where on that line the running expression starts, in bytes; None if unknown.
        function: the first line of the function whose body ran; None for the module level.
        complete: False when it may have stopped half-way, or its place is unknown.
        path: the name under which Python compiled it.
    """

    text: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    function: int | None = None
    complete: bool = True
    path: str = ""


NOWHERE = Source("")
"""No code at all."""


def enclosing_functions(text: str, line: int, name: str) -> list[ast.AST]:
    """The function that starts on `line` and those around it, innermost first; [] if not found."""
    tree = parse(text)
    found: list[ast.AST] = []

    def visit(node: ast.AST, around: list[ast.AST]) -> bool:
        for child in ast.iter_child_nodes(node):
            inner = around
            if isinstance(child, FUNCTIONS):
                inner = [child, *around]
                if first_line(child) == line and child.name == name:
                    found.extend(inner)
                    return True
            if visit(child, inner):
                return True
        return False

    if tree is not None:
        visit(tree, [])
    return found


def function_at(text: str, line: int) -> ast.AST | None:
    """The function that starts on `line`."""
    tree = parse(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, FUNCTIONS) and first_line(node) == line:
            return node
    return None


def first_line(function: ast.AST) -> int:
    """The line that Python takes for the start of a function: its first decorator's, if any."""
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


@lru_cache(maxsize=512)
def parse(text: str) -> ast.Module | None:
    """The syntax tree of `text`; None when it is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
