"""A whole backward at once: what came to each box and along each line, for one vector or another.

Where `tape_picture` shows a backward step by step, this shows one that is over. Boxes and lines
keep their places whatever the numbers are, so that a reader can turn the vector and watch.
"""

from __future__ import annotations

from collections.abc import Sequence

from utils.graph.data import Step, Tape, Value
from utils.pictures import svg
from utils.pictures.boxes import Row, fitted
from utils.pictures.fold import CAP, REPEAT, Line, fold
from utils.pictures.names import brief, counted, root_words, spoken
from utils.pictures.numbers import short
from utils.pictures.picture import Picture
from utils.pictures.stage import Look, Stage, Stroke

THIN, THICK = 1.4, 4.5  # a line without any gradient to speak of, and the one with the largest
MOST_SLOTS = 4  # gradients written one by one in a box
MOST_LISTED = 20  # nodes written out in the text twin


class FlowPicture:
    """All the pictures of backwards over one graph. Only numbers and strengths change.

    Args:
        samples: a few backwards over the graph; boxes and lines get room for the widest numbers
            among them. At least one.
        cap: the most boxes to draw; a larger graph is folded, and cut if need be.
        repeat: a leaf that is used so often is drawn next to each use.

    Example:
        >>> flow = FlowPicture([tape])  # doctest: +SKIP
        >>> flow.draw(tape, "y.backward([1, 0])")  # doctest: +SKIP
    """

    def __init__(self, samples: Sequence[Tape], *, cap: int = CAP, repeat: int = REPEAT) -> None:
        graph = samples[0].graph
        self._scene = scene = fold(graph, cap, repeat)
        flows = [(_steps(tape), _sent(tape)) for tape in samples]
        self._stage = Stage(
            scene,
            [[_rows(box.nodes, steps) for steps, _ in flows] for box in scene.boxes],
            [
                () if line.target is None else [_label(sent, line) for _, sent in flows]
                for line in scene.lines
            ],
            [
                root_words(root for root in graph.roots if root.node in box.nodes)
                for box in scene.boxes
            ],
        )

    def draw(self, tape: Tape, title: str) -> Picture:
        """What flowed in one backward over this graph.

        Args:
            tape: the backward, recorded.
            title: the heading, such as which vector it started from.

        Returns:
            The picture. A line is the thicker the larger its gradient is beside the others.
        """
        steps, sent = _steps(tape), _sent(tape)
        largest = max((value.norm or 0.0 for value in sent.values() if value), default=0.0)
        body = []
        for number, line in enumerate(self._scene.lines):
            value = None if line.target is None else sent.get(line.edges[0])
            body.append(self._stage.line_svg(number, _stroke(value, largest)))
        for number, box in enumerate(self._scene.boxes):
            leaf = tape.graph.nodes[box.nodes[-1]].kind == "leaf"
            fill, stroke = (svg.LEAF_FILL, svg.LEAF) if leaf else (svg.BOX_FILL, svg.LINE)
            look = Look(fill, stroke, 1.6, rows=_rows(box.nodes, steps))
            body.append(self._stage.box_svg(number, look))
        text = "\n".join([title, *_text(tape), *self._scene.notes])
        drawn = self._stage.panel(title, text, "".join(body), self._scene.notes)
        return Picture(drawn, title, text)


def _rows(nodes: Sequence[int], steps: dict[int, Step]) -> tuple[Row, ...]:
    """What came to a box: to its last node, when it stands for more than one."""
    step = steps.get(nodes[-1])
    if step is None:
        return (Row("never ran"),)
    if step.change:
        return (Row(f".grad {fitted(step.change.after)}", svg.GRADIENT_INK, bold=True),)
    if len(step.arrived) == 1:
        return (Row(f"in: {fitted(step.arrived[0])}", svg.INK),)
    if len(step.arrived) <= MOST_SLOTS:
        slots = enumerate(step.arrived)
        return tuple(Row(f"in {slot}: {fitted(value)}", svg.INK) for slot, value in slots)
    came = [value for value in step.arrived if value is not None]
    return (Row(f"in: {counted(len(came), 'gradient')}", svg.INK),)


def _label(sent: dict[int, Value | None], line: Line) -> str:
    return fitted(sent.get(line.edges[0]))


def _steps(tape: Tape) -> dict[int, Step]:
    return {step.node: step for step in tape.steps}


def _sent(tape: Tape) -> dict[int, Value | None]:
    """Per edge of the graph, what was sent along it."""
    steps = _steps(tape)
    sent: dict[int, Value | None] = {}
    places: dict[int, int] = {}  # per node, how many of its edges are behind us
    for k, edge in enumerate(tape.graph.edges):
        place = places.get(edge.source, 0)
        places[edge.source] = place + 1
        step = steps.get(edge.source)
        if step is not None and place < len(step.sent):
            sent[k] = step.sent[place]
    return sent


def _stroke(value: Value | None, largest: float) -> Stroke:
    if value is None:
        return Stroke(label="none")
    share = (value.norm or 0.0) / largest if largest else 0.0
    width = THIN + (THICK - THIN) * share
    return Stroke(svg.GRADIENT, width, "", fitted(value), svg.GRADIENT_INK, bold=share > 0)


def _text(tape: Tape) -> list[str]:
    """What came to each node and what it sent, in the order of backward."""
    if len(tape.steps) > MOST_LISTED:
        changes = [step.change for step in tape.steps if step.change]
        landed = [f".grad of {c.variable or 'a leaf'}: {short(c.after)}" for c in changes]
        return [f"{len(tape.steps)} nodes ran", *landed[:MOST_LISTED]]
    lines = []
    for step in tape.steps:
        node = tape.graph.nodes[step.node]
        came = ", ".join(short(value) for value in step.arrived)
        if step.change:
            lines.append(f"{spoken(node)}: .grad {short(step.change.after)}")
            continue
        out = [
            f"{short(value)} to {brief(tape.graph.nodes[edge.target])}"
            for edge, value in zip(tape.graph.edges_from(step.node), step.sent, strict=False)
            if edge.target is not None
        ]
        lines.append(f"{spoken(node)}: in {came}; out {'; '.join(out) or 'nothing'}")
    return lines
