"""A graph as a picture: what was computed from what, and what is kept for backward."""

from __future__ import annotations

from collections import Counter

from utils.graph.data import Graph, Node, Root, Saved
from utils.pictures import svg
from utils.pictures.boxes import Row, fitted
from utils.pictures.fold import CAP, REPEAT, Box, Scene, fold
from utils.pictures.names import brief, counted, place, root_words, shapes, spoken, tally
from utils.pictures.numbers import bytes_words, shape_text, short
from utils.pictures.picture import Picture
from utils.pictures.stage import FLOW, FLOW_UPRIGHT, Look, Stage, Stroke

MOST_SAVED = 3  # saved tensors written out in one box
HOOK_NOTE = (
    "A module hook stands where register_full_backward_hook put it: it lets the hook see the "
    "gradient, and is no operation of yours."
)
MOST_LISTED = 20  # nodes written out in the text twin


def draw_graph(
    graph: Graph, *, cap: int = CAP, repeat: int = REPEAT, upright: bool | None = None
) -> Picture:
    """Draw a graph, inputs left and roots right.

    Args:
        graph: what `utils.graph.walk` returned.
        cap: the most boxes to draw; a larger graph is folded, and cut if need be.
        repeat: a leaf that is used so often is drawn next to each use.
        upright: whether values run top to bottom; None lets deep graphs do so.

    Returns:
        The picture. Its text states every fact in it; above 20 nodes it sums them up.

    Example:
        >>> draw_graph(walk(y)).text  # doctest: +SKIP
        'Graph of y: 2 nodes, 1 edge, 16 bytes saved for backward ...'
    """
    if not graph.nodes:
        return _no_graph(graph)
    scene = fold(graph, cap, repeat)
    roots = _roots_by_node(graph)
    rows = [_rows(scene, box) for box in scene.boxes]
    marks = [
        root_words(root for node in box.nodes for root in roots.get(node, ()))
        for box in scene.boxes
    ]
    stage = Stage(scene, [(row,) for row in rows], [()] * len(scene.lines), marks, upright)
    body = [stage.line_svg(k, Stroke()) for k in range(len(scene.lines))]
    for k, box in enumerate(scene.boxes):
        leaf = graph.nodes[box.nodes[-1]].kind == "leaf"
        fill, stroke = (svg.LEAF_FILL, svg.LEAF) if leaf else (svg.BOX_FILL, svg.LINE)
        body.append(stage.box_svg(k, Look(fill, stroke, rows=rows[k])))
    title = _title(graph)
    footer = _footer(graph, scene)
    text = graph_text(graph, scene, stage.upright)
    return Picture(stage.panel(title, text, "".join(body), footer), title, text)


def graph_text(graph: Graph, scene: Scene, upright: bool) -> str:
    """The text twin of a graph's picture."""
    lines = [_title(graph), (FLOW_UPRIGHT if upright else FLOW).capitalize() + "."]
    roots = _roots_by_node(graph)
    if len(graph.nodes) <= MOST_LISTED:
        targets: dict[int, list[str]] = {}
        constants: Counter[int] = Counter()
        for edge in graph.edges:
            if edge.target is not None:
                targets.setdefault(edge.source, []).append(brief(graph.nodes[edge.target]))
            else:
                constants[edge.source] += 1
        for node in graph.nodes:
            reached, found = targets.get(node.index, []), roots.get(node.index, ())
            lines.append(_node_text(node, reached, constants[node.index], found))
    else:
        lines.append("Nodes: " + tally(node.name for node in graph.nodes) + ".")
        named = [brief(node) for node in graph.leaves if node.variable]
        unnamed = len(graph.leaves) - len(named)
        if unnamed:
            named.append(counted(unnamed, "leaf without a name", "leaves without names"))
        if len(named) > MOST_LISTED:
            named[MOST_LISTED:] = [f"{len(named) - MOST_LISTED} more"]
        lines.append(f"Leaves: {', '.join(named)}.")
        states = tally(saved.state for node in graph.nodes for saved in node.saved)
        if states:
            lines.append(f"Saved tensors: {states}.")
        for at, found in roots.items():
            lines.append(f"{root_words(found).capitalize()}: {spoken(graph.nodes[at])}.")
    return "\n".join([*lines, *_footer(graph, scene)])


