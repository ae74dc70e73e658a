"""What a node does in backward: in words, as a formula, and with the numbers of one step.

The numbers are checked before they are shown: an equation appears only where plain arithmetic on
what arrived and what was saved gives what torch really sent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from utils.graph.data import Edge, Graph, Node, Number, Step, Value
from utils.pictures import small_array as sa
from utils.pictures.numbers import number, short, written_out
from utils.pictures.rule_algebra import (
    ATOM,
    COUNTED,
    PRODUCT,
    Formula,
    Gradient,
    Kept,
    atoms,
    call,
    compute,
    read,
)
from utils.pictures.rule_law import Law, Parts, Site
from utils.pictures.rule_table import ELEMENTWISE
from utils.pictures.rule_table_layers import LAYERS
from utils.pictures.rule_table_shapes import SHAPES
from utils.pictures.rule_table_sums import SUMS
from utils.pictures.small_array import Array

LAWS: dict[str, Law] = {**ELEMENTWISE, **SUMS, **SHAPES, **LAYERS}
LIMIT = 9  # entries that an equation still writes out: a 3 by 3 matrix
NOT_TO_BE_HAD = (ArithmeticError, LookupError, TypeError, ValueError, SyntaxError)

# Relative error that rounding in torch's own kernels may leave.
TOLERANCE = {"float64": 1e-9, "complex128": 1e-9, "float16": 1e-2, "bfloat16": 5e-2}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a node does in backward.

    Attributes:
        words: one or two plain sentences.
        formula: one line per input that gets a gradient, such as "∂/∂y: g · y", where g is the
            upstream gradient; "" where no formula is known.
        numbers: this step's numbers, such as "0.75 ×4 · 3 ×4 = 2.25 ×4": lines as in `formula`;
            "in 1, out 2" where the formula does not explain what was sent; "" where numbers are
            not known or too many.
    """

    words: str
    formula: str = ""
    numbers: str = ""


def rule(node: Node, step: Step | None, graph: Graph) -> Rule:
    """The backward rule of `node`, with the numbers of `step`.

    Args:
        node: a node of `graph`.
        step: its turn in a recorded backward; None before it has run.
        graph: gives the names and shapes of its inputs.

    Example:
        >>> rule(node_of_y_times_y, step, graph).numbers
        '0.75 ×4 · 3 ×4 = 2.25 ×4'
    """
    name = node.name.rpartition("::")[2]
    if node.kind == "leaf":
        return _leaf(node, step)
    site = Site(node, graph)
    law = LAWS.get(name) or Law(_unknown(node, name), None, ())
    edges = [(k, e) for k, e in enumerate(graph.edges_from(node.index)) if e.target is not None]
    names = {k: _input_name(graph, edge, law.input_name(k)) for k, edge in edges}
    parts = _parts(law, site)
    repeated = [k for k, _ in edges if k in parts and k < law.broadcast and _is_broadcast(site, k)]
    for k in repeated:
        parts[k] = _summed(site, k, parts[k])

    words = law.words
    if repeated:
        those = " and ".join(dict.fromkeys(names[k] for k in repeated))
        words += f" For {those} it is summed over the broadcast dimensions."
    if _is_complex(node) and any(_uses_saved(part) for part in parts.values()):
        words += " Complex factors are conjugated."
        shown = {k: part for k, part in parts.items() if not _uses_saved(part)}
    else:
        shown = parts
    formulas = {k: _formula(shown[k], site, names) for k, _ in edges if k in shown}
    numbers = {} if step is None else {k: _numbers(parts.get(k), site, step, k) for k, _ in edges}
    return Rule(words, _lines(formulas, names, always=True), _lines(numbers, names, always=False))


def _parts(law: Law, site: Site) -> dict[int, Formula | str]:
    """The law's formulas by forward input, as far as the graph tells enough to write them."""
    try:
        parts: Parts = law.parts(site) if law.parts else ()
    except NOT_TO_BE_HAD:
        return {}
    return {k: part for k, part in enumerate(parts) if part is not None}


def _formula(part: Formula | str, site: Site, names: dict[int, str]) -> str:
    if isinstance(part, str):
        return part

    def write(atom: Formula) -> tuple[str, int]:
        if isinstance(atom, Gradient):
            return ("upstream" if atom.form in names.values() else atom.form), ATOM
        if atom.output:
            return site.node.variable or atom.form, ATOM
        if atom.input in names:
            return names[atom.input], ATOM
        value = _kept_value(site, atom)
        if value is not None and value.shape == () and value.entries:
            return number(value.entries[0]), ATOM
        return atom.form, ATOM

    return read(part, write)


def _numbers(part: Formula | str | None, site: Site, step: Step, k: int) -> str:
    """One input's equation; or what came in and went out, where that is all that is sure."""
    sent = step.sent[k] if k < len(step.sent) else None
    if not isinstance(part, Formula) or not written_out(sent, LIMIT):
        return _in_and_out(step, sent)
    values = {id(atom): _value(site, step, atom) for atom in atoms(part)}
    if not all(written_out(value, LIMIT) for value in values.values()):
        return _in_and_out(step, sent)
    try:
        found = compute(part, lambda atom: Array.of(values[id(atom)]))
    except NOT_TO_BE_HAD:
        return _in_and_out(step, sent)
    if not _agree(found, sent):
        return _in_and_out(step, sent)

    def write(atom: Formula) -> tuple[str, int]:
        value = values[id(atom)]
        text = short(value, LIMIT)
        binds = PRODUCT if text.startswith("-") else COUNTED if "×" in text else ATOM
        return text, binds

    left, right = read(part, write), short(sent, LIMIT)
    return f"sends {right} on" if left == right else f"{left} = {right}"


