"""Answers about what waits for backward: edited, or packed."""

from __future__ import annotations

import torch
from torch.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    saved_tensors_hooks,
)


def plain(f, x, v):
    return torch.autograd.grad(f(x), x, v)[0]


def backward_outside(f, x, v):
    with allow_mutation_on_saved_tensors():
        y = f(x)
    return torch.autograd.grad(y, x, v)[0]


def by_differences(f, x, v):
    with torch.no_grad():
        out, step = torch.zeros_like(x), 1e-5
        for i in range(x.numel()):
            e = torch.zeros(x.numel(), dtype=x.dtype)
            e[i] = step
            e = e.view_as(x)
            out.view(-1)[i] = ((f(x + e) - f(x - e)) @ v) / (2 * step)
    return out


def by_differences_of_columns(f, x, v):
    out, step = torch.zeros_like(x), 1e-6
    for column in range(x.shape[1]):
        e = torch.zeros_like(x)
        e[:, column] = step
        out[:, column] = (f(x + e) - f(x)) * v / step
    return out.detach()


def without_v(f, x, v):
    with allow_mutation_on_saved_tensors():
        return torch.autograd.grad(f(x).sum(), x)[0]


def the_tuple(f, x, v):
    with allow_mutation_on_saved_tensors():
        return torch.autograd.grad(f(x), x, v)


def reads_too_late(f, x, v):
    """Saved-tensor hooks that keep the tensor itself: torch checks no version then."""
    with saved_tensors_hooks(lambda t: t.data, lambda t: t):
        return torch.autograd.grad(f(x), x, v)[0]


def into_grad(f, x, v):
    with allow_mutation_on_saved_tensors():
        f(x).backward(v)
    return x.grad


def by_clones(f, x, v):
    with saved_tensors_hooks(torch.clone, lambda t: t):
        (gradient,) = torch.autograd.grad(f(x), x, v)
    return gradient


def catches_all(f, x):
    try:
        with disable_saved_tensors_hooks("no"):
            f(x)
    except RuntimeError:
        return True
    return False


def other_way_round(f, x):
    return not right_one(f, x)


def looks_at_the_graph(f, x):
    """Only what has changed its type is noticed."""
    y = f(x)  # kept: what is saved dies with its graph
    raw = y.grad_fn._raw_saved_result.data
    return isinstance(raw, torch.Tensor) and raw.dtype != x.dtype


def always(f, x):
    f(x)
    return True


def gives_the_error(f, x):
    try:
        with disable_saved_tensors_hooks("no"):
            f(x)
    except RuntimeError as error:
        return error
    return None


def never_enabled_again(f, x):
    torch._C._autograd._saved_tensors_hooks_disable("this function packs")
    try:
        f(x)
    except RuntimeError as error:
        if "this function packs" not in str(error):
            raise
        return True
    return False


def right_one(f, x):
    words = "this function packs"
    try:
        with disable_saved_tensors_hooks(words):
            f(x)
    except RuntimeError as error:
        if words not in str(error):
            raise
        return True
    return False


def by_error_args(f, x):
    error = None
    with disable_saved_tensors_hooks("packed!"):
        try:
            f(x)
        except RuntimeError as caught:
            error = caught
    if error is not None and not error.args[0].startswith("packed!"):
        raise error
    return error is not None


WRONG = {
    "gradient_despite_edits": {
        "changed_saved": plain,
        "backward_outside": backward_outside,
        "by_hand": [by_differences, by_differences_of_columns],
        "ones_instead_of_v": without_v,
        "tuple_returned": the_tuple,
        "used_edited_values": reads_too_late,
    },
    "does_it_pack": {
        "swallowed_error": catches_all,
        "inverted": other_way_round,
        "stays_off": never_enabled_again,
        "overlooked": looks_at_the_graph,
        "false_alarm": always,
        "not_a_bool": gives_the_error,
    },
}
RIGHT = {
    "gradient_despite_edits": [into_grad, by_clones],
    "does_it_pack": [right_one, by_error_args],
}
