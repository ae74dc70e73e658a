"""Answers about where gradients land."""

from __future__ import annotations

import torch


def _by_autograd(a, b):
    leaves = {"a": a, "b": b, "c": 1.0}
    leaves = {n: torch.tensor(value, requires_grad=True) for n, value in leaves.items()}
    (leaves["a"] * leaves["b"] + leaves["a"] ** 2).backward()
    return {name: leaf.grad for name, leaf in leaves.items()}


def _numbers_by_autograd(a, b):
    grads = _by_autograd(a, b)
    return {name: None if grad is None else grad.item() for name, grad in grads.items()}


def _zero_by_autograd(a, b):
    a, b, c = (torch.tensor(value, requires_grad=True) for value in (a, b, 1.0))
    loss = a * b + a**2
    grads = torch.autograd.grad(loss, (a, b, c), allow_unused=True, materialize_grads=True)
    return dict(zip("abc", grads, strict=True))


def _retained(x, weight):
    h = torch.matmul(x, weight)
    h.retain_grad()
    loss = torch.mean(h**3)
    loss.backward()
    return h.grad.clone()


def _by_a_hook(x, weight):
    kept = []
    h = x @ weight
    h.register_hook(kept.append)
    h.pow(3).mean().backward()
    return kept[0]


def _asked_first(x, weight):
    h = x @ weight
    loss = (h**3).mean()
    (gradient,) = torch.autograd.grad(loss, h, retain_graph=True)
    loss.backward()
    return gradient


def _not_retained(x, weight):
    h = x @ weight
    (h**3).mean().backward()
    return h.grad


def _switched_on(x, weight):
    h = x @ weight
    h.requires_grad_()
    (h**3).mean().backward()
    return h.grad


def _forgot_return(x, weight):
    h = x @ weight
    h.retain_grad()
    (h**3).mean().backward()


def _retained_afterwards(x, weight):
    h = x @ weight
    (h**3).mean().backward()
    h.retain_grad()
    return h.grad


def _gradient_at_the_leaf(x, weight):
    ((x @ weight) ** 3).mean().backward()
    return x.grad


def _new_leaf(x, weight):
    h = (x @ weight).detach().requires_grad_()
    (h**3).mean().backward()
    return h.grad


def _only_this_one(x, weight):
    h = x @ weight
    return torch.autograd.grad((h**3).mean(), h)[0]


def _formula(x, weight):
    h = x @ weight
    return 3 * h**2 / h.numel()


def _formula_beside_a_backward(x, weight):
    h = x @ weight
    (h**3).mean().backward()
    return (3 * h**2 / h.numel()).detach()


def _of_the_sum(x, weight):
    h = x @ weight
    h.retain_grad()
    (h**3).sum().backward()
    return h.grad


def _no_reduction(x, weight):
    h = x @ weight
    h.retain_grad()
    (h**3).backward()
    return h.grad


def _from_untracked(x, weight):
    h = x.detach() @ weight
    h.retain_grad()
    (h**3).mean().backward()
    return h.grad


def _twice(x, weight):
    h = x @ weight
    h.retain_grad()
    loss = (h**3).mean()
    loss.backward(retain_graph=True)
    loss.backward()
    return h.grad


def _returns_h(x, weight):
    h = x @ weight
    h.retain_grad()
    (h**3).mean().backward()
    return h


WRONG = {
    "used_twice": {
        "overwritten": lambda a, b: {"a": 2 * a, "b": a, "c": None},
        "first_use_only": lambda a, b: {"a": b, "b": a, "c": None},
        "multiplied": lambda a, b: {"a": 2 * a * b, "b": a, "c": None},
        "own_value": lambda a, b: {"a": b + 2 * a, "b": b, "c": None},
        "local_of_a_sum": lambda a, b: {"a": b + 2 * a, "b": 1.0, "c": None},
        "wrong_number": lambda a, b: {"a": b - 2 * a, "b": a, "c": None},
        "zero_for_unused": [lambda a, b: {"a": b + 2 * a, "b": a, "c": 0}, _zero_by_autograd],
        "gradient_for_unused": lambda a, b: {"a": b + 2 * a, "b": a, "c": 1.0},
        "not_a_dict": lambda a, b: (b + 2 * a, a, None),
    },
    "inner_gradient": {
        "not_retained": [_not_retained, _switched_on, _forgot_return, _retained_afterwards],
        "gradient_of_leaf": _gradient_at_the_leaf,
        "cut_the_graph": [_new_leaf, _only_this_one],
        "by_hand": [_formula, _formula_beside_a_backward],
        "sum_for_mean": _of_the_sum,
        "backward_on_nonscalar": _no_reduction,
        "retained_untracked": _from_untracked,
        "accumulated_twice": _twice,
        "value_for_gradient": _returns_h,
    },
}

RIGHT = {
    "used_twice": [_by_autograd, _numbers_by_autograd, lambda a, b: dict(c=None, b=a, a=a + a + b)],
    "inner_gradient": [_retained, _by_a_hook, _asked_first],
}
