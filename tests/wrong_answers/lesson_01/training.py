"""Answers about a frozen backbone."""

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
}

RIGHT = {
    "freeze_backbone": [_adam, _groups],
}
