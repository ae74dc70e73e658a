"""Reads torch's own autograd graph: a tensor becomes plain data, a real backward becomes a tape.

Imports torch and nothing else of the course.
"""

from .data import Edge, GradChange, Graph, Node, Root, Saved, Step, Tape, Value
from .record import record
from .structure import Structure, structure
from .walk import walk

__all__ = [
    "Edge",
    "GradChange",
    "Graph",
    "Node",
    "Root",
    "Saved",
    "Step",
    "Structure",
    "Tape",
    "Value",
    "record",
    "structure",
    "walk",
]
