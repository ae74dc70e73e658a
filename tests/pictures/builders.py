"""Graphs and tapes as plain data, built without torch."""

from __future__ import annotations

import random
from collections.abc import Sequence

from utils.graph.data import Edge, GradChange, Graph, Node, Root, Saved, Step, Tape, Value
from utils.pictures.planes import Local


def value(*entries: float, shape: tuple[int, ...] | None = None) -> Value:
    """A Value with entries; a scalar when there is one and no shape is given."""
    if shape is None:
        shape = () if len(entries) == 1 else (len(entries),)
    return Value(shape, "float32", tuple(entries) or None)


def graph(
    nodes: Sequence[Node | str],
    edges: Sequence[tuple[int, int | None]],
    roots: Sequence[int] = (0,),
) -> Graph:
    """A graph from nodes (or torch's names for them) and (source, target) pairs in input order."""
    made = tuple(
        node if isinstance(node, Node) else Node(k, node, kind(node), (value(shape=(2, 2)),))
        for k, node in enumerate(nodes)
    )
    inputs: dict[int, int] = {}
    wired = []
    for source, target in edges:
        wired.append(Edge(source, inputs.get(source, 0), target, 0))
        inputs[source] = inputs.get(source, 0) + 1
    return Graph(made, tuple(wired), tuple(Root("", "", root, 0) for root in roots))


def kind(name: str) -> str:
    return "leaf" if name == "AccumulateGrad" else "op"


def leaf(index: int, variable: str = "") -> Node:
    return Node(index, "AccumulateGrad", "leaf", (value(shape=(2, 2)),), variable=variable)


def tape(of: Graph, error: str = "", stop: int | None = None) -> Tape:
    """A backward over `of` in an order that is possible, with a number of its own on each edge."""
    waiting = [0] * len(of.nodes)
    for edge in of.edges:
        if edge.target is not None:
            waiting[edge.target] += 1
    leaving: dict[int, list[int]] = {}
    for k, edge in enumerate(of.edges):
        leaving.setdefault(edge.source, []).append(k)
    steps = []
    ready = [node.index for node in of.nodes if not waiting[node.index]]
    for at in ready:  # grows while it is walked
        node = of.nodes[at]
        sent = []
        for k in leaving.get(at, ()):
            target = of.edges[k].target
            sent.append(None if target is None else value(k + 0.5))
            if target is not None:
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
        change = None
        if node.kind == "leaf":
            change = GradChange(at, node.variable, None, value(at + 0.25))
        steps.append(Step(at, (value(at + 0.75),), tuple(sent), change))
    seeds = tuple(value(1.0) for _ in of.roots)
    return Tape(of, seeds, tuple(steps[:stop]), error)


def learners() -> Graph:
    """x -> y = x + 2 -> q = y * y -> z = q * 3 -> o = z.mean(), with names, values and a stub."""

    def held(name: str) -> Saved:
        return Saved(name, "held", value(shape=(2, 2)), 16)

    def named(k: int, name: str, variable: str, wrote: str, entry: float, *saved: Saved) -> Node:
        entries = (entry,) if variable == "o" else (entry,) * 4
        shape = () if variable == "o" else (2, 2)
        output = value(*entries, shape=shape)
        return Node(k, name, "op", (output,), saved, {}, variable, wrote, 5 - k, "cell 2")

    nodes = [
        named(0, "MeanBackward0", "o", "z.mean()", 27.0),
        named(1, "MulBackward0", "z", "q * 3", 27.0),
        named(2, "MulBackward0", "q", "y * y", 9.0, held("self"), held("other")),
        named(3, "AddBackward0", "y", "x + 2", 3.0),
        leaf(4, "x"),
    ]
    return graph(nodes, [(0, 1), (1, 2), (1, None), (2, 3), (2, 3), (3, 4), (3, None)])


def chain(length: int) -> Graph:
    """`length` multiplications between a root and a leaf."""
    names = ["SumBackward0", *["MulBackward0"] * length, "AccumulateGrad"]
    return graph(names, [(k, k + 1) for k in range(length + 1)])


