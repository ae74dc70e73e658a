"""Answers about small batches and one gradient."""

from __future__ import annotations

import torch


def _mean_loss(w, x, y):
    return ((x @ w - y) ** 2).mean()


def _sum_of_means(w, batches):
    total = 0.0
    for x, y in batches:
        loss = _mean_loss(w, x, y)
        loss.backward()
        total += loss.item()
    return total


def _mean_of_means(w, batches):
    total = 0.0
    for x, y in batches:
        loss = _mean_loss(w, x, y) / len(batches)
        loss.backward()
        total += loss.item()
    return total


def _sum_of_sums(w, batches):
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum()
        loss.backward()
        total += loss.item()
    return total


def _mean_over_entries(w, batches):
    entries = sum(x.numel() for x, _ in batches)
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / entries
        loss.backward()
        total += loss.item()
    return total


def _each_divided_by_its_entries(w, batches):
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / x.numel()
        loss.backward()
        total += loss.item()
    return total


def _cleared_in_the_loop(w, batches):
    rows = sum(len(y) for _, y in batches)
    total = 0.0
    for x, y in batches:
        w.grad = None
        loss = ((x @ w - y) ** 2).sum() / rows
        loss.backward()
        total += loss.item()
    return total


def _cleared_in_the_loop_unscaled(w, batches):
    for x, y in batches:
        w.grad = None
        loss = _mean_loss(w, x, y)
        loss.backward()
    return loss.item()


def _concatenated(w, batches):
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    loss = _mean_loss(w, x, y)
    loss.backward()
    return loss.item()


def _backward_after_the_loop(w, batches):
    rows = sum(len(y) for _, y in batches)
    loss = sum(((x @ w - y) ** 2).sum() for x, y in batches) / rows
    loss.backward()
    return loss.item()


def _graph_in_the_total(w, batches):
    rows = sum(len(y) for _, y in batches)
    total = 0.0
    for x, y in batches:
        share = ((x @ w - y) ** 2).sum() / rows
        share.backward()
        total = total + share
    return total


def _forgot_backward(w, batches):
    rows = sum(len(y) for _, y in batches)
    return sum((((x @ w - y) ** 2).sum() / rows).item() for x, y in batches)


def _no_return(w, batches):
    rows = sum(len(y) for _, y in batches)
    for x, y in batches:
        (((x @ w - y) ** 2).sum() / rows).backward()


def _steps_inside(w, batches):
    rows = sum(len(y) for _, y in batches)
    total = 0.0
    for x, y in batches:
        share = ((x @ w - y) ** 2).sum() / rows
        share.backward()
        total += share.item()
        with torch.no_grad():
            w -= 0.1 * w.grad
    return total


def _formula(w, batches):
    rows = sum(len(y) for _, y in batches)
    with torch.no_grad():
        errors = [(x, x @ w - y) for x, y in batches]
        w.grad = sum(2 * x.T @ e for x, e in errors) / rows
        return sum((e**2).sum() for _, e in errors) / rows


def _backward_on_rows(w, batches):
    total = 0.0
    for x, y in batches:
        loss = (x @ w - y) ** 2
        loss.backward()
        total += loss.sum().item()
    return total


def _loss_of_the_last(w, batches):
    rows = sum(len(y) for _, y in batches)
    for x, y in batches:
        share = ((x @ w - y) ** 2).sum() / rows
        share.backward()
    return share.item()


def _weighted_means(w, batches):
    rows = sum(y.numel() for _, y in batches)
    total = torch.zeros(())
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(x @ w, y) * (y.numel() / rows)
        total += loss.detach()
        loss.backward()
    return total


def _by_autograd_grad(w, batches):
    rows, total, gradient = sum(len(y) for _, y in batches), 0, torch.zeros_like(w)
    for x, y in batches:
        loss = (x @ w - y).square().sum()
        gradient += torch.autograd.grad(loss, w)[0]
        total += float(loss)
    w.grad = gradient / rows
    return total / rows


def _scaled_afterwards(w, batches):
    rows, total = 0, 0.0
    for x, y in batches:
        loss = torch.sum((y - x.mv(w)) ** 2)
        loss.backward()
        rows, total = rows + len(x), total + loss.item()
    w.grad /= rows
    return total / rows


WRONG = {
    "accumulate": {
        "sum_of_means": _sum_of_means,
        "uneven_batches": _mean_of_means,
        "sum_for_mean": _sum_of_sums,
        "divided_by_entries": [_mean_over_entries, _each_divided_by_its_entries],
        "overwritten": [
            _cleared_in_the_loop,
            _cleared_in_the_loop_unscaled,
            _loss_of_the_last,
        ],
        "all_at_once": [_concatenated, _backward_after_the_loop],
        "loss_keeps_graph": _graph_in_the_total,
        "none": [_forgot_backward, _no_return],
        "stepped_inside": _steps_inside,
        "by_hand": _formula,
        "backward_on_nonscalar": _backward_on_rows,
    },
}

RIGHT = {
    "accumulate": [_weighted_means, _by_autograd_grad, _scaled_afterwards],
}
