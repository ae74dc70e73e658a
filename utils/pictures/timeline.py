"""A time line, read from top to bottom: forward first, then backward, and the hooks on the way.

A step of torch's own is a small grey square and a line of grey words; a hook is a card with a
number: a ring where it only looked, an orange diamond where it changed what goes on. A blue disc is
a gradient that is written to a leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from utils.graph.data import Value
from utils.pictures import svg
from utils.pictures.numbers import short
from utils.pictures.picture import Picture

PARTS = {"forward": "forward: values", "backward": "backward: gradients"}
LIMIT = 3  # entries that are written out; of more, the shape and the norm

WIDTH = 890.0
AXIS, NAME, WHERE, SAW, DID = 36.0, 58.0, 250.0, 361.0, 615.0  # where the columns begin
STEP, CARD, LINE, PART = 23.0, 27.0, 16.0, 34.0  # heights: a step, a hook, a line more, a heading
TOP = 82.0
KEY = "ring: it looked; diamond: it changed what goes on; disc: written to a leaf"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        part: "forward" or "backward".
        kind: "step" (torch computes), "hook" (a hook was called) or "write" (a leaf's `.grad`).
        name: what it is: a hook's name, a node's, a statement.
        where: what a hook hangs on; for a node, the statement that made it.
        saw: what passed by, each with its name.
        did: what a hook did about it, in a word or two, such as "halved".
        more: the rest of that, such as what it may change.
        changed: whether it changed what goes on.
        tip: what was written to make it happen, such as "a.retain_grad()".
    """

    part: str
    kind: str
    name: str
    where: str = ""
    saw: tuple[tuple[str, Value | None], ...] = ()
    did: str = ""
    more: str = ""
    changed: bool = False
    tip: str = ""


def draw_timeline(events: Sequence[Event], title: str, caption: str = "") -> Picture:
    """Draw what happened, in order.

    Args:
        events: what happened, first to last; all of forward before all of backward.
        title: what this is the time line of.
        caption: a line below the title.

    Returns:
        The picture. Hooks are numbered from 1, in the picture and in its text.

    Raises:
        ValueError: an event is of a part or of a kind that nobody knows.
    """
    for event in events:
        if event.part not in PARTS or event.kind not in ("step", "hook", "write"):
            raise ValueError(
                f"an event is a step, hook or write in forward or backward, "
                f"not a {event.kind!r} in {event.part!r}"
            )
    body = [
        svg.label((x, TOP + 6), words, fill=svg.MUTED, anchor="start")
        for x, words in ((WHERE, "where"), (SAW, "what it saw"), (DID, "what it did"))
    ]
    text, y, number = [title, *[caption] * bool(caption)], TOP, 0
    for part, happened in groupby(events, key=lambda event: event.part):
        body.append(svg.label((NAME, y + 6), PARTS[part], anchor="start", bold=True))
        text.append(part)
        start = y + 14
        y += PART - 12
        rows = []
        for event in happened:
            number += event.kind == "hook"
            height = _height(event)
            rows.append(_row(event, y, height, number))
            text.append(_said(event, number))
            y += height
        body += [_axis(part, start, y + 14), *rows]
        y += PART
    said = "\n".join(text)
    size = (WIDTH, y - PART + 30)
    return Picture(svg.panel(title, said, "".join(body), size, (caption, KEY)), title, said)


def _height(event: Event) -> float:
    return (CARD if event.kind == "hook" else STEP) + LINE * max(0, len(event.saw) - 1)


def _axis(part: str, top: float, bottom: float) -> str:
    """The line that time runs along: grey and thin for values, orange and thick for gradients."""
    colour, width = (svg.GRADIENT, 2.5) if part == "backward" else (svg.FAINT, 1.5)
    end, head = svg.arrow((AXIS, bottom), (AXIS, top))
    return (
        f'<path d="M{svg.num(AXIS)} {svg.num(top)}V{svg.num(end[1])}" stroke="{colour}" '
        f'stroke-width="{svg.num(width)}"/><path d="{head}" fill="{colour}"/>'
    )


