"""A small SVG writer: colours, measured text, paths, and the panel around every picture.

Elements carry their style in attributes and no ids, so that two pictures on one page never
disturb each other and nothing is lost where style sheets and scripts are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Point = tuple[float, float]

GRADIENT, GRADIENT_INK, GRADIENT_FILL = "#D55E00", "#A84300", "#fff1e5"
LEAF, LEAF_FILL = "#0072B2", "#e8f3fb"
INK, MUTED, LINE, FAINT = "#111827", "#4b5563", "#4b5563", "#8a929e"
PANEL, BOX_FILL, WAIT_FILL = "#fbfbf9", "#ffffff", "#f3f4f6"

FONT = "Arial,Helvetica,'Liberation Sans',sans-serif"
TITLE, TEXT, LEAST = 14.0, 12.0, 11.0  # text sizes in pixels, and the least a reader ever gets

MARGIN = 20.0
LINE_HEIGHT = 17.0

# Widths of glyphs in thousandths of the text size, for the sans-serif above and fonts like it.
_WIDTHS = {
    222: "ijl'|",
    278: " !,./:;I[\\]ft",
    345: '()-r`"{}*',
    500: "ckszvxyJ^",
    556: "abdeghnopqu0123456789L#$?_",
    600: "FTZ+=<>~×−",
    667: "&ABEKPSVXYCDHNRUw",
    778: "GOQ",
    860: "mMW%→",
    1015: "@…",
}
_WIDTH = {glyph: width / 1000 for width, glyphs in _WIDTHS.items() for glyph in glyphs}
_SAFETY = 1.06  # another font than the one measured may be a little wider
_BOLD = 1.07

# XML forbids these, even escaped; a learner's string may hold them.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escape(text: str) -> str:
    """`text` fit for XML text and for attributes in double quotes."""
    text = _FORBIDDEN.sub("\ufffd", text)
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def text_width(text: str, size: float = TEXT, bold: bool = False) -> float:
    """About how wide `text` is drawn, in pixels; rather a little too wide than too narrow."""
    ems = sum(_WIDTH.get(glyph, 0.6 if glyph < "\u1100" else 1.0) for glyph in text)
    return ems * size * _SAFETY * (_BOLD if bold else 1.0)


def cut(text: str, width: float, size: float = TEXT, bold: bool = False) -> str:
    """`text`, or as much of its beginning as fits into `width` pixels with an ellipsis."""
    if not text or text_width(text, size, bold) <= width:
        return text
    room = width - text_width("…", size, bold)
    kept = 0
    while kept < len(text) and text_width(text[: kept + 1], size, bold) <= room:
        kept += 1
    return text[:kept].rstrip() + "…"


def wrap(text: str, width: float, size: float = TEXT) -> list[str]:
    """`text` broken at spaces into lines of at most `width` pixels, where words allow it."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def num(x: float) -> str:
    """A coordinate with at most one decimal."""
    text = f"{x:.1f}"
    return text[:-2] if text.endswith(".0") else text


def label(
    at: Point,
    words: str,
    size: float = TEXT,
    fill: str = INK,
    anchor: str = "middle",
    bold: bool = False,
    halo: bool = False,
) -> str:
    """One line of text; `at` is on its baseline. A halo keeps it readable across a line."""
    extra = "" if size == TEXT else f' font-size="{num(size)}"'
    if anchor != "middle":
        extra += f' text-anchor="{anchor}"'
    if bold:
        extra += ' font-weight="700"'
    if halo:
        extra += f' stroke="{PANEL}" stroke-width="5" stroke-linejoin="round" paint-order="stroke"'
    return f'<text x="{num(at[0])}" y="{num(at[1])}" fill="{fill}"{extra}>{escape(words)}</text>'


def box(centre: Point, size: Point, radius: float, fill: str, stroke: str, width: float) -> str:
    """A rectangle with rounded corners, left open (`/>` is the caller's) for more attributes."""
    (x, y), (w, h) = centre, size
    return (
        f'<rect x="{num(x - w / 2)}" y="{num(y - h / 2)}" width="{num(w)}" height="{num(h)}" '
        f'rx="{num(radius)}" fill="{fill}" stroke="{stroke}" stroke-width="{num(width)}"'
    )


def path_data(route: Sequence[Point]) -> str:
    """The `d` of a path of cubic Bézier pieces; straight pieces become plain lines."""
    parts = [f"M{num(route[0][0])} {num(route[0][1])}"]
    for k in range(1, len(route), 3):
        before, (a, b, end) = route[k - 1], route[k : k + 3]
        flat = abs(before[0] - end[0]) < 0.05 or abs(before[1] - end[1]) < 0.05
        if flat:
            parts.append(f"L{num(end[0])} {num(end[1])}")
        else:
            parts.append("C" + " ".join(f"{num(x)} {num(y)}" for x, y in (a, b, end)))
    return "".join(parts)


def arrow(tip: Point, before: Point, size: float = 9.0) -> tuple[Point, str]:
    """An arrowhead at `tip` that comes from `before`: where its line should end, and its path."""
    dx, dy = tip[0] - before[0], tip[1] - before[1]
    length = max((dx * dx + dy * dy) ** 0.5, 1e-6)
    dx, dy = dx / length * size, dy / length * size
    back = (tip[0] - dx, tip[1] - dy)
    side = 0.48
    left = (back[0] - dy * side, back[1] + dx * side)
    right = (back[0] + dy * side, back[1] - dx * side)
    corners = "L".join(f"{num(x)} {num(y)}" for x, y in (tip, left, right))
    return (tip[0] - dx * 0.8, tip[1] - dy * 0.8), f"M{corners}Z"


def panel(title: str, description: str, body: str, size: Point, caption: Iterable[str] = ()) -> str:
    """The whole `<svg>`: accessible name, own background, heading, then `body`.

    Args:
        title: the heading, drawn bold at the top and read out as the picture's name.
        description: read out as its description.
        body: elements drawn below the heading, in coordinates of the whole picture.
        size: (width, height) of the whole picture.
        caption: lines of text below the title.

    It shrinks on a narrow page, but never so far that text falls below 11 pixels: then it scrolls.
    """
    width, height = num(size[0]), num(size[1])
    least = num(size[0] * LEAST / TEXT)
    shown = cut(title, size[0] - 2 * MARGIN, TITLE, bold=True)
    head = [label((MARGIN, MARGIN + 7), shown, TITLE, INK, "start", bold=True)]
    for k, line in enumerate(caption, 1):
        at = (MARGIN, MARGIN + 7 + k * LINE_HEIGHT)
        head.append(label(at, line, TEXT, MUTED, "start"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="{FONT}" font-size="{num(TEXT)}" '
        f'text-anchor="middle" role="img" '
        f'style="width:100%;max-width:{width}px;min-width:{least}px;height:auto">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        f'<rect width="100%" height="100%" rx="8" fill="{PANEL}"/>{"".join(head)}{body}</svg>'
    )
