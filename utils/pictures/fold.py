"""From a graph to what is drawn of it: a `Scene` of boxes and lines that a reader can take in.

A leaf with many uses is drawn next to each of them. A graph with too many boxes is folded, and if
that is not enough, only the part nearest the root is drawn. Nothing vanishes silently: `notes`
counts whatever has no box of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from utils.graph.data import Graph
from utils.pictures.names import counted, tally

CAP = 150  # more boxes than this, and the graph is folded
REPEAT = 3  # a leaf used so often is drawn next to each use
MOST_NAMED = 8  # names written out in one note
LEAST_RUN = 3  # a shorter run would gain nothing by being folded
TRANSPOSE = "TBackward0"


@dataclass(frozen=True, slots=True)
class Box:
    """One box.

    Attributes:
        nodes: the nodes of the graph that it stands for, the one nearest the root first.
        uses: how many edges reach its leaf in all, when the leaf is drawn more than once; else 0.
    """

    nodes: tuple[int, ...]
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line, from the box that sends to the box that receives.

    Attributes:
        source: number of the box that sends.
        target: number of the box that receives; None for a stub.
        edges: places in `Graph.edges` of the edges it stands for; one, except for a stub.
        word: why a stub ends, such as "constant" or "2 hidden"; "" for a whole line.
    """

    source: int
    target: int | None
    edges: tuple[int, ...]
    word: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn of a graph.

    Attributes:
        graph: the graph.
        boxes, lines: what is drawn.
        hidden: how many nodes are in no box.
        notes: sentences on everything that is repeated, folded or hidden, with counts.
    """

    graph: Graph
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    hidden: int
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Draft:
    """A scene in the making: boxes as tuples of nodes, lines as (source, target, edge)."""

    graph: Graph
    boxes: list[tuple[int, ...]]
    lines: list[tuple[int, int, int]]
    notes: list[str]
    cut: list[int]  # edges whose target is hidden

    def name(self, box: int) -> str:
        return self.graph.nodes[self.boxes[box][0]].name

    def is_leaf(self, box: int) -> bool:
        return self.graph.nodes[self.boxes[box][-1]].kind == "leaf"

    def roots(self) -> set[int]:
        nodes = {root.node for root in self.graph.roots}
        return {number for number, box in enumerate(self.boxes) if nodes.intersection(box)}

    def into(self) -> list[list[int]]:
        """Per box, the numbers of the lines that reach it."""
        found: list[list[int]] = [[] for _ in self.boxes]
        for number, (_, target, _) in enumerate(self.lines):
            found[target].append(number)
        return found

    def out_of(self) -> list[list[int]]:
        """Per box, the numbers of the lines that leave it."""
        found: list[list[int]] = [[] for _ in self.boxes]
        for number, (source, _, _) in enumerate(self.lines):
            found[source].append(number)
        return found

    def without(self, gone: set[int]) -> None:
        """Drop some boxes, with the lines that touch them."""
        kept = [number for number in range(len(self.boxes)) if number not in gone]
        renumbered = {old: new for new, old in enumerate(kept)}
        self.boxes = [self.boxes[number] for number in kept]
        self.lines = [
            (renumbered[source], renumbered[target], edge)
            for source, target, edge in self.lines
            if source in renumbered and target in renumbered
        ]


def fold(graph: Graph, cap: int = CAP, repeat: int = REPEAT) -> Scene:
    """Decide what is drawn of a graph.

    Args:
        graph: the graph.
        cap: the most boxes to draw. Only a graph with more of them is folded.
        repeat: a leaf that at least so many edges reach is drawn next to each of its users.
    """
    draft = _Draft(
        graph,
        [(node.index,) for node in graph.nodes],
        [
            (edge.source, edge.target, number)
            for number, edge in enumerate(graph.edges)
            if edge.target is not None
        ],
        [],
        [],
    )
    _repeat_leaves(draft, repeat)
    for step in (_absorb_transposes, _fold_runs):
        if len(draft.boxes) > cap:
            step(draft)
    if len(draft.boxes) > cap:
        _crop(draft, cap)
    return _finished(draft)


def _repeat_leaves(draft: _Draft, repeat: int) -> None:
    gone = set()
    roots = draft.roots()
    repeated: dict[tuple[int, int], list[str]] = {}
    for leaf, lines in enumerate(draft.into()):
        users = dict.fromkeys(draft.lines[k][0] for k in lines)
        if len(lines) < repeat or len(users) < 2 or not draft.is_leaf(leaf) or leaf in roots:
            continue
        copies = {}
        for user in users:
            copies[user] = len(draft.boxes)
            draft.boxes.append(draft.boxes[leaf])
        for k in lines:
            user, _, edge = draft.lines[k]
            draft.lines[k] = (user, copies[user], edge)
        gone.add(leaf)
        name = draft.graph.nodes[draft.boxes[leaf][0]].variable
        repeated.setdefault((len(lines), len(users)), []).append(name)
    draft.notes += (_repeat_note(*counts, names) for counts, names in repeated.items())
    draft.without(gone)


def _repeat_note(uses: int, users: int, names: list[str]) -> str:
    known = [name for name in names if name]
    listed = ", ".join(known[:MOST_NAMED] + ["..."] * (len(known) > MOST_NAMED))
    if len(names) == 1:
        return f"{listed or 'A leaf'} is used {uses} times and drawn next to each of {users} users."
    words = (
        f"{len(names)} leaves are used {uses} times each and drawn next to each of {users} users"
    )
    return f"{words}: {listed}." if listed else f"{words}."


def _absorb_transposes(draft: _Draft) -> None:
    """Put each transpose of a parameter into the parameter's box."""
    into, out_of, roots = draft.into(), draft.out_of(), draft.roots()
    absorbed: dict[int, int] = {}
    for box in range(len(draft.boxes)):
        if draft.name(box) == TRANSPOSE and len(out_of[box]) == 1 and box not in roots:
            leaf = draft.lines[out_of[box][0]][1]
            if draft.is_leaf(leaf):
                absorbed[box] = leaf
    for box, leaf in absorbed.items():
        draft.boxes[box] += draft.boxes[leaf]
    inside = {out_of[box][0] for box in absorbed}
    draft.lines = [line for k, line in enumerate(draft.lines) if k not in inside]
    draft.without(
        {
            leaf
            for leaf in absorbed.values()
            if leaf not in roots and all(k in inside for k in into[leaf])
        }
    )
    if absorbed:
        draft.notes.append(
            f"{counted(len(absorbed), TRANSPOSE, TRANSPOSE)} (a transpose) drawn inside the "
            "parameter behind it."
        )


