"""Answers to the warm-up."""

from __future__ import annotations

import torch


def _gives_the_sum(x):
    x = x.clone().requires_grad_()
    (3 * (x + 2) ** 2).sum().backward()
    return x.grad


def _gives_the_value(x):
    return (3 * (x + 2) ** 2).mean()


def _gives_the_entries(x):
    return 3 * (x + 2) ** 2


def _runs_twice(x):
    x = x.clone().requires_grad_()
    for _ in range(2):
        (3 * (x + 2) ** 2).mean().backward()
    return x.grad


def _forgets_return(x):
    x = x.clone().requires_grad_()
    (3 * (x + 2) ** 2).mean().backward()


def _formula_by_hand(x):
    return 6 * (x + 2) / x.numel()


def _formula_beside_a_backward(x):
    _runs_twice(x)
    return _formula_by_hand(x)


def _square_around_all(x):
    x = x.clone().requires_grad_()
    ((3 * (x + 2)) ** 2).mean().backward()
    return x.grad


def _without_the_factor(x):
    x = x.clone().requires_grad_()
    ((x + 2) ** 2).mean().backward()
    return x.grad


def _watches_the_callers_tensor(x):
    x.requires_grad_()
    (3 * (x + 2) ** 2).mean().backward()
    return x.grad


def _by_grad(x):
    x = x.clone().detach().requires_grad_()
    return torch.autograd.grad((3 * (x + 2).square()).mean(), x)[0]


def _by_func(x):
    print("on my way")
    return torch.func.grad(lambda x: torch.mean(3 * (x + 2) ** 2))(x)


WRONG = {
    "first_gradient": {
        "sum_for_mean": _gives_the_sum,
        "value_for_gradient": _gives_the_value,
        "inner_value": _gives_the_entries,
        "accumulated_twice": _runs_twice,
        "none": _forgets_return,
        "by_hand": [_formula_by_hand, _formula_beside_a_backward],
        "squared_the_factor": _square_around_all,
        "factor_lost": _without_the_factor,
        "changed_input": _watches_the_callers_tensor,
    }
}
RIGHT = {"first_gradient": [_by_grad, _by_func]}
