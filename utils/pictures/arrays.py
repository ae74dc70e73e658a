"""Draws arrays: a grid of cells where they fit, a shape and a norm where they do not.

A sign has a hue and a symbol, a magnitude a strength: green with "+" is positive, purple with "−"
negative, and white is zero. Orange and blue stay free for gradients and leaves.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from utils.graph.data import Number, Value
from utils.pictures import svg
from utils.pictures.numbers import number, shape_text, shape_words
from utils.pictures.picture import Picture

# (weakest, strongest) fill; both keep dark text readable: contrast is above 7 to 1.
POSITIVE = ((238, 248, 240), (127, 201, 148))
NEGATIVE = ((246, 240, 250), (203, 164, 222))
NOTHING, STRANGE = "#ffffff", "#e5e7eb"

MOST_CELLS = 144  # more cells than these are not looked at one by one
MOST_IN_A_LINE = 16
ROW_HEIGHT = 28.0
LEAST_CELL, MOST_CELL = 34.0, 76.0
GAP = 28.0  # between slices, and between the two arrays of a pair
FULL_WIDTH = 720.0


def draw_array(value: Value, title: str = "") -> Picture:
    """Draw one array.

    Args:
        value: what to draw; its entries are drawn when they are known and at most 144. One
            dimension becomes a row, two a grid, more a grid for each slice.
        title: what it is; its shape and dtype by default.

    Returns:
        The picture. Its text lists every entry that is drawn.

    Example:
        >>> draw_array(Value((2,), "float32", (2.25, -1.0))).text
        '(2,) float32\\n[2.25, -1]'
    """
    title = title or shape_words(value)
    grid = _Grid(value, frozenset(), None)
    return _picture(
        title, [("", grid)], [shape_words(value)] if title != shape_words(value) else []
    )


def draw_pair(
    yours: Value,
    target: Value,
    title: str = "",
    *,
    names: tuple[str, str] = ("yours", "target"),
    rtol: float = 1e-5,
    atol: float = 1e-8,
) -> Picture:
    """Draw two arrays side by side and mark where they differ.

    Args:
        yours: the array in question.
        target: the array that it is compared with.
        title: what they are; "yours and target" by default.
        names: what the two are called.
        rtol: the relative difference that counts as none.
        atol: the absolute difference that counts as none. NaN equals NaN.

    Returns:
        The picture: cells that differ have a heavy outline and the word "differs". When shapes
        differ, that is said instead, and no cell is marked.
    """
    differing, words = _compare(yours, target, rtol, atol)
    largest = max(_largest(yours), _largest(target))
    grids = [
        (f"{name}: {shape_words(value)}", _Grid(value, differing, largest))
        for name, value in zip(names, (yours, target), strict=True)
    ]
    return _picture(title or " and ".join(names), grids, [words])


def _compare(yours: Value, target: Value, rtol: float, atol: float) -> tuple[frozenset[int], str]:
    """The row-major places that differ, and a sentence."""
    if yours.shape != target.shape:
        one, two = shape_text(yours.shape), shape_text(target.shape)
        return frozenset(), f"The shapes differ: {one} and {two}."
    if yours.entries is None or target.entries is None:
        if yours.norm is None or target.norm is None:
            return frozenset(), "The entries are not known, so nothing is compared."
        same = _same(yours.norm, target.norm, rtol, atol)
        return (
            frozenset(),
            f"Too many entries to compare; the norms {'agree' if same else 'differ'}.",
        )
    pairs = enumerate(zip(yours.entries, target.entries, strict=True))
    places = frozenset(k for k, (a, b) in pairs if not _same(a, b, rtol, atol))
    if not places:
        return places, "No entry differs."
    verb = "differs" if len(places) == 1 else "differ"
    return places, f"{len(places)} of {len(yours.entries)} entries {verb}."


def _same(a: Number, b: Number, rtol: float, atol: float) -> bool:
    if a == b or (a != a and b != b):
        return True
    return math.isfinite(abs(a - b)) and abs(a - b) <= atol + rtol * abs(b)


@dataclass(frozen=True, slots=True)
class _Grid:
    """One array on its way into a picture.

    Attributes:
        value: the array.
        marked: row-major places to mark as differing.
        largest: the magnitude that is drawn strongest; None for the array's own largest.
    """

    value: Value
    marked: frozenset[int]
    largest: float | None

    @property
    def cells(self) -> bool:
        """Whether its entries are drawn one by one."""
        value = self.value
        if value.shape is None or any(isinstance(size, str) for size in value.shape):
            return False
        if not value.entries or len(value.entries) > MOST_CELLS:
            return False
        *_, rows, columns = 1, 1, *map(int, value.shape)
        return rows <= 2 * MOST_IN_A_LINE and columns <= MOST_IN_A_LINE

    def slices(self) -> list[tuple[str, int, int, int]]:
        """Per slice: its label, its first place, its rows, its columns."""
        *outer, rows, columns = 1, 1, *map(int, self.value.shape)
        places = list(itertools.product(*map(range, outer)))
        extra = len(self.value.shape) - 2
        return [
            (
                f"[{', '.join(map(str, place[-extra:]))}, :, :]" if extra > 0 else "",
                k * rows * columns,
                rows,
                columns,
            )
            for k, place in enumerate(places)
        ]

    def lines(self) -> list[str]:
        """The same facts as text."""
        if not self.cells:
            return [_big(self.value)]
        texts = [number(entry) for entry in self.value.entries]
        out = []
        for label, start, rows, columns in self.slices():
            out += [label] if label else []
            for row in range(rows):
                at = start + row * columns
                cells = [
                    texts[k] + (" (differs)" if k in self.marked else "")
                    for k in range(at, at + columns)
                ]
                out.append("[" + ", ".join(cells) + "]" if self.value.shape else cells[0])
        return out


def _big(value: Value) -> str:
    if value.shape is not None and 0 in value.shape:
        return f"no entries: shape {shape_text(value.shape)}"
    norm = "norm unknown" if value.norm is None else f"norm {number(value.norm)}"
    shape = "shape unknown" if value.shape is None else f"shape {shape_text(value.shape)}"
    return f"{shape}, {norm}"


def _picture(title: str, grids: list[tuple[str, _Grid]], caption: list[str]) -> Picture:
    body, x, bottom, right = [], svg.MARGIN, 0.0, 0.0
    top = svg.MARGIN + 24.0 + svg.LINE_HEIGHT * len(caption)
    text = [title, *caption]
    for heading, grid in grids:
        above = svg.LINE_HEIGHT + 6 if heading else 0.0
        drawn, (width, height) = _draw(grid, (x, top + above))
        if heading:
            body.append(svg.label((x, top + 13), heading, svg.TEXT, svg.INK, "start", bold=True))
            width = max(width, svg.text_width(heading, svg.TEXT, bold=True))
            text.append(heading)
        body.append(drawn)
        text += grid.lines()
        bottom, right = max(bottom, top + above + height), x + width
        x = right + GAP
    if any(
        grid.cells and not grid.value.dtype.startswith(("bool", "complex")) for _, grid in grids
    ):
        body.append(_key(bottom + 10))
        bottom += 28
        right = max(right, svg.MARGIN + _KEY_WIDTH)
    words = [svg.text_width(title, svg.TITLE, bold=True), *map(svg.text_width, caption)]
    right = max(right, svg.MARGIN + max(words))
    size = (right + svg.MARGIN, bottom + svg.MARGIN - 6)
    said = "\n".join(text)
    return Picture(svg.panel(title, said, "".join(body), size, caption), title, said)


def _draw(grid: _Grid, at: svg.Point) -> tuple[str, svg.Point]:
    """The grid with its top left corner at a point, and its (width, height)."""
    if not grid.cells:
        return _draw_big(grid.value, at)
    texts, cell = _fitting(grid)
    tall = ROW_HEIGHT + (16.0 if grid.marked else 0.0)
    largest = _largest(grid.value) if grid.largest is None else grid.largest
    body, x, y = [], at[0], at[1]
    right = bottom = line = 0.0
    for label, start, rows, columns in grid.slices():
        width, height = columns * cell, rows * tall
        label_room = svg.LINE_HEIGHT + 4 if label else 0.0
        room = max(width, svg.text_width(label))
        if x > at[0] and x + room > at[0] + FULL_WIDTH:
            x, y = at[0], y + line + 16
            line = 0.0
        if label:
            body.append(svg.label((x, y + 13), label, svg.TEXT, svg.MUTED, "start"))
        for k in range(rows * columns):
            row, column = divmod(k, columns)
            corner = (x + column * cell, y + label_room + row * tall)
            place = start + k
            entry = grid.value.entries[place]
            differs = place in grid.marked
            body.append(_cell(entry, texts[place], corner, (cell, tall), largest, differs))
        line = max(line, height + label_room)
        right, bottom = max(right, x + room - at[0]), y + line - at[1]
        x += room + GAP
    return "".join(body), (right, bottom)


def _fitting(grid: _Grid) -> tuple[list[str], float]:
    """What stands in the cells, and their width: numbers with as many digits as there is room."""
    least = max(LEAST_CELL, svg.text_width("differs") + 12 if grid.marked else 0.0)
    columns = int(grid.value.shape[-1]) if grid.value.shape else 1
    for digits in (4, 3, 2):
        texts = [_cell_text(entry, digits) for entry in grid.value.entries]
        width = max(least, max(map(svg.text_width, texts)) + 12)
        if width <= MOST_CELL and columns * width <= FULL_WIDTH:
            return texts, width
    return [_symbol(entry) for entry in grid.value.entries], least


def _cell(
    entry: Number, text: str, corner: svg.Point, size: svg.Point, largest: float, differs: bool
) -> str:
    (x, y), (width, height) = corner, size
    middle = (x + width / 2, y + height / 2)
    fill = _fill(entry, largest)
    parts = [svg.box(middle, size, 0, fill, svg.FAINT, 1) + "/>"]
    words = svg.label((middle[0], y + (ROW_HEIGHT / 2 + 6 if differs else height / 2 + 4.5)), text)
    if differs:
        inner = (width - 4, height - 4)
        parts.append(svg.box(middle, inner, 3, "none", svg.INK, 2.5) + "/>")
        words += svg.label((middle[0], y + height - 9), "differs")
    return "".join(parts) + words


def _draw_big(value: Value, at: svg.Point) -> tuple[str, svg.Point]:
    words = _big(value)
    size = (svg.text_width(words) + 32, 56.0)
    middle = (at[0] + size[0] / 2, at[1] + size[1] / 2)
    dash = ' stroke-dasharray="5 4"/>'
    box = svg.box(middle, size, 6, svg.BOX_FILL, svg.FAINT, 1.5) + dash
    return box + svg.label((middle[0], middle[1] + 4), words), size


_KEY = (("+", 1.0, "positive"), ("−", -1.0, "negative"), ("0", 0.0, "zero"))
_STRONGER = "stronger is larger"
_KEY_WIDTH = sum(svg.text_width(word) + 42 for _, _, word in _KEY) + svg.text_width(_STRONGER)


def _key(y: float) -> str:
    """What the hues and symbols mean."""
    parts, x = [], svg.MARGIN
    for symbol, entry, word in _KEY:
        parts.append(svg.box((x + 9, y + 9), (18, 18), 2, _fill(entry, 1.0), svg.FAINT, 1) + "/>")
        parts.append(svg.label((x + 9, y + 13), symbol))
        parts.append(svg.label((x + 24, y + 13), word, svg.TEXT, svg.MUTED, "start"))
        x += svg.text_width(word) + 42
    parts.append(svg.label((x, y + 13), _STRONGER, svg.TEXT, svg.MUTED, "start"))
    return "".join(parts)


def _cell_text(entry: Number, digits: int) -> str:
    """The number with its sign as a symbol; NaN and infinity by theirs."""
    if isinstance(entry, bool | complex):
        return number(entry, digits)
    if entry != entry or math.isinf(entry) or entry == 0:
        return _symbol(entry)
    return _symbol(entry) + number(abs(entry), digits)


def _symbol(entry: Number) -> str:
    if isinstance(entry, complex):
        return "c"
    if entry != entry:
        return "∅ NaN"
    if math.isinf(entry):
        return "+∞" if entry > 0 else "−∞"
    return "0" if entry == 0 else "+" if entry > 0 else "−"


def _fill(entry: Number, largest: float) -> str:
    if isinstance(entry, complex) or not math.isfinite(entry):
        return STRANGE
    if entry == 0:
        return NOTHING
    weak, strong = POSITIVE if entry > 0 else NEGATIVE
    share = math.sqrt(min(abs(entry) / largest, 1.0)) if largest else 1.0
    mixed = (round(a + (b - a) * share) for a, b in zip(weak, strong, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _largest(value: Value) -> float:
    """The largest finite magnitude; 0 without one."""
    entries = value.entries or ()
    return max((abs(e) for e in entries if math.isfinite(abs(e))), default=0.0)
