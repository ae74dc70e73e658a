"""Sees what the caller sees: its variables, and the source text that has run."""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType, FrameType

from .sources import Source, enclosing_functions, first_line, parse

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NOTEBOOK = re.compile(r"_+|_i+|_i?\d+|_[iod]h|In|Out|exit|quit|open|get_ipython")
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}  # with frames of their own
_CELLS = 200  # a notebook's latest cells; older ones tell little and cost time


@dataclass(frozen=True, slots=True)
class Namespace:
    """Names and the objects behind them, and the code that made them.

    Attributes:
        variables: the learner's variables by name, the most telling first.
        sources: module-level code in the order in which it ran, then, when the caller is a
            function, its own and that of the functions around it, innermost first.
        memo: what was found by searching the variables, so that it is searched for once.
    """

    variables: Mapping[str, object]
    sources: tuple[Source, ...] = ()
    memo: dict[str, object] = field(default_factory=dict, repr=False, compare=False)


def as_namespace(names: Namespace | Mapping[str, object]) -> Namespace:
    """`names` itself, or a plain dict of variables as a Namespace without sources."""
    return names if isinstance(names, Namespace) else Namespace(names)


def caller_namespace(depth: int = 1) -> Namespace:
    """What the code that called into this package sees.

    Args:
        depth: which frame outside this package, counted from here: 1 is the nearest, 2 the one
            that called it, and so on. The outermost is taken when there are not so many.

    Returns:
        The frame's local variables, then its globals that they do not hide; names with a leading
        underscore come last, a notebook's own (`In`, `Out`, `_3`, ...) not at all. The frame is
        not kept alive, nor are its variables once the Namespace is dropped.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if not os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
            depth -= 1
            if depth <= 0:
                break
        frame = frame.f_back
    seen = _locals_of(frame)
    while frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:
        frame = frame.f_back
        seen = _locals_of(frame) | seen
    seen |= {name: value for name, value in frame.f_globals.items() if name not in seen}
    plain, hidden = {}, {}
    for name, value in seen.items():
        if not name.isidentifier() or name.startswith("__") or _NOTEBOOK.fullmatch(name):
            continue
        (hidden if name.startswith("_") else plain)[name] = value
    return Namespace(plain | hidden, _sources(frame))


def _locals_of(frame: FrameType) -> dict[str, object]:
    """A copy of the frame's local variables, in the order in which they were declared.

    Before Python 3.13 a function's `f_locals` is a snapshot that stays with the frame and would
    keep every tensor alive until the function returns; so it is emptied, unless somebody else
    holds it too (it is what `locals()` returns).
    """
    snapshot = frame.f_locals
    copied = dict(snapshot)
    # three references: the frame's, our variable's, the argument's
    if _in_function(frame) and sys.version_info < (3, 13) and sys.getrefcount(snapshot) <= 3:
        snapshot.clear()
    return copied


def _sources(frame: FrameType) -> tuple[Source, ...]:
    code = frame.f_code
    path = code.co_filename
    text = _text(path, frame.f_globals)
    cells = _cells(frame.f_globals)
    label = "" if path.startswith("<") else os.path.basename(path)
    for cell in cells:  # the latest of equal cells
        label = cell.file if cell.text == text else label
    functions: list[Source] = []
    if _in_function(frame):
        for node in enclosing_functions(text, code.co_firstlineno, code.co_name):
            start = first_line(node)
            running = frame
            while running is not None and (
                (running.f_code.co_filename, running.f_code.co_firstlineno) != (path, start)
            ):
                running = running.f_back
            line, column = (None, None) if running is None else _place(running)
            done = running is not None  # one that has returned may have done so anywhere
            functions.append(Source(text, label, line, column, start, done, path))
        if not functions:
            return ()  # a lambda, say: nothing tells which names are its own
    module = frame
    while module is not None and (module.f_globals is not frame.f_globals or _in_function(module)):
        module = module.f_back
    if cells:
        if module is not None:
            cells[-1] = _running(cells[-1], module)
        return (*cells, *functions)
    if not text:
        return ()
    line, column = (None, None) if module is None else _place(module)
    return (Source(text, label, line, column, None, True, path), *functions)


def _in_function(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def _running(cell: Source, module: FrameType) -> Source:
    """The last cell, which has run only up to where its frame is."""
    line, column = _place(module)
    path = module.f_code.co_filename
    if cell.text.startswith("\n"):  # the body of a cell magic, see `_body`
        return Source(cell.text, cell.file, line + 1, column, path=path)
    if _text(path, module.f_globals) == cell.text:
        return Source(cell.text, cell.file, line, column, path=path)
    return Source(cell.text, cell.file, complete=False)


def _cells(variables: Mapping[str, object]) -> list[Source]:
    """A notebook's cells, in the order in which they were run."""
    history = variables.get("In")
    if not isinstance(history, list) or not callable(variables.get("get_ipython")):
        return []
    shell = variables["get_ipython"]()
    failed = getattr(getattr(shell, "history_manager", None), "exceptions", {})
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    paths = {number: path for path, number in numbers.items()}
    cells = []
    for number in range(max(1, len(history) - _CELLS), len(history)):
        if isinstance(history[number], str):
            done, path = number not in failed, paths.get(number, "")
            cells.append(Source(_body(history[number]), f"cell {number}", complete=done, path=path))
    return cells


def _body(cell: str) -> str:
    """The text of a cell; of one under `%%time` or `%%capture`, what the magic runs.

    An empty line stands for the magic, so that lines are counted as the learner sees them.
    """
    if cell.startswith("get_ipython().run_cell_magic("):
        tree = parse(cell)
        call = tree.body[0].value if tree else None
        match [argument.value for argument in getattr(call, "args", ())]:
            case ["time" | "capture", _, str(body)]:
                return "\n" + body.rstrip("\n")
    return cell.rstrip("\n")


def _text(path: str, variables: dict[str, object]) -> str:
    return "".join(linecache.getlines(path, variables)).rstrip("\n")


def _place(frame: FrameType) -> tuple[int, int | None]:
    """Line and column (in bytes) of the expression that the frame is evaluating."""
    code: CodeType = frame.f_code
    for line, _, column, _ in islice(code.co_positions(), frame.f_lasti // 2, None):
        return line or frame.f_lineno, column
    return frame.f_lineno, None
