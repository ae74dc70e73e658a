"""Answers about switching recording off for a part, and on where it is off."""

from __future__ import annotations

import torch


def all_under_no_grad(backbone, head, x, finetune):
    with torch.set_grad_enabled(finetune):
        return head(backbone(x))


def switch_as_a_call(backbone, head, x, finetune):
    torch.set_grad_enabled(finetune)
    return head(backbone(x))


def switch_back_on_by_hand(backbone, head, x, finetune):
    torch.set_grad_enabled(finetune)
    features = backbone(x)
    torch.set_grad_enabled(True)
    return head(features)


def overrules(backbone, head, x, finetune):
    with torch.set_grad_enabled(finetune):
        features = backbone(x)
    return head(features)


def enables_both(backbone, head, x, finetune):
    with torch.set_grad_enabled(finetune):
        features = backbone(x)
    with torch.enable_grad():
        return head(features)


def in_inference_mode(backbone, head, x, finetune):
    with torch.inference_mode(not finetune):
        features = backbone(x)
    return head(features)


def never_records(backbone, head, x, finetune):
    with torch.no_grad():
        features = backbone(x)
    return head(features)


def flag_ignored(backbone, head, x, finetune):
    return head(backbone(x))


def eval_for_no_grad(backbone, head, x, finetune):
    training = backbone.training
    backbone.train(finetune)
    features = backbone(x)
    backbone.train(training)
    return head(features)


def records_then_cuts(backbone, head, x, finetune):
    features = backbone(x)
    return head(features if finetune else features.detach())


def flags_left(backbone, head, x, finetune):
    backbone.requires_grad_(finetune)
    return head(backbone(x))


def head_forgotten(backbone, head, x, finetune):
    with torch.set_grad_enabled(finetune and torch.is_grad_enabled()):
        return backbone(x)


def two_branches(backbone, head, x, finetune):
    if finetune:
        return head(backbone(x))
    with torch.no_grad():
        features = backbone(x)
    return head(features)


def decorated(backbone, head, x, finetune):
    print("finetune:", finetune)
    run = backbone if finetune else torch.no_grad()(backbone.forward)
    return head(run(x))


def flags_put_back(backbone, head, x, finetune):
    flags = [(p, p.requires_grad) for p in backbone.parameters()]
    if not finetune:
        backbone.requires_grad_(False)
    features = backbone(x)
    for p, flag in flags:
        p.requires_grad_(flag)
    return head(features)


def mode_trusted(f, x):
    watched = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(watched).sum(), watched)[0]


def enabled_too_late(f, x):
    watched = x.detach().clone().requires_grad_()
    y = f(watched).sum()
    with torch.enable_grad():
        return torch.autograd.grad(y, watched)[0]


@torch.enable_grad()
def enabled(f, x):
    watched = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(watched).sum(), watched)[0]


def switched_on(f, x):
    with torch.set_grad_enabled(True):
        watched = x.clone().detach().requires_grad_()
        return torch.autograd.grad(f(watched).sum(), watched)[0]


def only_detached(f, x):
    with torch.inference_mode(False), torch.enable_grad():
        watched = x.detach().requires_grad_()
        return torch.autograd.grad(f(watched).sum(), watched)[0]


def caller_watched(f, x):
    with torch.inference_mode(False), torch.enable_grad():
        x.requires_grad_()
        return torch.autograd.grad(f(x).sum(), x)[0]


def backward_into_x(f, x):
    with torch.enable_grad():
        x.requires_grad_()
        f(x).sum().backward()
    return x.grad


def flag_forgotten_on_the_caller(f, x):
    with torch.inference_mode(False), torch.enable_grad():
        x = x if x.is_inference() else x.requires_grad_()
        watched = x.detach().clone().requires_grad_()
        return torch.autograd.grad(f(watched).sum(), watched)[0]


def second_graph(f, x):
    with torch.inference_mode(False), torch.enable_grad():
        watched = x.clone().detach().requires_grad_()
        return torch.autograd.grad(f(watched).sum(), watched, create_graph=True)[0]


