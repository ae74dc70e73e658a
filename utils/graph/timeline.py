"""Orders what was written in time: which statement gave a name the value it had at a moment."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .bindings import Binding, scan
from .sources import Source


@lru_cache(maxsize=4)
def timeline(sources: tuple[Source, ...]) -> Timeline:
    """The timeline of some sources; only text is kept, never an object of the learner's."""
    return Timeline(sources)


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
        moment, order, blocks = self._place(scope, at)
        earlier, late = [], []
        for b in self._bindings[scope][name]:
            if b.kind == "mark":
                continue
            if (b.moment, b.order) < (moment, order):
                earlier.append(b)
            elif b.moment == moment and b.loops & set(blocks):
                late.append(b)  # ran in an earlier round of a loop, if at all
        found: list[tuple[Binding, bool]] = []
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

    def _place(self, scope: int, at: Binding | None) -> tuple[int, float, tuple[int, ...]]:
        if at is not None and at.scope == scope:
            return at.moment, at.order, at.blocks
        moment = len(self._scopes[scope]) - 1
        source = self._scopes[scope][moment]
        return moment, *_position(source.text, source.function, source.line, source.column)


def _inside(b: Binding, other: Binding, moment: int, blocks: tuple[int, ...]) -> bool:
    """Whether `b` lies in the innermost loop that `other` shares with the place."""
    shared = [block for block in blocks if block in other.loops]
    return b.moment == moment and shared[-1] in b.loops


def _position(
    text: str, function: int | None, line: int | None, column: int | None
) -> tuple[float, tuple[int, ...]]:
    """The order and the blocks of the statement that is running."""
    best = None
    if line is not None:
        for start, end, order, blocks in scan(text, function).statements:
            began = start[0] <= line if column is None else start <= (line, column)
            if began and line <= end[0]:
                best = (order, blocks)  # a statement inside another comes later
    return best or (float("inf"), ())