def _fold_runs(draft: _Draft) -> None:
    """Make one box of each run of boxes with one line in and one line out."""
    into, out_of, roots = draft.into(), draft.out_of(), draft.roots()

    def is_link(box: int) -> bool:
        return len(into[box]) == len(out_of[box]) == 1 and box not in roots

    gone: set[int] = set()
    runs = []
    for first in range(len(draft.boxes)):
        if not is_link(first) or is_link(draft.lines[into[first][0]][0]):
            continue
        run = [first]
        while is_link(after := draft.lines[out_of[run[-1]][0]][1]):
            run.append(after)
        if len(run) < LEAST_RUN:
            continue
        runs.append(run)
        draft.boxes[first] = tuple(node for box in run for node in draft.boxes[box])
        _, target, edge = draft.lines[out_of[run[-1]][0]]
        draft.lines.append((first, target, edge))
        gone.update(run[1:])
    draft.without(gone)
    if runs:
        names = [draft.graph.nodes[node].name for node in _nodes_of_runs(draft)]
        draft.notes.append(
            f"{counted(len(names), 'node')} in {counted(len(runs), 'run')} folded: {tally(names)}."
        )


def _nodes_of_runs(draft: _Draft) -> list[int]:
    runs = (box for number, box in enumerate(draft.boxes) if not draft.is_leaf(number))
    return [node for box in runs if len(box) > 1 for node in box]


def _crop(draft: _Draft, cap: int) -> None:
    """Keep the boxes with the fewest layers between them and the root."""
    out_of = draft.out_of()
    waiting = [len(lines) for lines in draft.into()]
    depth = [0] * len(draft.boxes)
    ready = [box for box, count in enumerate(waiting) if not count]
    for box in ready:  # grows while it is walked
        for k in out_of[box]:
            target = draft.lines[k][1]
            depth[target] = max(depth[target], depth[box] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    nearest = sorted(range(len(draft.boxes)), key=lambda box: (depth[box], box))
    gone = set(nearest[cap:])
    draft.cut = [
        edge for source, target, edge in draft.lines if target in gone and source not in gone
    ]
    draft.without(gone)


def _finished(draft: _Draft) -> Scene:
    graph = draft.graph
    uses: dict[int, int] = {}
    for edge in graph.edges:
        if edge.target is not None:
            uses[edge.target] = uses.get(edge.target, 0) + 1
    times: dict[int, int] = {}
    for box in draft.boxes:
        times[box[-1]] = times.get(box[-1], 0) + 1
    boxes = tuple(Box(box, uses[box[-1]] if times[box[-1]] > 1 else 0) for box in draft.boxes)

    lines = [Line(source, target, (edge,)) for source, target, edge in draft.lines]
    owner = {node: number for number, box in enumerate(draft.boxes) for node in box}
    constants = [k for k, edge in enumerate(graph.edges) if edge.target is None]
    for noun, edges in (("constant", constants), ("hidden", draft.cut)):
        ends: dict[int, list[int]] = {}
        for k in edges:
            if graph.edges[k].source in owner:
                ends.setdefault(owner[graph.edges[k].source], []).append(k)
        for box, stubs in ends.items():
            lines.append(Line(box, None, tuple(stubs), _stub_word(noun, len(stubs))))

    hidden = len(graph.nodes) - len(owner)
    notes = draft.notes[:]
    if hidden:
        notes.append(
            f"{hidden} of {len(graph.nodes)} nodes are hidden: "
            "only the part nearest the root is drawn."
        )
    return Scene(graph, boxes, tuple(lines), hidden, tuple(notes))


def _stub_word(noun: str, count: int) -> str:
    if noun == "hidden":
        return f"{count} hidden"
    return noun if count == 1 else f"{count} {noun}s"