@torch.no_grad()
def small_steps(f, x):
    gradient = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[i] = 1e-5
        step = step.reshape(x.shape)
        gradient.view(-1)[i] = (f(x.detach() + step) - f(x.detach() - step)).sum() / 2e-5
    return gradient


def value_returned(f, x):
    with torch.inference_mode(False), torch.enable_grad():
        watched = x.detach().clone().requires_grad_()
        return f(watched)


def switched_on_for_good(f, x):
    torch.set_grad_enabled(True)
    with torch.inference_mode(False), torch.enable_grad():
        watched = x.detach().clone().requires_grad_()
        return torch.autograd.grad(f(watched).sum(), watched)[0]


@torch.inference_mode(False)
@torch.enable_grad()
def by_backward(f, x):
    leaf = x.clone().detach().requires_grad_(True)
    f(leaf).sum().backward()
    return leaf.grad


@torch.inference_mode(False)
def one_row_at_a_time(f, x):
    rows = torch.empty_like(x.clone())
    with torch.set_grad_enabled(True):
        for i, row in enumerate(x.clone().detach()):
            row = row.clone().requires_grad_()
            rows[i] = torch.autograd.grad(f(row), row)[0]
    return rows


@torch.inference_mode(False)
@torch.enable_grad()
def transform_of_a_tracked_x(f, x):
    x = x if x.requires_grad else x.clone()
    return torch.func.grad(lambda x: f(x).sum())(x)


def by_a_function_of_functions(f, x):
    with torch.inference_mode(False):
        return torch.func.grad(lambda x: f(x).sum())(x.clone().detach())


@torch.inference_mode(False)
def forwards(f, x):
    return torch.func.jacfwd(lambda x: f(x).sum())(x.clone().detach())


def switched_back_without_finally(backbone, head, x, finetune):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(finetune and before)
    features = backbone(x)
    torch.set_grad_enabled(before)
    return head(features)


def backbone_in_eval(backbone, head, x, finetune):
    backbone.eval()
    with torch.set_grad_enabled(finetune and torch.is_grad_enabled()):
        features = backbone(x)
    return head(features)


def backbone_trains_if_asked(backbone, head, x, finetune):
    backbone.train(finetune)
    with torch.set_grad_enabled(finetune and torch.is_grad_enabled()):
        features = backbone(x)
    return head(features)


def flags_put_back_in_a_finally(backbone, head, x, finetune):
    flags = [(p, p.requires_grad) for p in backbone.parameters()]
    try:
        if not finetune:
            backbone.requires_grad_(False)
        features = backbone(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return head(features)


def error_kept(backbone, head, x, finetune):
    try:
        with torch.set_grad_enabled(finetune and torch.is_grad_enabled()):
            features = backbone(x)
    except KeyError as error:
        return print(error)
    return head(features)


WRONG = {
    "score_with_backbone": {
        "head_not_recorded": [all_under_no_grad],
        "mode_left_switched": [switch_as_a_call, switch_back_on_by_hand],
        "overruled_the_caller": [overrules, enables_both],
        "inference_tensor": in_inference_mode,
        "never_finetunes": never_records,
        "always_finetunes": [flag_ignored, eval_for_no_grad],
        "recorded_then_cut": records_then_cuts,
        "flags_changed": flags_left,
        "inner_value": head_forgotten,
        "training_flags_changed": [backbone_in_eval, backbone_trains_if_asked],
        "not_restored_after_error": [switched_back_without_finally, flags_put_back],
        "swallowed_error": error_kept,
    },
    "input_gradient": {
        "recording_is_off": [mode_trusted, enabled_too_late],
        "enable_grad_in_inference_mode": [enabled, switched_on],
        "inference_tensor_watched": only_detached,
        "marked_the_input": [caller_watched, flag_forgotten_on_the_caller],
        "accumulated_on_old": backward_into_x,
        "by_hand": small_steps,
        "tracked": second_graph,
        "tracked_around_a_transform": transform_of_a_tracked_x,
        "value_for_gradient": value_returned,
        "mode_left_switched": switched_on_for_good,
    },
}
RIGHT = {
    "score_with_backbone": [two_branches, decorated, flags_put_back_in_a_finally],
    "input_gradient": [by_backward, one_row_at_a_time, by_a_function_of_functions, forwards],
}
