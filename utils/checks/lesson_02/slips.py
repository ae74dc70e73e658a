"""What an engine or a local rule gives when it makes one of the usual slips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from utils.checks.graph_observers import graph_nodes

Grads = dict[torch.Tensor, torch.Tensor]


def sent(node: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """What torch's own node sends on each of its edges when `g` has come."""
    out = node(g)
    return out if isinstance(out, tuple) else (out,)


def rule_slips(node: Any, g: torch.Tensor, k: int) -> dict[str, torch.Tensor]:
    """By the slug of a mistake: what would be sent on edge `k` in place of the right gradient."""
    name = type(node).__name__
    if name.startswith("Add"):
        return {"alpha_lost": g}
    if name.startswith("Mul"):
        own = (node._saved_self, node._saved_other)[k]
        return {} if own is None else {"own_factor": g * own}
    if name.startswith("Pow"):
        x, p = node._saved_self, node._saved_exponent
        return {"power_not_lowered": g * p * x**p, "exponent_lost": g * x ** (p - 1)}
    if name.startswith("Exp"):
        return {"exp_again": g * node._saved_result.exp()}
    if name.startswith("Sum"):
        spread = g.expand(node._saved_self_sym_sizes)
        return {"not_spread": g, "mean_for_sum": spread / spread.numel()}
    return {}


def engine_slips(y: torch.Tensor, v: torch.Tensor) -> Iterator[tuple[str, Grads]]:
    """The slug of each usual mistake of an engine, and the gradients that it would give."""
    yield "ones_instead_of_v", execute(y, torch.ones_like(v))
    yield "parallel_edge_lost", execute(y, v, one_per_pair=True)
    yield "overwritten", execute(y, v, keep="last")
    yield "only_first_arrival", execute(y, v, keep="first")
    for turn in (0, -1):
        for leaves_add in (True, False):
            yield "did_not_wait", execute(y, v, turn=turn, leaves_add=leaves_add)


def execute(
    y: torch.Tensor,
    v: torch.Tensor,
    *,
    turn: int | None = None,
    leaves_add: bool = False,
    keep: str = "sum",
    one_per_pair: bool = False,
) -> Grads:
    """Runs the graph behind `y`, rightly or with a slip.

    Args:
        turn: None waits for all edges. 0 runs each node once when it comes to the head of a
            queue, -1 to the top of a stack, with what has arrived by then.
        leaves_add: with `turn`, leaves at least take all that comes.
        keep: what remains of several arrivals: their "sum", the "first" or the "last".
        one_per_pair: whether the second of two parallel edges replaces the first.
    """
    missing = Counter(parent for node in graph_nodes(y) for parent, _ in node.next_functions)
    arrived, ready, done, grads = {y.grad_fn: v}, [y.grad_fn], set(), {}
    while ready:
        node = ready.pop(-1 if turn is None else turn)
        if node in done:
            continue
        done.add(node)
        if not node.next_functions:
            grads[node.variable] = arrived[node]
            continue
        last = {parent: k for k, (parent, _) in enumerate(node.next_functions)}
        parts = zip(node.next_functions, sent(node, arrived[node]), strict=True)
        for k, ((parent, slot), part) in enumerate(parts):
            if parent is None or part is None:
                continue
            missing[parent] -= 1
            if not (one_per_pair and k != last[parent]):
                part = part.sum_to_size(parent._input_metadata[slot].shape)
                before = arrived.get(parent)
                if before is not None and keep != "last":
                    part = before + part if keep == "sum" else before
                arrived[parent] = part
            if leaves_add and parent in done and not parent.next_functions:
                grads[parent.variable] = arrived[parent]
            if turn is not None or not missing[parent]:
                ready.append(parent)
    return grads