def _row(event: Event, top: float, height: float, number: int) -> str:
    """One event: its sign on the line, and its words in their columns."""
    middle = top + (CARD if event.kind == "hook" else STEP) / 2
    base = middle + 4
    hook = event.kind == "hook"
    ink = {"hook": svg.INK, "write": svg.LEAF, "step": svg.MUTED}[event.kind]
    parts = [_sign(event, middle, number)]
    if hook:
        centre = ((NAME - 8 + WIDTH - svg.MARGIN + 8) / 2, top + height / 2)
        edge = (svg.GRADIENT, 1.5) if event.changed else (svg.FAINT, 0.8)
        size = (WIDTH - svg.MARGIN - NAME + 16, height - 4)
        parts.insert(0, svg.box(centre, size, 5, svg.BOX_FILL, *edge) + "/>")
    seen = svg.GRADIENT_INK if event.part == "backward" else svg.MUTED
    parts.append(svg.label((NAME, base), event.name, fill=ink, anchor="start", bold=hook))
    where = svg.cut(event.where, SAW - WHERE - 4)
    parts.append(svg.label((WHERE, base), where, fill=svg.MUTED, anchor="start"))
    for k, (name, value) in enumerate(event.saw):
        parts.append(_pair((SAW, base + LINE * k), f"{name} ", short(value, LIMIT), seen))
    if event.did:
        parts.append(_did(event, (DID, base)))
    tip = f"<title>{svg.escape(event.tip)}</title>" if event.tip else ""
    return f"<g>{tip}{''.join(parts)}</g>"


def _sign(event: Event, y: float, number: int) -> str:
    """What stands on the line."""
    x, at = svg.num(AXIS), svg.num(y)
    if event.kind == "step":
        return svg.box((AXIS, y), (7, 7), 1, svg.FAINT, svg.PANEL, 1) + "/>"
    if event.kind == "write":
        return f'<circle cx="{x}" cy="{at}" r="6" fill="{svg.LEAF}" stroke="{svg.PANEL}"/>'
    if event.changed:
        shape = (
            f'<path d="M{x} {at}m0-13l13 13l-13 13l-13-13z" fill="{svg.GRADIENT_INK}" '
            f'stroke="{svg.PANEL}"/>'
        )
        return shape + svg.label((AXIS, y + 4), str(number), fill=svg.BOX_FILL, bold=True)
    ring = f'<circle cx="{x}" cy="{at}" r="9.5" fill="{svg.BOX_FILL}" stroke="{svg.INK}"/>'
    return ring + svg.label((AXIS, y + 4), str(number), bold=True)


def _pair(at: svg.Point, name: str, value: str, fill: str) -> str:
    """A name and its value on one line, in two colours."""
    return svg.label(at, name, fill=svg.MUTED, anchor="start") + svg.label(
        (at[0] + svg.text_width(name) + 2, at[1]), value, fill=fill, anchor="start"
    )


def _did(event: Event, at: svg.Point) -> str:
    """What a hook did: a bold word where it changed something, then the rest."""
    ink = svg.GRADIENT_INK if event.changed else svg.INK
    bold = svg.label(at, event.did, fill=ink, anchor="start", bold=event.changed)
    gap = svg.text_width(f"{event.did} ", bold=event.changed) + 2
    rest = svg.cut(event.more, WIDTH - svg.MARGIN - at[0] - gap)
    return bold + svg.label((at[0] + gap, at[1]), rest, fill=svg.MUTED, anchor="start")


def _said(event: Event, number: int) -> str:
    """One event as a line of text."""
    who = f"  {number}. {event.name}" if event.kind == "hook" else f"  {event.name}"
    if event.where:
        who += f" on {event.where}" if event.kind == "hook" else f" ({event.where})"
    saw = ", ".join(f"{name} {short(value, LIMIT)}" for name, value in event.saw)
    verb = "saw " if event.kind == "hook" else ""
    did = f"; {event.did} {event.more}".rstrip() if event.did else ""
    return f"{who}: {verb}{saw}{did}" if saw else f"{who}{did}"
