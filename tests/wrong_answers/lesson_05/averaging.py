"""Answers about a target network that follows slowly."""

from __future__ import annotations

import copy

import torch


def copy_buffers(target, source):
    with torch.no_grad():
        for a, b in zip(target.buffers(), source.buffers(), strict=True):
            a.copy_(b)


def pairs(target, source):
    return zip(target.parameters(), source.parameters(), strict=True)


def recorded(target, source, decay):
    for p, q in pairs(target, source):
        p.mul_(decay).add_((1 - decay) * q)
    copy_buffers(target, source)


def switched_off(target, source, decay):
    target.requires_grad_(False)
    for p, q in pairs(target, source):
        p.mul_(decay).add_(q.detach(), alpha=1 - decay)
    copy_buffers(target, source)


@torch.no_grad()
def rebinds(target, source, decay):
    for p, q in pairs(target, source):
        p = decay * p + (1 - decay) * q
    copy_buffers(target, source)


@torch.no_grad()
def swapped(target, source, decay):
    for p, q in pairs(target, source):
        p.lerp_(q, decay)
    copy_buffers(target, source)


@torch.no_grad()
def whole_source_added(target, source, decay):
    for p, q in pairs(target, source):
        p.mul_(decay).add_(q)
    copy_buffers(target, source)


@torch.no_grad()
def target_kept_whole(target, source, decay):
    for p, q in pairs(target, source):
        p += (1 - decay) * q
    copy_buffers(target, source)


@torch.no_grad()
def buffers_forgotten(target, source, decay):
    for p, q in pairs(target, source):
        p.mul_(decay).add_(q, alpha=1 - decay)


@torch.no_grad()
def buffers_averaged(target, source, decay):
    for p, q in pairs(target, source):
        p.mul_(decay).add_(q, alpha=1 - decay)
    for a, b in zip(target.buffers(), source.buffers(), strict=True):
        a.copy_(decay * a + (1 - decay) * b)


@torch.no_grad()
def all_state_averaged(target, source, decay):
    state = source.state_dict()
    for name, tensor in target.state_dict().items():
        tensor.mul_(decay).add_(state[name], alpha=1 - decay)


def just_loaded(target, source, decay):
    target.load_state_dict(source.state_dict())


def data_shared(target, source, decay):
    for p, q in pairs(target, source):
        p.data = decay * p.data + (1 - decay) * q.data
    for a, b in zip(target.buffers(), source.buffers(), strict=True):
        a.data = b.data


def new_parameters(target, source, decay):
    for new, old in zip(target.modules(), source.modules(), strict=True):
        for name, p in list(new.named_parameters(recurse=False)):
            mean = decay * p.detach() + (1 - decay) * getattr(old, name).detach()
            setattr(new, name, torch.nn.Parameter(mean, requires_grad=p.requires_grad))
    copy_buffers(target, source)


@torch.no_grad()
def source_moved(target, source, decay):
    for p, q in pairs(target, source):
        p.mul_(decay).add_(q.mul_(1 - decay))
    copy_buffers(target, source)


@torch.no_grad()
def roles_swapped(target, source, decay):
    for p, q in pairs(target, source):
        q.mul_(decay).add_(p, alpha=1 - decay)
    copy_buffers(source, target)


def through_data(target, source, decay):
    for p, q in pairs(target, source):
        p.data.mul_(decay).add_(q.data, alpha=1 - decay)
    for a, b in zip(target.buffers(), source.buffers(), strict=True):
        a.data.copy_(b)


def by_a_state_dict_alone(target, source, decay):
    state = copy.deepcopy(source.state_dict())
    for name, p in target.named_parameters():
        state[name] = decay * p.detach() + (1 - decay) * state[name]
    target.load_state_dict(state)


def by_a_state_dict(target, source, decay):
    by_a_state_dict_alone(target, source, decay)
    copy_buffers(target, source)


def data_assigned(target, source, decay):
    for p, q in pairs(target, source):
        p.data = decay * p.data + (1 - decay) * q.data
    copy_buffers(target, source)


def parts_with_buffers(target, source):
    for mine, theirs in zip(target.modules(), source.modules(), strict=True):
        for name, buffer in list(theirs.named_buffers(recurse=False)):
            yield mine, name, buffer


@torch.no_grad()
def buffers_cloned(target, source, decay):
    for p, q in pairs(target, source):
        p.lerp_(q, 1 - decay)
    for part, name, buffer in parts_with_buffers(target, source):
        setattr(part, name, buffer.clone())


@torch.no_grad()
def buffers_handed_over(target, source, decay):
    for p, q in pairs(target, source):
        p.lerp_(q, 1 - decay)
    for part, name, buffer in parts_with_buffers(target, source):
        setattr(part, name, buffer)


@torch.no_grad()
def by_copying(target, source, decay):
    print("decay", decay)
    own = dict(source.named_parameters())
    for name, p in target.named_parameters():
        p.copy_(torch.lerp(own[name], p, decay))
    buffers = dict(source.named_buffers())
    for name, buffer in target.named_buffers():
        buffer[...] = buffers[name]


WRONG = {
    "ema_update": {
        "graph_grows": recorded,
        "flags_changed": switched_off,
        "rebound": rebinds,
        "decay_swapped": swapped,
        "weights_do_not_add_up": [whole_source_added, target_kept_whole],
        "buffers_left": buffers_forgotten,
        "buffers_averaged": buffers_averaged,
        "averaged_whole_numbers": all_state_averaged,
        "copied": just_loaded,
        "aliased": [data_shared, buffers_handed_over],
        "buffers_replaced": buffers_cloned,
        "new_memory": data_assigned,
        "hidden_buffer_left": by_a_state_dict_alone,
        "replaced": new_parameters,
        "changed_source": [source_moved, roles_swapped],
    },
}
RIGHT = {"ema_update": [through_data, by_a_state_dict, by_copying]}
