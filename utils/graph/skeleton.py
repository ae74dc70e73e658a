"""Answers what an expression is checked against: which node lies behind which."""

from __future__ import annotations

from .data import Edge, Graph
from .operators import SHAPES, fitting, stem

ANY = None
"""In the place of a slot: whichever output of a node."""


class Skeleton:
    """The nodes of a graph, and for each the edges to nodes, by forward input."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = graph.nodes
        self.inputs: list[list[Edge]] = [[] for _ in graph.nodes]
        for edge in graph.edges:
            if edge.target is not None:
                self.inputs[edge.source].append(edge)
        self._reach: dict[int, set[int]] = {}

    def through_shapes(self, index: int) -> list[int]:
        """The node, and what lies behind it as long as only the shape changes."""
        found = [index]
        while stem(self.nodes[index].name) in SHAPES and len(self.inputs[index]) == 1:
            index = self.inputs[index][0].target
            found.append(index)
        return found

    def behind(self, index: int) -> set[int]:
        """All nodes that can be reached from one, itself left out."""
        if index not in self._reach:
            found: set[int] = set()
            todo = [index]
            while todo:
                for edge in self.inputs[todo.pop()]:
                    if edge.target not in found:
                        found.add(edge.target)
                        todo.append(edge.target)
            self._reach[index] = found
        return self._reach[index]

    def is_a(self, operation: str, index: int, slot: int | None) -> bool:
        node = self.nodes[index]
        fits = fitting(operation) or ()
        return node.kind == "op" and slot in (0, ANY) and stem(node.name) in fits
