"""Edges in place of tensors."""

from __future__ import annotations

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge


def parts(x, w, k):
    h = torch.tanh(x * w)
    a, b = h.split([k, len(h) - k])
    return h, b, a.sum() * b.square().sum()


def edge_as_tensor(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss, {"b": b, "w": w}


def edge_as_node(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss, {"b": b.grad_fn, "w": get_gradient_edge(w).node}


def edge_of_output_zero(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss, {"b": GradientEdge(b.grad_fn, 0), "w": get_gradient_edge(w)}


def edge_of_leaf_by_grad_fn(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss, {"b": get_gradient_edge(b), "w": GradientEdge(w.grad_fn, 0)}


def edge_of_h(x, w, k):
    h, _, loss = parts(x, w, k)
    return loss, {"b": get_gradient_edge(h), "w": get_gradient_edge(w)}


def edge_as_pair(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss, {"b": (b.grad_fn, b.output_nr), "w": get_gradient_edge(w)}


def edge_of_second_slice(x, w, k):
    h, _, loss = parts(x, w, k)
    return loss, {"b": get_gradient_edge(h[k:]), "w": get_gradient_edge(w)}


def edge_forgotten(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss, {"b": get_gradient_edge(b)}


def edge_with_a_number(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss.item(), {"b": get_gradient_edge(b), "w": get_gradient_edge(w)}


def edge_of_a_detached_loss(x, w, k):
    _, b, loss = parts(x, w, k)
    return loss.detach(), {"b": get_gradient_edge(b), "w": get_gradient_edge(w)}


def edge_of_halves(x, w, k):
    h = torch.tanh(x * w)
    a, b = h[:k], h[k:]
    loss = a.sum() * b.square().sum()
    return [loss, {"w": get_gradient_edge(w), "b": get_gradient_edge(b)}]


def edge_after_split_by_size(x, w, k):
    a, b = torch.tanh(x * w).split(k)
    loss = a.sum() * b.square().sum()
    return loss, {"b": get_gradient_edge(b), "w": get_gradient_edge(w)}


def edges_of(x, w, k, loss_of):
    a, b = torch.tanh(x * w).split([k, len(x) - k])
    return loss_of(a, b), {"b": get_gradient_edge(b), "w": get_gradient_edge(w)}


def edge_in_a_list(x, w, k):
    return [*edges_of(x, w, k, lambda a, b: (b * b).sum() * a.sum())]


def edge_by_hand(x, w, k):
    _, b, loss = parts(x, w, k)
    leaf = (x * w).grad_fn.next_functions[1]
    return loss, {"b": GradientEdge(b.grad_fn, b.output_nr), "w": GradientEdge(*leaf)}


WRONG = {
    "keep_the_edge": {
        "kept_the_tensor": edge_as_tensor,
        "node_without_output": edge_as_node,
        "wrong_output": edge_of_output_zero,
        "leaf_has_no_grad_fn": edge_of_leaf_by_grad_fn,
        "edge_of_another": edge_of_h,
        "not_an_edge": edge_as_pair,
        "edge_off_the_path": edge_of_second_slice,
        "missing_edge": edge_forgotten,
        "sliced_not_split": edge_of_halves,
        "too_many_parts": edge_after_split_by_size,
        "halves_swapped": lambda x, w, k: edges_of(
            x, w, k, lambda a, b: b.sum() * a.square().sum()
        ),
        "square_forgotten": lambda x, w, k: edges_of(x, w, k, lambda a, b: a.sum() * b.sum()),
        "squared_sum": lambda x, w, k: edges_of(x, w, k, lambda a, b: a.sum() * b.sum() ** 2),
        "wrong_number": lambda x, w, k: edges_of(x, w, k, lambda a, b: a.sum() + b.square().sum()),
        "detached": edge_of_a_detached_loss,
    },
}

RIGHT = {
    "keep_the_edge": [edge_in_a_list, edge_by_hand],
}
