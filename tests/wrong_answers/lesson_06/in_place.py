"""Answers about a Function that works in place."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Leaky(Function):
    @staticmethod
    def forward(ctx, h, slope):
        h.mul_(torch.where(h > 0, 1, slope))
        ctx.mark_dirty(h)
        ctx.save_for_backward(h)
        ctx.slope = slope
        return h

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, ctx.slope * g), None


class NotMarked(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        ctx.save_for_backward(h > 0)
        ctx.slope = slope
        return h.mul_(torch.where(h > 0, 1, slope))

    @staticmethod
    def backward(ctx, g):
        return g * torch.where(ctx.saved_tensors[0], 1, ctx.slope), None


class NewTensor(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        ctx.save_for_backward(h)
        ctx.slope = slope
        return torch.where(h > 0, h, slope * h)


class CloneKept(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        ctx.save_for_backward(h.clone())
        ctx.slope = slope
        ctx.mark_dirty(h)
        return h.mul_(torch.where(h > 0, 1, slope))


class FactorKept(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        factor = torch.where(h > 0, 1, slope).to(h.dtype)
        ctx.save_for_backward(factor)
        ctx.mark_dirty(h)
        return h.mul_(factor)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


class OneGradient(Leaky):
    @staticmethod
    def backward(ctx, g):
        return Leaky.backward(ctx, g)[0]


class GradientForSlope(Leaky):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return Leaky.backward(ctx, g)[0], (g * y).sum()


class AsPlainReLU(Leaky):
    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] > 0), None


class PassedOn(Leaky):
    @staticmethod
    def backward(ctx, g):
        return g, None


class SlopeTwice(Leaky):
    @staticmethod
    def backward(ctx, g):
        return g * torch.where(ctx.saved_tensors[0] > 0, 1, ctx.slope**2), None


class FactorAlone(Leaky):
    @staticmethod
    def backward(ctx, g):
        return torch.where(ctx.saved_tensors[0] > 0, 1.0, ctx.slope).to(g.dtype), None


class NothingReturned(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        Leaky.forward(ctx, h, slope)


class MaskOnCtx(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        ctx.mask, ctx.slope = h > 0, slope
        ctx.mark_dirty(h)
        return h.mul_(torch.where(ctx.mask, 1, slope))

    @staticmethod
    def backward(ctx, g):
        return g * torch.where(ctx.mask, 1, ctx.slope), None


class OverwritesUpstream(Leaky):
    @staticmethod
    def backward(ctx, g):
        g[ctx.saved_tensors[0] < 0] *= ctx.slope
        return g, None


class MaskSaved(Leaky):
    @staticmethod
    def forward(ctx, h, slope):
        negative = h < 0
        ctx.save_for_backward(negative)
        ctx.slope = slope
        h[negative] *= slope
        ctx.mark_dirty(h)
        return h

    @staticmethod
    def backward(ctx, g):
        (negative,) = ctx.saved_tensors
        g = g.clone()
        g[negative] *= ctx.slope
        return g, None


class NewerInPlace(Leaky):
    @staticmethod
    def forward(h, slope):
        return torch.nn.functional.leaky_relu_(h, slope)

    @staticmethod
    def setup_context(ctx, inputs, output):
        h, ctx.slope = inputs
        ctx.mark_dirty(h)
        ctx.save_for_backward(output)


WRONG = {
    "leaky_in_place": {
        "not_marked_dirty": NotMarked,
        "not_in_place": NewTensor,
        "saved_a_copy": [CloneKept, FactorKept],
        "number_of_gradients": OneGradient,
        "gradient_for_a_number": GradientForSlope,
        "slope_forgotten": AsPlainReLU,
        "not_masked": PassedOn,
        "slope_twice": SlopeTwice,
        "forgot_upstream": FactorAlone,
        "dirty_not_returned": NothingReturned,
        "tensor_on_ctx": MaskOnCtx,
        "changed_upstream": OverwritesUpstream,
    },
}
RIGHT = {"leaky_in_place": [MaskSaved, NewerInPlace]}
