"""Answers to the line fitted by hand."""

from __future__ import annotations

import torch


def _leaves(x):
    return [torch.zeros((), dtype=x.dtype, requires_grad=True) for _ in "wb"]


def _fit(x, y, lr, steps, *, loss=torch.mean, clear=True, sign=-1.0, start=None):
    w, b = start or _leaves(x)
    for _ in range(steps):
        loss((w * x + b - y) ** 2).backward()
        with torch.no_grad():
            w += sign * lr * w.grad
            b += sign * lr * b.grad
        if clear:
            w.grad = b.grad = None
    return w, b


def _random_leaves_never_cleared(x, y, lr, steps):
    start = [torch.randn(1, requires_grad=True) for _ in "wb"]
    return _fit(x, y, lr, steps, clear=False, start=start)


def _rebinding(x, y, lr, steps):
    w, b = _leaves(x)
    for _ in range(steps):
        ((w * x + b - y) ** 2).mean().backward()
        w = w - lr * w.grad
        b = b - lr * b.grad
    return w, b


def _in_place_recorded(x, y, lr, steps):
    w, b = _leaves(x)
    for _ in range(steps):
        ((w * x + b - y) ** 2).mean().backward()
        w -= lr * w.grad
        b -= lr * b.grad
        w.grad = b.grad = None
    return w, b


def _return_in_the_loop(x, y, lr, steps):
    return _fit(x, y, lr, 1)


def _intercept_forgotten(x, y, lr, steps):
    w, b = _leaves(x)
    for _ in range(steps):
        ((w * x + b - y) ** 2).mean().backward()
        with torch.no_grad():
            w -= lr * w.grad
        w.grad = None
    return w, b


def _with_an_optimiser(x, y, lr, steps):
    w, b = _leaves(x)
    optimiser = torch.optim.SGD([w, b], lr=lr)
    for _ in range(steps):
        optimiser.zero_grad()
        ((w * x + b - y) ** 2).mean().backward()
        optimiser.step()
    return w, b


def _least_squares(x, y, lr, steps):
    columns = torch.stack([x, torch.ones_like(x)], 1)
    return tuple(torch.linalg.lstsq(columns, y[:, None]).solution[:, 0])


def _gradient_by_hand(x, y, lr, steps):
    w = b = torch.zeros((), dtype=x.dtype)
    for _ in range(steps):
        error = w * x + b - y
        w, b = w - lr * 2 * (error * x).mean(), b - lr * 2 * error.mean()
    return w, b


def _unwatched(x, y, lr, steps):
    w, b = torch.zeros(()), torch.zeros(())
    for _ in range(steps):
        ((w * x + b - y) ** 2).mean().backward()
    return w, b


def _no_loss_reduction(x, y, lr, steps):
    w, b = _leaves(x)
    for _ in range(steps):
        ((w * x + b - y) ** 2).backward()
    return w, b


def _column_against_row(x, y, lr, steps):
    w, b = _leaves(x)
    for _ in range(steps):
        ((w * x[:, None] + b - y) ** 2).mean().backward()
        for leaf in (w, b):
            leaf.data -= lr * leaf.grad
            leaf.grad = None
    return w, b


def _never_steps(x, y, lr, steps):
    w, b = _leaves(x)
    for _ in range(steps):
        ((w * x + b - y) ** 2).mean().backward()
        w.grad = b.grad = None
    return w, b


def _too_short(x, y, lr, steps):
    return _fit(x, y, lr, steps // 40)


def _one_graph_for_all(x, y, lr, steps):
    w, b = _leaves(x)
    loss = ((w * x + b - y) ** 2).mean()
    for _ in range(steps):
        loss.backward()
        with torch.no_grad():
            w.data -= lr * w.grad
            b.data -= lr * b.grad
        w.grad = b.grad = None
    return w, b


def _in_one_tensor(x, y, lr, steps):
    line = torch.randn(2, 1, requires_grad=True)
    columns = torch.stack([x, torch.ones_like(x)], 1).float()
    for _ in range(steps):
        (gradient,) = torch.autograd.grad((columns @ line - y[:, None].float()).pow(2).mean(), line)
        line = (line - lr * gradient).detach().requires_grad_()
    return line[0], line[1]


def _plain_numbers(x, y, lr, steps):
    w, b = (torch.randn((), requires_grad=True) for _ in "wb")
    for _ in range(steps):
        torch.nn.functional.mse_loss(w * x + b, y).backward()
        for leaf in (w, b):
            leaf.data -= lr * leaf.grad
            leaf.grad.zero_()
    return w.item(), b.item()


def _with_a_layer(x, y, lr, steps):
    layer = torch.nn.Linear(1, 1).double()
    for _ in range(steps):
        layer.zero_grad()
        (layer(x[:, None])[:, 0] - y).square().mean().backward()
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter -= lr * parameter.grad
    return layer.weight, layer.bias


WRONG = {
    "fit_line": {
        "stale_gradient": [
            lambda x, y, lr, steps: _fit(x, y, lr, steps, clear=False),
            _random_leaves_never_cleared,
        ],
        "uphill": lambda x, y, lr, steps: _fit(x, y, lr, steps, sign=1.0),
        "diverged": lambda x, y, lr, steps: _fit(x, y, lr, steps, loss=torch.sum),
        "one_step_only": _return_in_the_loop,
        "no_intercept": _intercept_forgotten,
        "broadcast_loss": _column_against_row,
        "grad_is_none": _rebinding,
        "in_place_on_leaf": _in_place_recorded,
        "used_optimiser": _with_an_optimiser,
        "by_hand": [_least_squares, _gradient_by_hand],
        "no_graph": _unwatched,
        "backward_on_nonscalar": _no_loss_reduction,
        "not_there_yet": [_never_steps, _too_short],
        "graph_freed": _one_graph_for_all,
        "swapped": lambda x, y, lr, steps: _fit(x, y, lr, steps)[::-1],
        "not_a_pair": lambda x, y, lr, steps: _fit(x, y, lr, steps)[0],
    },
}

RIGHT = {
    "fit_line": [_in_one_tensor, _plain_numbers, _with_a_layer],
}
