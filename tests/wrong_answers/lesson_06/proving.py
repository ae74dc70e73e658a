"""Answers about gradcheck and gradgradcheck."""

from __future__ import annotations

import torch
from torch.autograd import gradcheck, gradgradcheck


def watched(x):
    return x.detach().clone().double().requires_grad_()


def by_errors(function, x):
    x = watched(x)
    try:
        gradcheck(function, x)
    except RuntimeError:
        return "wrong"
    try:
        gradgradcheck(function, x)
    except RuntimeError:
        return "once"
    return "twice"


def in_float32(function, x):
    x = x.detach().clone().float().requires_grad_()
    if not gradcheck(function, (x,), raise_exception=False):
        return "wrong"
    return "twice" if gradgradcheck(function, (x,), raise_exception=False) else "once"


def dtype_kept(function, x):
    x = x.detach().clone().requires_grad_()
    if not gradcheck(function, (x,), raise_exception=False):
        return "wrong"
    return "twice" if gradgradcheck(function, (x,), raise_exception=False) else "once"


def unwatched(function, x):
    x = x.double()
    if not gradcheck(function, (x,), raise_exception=False):
        return "wrong"
    return "twice" if gradgradcheck(function, (x,), raise_exception=False) else "once"


def raises(function, x):
    x = watched(x)
    if not gradcheck(function, (x,)):
        return "wrong"
    return "twice" if gradgradcheck(function, (x,)) else "once"


def first_only(function, x):
    return "once" if gradcheck(function, (watched(x),), raise_exception=False) else "wrong"


def first_for_both(function, x):
    return "twice" if gradcheck(function, (watched(x),), raise_exception=False) else "wrong"


def gradcheck_twice(function, x):
    x = watched(x)
    if not gradcheck(function, (x,), raise_exception=False):
        return "wrong"
    return "twice" if gradcheck(function, (x,), raise_exception=False) else "once"


def second_only(function, x):
    x = watched(x)
    if gradgradcheck(function, (x,), raise_exception=False):
        return "twice"
    return "once" if gradcheck(function, (x,), raise_exception=False) else "wrong"


def tolerant(function, x):
    x = watched(x)
    if not gradcheck(function, (x,), raise_exception=False, rtol=0.05):
        return "wrong"
    return "twice" if gradgradcheck(function, (x,), raise_exception=False) else "once"


def tolerant_in_float32(function, x):
    x = x.detach().clone().float().requires_grad_()
    loose = {"eps": 1e-3, "atol": 0.1, "rtol": 0.1, "raise_exception": False}
    if not gradcheck(function, (x,), **loose):
        return "wrong"
    return "twice" if gradgradcheck(function, (x,), **loose) else "once"


def at_zero(function, x):
    return by_errors(function, torch.zeros_like(x))


def flags(function, x):
    x = watched(x)
    return gradcheck(function, x, raise_exception=False)


def marks_x(function, x):
    by_errors(function, x)
    x.requires_grad_()
    return by_errors(function, x)


def words_mixed_up(function, x):
    return {"wrong": "wrong", "once": "twice", "twice": "once"}[by_errors(function, x)]


def until_nothing_is_raised(function, x):
    x = watched(x)
    if not gradcheck(function, (x,), raise_exception=False):
        return "wrong"
    try:
        (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        g.sum().backward()
    except RuntimeError:
        return "once"
    return "twice"


def by_requires_grad(function, x):
    x = watched(x)
    if not gradcheck(function, (x,), raise_exception=False):
        return "wrong"
    v = torch.full_like(function(x), 2.0)
    (g,) = torch.autograd.grad(function(x), x, v, create_graph=True)
    try:
        (h,) = torch.autograd.grad(g, x, v, allow_unused=True)
    except RuntimeError:
        return "once"
    return "twice" if g.requires_grad and h is not None else "once"


def fast_mode(function, x):
    x = torch.tensor(x.tolist(), dtype=torch.float64, requires_grad=True)
    if not gradcheck(function, [x], raise_exception=False, fast_mode=True):
        return "wrong"
    second = gradgradcheck(function, [x], raise_exception=False, fast_mode=True)
    return "twice" if second else "once"


WRONG = {
    "how_far_it_holds": {
        "checked_in_float32": [in_float32, dtype_kept],
        "gradcheck_unwatched": unwatched,
        "gradcheck_raised": raises,
        "first_order_only": first_only,
        "second_not_checked": [first_for_both, gradcheck_twice],
        "only_second_order": second_only,
        "too_tolerant": [tolerant, tolerant_in_float32],
        "checked_at_a_kink": at_zero,
        "other_words": flags,
        "marked_the_input": marks_x,
        "history_for_proof": [until_nothing_is_raised, by_requires_grad],
        "wrong_words": words_mixed_up,
    }
}
RIGHT = {"how_far_it_holds": [by_errors, fast_mode]}
