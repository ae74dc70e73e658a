"""Answers about what stays in `.grad`, and about a step that keeps the leaf."""

from __future__ import annotations

import torch


def _never_cleared(w, losses):
    grads = []
    for loss in losses:
        loss(w).backward()
        grads.append(w.grad.clone())
    w.grad = None
    return grads


def _never_cleared_nor_copied(w, losses):
    grads = []
    for loss in losses:
        loss(w).backward()
        grads.append(w.grad)
    return grads


def _cleared_once(w, losses):
    w.grad = None
    grads = []
    for loss in losses:
        loss(w).backward()
        grads.append(w.grad.clone())
    w.grad = None
    return grads


def _cleared_once_nor_copied(w, losses):
    w.grad = None
    grads = []
    for loss in losses:
        loss(w).backward()
        grads.append(w.grad)
    return grads


def _cleared_after(w, losses):
    grads = []
    for loss in losses:
        loss(w).backward()
        grads.append(w.grad)
        w.grad = None
    return grads


def _zeroed_before(w, losses):
    grads = []
    for loss in losses:
        w.grad.zero_()
        loss(w).backward()
        grads.append(w.grad)
    w.grad = None
    return grads


def _zeroed_after(w, losses):
    optimiser = torch.optim.SGD([w], lr=0.1)
    grads = []
    for loss in losses:
        loss(w).backward()
        grads.append(w.grad)
        optimiser.zero_grad(set_to_none=False)
    return grads


def _zeros_left(w, losses):
    grads = []
    for loss in losses:
        w.grad.zero_()
        loss(w).backward()
        grads.append(w.grad.clone())
    w.grad.zero_()
    return grads


def _last_one_left(w, losses):
    grads = []
    for loss in losses:
        w.grad = None
        loss(w).backward()
        grads.append(w.grad)
    return grads


def _old_one_left(w, losses):
    return [torch.autograd.grad(loss(w), w)[0] for loss in losses]


def _last_loss_only(w, losses):
    for loss in losses:
        w.grad = None
        loss(w).backward()
    return w.grad


def _return_in_the_loop(w, losses):
    grads = []
    for loss in losses:
        w.grad = None
        loss(w).backward()
        grads.append(w.grad)
        return grads


def _number_for_grad(w, losses):
    grads = []
    for loss in losses:
        w.grad = 0
        loss(w).backward()
        grads.append(w.grad)
    return grads


def _what_backward_returns(w, losses):
    grads = []
    for loss in losses:
        w.grad = None
        grads.append(loss(w).backward())
    w.grad = None
    return grads


def _with_an_optimiser(w, losses):
    optimiser = torch.optim.SGD([w], lr=1.0)
    grads = ()
    for loss in losses:
        optimiser.zero_grad()
        loss(w).backward()
        grads += (w.grad,)
    optimiser.zero_grad()
    return grads


def _copies_zeroed(w, losses):
    grads = []
    for loss in losses:
        w.grad.zero_()
        loss(w).backward()
        grads.append(w.grad.clone())
    w.grad = None
    return torch.stack(grads)


def _without_grad(w, losses):
    w.grad = None
    return [torch.autograd.grad(loss(w), w)[0] for loss in losses]


def _rebinds(w, lr):
    w = w - lr * w.grad


def _rebinds_unrecorded(w, lr):
    with torch.no_grad():
        w = w - lr * w.grad
    w.grad = None


def _clears_and_rebinds(w, lr):
    moved = w - lr * w.grad
    w.grad = None
    w = moved


def _returns_a_new_leaf(w, lr):
    w = (w - lr * w.grad).detach().requires_grad_()
    return w


def _in_place_recorded(w, lr):
    w -= lr * w.grad
    w.grad = None


def _uphill(w, lr):
    with torch.no_grad():
        w += lr * w.grad
    w.grad = None


def _whole_gradient(w, lr):
    with torch.no_grad():
        w -= w.grad
    w.grad = None


def _not_cleared(w, lr):
    with torch.no_grad():
        w -= lr * w.grad


def _cleared_first(w, lr):
    with torch.no_grad():
        w.grad.zero_()
        w -= lr * w.grad


def _none_first(w, lr):
    w.grad = None
    with torch.no_grad():
        w -= lr * w.grad


def _switched_off(w, lr):
    w.requires_grad_(False)
    w -= lr * w.grad
    w.grad = None


def _overwritten(w, lr):
    with torch.no_grad():
        w.copy_(w.grad)
    w.grad = None


def _by_data(w, lr):
    w.data -= lr * w.grad
    w.grad.zero_()
    return w


def _switched_off_and_on(w, lr):
    w.requires_grad_(False)
    w.sub_(lr * w.grad)
    w.requires_grad_(True)
    w.grad = None


def _by_an_optimiser(w, lr):
    optimiser = torch.optim.SGD([w], lr=lr)
    optimiser.step()
    optimiser.zero_grad()


@torch.no_grad()
def _decorated(w, lr):
    w.add_(w.grad, alpha=-lr)
    w.grad = None


WRONG = {
    "separate_gradients": {
        "accumulated": [_never_cleared, _never_cleared_nor_copied],
        "cleared_once": [_cleared_once, _cleared_once_nor_copied],
        "stale_start": _cleared_after,
        "aliased": [_zeroed_before, _zeroed_after],
        "zeros_left": _zeros_left,
        "gradient_left": [_last_one_left, _old_one_left],
        "wrong_count": [_last_loss_only, _return_in_the_loop],
        "number_for_grad": _number_for_grad,
        "backward_returns_nothing": _what_backward_returns,
    },
    "sgd_step": {
        "rebound": [_rebinds, _rebinds_unrecorded, _clears_and_rebinds, _returns_a_new_leaf],
        "in_place_on_leaf": _in_place_recorded,
        "uphill": _uphill,
        "forgot_lr": _whole_gradient,
        "stale_gradient": _not_cleared,
        "cleared_first": _cleared_first,
        "grad_is_none": _none_first,
        "not_tracked": _switched_off,
        "gradient_for_step": _overwritten,
    },
}

RIGHT = {
    "separate_gradients": [_with_an_optimiser, _copies_zeroed, _without_grad],
    "sgd_step": [_by_data, _switched_off_and_on, _by_an_optimiser, _decorated],
}
