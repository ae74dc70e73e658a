"""Answers about straight-through rounding."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Quantised(Function):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step) * step
        error = x - q
        ctx.mark_non_differentiable(error)
        return q, error

    @staticmethod
    def backward(ctx, g, _):
        return g, None


class OneUpstream(Quantised):
    @staticmethod
    def backward(ctx, g):
        return g, None


class OneBack(Quantised):
    @staticmethod
    def backward(ctx, g, _):
        return g


class BothBack(Quantised):
    @staticmethod
    def backward(ctx, g, g_error):
        return g, g_error


class NotMarked(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step) * step
        return q, x - q


class Detached(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step) * step
        return q, (x - q).detach()


class MarkedBoth(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step) * step
        error = x - q
        ctx.mark_non_differentiable(q, error)
        return q, error


class MarkedFirst(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step) * step
        ctx.mark_non_differentiable(q)
        return q, x - q


class TrueSlope(Quantised):
    @staticmethod
    def backward(ctx, g, _):
        return torch.zeros_like(g), None


class StepInSlope(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        ctx.step = step
        return Quantised.forward(ctx, x, step)

    @staticmethod
    def backward(ctx, g, _):
        return g * ctx.step, None


class Swapped(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q, error = Quantised.forward(ctx, x, step)
        return error, q


class Floored(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.floor(x / step) * step
        error = x - q
        ctx.mark_non_differentiable(error)
        return q, error


class Steps(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step)
        error = x - q
        ctx.mark_non_differentiable(error)
        return q, error


class OneOutput(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        return torch.round(x / step) * step


class ErrorTurned(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        q = torch.round(x / step) * step
        error = q - x
        ctx.mark_non_differentiable(error)
        return q, error


class Ones(Quantised):
    @staticmethod
    def backward(ctx, g, _):
        return torch.ones_like(g), None


class NewerStyle(Quantised):
    @staticmethod
    def forward(x, step):
        q = (x / step).round().mul(step)
        return q, x.sub(q)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, *gradients):
        return gradients[0].clone(), None


class NoZeros(Quantised):
    @staticmethod
    def forward(ctx, x, step):
        ctx.set_materialize_grads(False)
        return Quantised.forward(ctx, x, step)


WRONG = {
    "quantise_through": {
        "backward_signature": OneUpstream,
        "number_of_gradients": OneBack,
        "gradient_for_a_number": BothBack,
        "not_marked": [NotMarked, Detached],
        "marked_the_wrong_one": [MarkedBoth, MarkedFirst],
        "true_slope": TrueSlope,
        "scaled_by_step": StepInSlope,
        "outputs_swapped": Swapped,
        "other_rounding": Floored,
        "not_scaled_back": Steps,
        "not_two_outputs": OneOutput,
        "wrong_sign": ErrorTurned,
        "forgot_upstream": Ones,
    },
}
RIGHT = {"quantise_through": [NewerStyle, NoZeros]}
