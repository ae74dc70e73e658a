"""Orders what was written in time: which statement gave a name the value it had at a moment."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from .bindings import Binding, Scope, scan
from .sources import Source


@lru_cache(maxsize=4)
def timeline(sources: tuple[Source, ...]) -> Timeline:
    """The timeline of some sources; only text is kept, never an object of the learner's."""
    return Timeline(sources)


class Place(NamedTuple):
    """A moment in a scope.

    Attributes:
        moment: which of the scope's sources.
        order: all bindings before this one have run.
        blocks: the branches and loop bodies around it.
        running: the statement that is running, of which parts may have run.
    """

    moment: int
    order: float
    blocks: tuple[int, ...]
    running: ast.AST | None


class Timeline:
    """All bindings in some sources, in order of time, by name.

    Args:
        sources: the module-level ones in the order in which they ran; then, for code inside a
            function, that function's and those around it, innermost first.
    """

    def __init__(self, sources: tuple[Source, ...]) -> None:
        module = [source for source in sources if source.function is None]
        inner = [[source] for source in sources if source.function is not None]
        self._scopes = [*inner, module]
        self._bindings: list[dict[str, list[Binding]]] = []
        self._unknown: set[str] = set()
        for scope, members in enumerate(self._scopes):
            by_name: dict[str, list[Binding]] = {}
            for moment, source in enumerate(members):
                found = scan(source.text, source.function)
                self._unknown |= found.foreign
                for name, bindings in found.bindings.items():
                    by_name.setdefault(name, []).extend(
                        replace(b, source=source, scope=scope, moment=moment) for b in bindings
                    )
            self._bindings.append(by_name)

    def before(self, name: str, at: Binding | None = None) -> list[tuple[Binding, bool]]:
        """The bindings that may have given `name` the value it had at a moment.

        Args:
            name: the target as written.
            at: the binding just before which the question is asked; None for now.

        Returns:
            (binding, certain) pairs, the latest first. A certain one did run, and is the last
            pair: nothing before it matters. Without a certain one the list may be incomplete.
        """
        if name in self._unknown:
            return []
        scope = self._scope_of(name, at)
        if scope is None:
            return []
        moment, order, blocks, running = self._place(scope, at)
        found: list[tuple[Binding, bool]] = []
        earlier, late = [], []
        for b in self._bindings[scope][name]:
            if b.kind == "mark":
                continue
            if (b.moment, b.order) < (moment, order):
                earlier.append(b)
            elif b.moment == moment and b.loops & set(blocks):
                late.append(b)  # ran in an earlier round of a loop, if at all
            elif b.statement is running and b.kind in ("inplace", "walrus"):
                found.append((b, False))  # inside the running statement: already, or not yet
        for b in reversed(earlier):
            for other in [o for o in reversed(late) if not _inside(b, o, moment, blocks)]:
                found.append((other, False))
                late.remove(other)
            here = blocks if b.moment == moment else ()
            certain = b.source.complete and b.blocks == here[: len(b.blocks)]
            found.append((b, certain))
            if certain:
                return found
        return found + [(other, False) for other in reversed(late)]

    def marks(self, name: str) -> list[Binding]:
        """Where `name.requires_grad_()` or `name.requires_grad = ...` was written."""
        return [b for scope in self._bindings for b in scope.get(name, ()) if b.kind == "mark"]

    def aliased(self, name: str, at: Binding) -> bool:
        """Whether the value of `name` may have got another name too."""
        scope = self._scope_of(name, at)
        return scope is None or any(name in found.aliased for found in self._texts(scope))

    def handed(self, name: str, at: Binding) -> list[ast.Call]:
        """All calls that `name` is an argument of."""
        scope = self._scope_of(name, at)
        texts = () if scope is None else self._texts(scope)
        return [call for found in texts for call in found.handed.get(name, ())]

    def _texts(self, scope: int) -> list[Scope]:
        return [scan(source.text, source.function) for source in self._scopes[scope]]

    def visible(self, name: str, at: Binding) -> bool:
        """Whether `name` in the statement `at` is what the caller sees under that name."""
        return self._scope_of(name, None) == self._scope_of(name, at)

    def may_rebind(self, name: str, since: Binding) -> bool:
        """Whether `name` may have got another value after `since` ran."""
        scope = self._scope_of(name, since)
        if scope is None or name in self._unknown:
            return True
        if scope != since.scope:
            return False
        return any(
            (b.moment, b.order) >= (since.moment, since.order)
            or (b.moment == since.moment and b.loops & since.loops)
            for b in self._bindings[scope][name]
            if b.kind != "mark"
        )

    def _scope_of(self, name: str, at: Binding | None) -> int | None:
        for scope in range(at.scope if at else 0, len(self._scopes)):
            if name in self._bindings[scope]:
                return scope
        return None

    def _place(self, scope: int, at: Binding | None) -> Place:
        if at is not None and at.scope == scope:
            return Place(at.moment, at.order, at.blocks, None)
        moment = len(self._scopes[scope]) - 1
        return _running(moment, self._scopes[scope][moment])


def _inside(b: Binding, other: Binding, moment: int, blocks: tuple[int, ...]) -> bool:
    """Whether `b` lies in the innermost loop that `other` shares with the place."""
    shared = [block for block in blocks if block in other.loops]
    return b.moment == moment and shared[-1] in b.loops


def _running(moment: int, source: Source) -> Place:
    """Where a source is now: at the statement that is running, or at its end."""
    place = Place(moment, math.inf, (), None)
    if source.line is not None:
        for order, blocks, statement in scan(source.text, source.function).statements:
            start = (statement.lineno, statement.col_offset)
            began = start <= (source.line, math.inf if source.column is None else source.column)
            if began and source.line <= statement.end_lineno:
                place = Place(moment, order, blocks, statement)  # the innermost comes last
    return place
