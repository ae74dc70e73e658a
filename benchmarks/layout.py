"""Our layout against Graphviz's `dot`, which pygraphviz carries, on graphs of real torch modules.

Both get the same boxes and the same gaps. Besides the time it counts what a reader would see:
crossings, overlapping boxes, lines through boxes, and the width across the layers.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from tests.pictures.geometry import (
    Point,
    boxes_that_overlap,
    crossings,
    lines_through_boxes,
    sampled,
)
from utils.graph import walk
from utils.pictures.fold import Scene, fold
from utils.pictures.layout import layered
from utils.pictures.names import heading
from utils.pictures.svg import TITLE, text_width

from .measure import Row, medians

ALL = 10**9  # no cap on boxes
NEVER = 10**9  # leaves are not repeated
PATIENCE = 1000.0  # milliseconds; what takes longer is timed once


def rows() -> list[Row]:
    """Time, crossings, faults and width on each graph, ours beside dot's."""
    if importlib.util.find_spec("pygraphviz") is None:
        raise ModuleNotFoundError("No module named 'pygraphviz'", name="pygraphviz")
    found = []
    for name, scene in _scenes().items():
        found += _compared(f"{name}, {len(scene.boxes)} boxes", scene)
    return found


def _compared(what: str, scene: Scene) -> list[Row]:
    sizes = [_size(scene, k) for k in range(len(scene.boxes))]
    lines = [line for line in scene.lines if line.target is not None]
    edges = [(line.source, line.target) for line in lines]
    start = time.perf_counter()
    peer = _dot(sizes, edges)
    theirs = 1000 * (time.perf_counter() - start)
    layout = layered(sizes, edges, vertical=True)
    if theirs < PATIENCE:
        ours, theirs = medians(
            lambda: layered(sizes, edges, vertical=True), lambda: _dot(sizes, edges)
        )
    else:  # where many long lines meet, Graphviz takes many seconds: once is enough to know
        (ours,) = medians(lambda: layered(sizes, edges, vertical=True), repeats=3)
    mine = _Drawing(layout.centres, [sampled(route, 12) for route in layout.routes])
    result = [Row(f"{what}: time", ours, "dot", theirs, bar=1.0)]
    for noun, measure, limit in (
        ("crossings", lambda d: crossings(edges, d.lines), None),
        ("overlapping boxes", lambda d: len(boxes_that_overlap(d.centres, sizes)), 0),
        (
            "lines through boxes",
            lambda d: len(lines_through_boxes(d.centres, sizes, edges, d.lines)),
            0,
        ),
        ("width", lambda d: d.width(sizes), None),
    ):
        unit = "px" if noun == "width" else ""
        result.append(
            Row(f"{what}: {noun}", measure(mine), "dot", measure(peer), unit=unit, most=limit)
        )
    return result


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Where boxes and lines came to stand; a line is a list of points."""

    centres: Sequence[Point]
    lines: Sequence[Sequence[Point]]

    def width(self, sizes: Sequence[Point]) -> float:
        left = min(x - w / 2 for (x, _), (w, _) in zip(self.centres, sizes, strict=True))
        right = max(x + w / 2 for (x, _), (w, _) in zip(self.centres, sizes, strict=True))
        return right - left


def _dot(sizes: Sequence[Point], edges: Sequence[tuple[int, int]]) -> _Drawing:
    """What Graphviz makes of the same boxes and lines."""
    import pygraphviz

    graph = pygraphviz.AGraph(directed=True, strict=False, rankdir="BT", nodesep=30 / 72)
    graph.node_attr.update(shape="box", fixedsize="true", label="")
    graph.edge_attr.update(arrowhead="none")
    for k, (width, height) in enumerate(sizes):
        graph.add_node(k, width=width / 72, height=height / 72)
    for k, (source, target) in enumerate(edges):
        graph.add_edge(source, target, key=k)
    graph.layout("dot")
    centres = [_points(graph.get_node(k).attr["pos"])[0] for k in range(len(sizes))]
    lines = [
        sampled(_points(graph.get_edge(source, target, key=k).attr["pos"]), 12)
        for k, (source, target) in enumerate(edges)
    ]
    return _Drawing(centres, lines)


def _points(text: str) -> list[Point]:
    pairs = (word.split(",")[:2] for word in text.split() if word[0] not in "es")
    return [(float(x), float(y)) for x, y in pairs]


def _size(scene: Scene, box: int) -> Point:
    name, rest = heading(scene.graph.nodes[scene.boxes[box].nodes[-1]])
    return text_width(f"{name} {rest}", TITLE, bold=True) + 24, 56.0


def _scenes() -> dict[str, Scene]:
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    words = torch.randn(2, 5, 8)
    graphs = {
        "MLP": walk(mlp(torch.randn(5, 4)).square().mean()),
        "attention": walk(attention(words, words, words)[0].sum()),
        **{f"residual x {blocks}": walk(_residual(blocks)) for blocks in (6, 19, 32)},
        "LSTMCell x 6": walk(_unrolled(nn.LSTMCell(4, 6), 6)),
        "GRUCell x 20": walk(_unrolled(nn.GRUCell(4, 6), 20)),
    }
    scenes = {}
    for name, graph in graphs.items():
        scenes[name] = fold(graph, cap=ALL, repeat=NEVER)
        if "Cell" in name:
            scenes[f"{name}, leaves repeated"] = fold(graph, cap=ALL)
    return scenes


class _Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.norms[0](self.first(x)).relu()
        return (self.norms[1](self.second(inner)) + x).relu()


def _residual(blocks: int) -> torch.Tensor:
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        *(_Block(8) for _ in range(blocks)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 10),
    )
    return net(torch.randn(2, 3, 8, 8)).logsumexp(1).mean()


def _unrolled(cell: nn.Module, steps: int) -> torch.Tensor:
    """The sum of a recurrent cell's output over `steps` steps."""
    state, total = None, torch.zeros(())
    for _ in range(steps):
        state = cell(torch.randn(2, 4), state)
        total = total + (state[0] if isinstance(state, tuple) else state).sum()
    return total


if __name__ == "__main__":
    from .measure import table

    print(table(rows()))
