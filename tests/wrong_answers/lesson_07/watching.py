"""Answers about gradients that are watched, and clipped in flight."""

from __future__ import annotations

import functools

import torch


def lambdas_in_a_loop(tensors):
    log = {name: [] for name in tensors}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g: log[name].append(g.clone()))  # noqa: B023
    return log


def setdefault_returns_it(tensors):
    log = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g, name=name: log.setdefault(name, g.clone()))
    return log


def keeps_the_tensor(tensors):
    log = {name: [] for name in tensors}
    for name, tensor in tensors.items():
        tensor.register_hook(functools.partial(lambda part, g: part.append(g), log[name]))
    return log


def keeps_a_detached_view(tensors):
    log = {name: [] for name in tensors}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g, name=name: log[name].append(g.detach()))
    return log


def retains_and_reads(tensors):
    for tensor in tensors.values():
        tensor.retain_grad()
    return {name: [tensor.grad] for name, tensor in tensors.items()}


def reads_grad_in_the_hook(tensors):
    log = {name: [] for name in tensors}
    for name, tensor in tensors.items():
        tensor.retain_grad()
        tensor.register_hook(lambda g, name=name, t=tensor: log[name].append(t.grad))
    return log


def hooks_copies(tensors):
    log = {name: [] for name in tensors}
    for name, tensor in tensors.items():
        (tensor * 1).register_hook(lambda g, name=name: log[name].append(g.clone()))
    return log


def keeps_the_last(tensors):
    log = {name: [] for name in tensors}

    def hook_for(name):
        def hook(g):
            log[name][:] = [g.clone()]

        return hook

    for name, tensor in tensors.items():
        tensor.register_hook(hook_for(name))
    return log


def under_one_tensor(tensors):
    log = {}

    def hook_for(name):
        def hook(g):
            log[name] = g.clone()

        return hook

    for name, tensor in tensors.items():
        tensor.register_hook(hook_for(name))
    return log


def after_accumulation(tensors):
    log = {name: [] for name in tensors}
    for name, tensor in tensors.items():
        tensor.register_post_accumulate_grad_hook(
            lambda t, name=name: log[name].append(t.grad.clone())
        )
    return log


def stores_the_norm(tensors):
    log = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g, name=name: log.setdefault(name, g.norm()))
    return log


def by_default_argument(tensors):
    log = {}
    for name, tensor in tensors.items():
        log[name] = []
        tensor.register_hook(lambda g, part=log[name]: part.append(torch.clone(g)))
    return log


def returns_what_came(tensors):
    log = {name: [] for name in tensors}

    def hook_for(name):
        def hook(g):
            print(name)
            log[name].append(torch.tensor(g.tolist(), dtype=g.dtype))
            return g

        return hook

    for name in tensors:
        tensors[name].register_hook(hook_for(name))
    return log


def clip_rebinds(h, limit):
    def hook(g):
        g = g.clamp(-limit, limit)

    return h.register_hook(hook)


def clip_in_place(h, limit):
    return h.register_hook(lambda g: g.clamp_(-limit, limit))


def clip_in_place_silently(h, limit):
    def hook(g):
        g.clamp_(-limit, limit)

    return h.register_hook(hook)


def clip_from_above(h, limit):
    return h.register_hook(lambda g: g.clamp(max=limit))


def clip_norm(h, limit):
    return h.register_hook(lambda g: g * limit / max(g.norm(), limit))


def clip_tuple(h, limit):
    return h.register_hook(lambda g: (g.clamp(-limit, limit),))


def clip_to_a_number(h, limit):
    return h.register_hook(lambda g: min(max(g.sum().item(), -limit), limit))


def clip_the_values(h, limit):
    h.data.clamp_(-limit, limit)
    return h.register_hook(lambda g: g.clamp(-limit, limit))


def clip_without_handle(h, limit):
    h.register_hook(lambda g: g.clamp(-limit, limit))


def clip_twice_registered(h, limit):
    h.register_hook(lambda g: g.clamp(-limit, limit))
    return h.register_hook(lambda g: g.clamp(-limit, limit))


def clip_by_keyword(h, limit):
    return h.register_hook(lambda g: g.clamp(-limit, limit), remove_hook=False)


def clip_by_min_max(h, limit):
    def hook(g):
        low = torch.full_like(g, -limit)
        return torch.minimum(torch.maximum(g, low), -low)

    return h.register_hook(hook)


def clip_a_copy(h, limit):
    def hook(g):
        mine = g.clone()
        mine[mine > limit] = limit
        mine[mine < -limit] = -limit
        return mine

    handle = h.register_hook(hook)
    return handle


def clip_at_the_node(h, limit):
    return h.grad_fn.register_prehook(lambda gs: tuple(g.clamp(-limit, limit) for g in gs))


WRONG = {
    "watch_gradients": {
        "late_binding": lambdas_in_a_loop,
        "replaced_the_gradient": setdefault_returns_it,
        "not_copied": [keeps_the_tensor, keeps_a_detached_view],
        "read_too_early": [retains_and_reads, reads_grad_in_the_hook],
        "nothing_logged": hooks_copies,
        "not_each_pass": keeps_the_last,
        "not_a_list": under_one_tensor,
        "post_accumulate_on_inner": after_accumulation,
        "hook_changed_shape": stores_the_norm,
    },
    "clip_in_flight": {
        "not_returned": clip_rebinds,
        "edited_in_place": [clip_in_place, clip_in_place_silently],
        "clipped_from_above": clip_from_above,
        "clipped_the_norm": clip_norm,
        "hook_returned_no_tensor": [clip_tuple, clip_to_a_number],
        "clipped_the_values": clip_the_values,
        "no_handle": clip_without_handle,
        "not_removed": clip_twice_registered,
        "keyword_for_removal": clip_by_keyword,
    },
}
RIGHT = {
    "watch_gradients": [by_default_argument, returns_what_came],
    "clip_in_flight": [clip_by_min_max, clip_a_copy, clip_at_the_node],
}