def saved_words(saved: Saved) -> str:
    """A saved tensor in one line: "self (2, 2) held, 16 bytes", "result freed"."""
    shape = f" {shape_text(saved.value.shape)}" if saved.value else ""
    size = f", {bytes_words(saved.nbytes)}" if saved.nbytes else ""
    return f"{saved.name}{shape} {saved.state}{size}"


def _rows(scene: Scene, box: Box) -> tuple[Row, ...]:
    """What the box says of its value and of what it keeps."""
    nodes = [scene.graph.nodes[index] for index in box.nodes]
    saved = [item for node in nodes for item in node.saved]
    if len(nodes) > 1:
        states = tally(item.state for item in saved)
        return (Row(f"saved: {states}"),) if states else ()
    rows = []
    outputs = nodes[0].outputs
    if len(outputs) == 1 and outputs[0].entries is not None:
        rows.append(Row(f"value {fitted(outputs[0])}"))
    shown = saved if len(saved) <= MOST_SAVED else saved[: MOST_SAVED - 1]
    for item in shown:
        size = f", {bytes_words(item.nbytes)}" if item.nbytes else ""
        rows.append(Row(f"{item.name} {item.state}{size}", mark=item.state))
    if len(shown) < len(saved):
        rest = saved[len(shown) :]
        rows.append(Row(f"and {tally(item.state for item in rest)}"))
    return tuple(rows)


def _node_text(
    node: Node, targets: list[str], constants: int, roots: tuple[Root, ...] | list[Root]
) -> str:
    facts = [spoken(node)]
    if roots:
        facts.append(root_words(roots))
    if words := shapes(node.outputs):
        facts.append(words)
    if len(node.outputs) == 1 and node.outputs[0].entries is not None:
        facts.append(f"value {short(node.outputs[0])}")
    if words := place(node):
        facts.append(words)
    line = ", ".join(facts)
    if targets:
        line += f"; sends to {', '.join(targets)}"
    if constants:  # nothing is sent there
        line += f"; {counted(constants, 'input is constant', 'inputs are constant')}"
    if node.saved:
        line += f"; keeps {', '.join(saved_words(saved) for saved in node.saved)}"
    return line + "."


def _title(graph: Graph) -> str:
    names = [root.variable or root.path for root in graph.roots if root.node is not None]
    of = ", ".join(name for name in names if name)
    edges = sum(edge.target is not None for edge in graph.edges)
    size = f"{counted(len(graph.nodes), 'node')}, {counted(edges, 'edge')}"
    kept = graph.saved_bytes
    saved = f", {bytes_words(kept)} saved for backward" if kept else ""
    return f"Graph{f' of {of}' if of else ''}: {size}{saved}"


def _footer(graph: Graph, scene: Scene) -> list[str]:
    hooks = [HOOK_NOTE] if any(node.kind == "hook" for node in graph.nodes) else []
    return [*scene.notes, *hooks, *(root.sentence for root in graph.roots if root.sentence)]


def _roots_by_node(graph: Graph) -> dict[int, list[Root]]:
    found: dict[int, list[Root]] = {}
    for root in graph.roots:
        if root.node is not None:
            found.setdefault(root.node, []).append(root)
    return found


def _no_graph(graph: Graph) -> Picture:
    """Why there is nothing to draw, in the words of each root."""
    title = "No graph" if len(graph.roots) < 2 else f"No graph behind these {len(graph.roots)}"
    sentences = [
        (f"{root.path}: " if root.path else "") + (root.sentence or root.reason)
        for root in graph.roots
    ] or ["Nothing was given to draw."]
    width = 560.0
    body, y = [], svg.MARGIN + 7 + svg.LINE_HEIGHT * 1.5
    for sentence in sentences:
        # Backticks mark code in the text twin; in a picture they would only be specks.
        for line in svg.wrap(sentence.replace("`", ""), width - 2 * svg.MARGIN):
            body.append(svg.label((svg.MARGIN, y), line, fill=svg.MUTED, anchor="start"))
            y += svg.LINE_HEIGHT
    text = "\n".join([title, *sentences])
    size = (width, y - svg.LINE_HEIGHT + svg.MARGIN)
    return Picture(svg.panel(title, text, "".join(body), size), title, text)
