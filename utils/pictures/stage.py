"""A laid-out scene that can be drawn again and again, with another look for each box and line.

Both pictures of a graph stand on it: `graph_picture` draws it once, `tape_picture` at each step.
Sizes are chosen for the widest words that a box or a line will ever carry, so nothing moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.pictures import svg
from utils.pictures.boxes import MARKS, Row, fixed_rows, tooltip
from utils.pictures.fold import Scene
from utils.pictures.layout import Layout, layered
from utils.pictures.routes import PORT_GAP

PADDING = 12.0  # between a box's side and its text
WIDEST = 216.0  # text in a box is cut to this width
NARROWEST = 84.0
ROW = 16.0
DEEP = 7  # a picture with more layers than this stands upright
TOP = 78.0  # room for the heading, and for words above the topmost boxes
LEAST_WIDTH = 480.0  # room for the heading

FLOW = "values were computed left to right, gradients flow right to left"
FLOW_UPRIGHT = "values were computed top to bottom, gradients flow bottom to top"


@dataclass(frozen=True, slots=True)
class Look:
    """How a box is drawn at one moment.

    Attributes:
        fill, stroke, width, dash: of its outline; dash is "" for a solid one.
        now: whether the word "now" stands above it.
        rows: the text below the fixed part.
    """

    fill: str
    stroke: str
    width: float = 1.4
    dash: str = ""
    now: bool = False
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Stroke:
    """How a line is drawn at one moment; `label` stands on it, when there is one."""

    colour: str = svg.FAINT
    width: float = 1.5
    dash: str = ""
    label: str = ""
    label_fill: str = svg.MUTED
    bold: bool = False


class Stage:
    """A scene with a place for everything.

    Args:
        scene: what to draw.
        extra: per box, the rows that it will ever show below its fixed ones, one tuple per moment.
        labels: per line, every label that it will ever carry.
        marks: per box, the words that always stand above it, such as "root"; "" for none.
        upright: whether values run top to bottom; None decides by the number of layers.
    """

    def __init__(
        self,
        scene: Scene,
        extra: Sequence[Sequence[tuple[Row, ...]]],
        labels: Sequence[Sequence[str]],
        marks: Sequence[str],
        upright: bool | None = None,
    ) -> None:
        self.scene = scene
        self.words = [fixed_rows(scene, box) for box in scene.boxes]
        self._extra = extra
        self._labels = labels
        self._marks = [svg.cut(mark, WIDEST, bold=True) for mark in marks]
        self._reached = {line.target for line in scene.lines}
        self.layout, self.upright = self._placed(upright)
        self.tooltips = [tooltip(scene, box) for box in scene.boxes]
        left = (max(self.layout.width + 2 * svg.MARGIN, LEAST_WIDTH) - self.layout.width) / 2
        self.width = self.layout.width + 2 * left
        self.height = TOP + self.layout.height + (svg.MARGIN * 2 if self.upright else svg.MARGIN)

        def moved(points: Sequence[svg.Point]) -> tuple[svg.Point, ...]:
            return tuple((x + left, y + TOP) for x, y in points)

        self._centres = moved(self.layout.centres)
        self._spots = moved(self.layout.labels)
        self._routes = [moved(route) for route in self.layout.routes]
        self._fixed: dict[int, str] = {}

    def _placed(self, upright: bool | None) -> tuple[Layout, bool]:
        edges = [(line.source, line.target) for line in self.scene.lines]
        labels = [self._label_size(k) for k in range(len(edges))]
        if upright is not True:
            ports = self._ports_length(upright=False)
            self.sizes = [self._box_size(k, ports[k], False) for k in range(len(self.words))]
            layout = layered(self.sizes, edges, labels)
            if upright is False or layout.layers <= DEEP:
                return layout, False
        ports = self._ports_length(upright=True)
        self.sizes = [self._box_size(k, ports[k], True) for k in range(len(self.words))]
        return layered(self.sizes, edges, labels, vertical=True), True

    def _label_size(self, line: int) -> tuple[float, float] | None:
        words = (*self._labels[line], self.scene.lines[line].word)
        widths = [svg.text_width(text, bold=True) for text in words if text]
        return (max(widths) + 10, 20.0) if widths else None

    def _ports_length(self, upright: bool) -> list[float]:
        """Per box, how long its side must be for the lines that leave there, with their labels."""
        lengths = [0.0] * len(self.words)
        for k, line in enumerate(self.scene.lines):
            label = self._label_size(k) if upright else None
            room = max(PORT_GAP, label[0] if label else 0.0)
            # Stubs leave at one end, and whole lines stay in the middle.
            lengths[line.source] += room if line.target is not None else 2 * room
        return lengths

    def _box_size(self, box: int, least: float, upright: bool) -> tuple[float, float]:
        name, rest, rows = self.words[box]
        moments = self._extra[box] or ((),)
        title = svg.text_width(name, svg.TITLE, bold=True) + svg.text_width(f" {rest}", svg.TITLE)
        widths = [title]
        for row in (*rows, *(row for rows in moments for row in rows)):
            widths.append(svg.text_width(row.text, bold=row.bold) + (14 if row.mark else 0))
        lines = len(rows) + max(len(rows) for rows in moments)
        mark = svg.text_width(f"now · {self._marks[box]}", bold=True)
        width = max(NARROWEST, mark, min(WIDEST, max(widths)) + 2 * PADDING)
        height = 26 + ROW * lines + (8 if lines else 6)
        if self._is_leaf(box):
            width += 12  # its ends are round
        return (max(width, least), height) if upright else (width, max(height, least))

    def _is_leaf(self, box: int) -> bool:
        return self.scene.graph.nodes[self.scene.boxes[box].nodes[-1]].kind == "leaf"

    def box_svg(self, box: int, look: Look) -> str:
        """One box, with the words of the moment."""
        (x, y), (width, height) = self._centres[box], self.sizes[box]
        top = y - height / 2
        dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
        radius = min(height / 2, 26) if self._is_leaf(box) else 5
        outline = svg.box((x, y), (width, height), radius, look.fill, look.stroke, look.width)
        parts = [f"{outline}{dash}/>"]
        if len(self.scene.boxes[box].nodes) > 1:  # a second outline behind: a pile of nodes
            aside = 4 if self.upright else -4
            behind = svg.box((x + aside, y - 4), (width, height), radius, look.fill, look.stroke, 1)
            parts.insert(0, f"{behind}{dash}/>")
        parts.append(self._words_above(box, look.now))
        if box not in self._fixed:
            self._fixed[box] = self._fixed_svg(box, x, top)
        parts.append(self._fixed[box])
        first = top + 36 + ROW * len(self.words[box][2])
        parts += (self._row_svg(row, (x, first + ROW * k)) for k, row in enumerate(look.rows))
        return f"<g>{''.join(parts)}</g>"

    def _words_above(self, box: int, now: bool) -> str:
        (x, y), (width, height) = self._centres[box], self.sizes[box]
        above, below = self._marks[box], ""
        if self.upright and box not in self._reached:  # nothing comes in from below
            above, below = below, above
        parts = []
        if above or now:
            words = " · ".join(words for words in ("now" if now else "", above) if words)
            fill = svg.GRADIENT_INK if now else svg.MUTED
            at = (x, y - height / 2 - 6)
            if self.upright:  # lines leave from the middle of the upper side
                at = (x - width / 2 + 4, at[1])
            anchor = "start" if self.upright else "middle"
            parts.append(svg.label(at, words, fill=fill, anchor=anchor, bold=True, halo=True))
        if below:
            parts.append(svg.label((x, y + height / 2 + 15), below, fill=svg.MUTED, bold=True))
        return "".join(parts)

    def _fixed_svg(self, box: int, x: float, top: float) -> str:
        name, rest, rows = self.words[box]
        room = WIDEST - (svg.text_width(f"{name} ", svg.TITLE, bold=True) if name else 0)
        rest = svg.cut(rest, room, svg.TITLE)
        name = svg.cut(name, WIDEST, svg.TITLE, bold=True)
        gap = " " if name and rest else ""
        bold = f'<tspan font-weight="700" fill="{svg.INK}">{svg.escape(name)}</tspan>'
        heading_svg = (
            f'<text x="{svg.num(x)}" y="{svg.num(top + 20)}" font-size="{svg.num(svg.TITLE)}" '
            f'fill="{svg.MUTED}">{bold if name else ""}{gap}{svg.escape(rest)}</text>'
        )
        body = (self._row_svg(row, (x, top + 36 + ROW * k)) for k, row in enumerate(rows))
        return f"<title>{svg.escape(self.tooltips[box])}</title>{heading_svg}{''.join(body)}"

    def _row_svg(self, row: Row, at: tuple[float, float]) -> str:
        words = svg.cut(row.text, WIDEST - (14 if row.mark else 0), bold=row.bold)
        if not row.mark:
            return svg.label(at, words, fill=row.fill, bold=row.bold)
        left = at[0] - svg.text_width(words, bold=row.bold) / 2 - 1
        sign = MARKS[row.mark].format(x=svg.num(left), y=svg.num(at[1] - 4), ink=row.fill)
        return sign + svg.label((at[0] + 7, at[1]), words, fill=row.fill, bold=row.bold)

    def line_svg(self, line: int, stroke: Stroke) -> str:
        """One line with its arrowhead or its end, and its label."""
        route = self._routes[line]
        word = self.scene.lines[line].word
        if word:
            (x, y) = route[-1]
            end = (
                f"M{svg.num(x - 5)} {svg.num(y)}h10"
                if self.upright
                else (f"M{svg.num(x)} {svg.num(y - 5)}v10")
            )
            at = (x, y - 6) if self.upright else (x - 5, y + 4)
            anchor = "middle" if self.upright else "end"
            return (
                f'<path d="{svg.path_data(route)}{end}" fill="none" stroke="{svg.FAINT}" '
                f'stroke-width="1.2"/>{svg.label(at, word, fill=svg.MUTED, anchor=anchor)}'
            )
        back, head = svg.arrow(route[-1], route[-2])
        dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
        parts = [
            f'<path d="{svg.path_data((*route[:-1], back))}" fill="none" '
            f'stroke="{stroke.colour}" stroke-width="{svg.num(stroke.width)}"{dash}/>'
            f'<path d="{head}" fill="{stroke.colour}"/>'
        ]
        if stroke.label:
            x, y = self._spots[line]
            at = (x, y + 4) if self.upright else (x, y - 5)
            parts.append(
                svg.label(at, stroke.label, fill=stroke.label_fill, bold=stroke.bold, halo=True)
            )
        return "".join(parts)

    def panel(self, title: str, description: str, body: str, footer: Sequence[str] = ()) -> str:
        """The whole picture around `body`, with `footer` below it: one sentence a line."""
        caption = FLOW_UPRIGHT if self.upright else FLOW
        lines = [line for words in footer for line in svg.wrap(words, self.width - 2 * svg.MARGIN)]
        bottom = self.height + (10 if lines else 0)
        parts = [body]
        for k, words in enumerate(lines):
            at = (svg.MARGIN, bottom + 4 + svg.LINE_HEIGHT * k)
            parts.append(svg.label(at, words, fill=svg.MUTED, anchor="start"))
        size = (self.width, bottom + svg.LINE_HEIGHT * len(lines))
        return svg.panel(title, description, "".join(parts), size, [caption])
