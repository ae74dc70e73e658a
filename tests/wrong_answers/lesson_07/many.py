"""Answers about one hook for many tensors."""

from __future__ import annotations

import torch
from torch.autograd.graph import register_multi_grad_hook


def total(gradients):
    return torch.stack([g.norm() for g in gradients if g is not None]).norm().item()


def counts_to_full(tensors, callback):
    got = []

    def hook(g):
        got.append(g)
        if len(got) == len(tensors):
            callback(total(got))
            got.clear()

    return [tensor.register_hook(hook) for tensor in tensors]


def fresh_count_each_pass(tensors, callback):
    """Never gets full: the inner tensor's list is emptied by whoever comes first."""
    got = {}

    def hook_for(name):
        def hook(g):
            if name in got:
                got.clear()
            got[name] = g
            if len(got) == len(tensors):
                callback(total(got.values()))

        return hook

    return [tensor.register_hook(hook_for(i)) for i, tensor in enumerate(tensors)]


def each_on_its_own(tensors, callback):
    return [t.register_hook(lambda g: callback(g.norm().item())) for t in tensors]


def with_mode_any(tensors, callback):
    return [
        register_multi_grad_hook([t], lambda g: callback(g.norm().item()), mode="any")
        for t in tensors
    ]


def forgets_none(tensors, callback):
    return register_multi_grad_hook(
        tensors, lambda gs: callback(torch.stack([g.norm() for g in gs]).norm().item())
    )


def sums_norms(tensors, callback):
    return register_multi_grad_hook(
        tensors, lambda gs: callback(sum(g.norm() for g in gs if g is not None).item())
    )


def sums_squares(tensors, callback):
    return register_multi_grad_hook(
        tensors, lambda gs: callback(sum(g.square().sum() for g in gs if g is not None).item())
    )


def takes_the_largest(tensors, callback):
    return register_multi_grad_hook(
        tensors, lambda gs: callback(max(g.norm().item() for g in gs if g is not None))
    )


def hands_the_gradients_on(tensors, callback):
    return register_multi_grad_hook(tensors, callback)


def first_only(tensors, callback):
    return register_multi_grad_hook(tensors, lambda gs: callback(gs[0].norm().item()))


def without_handle(tensors, callback):
    register_multi_grad_hook(tensors, lambda gs: callback(total(gs)))


def on_copies(tensors, callback):
    return register_multi_grad_hook([t * 1 for t in tensors], lambda gs: callback(total(gs)))


def reads_grad(tensors, callback):
    for t in tensors:
        t.retain_grad()
    return register_multi_grad_hook(
        tensors, lambda gs: callback(total([t.grad for t in tensors] + [torch.zeros(1)]))
    )


def as_one_vector(tensors, callback):
    def hook(gradients):
        flat = [g.flatten() for g in gradients if g is not None]
        callback(torch.cat(flat).norm())

    return register_multi_grad_hook(tuple(tensors), hook)


def by_squares(tensors, callback):
    def hook(gradients):
        squares = 0.0
        for g in gradients:
            squares += 0.0 if g is None else float((g * g).sum())
        callback(squares**0.5)

    return register_multi_grad_hook(tensors, hook)


WRONG = {
    "one_hook_for_many": {
        "waits_for_all": fresh_count_each_pass,
        "called_too_often": [each_on_its_own, with_mode_any],
        "grad_is_none": forgets_none,
        "sum_of_norms": sums_norms,
        "no_root": sums_squares,
        "largest_norm": [takes_the_largest, first_only],
        "not_a_number": hands_the_gradients_on,
        "other_norm": reads_grad,
        "no_handle": without_handle,
        "never_called": on_copies,
    },
}
RIGHT = {"one_hook_for_many": [as_one_vector, by_squares]}
