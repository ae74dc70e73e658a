"""Answers about hooks on leaves: a masked gradient, and steps inside backward."""

from __future__ import annotations

import torch


def mask_rebinds(weight, mask):
    def hook(g):
        g = g * mask

    return weight.register_hook(hook)


def mask_in_place(weight, mask):
    return weight.register_hook(lambda g: g.mul_(mask))


def mask_inverted(weight, mask):
    return weight.register_hook(lambda g: g.masked_fill(mask, 0))


def mask_the_weight(weight, mask):
    weight.data *= mask
    return weight.register_hook(lambda g: g * mask)


def mask_by_flag(weight, mask):
    weight.requires_grad_(False)


def mask_what_is_there(weight, mask):
    def hook(g):
        if weight.grad is not None:
            weight.grad.mul_(mask)

    return weight.register_hook(hook)


def mask_grad_in_the_hook(weight, mask):
    def hook(g):
        weight.grad *= mask

    return weight.register_hook(hook)


def mask_after_by_returning(weight, mask):
    return weight.register_post_accumulate_grad_hook(lambda w: w.grad * mask)


def mask_without_handle(weight, mask):
    weight.register_hook(lambda g: g * mask)


def mask_after_accumulation(weight, mask):
    def hook(w):
        w.grad = w.grad * mask

    return weight.register_post_accumulate_grad_hook(hook)


def mask_by_where(weight, mask):
    return weight.register_hook(lambda g: torch.where(mask, g, 0))


def mask_by_float(weight, mask):
    keep = mask.to(weight.dtype)

    def hook(gradient):
        gradient = gradient.clone()
        return gradient.mul_(keep)

    return weight.register_hook(hook)


def train_without_freeing(model, lr):
    def hook(p):
        with torch.no_grad():
            p -= lr * p.grad

    return [
        p.register_post_accumulate_grad_hook(hook) for p in model.parameters() if p.requires_grad
    ]


def train_in_a_tensor_hook(model, lr):
    def hook_for(p):
        def hook(g):
            with torch.no_grad():
                p.sub_(lr * g)

        return hook

    return [p.register_hook(hook_for(p)) for p in model.parameters() if p.requires_grad]


def train_and_zero(model, lr):
    def hook(p):
        p.data -= lr * p.grad
        p.grad.zero_()

    return [
        p.register_post_accumulate_grad_hook(hook) for p in model.parameters() if p.requires_grad
    ]


def train_all(model, lr):
    def hook(p):
        p.data -= lr * p.grad
        p.grad = None

    return [p.register_post_accumulate_grad_hook(hook) for p in model.parameters()]


def train_late_binding(model, lr):
    handles = []

    def step():
        p.data -= lr * p.grad
        p.grad = None

    for p in model.parameters():
        if p.requires_grad:
            handles.append(p.register_post_accumulate_grad_hook(lambda _: step()))
    return handles


def train_returning(model, lr):
    def hook(p):
        return p - lr * p.grad

    return [
        p.register_post_accumulate_grad_hook(hook) for p in model.parameters() if p.requires_grad
    ]


def train_rebinding(model, lr):
    def hook(p):
        gradient, p.grad = p.grad, None
        p = p - lr * gradient

    return [
        p.register_post_accumulate_grad_hook(hook) for p in model.parameters() if p.requires_grad
    ]


def train_uphill(model, lr):
    def hook(p):
        p.data += lr * p.grad
        p.grad = None

    return [
        p.register_post_accumulate_grad_hook(hook) for p in model.parameters() if p.requires_grad
    ]


def train_weights_only(model, lr):
    def hook(p):
        p.data -= lr * p.grad
        p.grad = None

    return [
        m.weight.register_post_accumulate_grad_hook(hook)
        for m in model.modules()
        if hasattr(m, "weight")
    ]


def train_with(kind, **options):
    def step_in_backward(model, lr):
        optimisers = {p: kind([p], lr=lr, **options) for p in model.parameters() if p.requires_grad}

        def hook(p):
            optimisers[p].step()
            p.grad = None

        return [p.register_post_accumulate_grad_hook(hook) for p in optimisers]

    return step_in_backward


def train_without_handles(model, lr):
    train_per_optimiser(model, lr)


def train_one_handle(model, lr):
    return train_per_optimiser(model, lr)[-1]


def train_per_optimiser(model, lr):
    optimisers = {p: torch.optim.SGD([p], lr=lr) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimisers[p].step()
        optimisers[p].zero_grad()

    return [p.register_post_accumulate_grad_hook(hook) for p in optimisers]


def train_by_data(model, lr):
    handles = []
    for p in filter(lambda p: p.requires_grad, model.parameters()):

        def hook(leaf):
            leaf.data = leaf.data - lr * leaf.grad
            leaf.grad = None

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return tuple(handles)


WRONG = {
    "train_some_entries": {
        "not_returned": mask_rebinds,
        "edited_in_place": mask_in_place,
        "mask_inverted": mask_inverted,
        "masked_the_weight": mask_the_weight,
        "froze_all": mask_by_flag,
        "masked_too_early": mask_what_is_there,
        "grad_is_none": mask_grad_in_the_hook,
        "post_accumulate_returned": mask_after_by_returning,
        "old_wiped": mask_after_accumulation,
        "no_handle": mask_without_handle,
    },
    "step_in_backward": {
        "grad_left": [train_without_freeing, train_in_a_tensor_hook],
        "zeroed_not_freed": train_and_zero,
        "hook_on_untracked": train_all,
        "grad_is_none": train_late_binding,
        "post_accumulate_returned": train_returning,
        "not_moved": train_rebinding,
        "uphill": train_uphill,
        "wrong_step": train_with(torch.optim.Adam),
        "second_step_differs": train_with(torch.optim.SGD, momentum=0.9),
        "some_not_moved": train_weights_only,
        "no_handle": train_without_handles,
        "not_removed": train_one_handle,
    },
}
RIGHT = {
    "train_some_entries": [mask_by_where, mask_by_float],
    "step_in_backward": [train_per_optimiser, train_by_data],
}
