"""What a node is called: the learner's words first, torch's name second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from utils.graph.data import Node, Root, Value
from utils.pictures.numbers import shape_text

KIND_WORDS = {"leaf": "leaf", "custom": "custom Function", "hook": "module hook"}


def heading(node: Node) -> tuple[str, str]:
    """What is said first of a node, and what follows: ("q", "= y * y"), ("x", "leaf").

    Without a name of the learner's it is what was written, and without that torch's own name.
    """
    if node.kind in ("leaf", "hook"):
        words = KIND_WORDS[node.kind]
        return (node.variable, words) if node.variable else (words, "")
    if node.variable:
        return node.variable, f"= {node.expression}" if node.expression else ""
    return node.expression or node.name, ""


def spoken(node: Node) -> str:
    """A node in one phrase, such as "q = y * y (MulBackward0)" or "x, leaf (AccumulateGrad)"."""
    name, rest = heading(node)
    custom = KIND_WORDS[node.kind] if node.kind == "custom" else ""
    if name == node.name:
        return f"{name}, {custom}" if custom else name
    words = name + (f" {rest}" if rest.startswith("=") else f", {rest}" if rest else "")
    return f"{words} ({node.name}{', ' + custom if custom else ''})"


def brief(node: Node) -> str:
    """The shortest name that a reader would know it by."""
    return node.variable or node.expression or (node.name if node.kind != "leaf" else "a leaf")


def shapes(outputs: Sequence[Value]) -> str:
    """The shapes of a node's outputs, with the dtype where it is not float32."""
    words = []
    for value in outputs[:3]:
        dtype = "" if value.dtype in ("", "float32") else f" {value.dtype}"
        scalar = "scalar " if value.shape == () else ""
        words.append(scalar + shape_text(value.shape) + dtype)
    if len(outputs) > 3:
        words.append(f"{len(outputs) - 3} more")
    return ", ".join(words)


def root_words(roots: Iterable[Root]) -> str:
    """How the roots that one node has are marked: "root", or "root ['loss'], root ['aux']"."""
    return ", ".join(f"root {root.path}".rstrip() for root in roots)


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: "1 node", "3 nodes"."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def tally(names: Iterable[str]) -> str:
    """How often each name occurs, most frequent first: "7 MulBackward0, 2 AddBackward0"."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in ranked)


def place(node: Node) -> str:
    """Where a node was written: "line 3 of cell 2", "line 3", or ""."""
    if node.line is None:
        return ""
    return f"line {node.line} of {node.file}" if node.file else f"line {node.line}"