def _in_and_out(step: Step, sent: Value | None) -> str:
    came = [value for value in step.arrived if value is not None]
    if not all(written_out(value, LIMIT) for value in (*came, *([sent] if sent else []))):
        return ""
    arrived = ", ".join(short(value, LIMIT) for value in came) or "none"
    return f"in {arrived}, out {short(sent, LIMIT)}"


def _value(site: Site, step: Step, atom: Formula) -> Value | None:
    """The entries behind a name in a formula; None when they are not at hand."""
    if isinstance(atom, Kept):
        return _kept_value(site, atom)
    arrived = step.arrived[atom.slot] if atom.slot < len(step.arrived) else None
    if arrived is not None or atom.slot >= len(site.node.outputs):
        return arrived
    output = site.node.outputs[atom.slot]
    if output.shape is None or any(isinstance(size, str) for size in output.shape):
        return None
    return Value(output.shape, output.dtype, (0.0,) * math.prod(output.shape))


def _kept_value(site: Site, atom: Kept) -> Value | None:
    for saved in site.node.saved:
        if saved.name == atom.saved:
            return saved.value if saved.state == "held" else None
    fact = site.fact(atom.saved)
    return Value((), "", (fact,)) if isinstance(fact, int | float | complex) else None


def _agree(found: Array, sent: Value) -> bool:
    """Whether what was computed here is what torch sent, up to rounding."""
    if found.shape != sent.shape:
        return False
    tolerance = TOLERANCE.get(sent.dtype, 1e-5)
    largest = max((abs(e) for e in sent.entries if _finite(e)), default=0.0)
    return all(
        _close(a, b, tolerance, tolerance * largest * 0.01)
        for a, b in zip(found.data, sent.entries, strict=True)
    )


def _close(a: Number, b: Number, relative: float, absolute: float) -> bool:
    if not (_finite(a) and _finite(b)):
        return number(a) == number(b)
    return abs(a - b) <= max(relative * abs(b), absolute)


def _finite(x: Number) -> bool:
    return math.isfinite(abs(x))


def _is_broadcast(site: Site, k: int) -> bool:
    try:
        return site.shape(k) != site.out
    except ValueError:
        return False


def _summed(site: Site, k: int, part: Formula | str) -> Formula | str:
    if isinstance(part, str):
        return f"sum({part})"
    shape, out = site.shape(k), site.out
    return call("sum", lambda a: sa.sum_to(sa.expand(a, out), shape), part)


def _input_name(graph: Graph, edge: Edge, fallback: str) -> str:
    """What the learner calls the tensor on this edge; what was written; or torch's word for it."""
    node = graph.nodes[edge.target]
    if edge.slot == 0 and node.variable:
        return node.variable
    if edge.slot == 0 and node.expression and len(node.expression) <= 16:
        return node.expression if node.expression.isidentifier() else f"({node.expression})"
    if node.name == "TBackward0":
        (inner,) = graph.edges_from(node.index)
        name = "" if inner.target is None else _input_name(graph, inner, "")
        return f"{name}ᵀ" if name else fallback
    return fallback


def _lines(texts: dict[int, str], names: dict[int, str], always: bool) -> str:
    """One line per input, labelled; inputs with the same name and text share a line."""
    if not any(texts.values()):
        return ""
    lines = {}
    for k, text in texts.items():
        others = {texts[j] for j in texts if names[j] == names[k]}
        label = names[k] if len(others) == 1 else f"{names[k]} (input {k + 1})"
        lines[f"∂/∂{label}: {text or 'too many numbers to show'}"] = text
    if len(lines) == 1 and not always:
        return next(iter(lines.values()))
    return "\n".join(lines)


def _leaf(node: Node, step: Step | None) -> Rule:
    words = "A leaf keeps what arrives: it is added to .grad."
    formula = f"{node.variable or 'leaf'}.grad += g"
    if step is None:
        return Rule(words, formula)
    arrived = step.arrived[0] if step.arrived else None
    change = step.change
    if change is None or not written_out(change.after, LIMIT):
        return Rule(words, formula, f"in {short(arrived)}" if written_out(arrived) else "")
    after = short(change.after, LIMIT)
    if change.before is None:
        return Rule(words + " It was None, so it starts here.", formula, f"none → {after}")
    if not written_out(change.before, LIMIT):
        return Rule(words, formula)
    before = short(change.before, LIMIT)
    if written_out(arrived, LIMIT):
        total = sa.elementwise(lambda a, b: a + b, Array.of(change.before), Array.of(arrived))
        if _agree(total, change.after):
            return Rule(words, formula, f"{before} + {short(arrived, LIMIT)} = {after}")
    return Rule(words, formula, f"{before} → {after}")


def _unknown(node: Node, name: str) -> str:
    if node.kind == "custom":
        return "An autograd.Function: its own backward decides what is sent."
    if node.kind == "hook":
        return "A hook put this node here: it passes the gradient on."
    return (
        f"{name} turns what arrived into one gradient for each input, by torch's own rule for it."
    )


def _is_complex(node: Node) -> bool:
    return any(output.dtype.startswith("complex") for output in node.outputs)


def _uses_saved(part: Formula | str) -> bool:
    return isinstance(part, str) or any(isinstance(atom, Kept) for atom in atoms(part))
