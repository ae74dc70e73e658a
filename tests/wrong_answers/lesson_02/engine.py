"""Engines, right and wrong."""

from __future__ import annotations

import torch

from tests.wrong_answers.lesson_02.steps import (
    order_breadth_first,
    order_by_number,
    order_by_sorter,
)


def local(node, g):
    """What each edge gets, for all seven operations."""
    kind = type(node).__name__.removesuffix("Backward0")
    if kind == "Add":
        return (g, g)
    if kind == "Mul":
        pair = (node._saved_other, node._saved_self)
        return tuple(None if factor is None else g * factor for factor in pair)
    if kind == "Pow":
        p = node._saved_exponent
        return (g * p * node._saved_self ** (p - 1),)
    if kind == "Exp":
        return (g * node._saved_result,)
    if kind == "Sum":
        return (g.expand(node._saved_self_sym_sizes),)
    if kind == "Mean":
        return ((g / node._saved_self_sym_numel).expand(node._saved_self_sym_sizes),)
    a, b = node._saved_self, node._saved_mat2
    return (None if b is None else g @ b.T, None if a is None else a.T @ g)


def fit(part, parent, nr):
    return part.sum_to_size(parent._input_metadata[nr].shape)


def run_in(order, local=local, fit=fit, add=lambda old, new: old + new, pairs=False):
    """An engine that runs the nodes in this order."""

    def run_backward(root, v):
        came, grads = {root.grad_fn: v}, {}
        for node in order(root):
            g = came[node]
            if hasattr(node, "variable"):
                grads[node.variable] = g
                continue
            sends = zip(node.next_functions, local(node, g), strict=True)
            sends = [(p, nr, part) for (p, nr), part in sends if p is not None]
            if pairs:  # a dict by receiver keeps one of two parallel edges
                sends = list({p: (p, nr, part) for p, nr, part in sends}.values())
            for parent, nr, part in sends:
                part = fit(part, parent, nr)
                came[parent] = add(came[parent], part) if parent in came else part
        return grads

    return run_backward


def from_ones(root, v):
    return run_in(order_by_sorter)(root, torch.ones_like(v))


def by_torch(root, v):
    leaves = [n.variable for n in order_by_sorter(root) if hasattr(n, "variable")]
    return dict(zip(leaves, torch.autograd.grad(root, leaves, v), strict=True))


def per_path(root, v):
    grads = {}

    def visit(node, g):
        if hasattr(node, "variable"):
            grads[node.variable] = grads.get(node.variable, 0) + g
            return
        for (parent, nr), part in zip(node.next_functions, local(node, g), strict=True):
            if parent is not None:
                visit(parent, fit(part, parent, nr))

    visit(root.grad_fn, v)
    return grads


def by_calling_nodes(root, v):
    def call(node, g):
        sent = node(g)
        return sent if isinstance(sent, tuple) else (sent,)

    return run_in(order_by_sorter, local=call)(root, v)


def with_none(node, g):
    if type(node).__name__ == "MulBackward0":
        return (g * node._saved_other, g * node._saved_self)
    return local(node, g)


def mean_as_sum(node, g):
    if type(node).__name__ == "MeanBackward0":
        return (g.expand(node._saved_self_sym_sizes),)
    return local(node, g)


def only_values(root, v):
    return list(run_in(order_by_sorter)(root, v).values())


def only_one_leaf(root, v):
    grads = run_in(order_by_sorter)(root, v)
    return dict(list(grads.items())[:1])


def unfitted(part, parent, nr):
    return part


def into_grad(root, v):
    for leaf, grad in run_in(order_by_sorter)(root, v).items():
        leaf.grad = grad


def into_grad_as_well(root, v):
    grads = run_in(order_by_sorter)(root, v)
    for leaf, grad in grads.items():
        leaf.grad = grad
    return grads


def without_skipping_none(root, v):
    seen, todo, missing = {root.grad_fn}, [root.grad_fn], {}
    while todo:
        for parent, _ in todo.pop().next_functions:
            missing[parent] = missing.get(parent, 0) + 1
            if parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return run_in(order_by_sorter)(root, v)


def fit_by_reshape(part, parent, nr):
    shape = parent._input_metadata[nr].shape
    return part if part.shape == shape else part.reshape(shape)


def with_nodes_as_keys(root, v):
    """Keys that speak for their leaf are good enough, and so is a heap of whoever is ready."""
    grads = run_in(order_by_number)(root, v.clone())
    ends = {n.variable: n for n in order_by_sorter(root) if hasattr(n, "variable")}
    return {ends[leaf]: grad for leaf, grad in grads.items()}


@torch.no_grad()
def untracked(root, v):
    return run_in(order_by_sorter)(root, v)


def fit_by_sums(part, parent, nr):
    shape = parent._input_metadata[nr].shape
    return part.sum() if len(shape) == 0 else part


WRONG = {
    "run_backward": {
        "none": into_grad,
        "touched_grad": into_grad_as_well,
        "none_edge": without_skipping_none,
        "reshaped_for_sum": run_in(order_by_sorter, fit=fit_by_reshape),
        "ones_instead_of_v": from_ones,
        "did_not_wait": run_in(order_breadth_first),
        "overwritten": run_in(order_by_sorter, add=lambda old, new: new),
        "only_first_arrival": run_in(order_by_sorter, add=lambda old, new: old),
        "parallel_edge_lost": run_in(order_by_sorter, pairs=True),
        "ran_backward": by_torch,
        "called_the_node": by_calling_nodes,
        "none_saved": run_in(order_by_sorter, local=with_none),
        "once_per_path": per_path,
        "sum_for_mean": run_in(order_by_sorter, local=mean_as_sum),
        "unreduced_broadcast": run_in(order_by_sorter, fit=unfitted),
        "not_a_dict": only_values,
        "leaf_missing": only_one_leaf,
    },
}

RIGHT = {
    "run_backward": [
        run_in(order_by_number),
        run_in(order_by_sorter, fit=fit_by_sums),
        with_nodes_as_keys,
        untracked,
    ]
}
