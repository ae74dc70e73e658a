"""Answers about training: a frozen backbone, small batches."""

from __future__ import annotations

import torch


def _sgd(parameters, lr):
    return torch.optim.SGD(parameters, lr=lr)


def _flag_on_the_module(model, lr):
    model.backbone.requires_grad = False
    return _sgd(model.head.parameters(), lr)


def _missing_s(model, lr):
    for parameter in model.backbone.parameters():
        parameter.require_grad = False
    return _sgd(model.head.parameters(), lr)


def _everything(model, lr):
    model.requires_grad_(False)
    return _sgd(model.head.parameters(), lr)


def _everything_filtered(model, lr):
    model.requires_grad_(False)
    return _sgd([p for p in model.parameters() if p.requires_grad], lr)


def _the_head(model, lr):
    model.head.requires_grad_(False)
    return _sgd([p for p in model.parameters() if p.requires_grad], lr)


def _left_out_only(model, lr):
    return _sgd(model.head.parameters(), lr)


def _eval_mode(model, lr):
    model.backbone.eval()
    return _sgd(model.head.parameters(), lr)


def _no_grad_while_setting_up(model, lr):
    with torch.no_grad():
        return _sgd(model.head.parameters(), lr)


def _weights_only(model, lr):
    for name, parameter in model.named_parameters():
        if name.startswith("backbone") and name.endswith("weight"):
            parameter.requires_grad = False
    return _sgd(model.head.parameters(), lr)


def _first_layer_only(model, lr):
    model.backbone[0].requires_grad_(False)
    return _sgd([p for p in model.parameters() if p.requires_grad], lr)


def _all_in_the_optimiser(model, lr):
    model.backbone.requires_grad_(False)
    return _sgd(model.parameters(), lr)


def _optimiser_first(model, lr):
    optimiser = _sgd([p for p in model.parameters() if p.requires_grad], lr)
    for parameter in model.backbone.parameters():
        parameter.requires_grad_(False)
    return optimiser


def _no_optimiser(model, lr):
    model.backbone.requires_grad_(False)


def _list_for_optimiser(model, lr):
    model.backbone.requires_grad_(False)
    return [p for p in model.parameters() if p.requires_grad]


def _head_weight_only(model, lr):
    model.backbone.requires_grad_(False)
    return _sgd([model.head.weight], lr)


def _used_up(model, lr):
    model.backbone.requires_grad_(False)
    trainable = (p for p in model.parameters() if p.requires_grad)
    print(sum(p.numel() for p in trainable), "numbers to train")
    return _sgd(trainable, lr)


def _one_tensor(model, lr):
    model.backbone.requires_grad_(False)
    return _sgd(model.head.weight, lr)


def _no_speed(model, lr):
    model.backbone.requires_grad_(False)
    return _sgd(model.head.parameters(), 0.0)


def _rate_of_its_own(model, lr):
    model.backbone.requires_grad_(False)
    return _sgd(model.head.parameters(), 7.0)


def _rate_forgotten(model, lr):
    model.backbone.requires_grad_(False)
    return torch.optim.SGD(model.head.parameters())


def _rate_times_ten(model, lr):
    model.backbone.requires_grad_(False)
    return torch.optim.Adam(model.head.parameters(), lr=lr * 10)


def _adam(model, lr):
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.startswith("head")
    return torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=lr)


def _groups(model, lr):
    for parameter in model.backbone.parameters():
        parameter.requires_grad = False
    head = model.head
    return torch.optim.SGD([{"params": [head.weight]}, {"params": [head.bias]}], lr=lr)


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
    "freeze_backbone": {
        "attribute_only": [_flag_on_the_module, _missing_s],
        "froze_everything": _everything,
        "nothing_to_optimise": [_everything_filtered, _used_up],
        "froze_the_head": _the_head,
        "still_watched": [_left_out_only, _eval_mode, _no_grad_while_setting_up],
        "froze_some": [_weights_only, _first_layer_only],
        "optimiser_holds_frozen": [_all_in_the_optimiser, _optimiser_first],
        "no_optimiser": [_no_optimiser, _list_for_optimiser],
        "head_incomplete": _head_weight_only,
        "parameters_not_iterable": _one_tensor,
        "head_does_not_move": _no_speed,
        "wrong_rate": [_rate_of_its_own, _rate_forgotten, _rate_times_ten],
    },
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
    "freeze_backbone": [_adam, _groups],
    "accumulate": [_weighted_means, _by_autograd_grad, _scaled_afterwards],
}
