"""The order of the nodes and the rule of one."""

from __future__ import annotations

import graphlib

import torch


def parents(node):
    return [parent for parent, _ in node.next_functions if parent is not None]


# --- run_order


def order_breadth_first(root):
    order = [root.grad_fn]
    for node in order:
        order += [p for p in dict.fromkeys(parents(node)) if p not in order]
    return order


def order_depth_first(root):
    order = []

    def visit(node):
        if node not in order:
            order.append(node)
            for parent in parents(node):
                visit(parent)

    visit(root.grad_fn)
    return order


def order_every_visit(root):
    order = [root.grad_fn]
    for node in order:
        order += parents(node)
    return order


def order_by_crossing_off(root, place, senders=set):
    """Counts the senders of each node (a set: a pair of edges once), then crosses off edges."""
    nodes = order_breadth_first(root)
    missing = dict.fromkeys(nodes, 0)
    for node in nodes:
        for parent in senders(parents(node)):
            missing[parent] += 1
    order, ready = [], [root.grad_fn]
    while ready:
        node = ready.pop(place)
        order.append(node)
        for parent in parents(node):
            missing[parent] -= 1
            if missing[parent] == 0:
                ready.append(parent)
    return order


def order_with_pairs_as_one_stack(root):
    return order_by_crossing_off(root, place=-1)


def order_with_pairs_as_one_queue(root):
    return order_by_crossing_off(root, place=0)


def order_by_counting(root):
    return order_by_crossing_off(root, place=0, senders=list)


def order_of_operations(root):
    return [node for node in order_by_sorter(root) if node.next_functions]


def order_of_forward(root):
    return order_by_sorter(root)[::-1]


def order_of_names(root):
    return [node.name() for node in order_by_sorter(root)]


def order_by_number_alone(root):
    return sorted(order_breadth_first(root), key=lambda n: n._sequence_nr(), reverse=True)


def order_that_stops_early(root):
    """Crosses off edges as it should, but gives up after a few nodes."""
    nodes = order_breadth_first(root)
    missing = {node: sum(parents(n).count(node) for n in nodes) for node in nodes}
    order, ready = [], [root.grad_fn]
    while ready:
        node = ready.pop()
        order.append(node)
        for parent in parents(node):
            missing[parent] -= 1
            if missing[parent] == 0 and parent.next_functions and len(order) < 4:
                ready.append(parent)
    return order


def order_by_sorter(root):
    """Python's own topological sort knows the children first, so it is turned round."""
    below = {node: parents(node) for node in order_breadth_first(root)}
    return list(graphlib.TopologicalSorter(below).static_order())[::-1]


def order_by_number(root):
    nodes = order_breadth_first(root)
    inner = [node for node in nodes if node.next_functions]
    inner.sort(key=lambda node: -node._sequence_nr())
    return (*inner, *(node for node in nodes if not node.next_functions))


def order_by_postorder(root):
    done, order = set(), []

    def visit(node):
        if node in done:
            return
        done.add(node)
        for parent in parents(node):
            visit(parent)
        order.insert(0, node)

    visit(root.grad_fn)
    return order


# --- local_rule


def rule(node, g):
    """A right answer, to be spoilt."""
    parts = rule_for_all(node, g)
    return [p if edge[0] else None for edge, p in zip(node.next_functions, parts, strict=True)]


def rule_for_all(node, g):
    """As `rule`, but something is sent to constants too."""
    match type(node).__name__.removesuffix("Backward0"):
        case "Add":
            return [g, node._saved_alpha * g]
        case "Mul":
            pairs = (node._saved_other, node._saved_self)
            return [factor if factor is None else factor * g for factor in pairs]
        case "Pow":
            x, p = node._saved_self, node._saved_exponent
            return [g * p * x.pow(p) / x]
        case "Exp":
            return [node._saved_result * g]
        case "Sum":
            return [g * torch.ones(node._saved_self_sym_sizes, dtype=g.dtype)]