def mlp(layers: int) -> Graph:
    """Addmm with bias, input and transposed weight, then relu, `layers` times."""
    names, edges = ["MeanBackward0"], []
    at = 0
    for _ in range(layers):
        base = len(names)
        names += ["ReluBackward0", "AddmmBackward0", "AccumulateGrad"]
        names += ["TBackward0", "AccumulateGrad"]
        edges += [(at, base), (base, base + 1), (base + 1, base + 2), (base + 1, base + 3)]
        edges += [(base + 3, base + 4)]
        at = base + 1
    edges.append((at, None))
    return graph(names, edges)


def residual(blocks: int) -> Graph:
    """Blocks of convolution, norm and relu, twice, with a skip around each."""
    names, edges = ["MeanBackward0"], []
    at = 0

    def add(name: str, leaves: int, source: int) -> int:
        made = len(names)
        names.append(name)
        edges.append((source, made))
        for _ in range(leaves):
            edges.append((made, len(names)))
            names.append("AccumulateGrad")
        return made

    for _ in range(blocks):
        top = add("AddBackward0", 0, add("ReluBackward0", 0, at))
        inner = add("NativeBatchNormBackward0", 2, top)
        inner = add("ReluBackward0", 0, add("ConvolutionBackward0", 2, inner))
        inner = add("NativeBatchNormBackward0", 2, inner)
        inner = add("ConvolutionBackward0", 2, inner)
        at = add("ReluBackward0", 0, inner)
        edges.append((top, at))
    add("ConvolutionBackward0", 2, at)
    return graph(names, edges)


def recurrent(steps: int, per_step: int = 12) -> Graph:
    """A cell unrolled: two weights behind a transpose each, used at every step."""
    names, edges = ["SumBackward0", "AccumulateGrad", "AccumulateGrad"], []
    at = 0
    for _ in range(steps):
        base = len(names)
        names += ["AddBackward0", "TBackward0", "TBackward0"]
        edges += [(at, base), (base, base + 1), (base + 1, 1), (base, base + 2), (base + 2, 2)]
        at = base
        for k in range(per_step - 3):
            names.append(("TanhBackward0", "MulBackward0", "SigmoidBackward0")[k % 3])
            edges.append((at, len(names) - 1))
            at = len(names) - 1
            if k % 3 == 1:
                edges.append((base, at))
    edges.append((at, None))
    return graph(names, edges)


def tangled(count: int, seed: int) -> Graph:
    """A random graph without cycles, with parallel edges and long ones."""
    chance = random.Random(seed)
    edges = []
    for target in range(1, count):
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            edges.append((chance.randrange(max(0, target - 12), target), target))
    edges.sort()
    senders = {source for source, _ in edges}
    names = ["MulBackward0" if k in senders else "AccumulateGrad" for k in range(count)]
    return graph(names, edges)


def local(jacobian: Sequence[tuple[float, float]], u: Sequence[float], v: Sequence[float]) -> Local:
    """A map that is the matrix `jacobian` around (2, 1), with both ways computed."""

    def dot(a: Sequence[float], b: Sequence[float]) -> float:
        return sum(p * q for p, q in zip(a, b, strict=True))

    rows = tuple(map(tuple, jacobian))
    y, pushed = (tuple(dot(row, vector) for row in rows) for vector in ((2.0, 1.0), u))
    pulled = tuple(dot(v, column) for column in zip(*rows, strict=True))
    ways = dot(v, pushed), dot(pulled, u)
    return Local((2.0, 1.0), y, rows, tuple(u), pushed, tuple(v), pulled, *ways)


def around_points() -> dict[str, Local]:
    """Maps and arrows of all kinds: mixed, along axes, nothing, flat, in space, huge and tiny."""
    rows = ((1.0, 2.0), (4.0, 1.0))
    third = 1 / 3
    return {
        "mixed": local(rows, (0.866, 0.5), (-third, 0.94)),
        "along axes": local(rows, (1.0, 0.0), (0.0, -1.5)),
        "no arrows": local(rows, (0.0, 0.0), (0.0, 0.0)),
        "one line": local(((1.0, 1.0), (1.0, 1.0)), (0.7, 0.7), (0.7, 0.7)),
        "nothing": local(((0.0, 0.0), (0.0, 0.0)), (1.0, 0.0), (0.0, 1.0)),
        "space": local(((1.0, 0.0), (0.0, 1.0), (0.5, 1.0)), (-0.5, 0.866), (0.6, -0.6, 0.5)),
        "huge": local(((-123456.0, 2e7), (1e-7, third)), (0.26, -0.97), (-0.97, 0.26)),
    }
