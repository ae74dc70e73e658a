"""A recorded backward, drawn at any of its steps: what has run, what runs now, what still waits."""

from __future__ import annotations

from collections.abc import Sequence

from utils.graph.data import Graph, Step, Tape, Value
from utils.pictures import svg
from utils.pictures.boxes import Row, fitted
from utils.pictures.fold import CAP, REPEAT, fold
from utils.pictures.names import brief, counted, root_words, spoken
from utils.pictures.numbers import short
from utils.pictures.picture import Picture
from utils.pictures.stage import WIDEST, Look, Stage, Stroke

MOST_LISTED = 20  # nodes named one by one in the text twin
READY = "ready"
UNSENT, SENT, NOW = range(3)  # the moments of a line, in the order in which they are drawn
READY_DASH, WAITING_DASH, UNSENT_DASH = "10 3", "5 4", "4 4"


class TapePicture:
    """All the pictures of one backward. Nothing moves from one step to the next.

    Args:
        tape: what `utils.graph.record` returned.
        cap: the most boxes to draw; a larger graph is folded, and cut if need be.
        repeat: a leaf that is used so often is drawn next to each use.
        upright: whether values run top to bottom; None lets deep graphs do so.

    Attributes:
        tape: the tape.
        steps: how many steps it has; `draw` takes 0 (before the first) to `steps` (the end).

    Example:
        >>> picture = TapePicture(record(y))  # doctest: +SKIP
        >>> picture.draw(1).text.splitlines()[0]  # doctest: +SKIP
        'Backward, step 1 of 5: o = z.mean() (MeanBackward0)'
    """

    def __init__(
        self, tape: Tape, *, cap: int = CAP, repeat: int = REPEAT, upright: bool | None = None
    ) -> None:
        self.tape = tape
        self.steps = len(tape.steps)
        graph = tape.graph
        self._scene = scene = fold(graph, cap, repeat)
        self._turn = {step.node: k for k, step in enumerate(tape.steps, 1)}
        self._leaving = _leaving(graph)
        self._sent = _sent(tape, self._leaving)
        self._into: list[list[int]] = [[] for _ in graph.nodes]  # per node, the edges that reach it
        for k, edge in enumerate(graph.edges):
            if edge.target is not None:
                self._into[edge.target].append(k)
        self._stage = Stage(
            scene,
            [self._every_rows(box.nodes) for box in scene.boxes],
            [() if line.target is None else self._labels(line.edges[0]) for line in scene.lines],
            [self._mark(box.nodes) for box in scene.boxes],
            upright,
        )
        self._drawn: dict[tuple[int, Look], str] = {}
        self._lines: dict[tuple[int, int], str] = {}

    def draw(self, k: int) -> Picture:
        """The picture after `k` steps; the k-th is the one that runs "now".

        Raises:
            ValueError: if `k` is not between 0 and `steps`.
        """
        if not 0 <= k <= self.steps:
            raise ValueError(f"step {k} of {self.steps}: expected 0 (before) to {self.steps}")
        waiting = self._waiting(k)
        title = self._title(k)
        text = self._text(k, waiting)
        lines = sorted(self._line(number, k) for number in range(len(self._scene.lines)))
        body = [drawn for _, _, drawn in lines]
        for number, box in enumerate(self._scene.boxes):
            look = self._look(box.nodes, k, waiting)
            drawn = self._drawn.get((number, look))
            if drawn is None:
                drawn = self._drawn[number, look] = self._stage.box_svg(number, look)
            body.append(drawn)
        return Picture(self._stage.panel(title, text, "".join(body), self._footer(k)), title, text)

    def _text(self, k: int, waiting: Sequence[int]) -> str:
        """The text twin of step `k`: the same facts, line by line."""
        graph = self.tape.graph
        lines = [self._title(k)]
        if k:
            lines += self._step_text(self.tape.steps[k - 1])
        else:
            for root, seed in zip(graph.roots, self.tape.seeds, strict=False):
                if root.node is not None and seed is not None:
                    name = root.variable or root.path or brief(graph.nodes[root.node])
                    lines.append(f"starts at {name} with {short(seed)}")
        return "\n".join([*lines, *self._states_text(k, waiting), *self._footer(k)])

    def _title(self, k: int) -> str:
        if not self.steps:
            return "Backward, no step ran"
        if k == 0:
            return f"Backward, before step 1 of {self.steps}"
        node = self.tape.graph.nodes[self.tape.steps[k - 1].node]
        return f"Backward, step {k} of {self.steps}: {spoken(node)}"

    def _footer(self, k: int) -> list[str]:
        notes = list(self._scene.notes)
        if self.tape.error and k == self.steps:
            notes.append(f"Backward stopped here with an error: {self.tape.error}")
        return notes

    def _waiting(self, k: int) -> list[int]:
        """Per node, how many of its gradients have not been sent yet."""
        turn, edges = self._turn, self.tape.graph.edges
        late = self.steps + 1
        return [sum(turn.get(edges[e].source, late) > k for e in into) for into in self._into]

    # What a box looks like

    def _mark(self, nodes: Sequence[int]) -> str:
        found = [
            (root, seed)
            for root, seed in zip(self.tape.graph.roots, self.tape.seeds, strict=False)
            if root.node in nodes
        ]
        words = root_words(root for root, _ in found)
        if not words:
            return ""
        seeds = ", ".join(fitted(seed) for _, seed in found if seed is not None)
        return f"{words}, starts with {seeds}" if seeds else words

    def _look(self, nodes: Sequence[int], k: int, waiting: list[int]) -> Look:
        leaf = self.tape.graph.nodes[nodes[-1]].kind == "leaf"
        rows = self._rows(nodes, k, waiting)
        turns = [self._turn.get(node, self.steps + 1) for node in nodes]
        if k and k in turns:
            return Look(svg.GRADIENT_FILL, svg.GRADIENT, 3.0, now=True, rows=rows)
        stroke = svg.LEAF if leaf else svg.LINE
        fill = svg.LEAF_FILL if leaf else svg.BOX_FILL
        if all(turn <= k for turn in turns):
            return Look(fill, stroke, 1.6, rows=rows)
        if rows[0].text == READY:
            return Look(fill, stroke, 1.6, READY_DASH, rows=rows)
        if not leaf:
            fill, stroke = svg.WAIT_FILL, svg.FAINT
        return Look(fill, stroke, 1.4, WAITING_DASH, rows=rows)

    def _rows(self, nodes: Sequence[int], k: int, waiting: Sequence[int]) -> tuple[Row, ...]:
        if len(nodes) > 1 and self.tape.graph.nodes[nodes[-1]].kind != "leaf":
            done = sum(self._turn.get(node, self.steps + 1) <= k for node in nodes)
            return (Row(f"{done} of {len(nodes)} done" if done else "not yet"),)
        node = nodes[-1]
        turn = self._turn.get(node)
        if turn is not None and turn <= k:
            return _done_rows(self.tape.steps[turn - 1])
        if k == self.steps:
            return (Row("never ran"),)
        if not waiting[node]:
            return (Row(READY, svg.INK, bold=True),)
        if len(self._into[node]) == 1:
            return (Row("not yet"),)
        return (Row("not yet"), Row(f"waits for {waiting[node]} {self._more(node, waiting)}"))

    def _more(self, node: int, waiting: Sequence[int]) -> str:
        return "more" if waiting[node] < len(self._into[node]) else "gradients"

    def _every_rows(self, nodes: Sequence[int]) -> list[tuple[Row, ...]]:
        """The rows of a box at every moment that could make it wider or taller."""
        none_yet = {nodes[-1]: len(self._into[nodes[-1]])}
        moments = [self._rows(nodes, 0, none_yet), self._rows(nodes, self.steps, none_yet)]
        return moments

    # What a line looks like

    def _labels(self, edge: int) -> tuple[str, ...]:
        return (fitted(self._sent[edge][1]),) if edge in self._sent else ()

    def _line(self, number: int, k: int) -> tuple[int, int, str]:
        """(how late it is to be drawn, its number, its SVG): what is now covers what was before."""
        line = self._scene.lines[number]
        if line.target is None:
            turn, value = self.steps + 1, None
        else:
            turn, value = self._sent.get(line.edges[0], (self.steps + 1, None))
        moment = UNSENT if turn > k else NOW if turn == k else SENT
        drawn = self._lines.get((number, moment))
        if drawn is None:
            drawn = self._stage.line_svg(number, _stroke(moment, value))
            self._lines[number, moment] = drawn
        return moment, number, drawn

    # The text twin

    def _step_text(self, step: Step) -> list[str]:
        graph = self.tape.graph
        lines = []
        for slot, value in enumerate(step.arrived):
            where = f" at slot {slot}" if len(step.arrived) > 1 else ""
            lines.append(f"came in{where}: {'none arrived' if value is None else short(value)}")
        for k, value in zip(self._leaving.get(step.node, ()), step.sent, strict=False):
            edge = graph.edges[k]
            if edge.target is not None:
                lines.append(f"goes out to {brief(graph.nodes[edge.target])}: {short(value)}")
        if step.change:
            change = step.change
            name = change.variable or "the leaf"
            lines.append(f".grad of {name}: {short(change.before)} → {short(change.after)}")
        return lines

    def _states_text(self, k: int, waiting: Sequence[int]) -> list[str]:
        graph = self.tape.graph
        groups: dict[str, list[str]] = {"done": [], "ready": [], "waiting": []}
        last = k == self.steps
        for step in self.tape.steps[: max(k - 1, 0)]:
            groups["done"].append(brief(graph.nodes[step.node]))
        for node in graph.nodes:
            if self._turn.get(node.index, self.steps + 1) <= k:
                continue
            left = waiting[node.index]
            name = brief(node)
            if not last and left and len(self._into[node.index]) > 1:
                name += f" (waits for {left} {self._more(node.index, waiting)})"
            groups["waiting" if left or last else "ready"].append(name)
        lines = []
        for state, names in groups.items():
            if names:
                word = "never ran" if last and state == "waiting" else state
                listed = ", ".join(names) if len(graph.nodes) <= MOST_LISTED else str(len(names))
                lines.append(f"{word}: {listed}")
        return lines


