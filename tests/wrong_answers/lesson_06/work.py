"""Answers about doing only what somebody needs."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Times(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.mm(b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        need_a, need_b = ctx.needs_input_grad
        return (g.mm(b.t()) if need_a else None), (a.t().mm(g) if need_b else None)


class Always(Times):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.T, a.T @ g


class DroppedAfterwards(Times):
    @staticmethod
    def backward(ctx, g):
        gradients = Always.backward(ctx, g)
        return tuple(
            gradient if need else None
            for gradient, need in zip(gradients, ctx.needs_input_grad, strict=True)
        )


class FlagsSwapped(Times):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        need_b, need_a = ctx.needs_input_grad
        return (g @ b.T if need_a else None), (a.T @ g if need_b else None)


class OrderSwapped(Times):
    @staticmethod
    def backward(ctx, g):
        return Always.backward(ctx, g)[::-1]


class OnlyNeeded(Times):
    @staticmethod
    def backward(ctx, g):
        return tuple(gradient for gradient in Times.backward(ctx, g) if gradient is not None)


class NotTransposed(Times):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b, a @ g


class NoUpstream(Times):
    @staticmethod
    def backward(ctx, g):
        return Times.backward(ctx, torch.ones_like(g))


class OnCtx(Times):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return a @ b

    @staticmethod
    def backward(ctx, g):
        need = ctx.needs_input_grad
        return (g @ ctx.b.T if need[0] else None), (ctx.a.T @ g if need[1] else None)


class ZeroForNone(Times):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        need_a, need_b = ctx.needs_input_grad
        return (g @ b.T if need_a else 0), (a.T @ g if need_b else 0)


class AskedInForward(Times):
    @staticmethod
    def forward(ctx, a, b):
        need_a, need_b = ctx.needs_input_grad
        ctx.save_for_backward(a if need_b else None, b if need_a else None)
        return torch.einsum("nk,km->nm", a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        grad_a = grad_b = None
        if b is not None:
            grad_a = torch.einsum("nm,km->nk", g, b)
        if a is not None:
            grad_b = (g.T @ a).T
        return grad_a, grad_b


class Wave(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return torch.sin(x), torch.cos(x)

    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        parts = []
        if g_sin is not None:
            parts.append(g_sin * x.cos())
        if g_cos is not None:
            parts.append(-g_cos * x.sin())
        return sum(parts[1:], parts[0])


class Materialised(Wave):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        return g_sin * x.cos() - g_cos * x.sin()


class AskedForZeros(Materialised):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        return Wave.backward(ctx, g_sin, g_cos)


class OwnZeros(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        g_sin = torch.zeros_like(x) if g_sin is None else g_sin
        g_cos = torch.zeros_like(x) if g_cos is None else g_cos
        return g_sin * x.cos() - g_cos * x.sin()


class NoneIgnored(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        return Materialised.backward(ctx, g_sin, g_cos)


class EitherOr(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        if g_sin is not None:
            return g_sin * x.cos()
        return -g_cos * x.sin()


class LastWins(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        if g_sin is not None:
            grad = g_sin * x.cos()
        if g_cos is not None:
            grad = -g_cos * x.sin()
        return grad


class NoMinus(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        return Wave.backward(ctx, g_sin, None if g_cos is None else -g_cos)


class WrongSlopes(Materialised):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        return g_sin * x.sin() + g_cos * x.cos()


class SavedSwapped(Wave):
    @staticmethod
    def backward(ctx, g_cos, g_sin):
        return Wave.backward(ctx, g_sin, g_cos)


class OneUpstream(Wave):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()


class TwoBack(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        return g_sin * x.cos(), -g_cos * x.sin()


class Stacked(Wave):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.stack([x.sin(), x.cos()])


class NothingReturned(Wave):
    @staticmethod
    def backward(ctx, g_sin, g_cos):
        Wave.backward(ctx, g_sin, g_cos)


class NewerStyle(Wave):
    @staticmethod
    def forward(x):
        return x.sin(), x.cos()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*output)

    @staticmethod
    def backward(ctx, *gradients):
        sin, cos = ctx.saved_tensors
        slopes = (cos, -sin)
        pairs = zip(gradients, slopes, strict=True)
        return torch.stack([g * slope for g, slope in pairs if g is not None]).sum(0)


WRONG = {
    "only_what_is_needed": {
        "worked_for_nothing": [Always, DroppedAfterwards],
        "none": FlagsSwapped,
        "gradient_of_wrong_shape": OrderSwapped,
        "number_of_gradients": OnlyNeeded,
        "forgot_upstream": NoUpstream,
        "tensor_on_ctx": OnCtx,
        "number_for_gradient": ZeroForNone,
    },
    "two_outputs": {
        "made_zeros": [Materialised, AskedForZeros, OwnZeros],
        "none_in_arithmetic": NoneIgnored,
        "one_output_only": [EitherOr, LastWins],
        "lost_minus": NoMinus,
        "slopes_swapped": [WrongSlopes, SavedSwapped],
        "backward_signature": OneUpstream,
        "number_of_gradients": TwoBack,
        "not_two_outputs": Stacked,
        "none": NothingReturned,
    },
}
RIGHT = {"only_what_is_needed": [Times, AskedInForward], "two_outputs": [Wave, NewerStyle]}
