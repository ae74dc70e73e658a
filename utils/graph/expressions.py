"""Finds what was written for a node, and believes it only if it fits the real graph.

An assignment in the learner's source is a claim; the graph is the evidence. `z = 3 * (x + 2) ** 2`
is believed when z's node multiplies what a power made of what an addition made of x. Then the
inner nodes have their expressions too. What does not fit, or fits in two ways, is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .bindings import Binding, called
from .data import Graph
from .lookup import Lookup
from .matching import Matcher
from .operands import Claims, Fit
from .skeleton import Skeleton
from .timeline import Timeline
from .traces import Frame

_WIDTH = 40  # characters of an expression; a box has no room for more
_MAKE = ("assign", "walrus")  # the kinds of binding that make a new tensor


@dataclass(frozen=True, slots=True)
class Wording:
    """What was written for a node, and the line and file of it."""

    expression: str
    line: int
    file: str


@dataclass(frozen=True, slots=True)
class Named:
    """An output that the learner has names for.

    Attributes:
        index, slot: the node, and which of its outputs.
        names: the best first.
        changed: whether the tensor was changed in place since an operation made it.
    """

    index: int
    slot: int
    names: Sequence[str]
    changed: bool


def explain(
    graph: Graph,
    named: Sequence[Named],
    places: Mapping[int, tuple[int, int]],
    variables: Mapping[str, object],
    line: Timeline,
    traces: Mapping[int, Sequence[Frame]],
) -> tuple[dict[int, Wording], dict[int, str]]:
    """What was written for the nodes of `graph`.

    Args:
        graph: names, edges and facts of the nodes.
        named: the outputs that the learner has names for; leaves are none of them.
        places: by `id`, for tensors that are alive and in the graph: (node, slot).
        variables: what the learner sees.
        line: what the learner wrote, in order of time.
        traces: by node, the frames that torch noted in anomaly mode.

    Returns:
        By node, what was written; and by node, which of its names it was assigned to.
    """
    matcher = Matcher(Skeleton(graph), places, Lookup(variables, line), line, traces)
    own: Claims = {}
    inner: Claims = {}
    chosen: dict[int, str] = {}
    wordings: dict[int, Wording] = {}
    try:
        for output in sorted(named, key=lambda output: -output.slot):  # the first has the last word
            for name in output.names:
                claims = _assigned(name, output, matcher, line)
                if output.index in claims:
                    chosen[output.index] = name
                    own[output.index] = claims[output.index]
                    inner = claims | inner
                    break
        for index, (expression, binding) in (inner | own).items():
            text = _shortened(ast.unparse(expression))
            wordings[index] = Wording(text, expression.lineno, binding.source.file)
    except RecursionError:  # a sum of a thousand terms, written out: no box could show it
        return {}, {}
    return wordings, chosen


def _assigned(name: str, output: Named, matcher: Matcher, line: Timeline) -> Claims:
    """The claims of the statement that gave `name` the value of `output`; {} without proof."""
    before = line.before(name)
    statements = [
        binding
        for binding, _ in before
        # an operation makes a new tensor; one that was changed since is not its result
        if not output.changed or binding.kind not in _MAKE or _in_place(binding.value)
    ]
    fit = matcher.one_of(statements, output.index, output.slot)
    proven = fit and output.index in fit.claims and _proven(fit, output, before)
    return fit.claims if proven else {}


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1].rstrip() + "…"


def _proven(fit: Fit, output: Named, before: Sequence[tuple[Binding, bool]]) -> bool:
    """Whether the only statement that is not contradicted must be the one that did it."""
    if not output.changed:
        # it is, if the list is complete; else the graph must confirm all of it
        return fit.sure or any(certain for _, certain in before)
    # others may have changed the tensor too, where no text shows it
    _, made = fit.claims[output.index]
    return fit.sure and ((made, True) in before or made.kind == "augmented")


def _in_place(value: ast.expr | None) -> bool:
    """Whether an expression changes something in place, as `x.add_(1)` does."""
    return value is None or any(
        called(part).endswith("_") for part in ast.walk(value) if isinstance(part, ast.Call)
    )