def spoilt(name, wrong):
    """The right rule, but for one kind of node."""

    def local_rule(node, g):
        return wrong(node, g) if type(node).__name__.startswith(name) else rule(node, g)

    return local_rule


def rule_without_upstream(node, g):
    return rule(node, torch.ones_like(g))


def rule_with_own_factor(node, g):
    own = node._saved_self, node._saved_other
    return [None if factor is None else g * factor for factor in own]


def rule_with_none(node, g):
    return g * node._saved_other, g * node._saved_self


def rule_of_torch(node, g):
    return node(g)


def rule_of_engine(node, g):
    ends = [torch.autograd.graph.GradientEdge(p, nr) for p, nr in node.next_functions if p]
    here = torch.autograd.graph.GradientEdge(node, 0)
    return torch.autograd.grad(here, ends, g, retain_graph=True)


def rule_for_known_edges(node, g):
    sent = rule(node, g)
    return [part for part in sent if part is not None]


def rule_as_single_tensor(node, g):
    sent = rule(node, g)
    return sent[0] if len(sent) == 1 else tuple(sent)


def rule_with_zeros(node, g):
    return [torch.zeros_like(g) if part is None else part for part in rule(node, g)]


def rule_with_seven_for_nobody(node, g):
    return [g * 7 if part is None else part for part in rule(node, g)]


def rule_in_branches(node, g):
    name = node.name()
    first, *second = [parent is not None for parent, _ in node.next_functions]
    if "Add" in name:
        return (g.clone() if first else None, g * node._saved_alpha if second[0] else None)
    if "Mul" in name:
        return (
            g * node._saved_other if first else None,
            g * node._saved_self if second[0] else None,
        )
    if "Pow" in name:
        return (g * node._saved_exponent * node._saved_self ** (node._saved_exponent - 1),)
    if "Exp" in name:
        return (g * node._saved_result.detach(),)
    return (g.expand(*node._saved_self_sym_sizes),)


WRONG = {
    "run_order": {
        "too_early": [order_breadth_first, order_depth_first],
        "parallel_as_one": [order_with_pairs_as_one_stack, order_with_pairs_as_one_queue],
        "listed_twice": order_every_visit,
        "leaves_left_out": order_of_operations,
        "forward_order": order_of_forward,
        "not_nodes": order_of_names,
        "leaves_too_early": order_by_number_alone,
        "nodes_missing": order_that_stops_early,
    },
    "local_rule": {
        "forgot_upstream": rule_without_upstream,
        "sent_to_nobody": [
            rule_for_all,
            rule_with_zeros,
            rule_with_seven_for_nobody,
            spoilt("Add", lambda n, g: [g, g]),
        ],
        "alpha_lost": spoilt("Add", lambda n, g: [g if p else None for p, _ in n.next_functions]),
        "none": spoilt("Exp", lambda n, g: None),
        "own_factor": spoilt("Mul", rule_with_own_factor),
        "none_saved": spoilt("Mul", rule_with_none),
        "power_not_lowered": spoilt(
            "Pow", lambda n, g: [g * n._saved_exponent * n._saved_self**n._saved_exponent]
        ),
        "exponent_lost": spoilt("Pow", lambda n, g: [g * n._saved_self ** (n._saved_exponent - 1)]),
        "exp_again": spoilt("Exp", lambda n, g: [g * torch.exp(n._saved_result)]),
        "not_spread": spoilt("Sum", lambda n, g: [g]),
        "mean_for_sum": spoilt("Sum", lambda n, g: [rule(n, g)[0] / 6]),
        "called_the_node": rule_of_torch,
        "ran_backward": rule_of_engine,
        "one_per_edge": rule_for_known_edges,
    },
}

RIGHT = {
    "run_order": [order_by_counting, order_by_sorter, order_by_number, order_by_postorder],
    "local_rule": [rule, rule_as_single_tensor, rule_in_branches],
}
