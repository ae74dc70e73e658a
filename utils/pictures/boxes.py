"""The words and small signs in a box, before anything has a place."""

from __future__ import annotations

from dataclasses import dataclass

from utils.graph.data import Value
from utils.pictures import svg
from utils.pictures.fold import Box, Scene
from utils.pictures.names import counted, heading, place, shapes, spoken, tally
from utils.pictures.numbers import short

LONGEST = 110.0  # a value that takes more pixels gives way to its shape and norm

# Small signs, 8 pixels wide, with their right end at x: how a saved tensor is, besides the word.
MARKS = {
    "held": '<circle cx="{x}" cy="{y}" r="4" fill="{ink}"/>',
    "packed": '<path d="M{x} {y}m-4-4h8v8h-8zm0 4h8" fill="none" stroke="{ink}"/>',
    "overwritten": '<path d="M{x} {y}m-4-4l8 8m0-8l-8 8" stroke="{ink}" stroke-width="2"/>',
    "freed": '<circle cx="{x}" cy="{y}" r="3.5" fill="none" stroke="{ink}"/>',
    "none": '<path d="M{x} {y}m-4 0h8" stroke="{ink}"/>',
    "unknown": '<path d="M{x} {y}m-4 0h2m1 0h2m1 0h2" stroke="{ink}"/>',
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of text in a box; `mark` is the small sign before it, if any."""

    text: str
    fill: str = svg.MUTED
    bold: bool = False
    mark: str = ""


def fixed_rows(scene: Scene, box: Box) -> tuple[str, str, list[Row]]:
    """The unchanging words of a box: bold name, rest of the heading, rows below."""
    nodes = [scene.graph.nodes[index] for index in box.nodes]
    last = nodes[-1]
    if len(nodes) > 1 and last.kind != "leaf":
        counts = tally(node.name for node in nodes).split(", ")
        rows = [Row(words) for words in counts[:3]]
        if len(counts) > 3:
            rows.append(Row(counted(len(counts) - 3, "other kind")))
        return f"{len(nodes)} more", "", rows
    name, rest = heading(last)
    rows = []
    if len(nodes) > 1:
        rows.append(Row(f"{nodes[0].name} + {last.name}"))
    elif name != last.name:
        rows.append(Row(last.name))
    if last.kind == "custom":
        rows.append(Row("custom Function"))
    if words := shapes(last.outputs):
        rows.append(Row(words))
    if box.uses:
        rows.append(Row(f"used {box.uses} times", svg.LEAF))
    return name, rest, rows


def fitted(value: Value | None) -> str:
    """A value short enough for a line or a box: its entries only if they take little room."""
    words = short(value)
    return words if svg.text_width(words) <= LONGEST else short(value, 1)


def tooltip(scene: Scene, box: Box) -> str:
    """All that the words in a box may have been cut from."""
    nodes = [scene.graph.nodes[index] for index in box.nodes]
    if len(nodes) > 6:
        return f"{len(nodes)} nodes: {tally(node.name for node in nodes)}"
    return "; ".join(
        ", ".join(words for words in (spoken(node), shapes(node.outputs), place(node)) if words)
        for node in nodes
    )