def _sent(tape: Tape, leaving: dict[int, list[int]]) -> dict[int, tuple[int, Value | None]]:
    """Per edge on which a step sent something or nothing: (number of the step, what)."""
    sent = {}
    for k, step in enumerate(tape.steps, 1):
        for edge, value in zip(leaving.get(step.node, ()), step.sent, strict=False):
            sent[edge] = (k, value)
    return sent


def _leaving(graph: Graph) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for k, edge in enumerate(graph.edges):
        found.setdefault(edge.source, []).append(k)
    return found


def _done_rows(step: Step) -> tuple[Row, ...]:
    rows = []
    if step.arrived and all(value is None for value in step.arrived):
        rows.append(Row("none arrived", svg.INK))
    elif len(step.arrived) == 1:
        rows.append(Row(f"in: {fitted(step.arrived[0])}", svg.INK))
    else:
        for slot, value in list(enumerate(step.arrived))[:3]:
            rows.append(Row(f"in {slot}: {fitted(value)}", svg.INK))
        if len(step.arrived) > 3:
            rows.append(Row(f"and {counted(len(step.arrived) - 3, 'slot')} more", svg.INK))
    if step.change:
        before, after = fitted(step.change.before), fitted(step.change.after)
        change = f".grad {before} → {after}"
        fits = svg.text_width(change, bold=True) <= WIDEST
        for words in [change] if fits else [f".grad {before} →", after]:
            rows.append(Row(words, svg.INK, bold=True))
    return tuple(rows)


def _stroke(moment: int, value: Value | None) -> Stroke:
    if moment == UNSENT:
        return Stroke(dash=UNSENT_DASH)
    width = 3.0 if moment == NOW else 1.6
    if value is None:
        return Stroke(width=width, label="none")
    return Stroke(svg.GRADIENT, width, "", fitted(value), svg.GRADIENT_INK, bold=moment == NOW)
