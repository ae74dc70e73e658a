"""Answers about saving for backward in fewer bytes."""

from __future__ import annotations

import torch
from torch.autograd.graph import saved_tensors_hooks


def under(pack, unpack):
    """An answer that calls f under these two functions."""

    def compressed(f, x):
        with saved_tensors_hooks(pack, unpack):
            return f(x)

    return compressed


def to_half(t):
    return t.half() if t.is_floating_point() else t


def everything_pair(t):
    return t.half(), t.dtype


def back(pair):
    t, dtype = pair
    return t.to(dtype)


def back_as_it_is(t):
    return t


def back_wide(t):
    return t.double()


def nothing_back(pair):
    pair[0].to(pair[1])


def packs_in_place(t):
    return t.div_(1).half() if t.is_floating_point() else t


def gives_half(f, x):
    return f(x).half()


def rounds_the_input(f, x):
    return f(x.half().to(x.dtype))


def around_nothing(f, x):
    y = f(x)
    with saved_tensors_hooks(to_half, lambda t: t.double() if t.is_floating_point() else t):
        return y


def rounds_in_place(t):
    """Rounded, but as wide as before."""
    return t.half().to(t.dtype) if t.is_floating_point() else t


def plain_call(f, x):
    return f(x)


def stays_on(f, x):
    saved_tensors_hooks(to_half, lambda t: t.double() if t.is_floating_point() else t).__enter__()
    return f(x)


def scales_wrong(t):
    return (t / 2).half() if t.is_floating_point() else t


def with_bfloat_dict(f, x):
    def pack(t):
        if t.dtype in (torch.float32, torch.float64):
            return {"small": t.to(torch.bfloat16), "dtype": t.dtype}
        return {"small": t, "dtype": t.dtype}

    with saved_tensors_hooks(pack, lambda p: p["small"].to(p["dtype"])):
        y = f(x)
    return y


class Small:
    def __init__(self, t):
        self.dtype, self.small = t.dtype, to_half(t)

    def wide(self):
        return self.small.to(self.dtype)


WRONG = {
    "compress_saved": {
        "packed_the_indices": [
            under(everything_pair, lambda pair: pair[0].double()),
            under(lambda t: t.half(), lambda t: t.double()),
        ],
        "unpacked_the_wrong_type": [
            under(to_half, back_as_it_is),
            under(lambda t: (to_half(t), t.dtype), back_as_it_is),
        ],
        "pack_edits_its_input": under(packs_in_place, back_wide),
        "unpack_gives_nothing": under(lambda t: (to_half(t), t.dtype), nothing_back),
        "result_compressed": [gives_half, rounds_the_input],
        "not_compressed": [around_nothing, plain_call, under(rounds_in_place, back_as_it_is)],
        "gradient_off": under(scales_wrong, lambda t: t.double() if t.is_floating_point() else t),
    },
}
RIGHT = {
    "compress_saved": [
        with_bfloat_dict,
        under(Small, Small.wide),
        under(to_half, lambda t: t.double() if t.is_floating_point() else t),
        under(lambda t: (to_half(t), t.dtype), back),
    ],
}
