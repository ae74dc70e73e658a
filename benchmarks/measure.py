"""Times two programs side by side and prints what came out as one table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison.

    Attributes:
        what: what was measured, such as "walk, 491 nodes".
        ours: our number, in `unit`; None when it could not be measured.
        peer: the peer's name.
        theirs: the peer's number; None when the peer cannot do it.
        unit: "ms", "s" or what is counted.
        bar: the smallest `theirs / ours` that passes; None for no bar.
        most: the largest `ours` that passes; None for no limit.
        note: what a reader should know, such as why the peer has no number.
    """

    what: str
    ours: float | None
    peer: str = ""
    theirs: float | None = None
    unit: str = "ms"
    bar: float | None = None
    most: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the peer's number is ours."""
        if self.ours is None or self.theirs is None or self.ours <= 0:
            return None
        return self.theirs / self.ours

    @property
    def ok(self) -> bool | None:
        """Whether the bars hold; None when there is none."""
        if self.bar is None and self.most is None:
            return None
        if self.ours is None:
            return False
        fast = self.bar is None or (self.ratio is not None and self.ratio >= self.bar)
        return fast and (self.most is None or self.ours <= self.most)


def medians(*programs: Callable[[], object], repeats: int = 9) -> list[float]:
    """The median time of each program, in milliseconds.

    They take turns, so that a slow moment of the machine falls on all of them; one turn each is
    for warming up and not counted.
    """
    times: list[list[float]] = [[] for _ in programs]
    for turn in range(repeats + 1):
        for k, program in enumerate(programs):
            start = time.perf_counter()
            program()
            spent = time.perf_counter() - start
            if turn:
                times[k].append(1000 * spent)
    return [statistics.median(each) for each in times]


def table(rows: Iterable[Row]) -> str:
    """The rows as text, one line each, columns aligned."""
    lines = [("what", "ours", "peer", "theirs", "ratio", "bar", "")]
    for row in rows:
        bars = [f">= {row.bar:g}x"] if row.bar is not None else []
        bars += [f"<= {row.most:g} {row.unit}"] if row.most is not None else []
        verdict = {True: "ok", False: "MISSED", None: ""}[row.ok]
        lines.append(
            (
                row.what,
                _number(row.ours, row.unit),
                row.peer,
                _number(row.theirs, row.unit),
                "" if row.ratio is None else f"{row.ratio:.2f}x",
                ", ".join(bars),
                f"{verdict} {row.note}".strip(),
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _number(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"
