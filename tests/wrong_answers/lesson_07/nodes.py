"""Answers about the two hooks of a node."""

from __future__ import annotations

import torch


def node_hooks(after_for, before=lambda arrived: lambda go: arrived.append(go[0].clone())):
    """An answer whose hook is `after_for(edge, factor)`."""

    def scale_edge(node, edge, factor, arrived):
        return [node.register_prehook(before(arrived)), node.register_hook(after_for(edge, factor))]

    return scale_edge


def scaled(edge, factor):
    return lambda gi, go: tuple(factor * g if i == edge else g for i, g in enumerate(gi))


def not_returned(edge, factor):
    def hook(gi, go):
        gi = [factor * g if i == edge else g for i, g in enumerate(gi)]

    return hook


def in_place(edge, factor):
    def hook(gi, go):
        gi[edge].mul_(factor)

    return hook


def returns_a_list(edge, factor):
    return lambda gi, go: [factor * g if i == edge else g for i, g in enumerate(gi)]


def none_for_the_others(edge, factor):
    return lambda gi, go: tuple(factor * g if i == edge else None for i, g in enumerate(gi))


def scales_all(edge, factor):
    return lambda gi, go: tuple(factor * g for g in gi)


def counts_from_one(edge, factor):
    return lambda gi, go: tuple(factor * g if i + edge == 1 else g for i, g in enumerate(gi))


def swapped_arguments(edge, factor):
    return lambda go, gi: tuple(factor * g if i == edge else g for i, g in enumerate(gi))


def by_the_prehook(node, edge, factor, arrived):
    def before(go):
        arrived.append(go[0].clone())
        return tuple(factor * g for g in go)

    return [node.register_prehook(before)]


def at_the_next_node(node, edge, factor, arrived):
    following = node.next_functions[edge][0]
    return [
        node.register_prehook(lambda go: arrived.append(go[0].clone())),
        following.register_prehook(lambda go: tuple(factor * g for g in go)),
    ]


def one_handle(node, edge, factor, arrived):
    return node_hooks(scaled)(node, edge, factor, arrived)[1]


def no_handles(node, edge, factor, arrived):
    node_hooks(scaled)(node, edge, factor, arrived)


def logs_the_tuple(arrived):
    return lambda go: arrived.append(tuple(g.clone() for g in go))


def logs_without_copy(arrived):
    return lambda go: arrived.append(go[0])


def logs_what_left(node, edge, factor, arrived):
    def after(gi, go):
        out = scaled(edge, factor)(gi, go)
        arrived.append(out[edge].clone())
        return out

    return node.register_hook(after)


def in_one_hook(node, edge, factor, arrived):
    """What arrived is the hook's second argument too."""

    def after(gi, go):
        arrived.append(torch.clone(go[0]))
        return (*gi[:edge], gi[edge] * factor, *gi[edge + 1 :])

    return (node.register_hook(after),)


def with_a_list_inside(node, edge, factor, arrived):
    def after(leaving, came):
        leaving = list(leaving)
        leaving[edge] = leaving[edge] * factor
        return tuple(leaving)

    second = node.register_hook(after)
    first = node.register_prehook(lambda came: arrived.extend(g.detach().clone() for g in came))
    return first, second


WRONG = {
    "hook_a_node": {
        "not_returned": node_hooks(not_returned),
        "edited_in_place": node_hooks(in_place),
        "node_hook_returned_list": node_hooks(returns_a_list),
        "both_edges": [node_hooks(scales_all), by_the_prehook],
        "cut_an_edge": node_hooks(none_for_the_others),
        "other_edge": node_hooks(counts_from_one),
        "all_readers": at_the_next_node,
        "invalid_number_of_gradients": node_hooks(swapped_arguments),
        "wrong_log": node_hooks(scaled, logs_the_tuple),
        "not_copied": node_hooks(scaled, logs_without_copy),
        "logged_what_left": logs_what_left,
        "no_handle": no_handles,
        "not_removed": one_handle,
    },
}
RIGHT = {"hook_a_node": [in_one_hook, with_a_list_inside]}
