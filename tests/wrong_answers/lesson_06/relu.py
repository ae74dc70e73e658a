"""Answers about ReLU."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Cut(Function):
    """ReLU in the newer style."""

    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


class Typo(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_for_backward
        return g * (x > 0)


class NotUnpacked(Cut):
    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors
        return torch.where(x.gt(0), g, 0)


class TupleMultiplied(Cut):
    @staticmethod
    def backward(ctx, g):
        return g * (1 * ctx.saved_tensors)


class TupleGiven(Cut):
    @staticmethod
    def backward(ctx, g):
        return g * torch.heaviside(ctx.saved_tensors, torch.zeros(()))


class OneAtZero(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= 0)


class OneAtZeroMasked(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.clone()
        g[x < 0] = 0
        return g


class HalfAtZero(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.heaviside(x, torch.tensor(0.5, dtype=x.dtype))


class MaskAlone(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (x > 0).to(g.dtype)


class PassedOn(Cut):
    @staticmethod
    def backward(ctx, g):
        return g


class TimesValue(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.clamp(min=0)


class IfInForward(Cut):
    @staticmethod
    def forward(x):
        return x if x > 0 else torch.zeros_like(x)


class MaskOnCtx(Cut):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mask = inputs[0] > 0

    @staticmethod
    def backward(ctx, g):
        return g * ctx.mask


class OlderStyle(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.relu()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


class BothStyles(Cut):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)


class OverwritesUpstream(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g[x <= 0] = 0
        return g


class NothingReturned(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g * (x > 0)


class ByAutograd(Cut):
    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = x.relu()
        return torch.autograd.grad(y, x, g)[0]


class ANumber(Cut):
    @staticmethod
    def forward(x):
        return max(0.0, x.max().item())


class TupleSaved(Cut):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs)


class SetupOfInputs(Cut):
    @staticmethod
    def setup_context(ctx, x):
        ctx.save_for_backward(x)


class CalledTuple(Cut):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors()
        return g * (x > 0)


class OutputSaved(Cut):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)


class MaskSaved(Cut):
    @staticmethod
    def forward(x):
        return torch.where(x > 0, x, 0.0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x > 0)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return torch.where(mask, g, torch.zeros_like(g))


WRONG = {
    "relu_function": {
        "saved_for_backward_typo": Typo,
        "saved_not_unpacked": [NotUnpacked, TupleGiven, TupleMultiplied],
        "saved_no_tensor": TupleSaved,
        "setup_signature": SetupOfInputs,
        "called_a_tuple": CalledTuple,
        "slope_one_at_zero": [OneAtZero, OneAtZeroMasked],
        "half_slope_at_zero": HalfAtZero,
        "forgot_upstream": MaskAlone,
        "not_masked": PassedOn,
        "value_for_slope": TimesValue,
        "compared_tensors": IfInForward,
        "tensor_on_ctx": MaskOnCtx,
        "no_setup_context": OlderStyle,
        "forward_signature": BothStyles,
        "changed_upstream": OverwritesUpstream,
        "none": NothingReturned,
        "autograd_inside": ByAutograd,
        "number_from_forward": ANumber,
    },
}
RIGHT = {"relu_function": [Cut, OutputSaved, MaskSaved]}
