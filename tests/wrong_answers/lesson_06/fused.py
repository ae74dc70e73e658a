"""Answers about the stable loss."""

from __future__ import annotations

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import binary_cross_entropy_with_logits, softplus


class Loss(Function):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        return (softplus(z) - z * t).mean()

    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        return g * (z.sigmoid() - t) / z.numel(), -g * z / z.numel()


class Naive(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        p = z.sigmoid()
        return -(t * p.log() + (1 - t) * (1 - p).log()).mean()


class ExpOverflows(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        return (torch.log(1 + z.exp()) - z * t).mean()


class BackwardOverflows(Loss):
    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        p = z.exp() / (1 + z.exp())
        return g * (p - t) / z.numel(), -g * z / z.numel()


class NaivePair(Loss):
    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        p = z.sigmoid()
        slope = (p - t) / (p * (1 - p)) * (p * (1 - p))
        return g * slope / z.numel(), -g * z / z.numel()


class Summed(Loss):
    @staticmethod
    def forward(ctx, z, t):
        return Loss.forward(ctx, z, t) * z.numel()


class SummedBack(Loss):
    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        return g * (z.sigmoid() - t), -g * z


class Unreduced(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        return softplus(z) - z * t


class ANumber(Loss):
    @staticmethod
    def forward(ctx, z, t):
        return Loss.forward(ctx, z, t).item()


class NoUpstream(Loss):
    @staticmethod
    def backward(ctx, g):
        return Loss.backward(ctx, torch.ones_like(g))


class Turned(Loss):
    @staticmethod
    def backward(ctx, g):
        return Loss.backward(ctx, -g)


class SigmoidOnceMore(Loss):
    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        p = z.sigmoid()
        return g * (p - t) * p * (1 - p) / z.numel(), -g * z / z.numel()


class LogitsMinusTargets(Loss):
    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        return g * (z - t) / z.numel(), -g * z / z.numel()


class NoneForTargets(Loss):
    @staticmethod
    def backward(ctx, g):
        return Loss.backward(ctx, g)[0], None


class OneBack(Loss):
    @staticmethod
    def backward(ctx, g):
        return Loss.backward(ctx, g)[0]


class SlopeSaved(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z.sigmoid() - t, z)
        return (softplus(z) - z * t).mean()

    @staticmethod
    def backward(ctx, g):
        slope, z = ctx.saved_tensors
        return g * slope / z.numel(), -g * z / z.numel()


class Once(Loss):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return Loss.backward(ctx, g)


class Detached(Loss):
    @staticmethod
    def backward(ctx, g):
        z, t = (part.detach() for part in ctx.saved_tensors)
        return g * (z.sigmoid() - t) / z.numel(), -g * z / z.numel()


class OtherLabels(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        return (softplus(z) - z * (1 - t)).mean()


class NoTargets(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        return softplus(z).mean()


class OnCtx(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.z, ctx.t = z, t
        return (softplus(z) - z * t).mean()

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.z.sigmoid() - ctx.t) / ctx.z.numel(), -g * ctx.z / ctx.z.numel()


class NewerStyle(Loss):
    @staticmethod
    def forward(z, t):
        return torch.logaddexp(z, torch.zeros_like(z)).sub(z * t).mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        z, t = ctx.saved_tensors
        need_z, need_t = ctx.needs_input_grad
        share = g / z.numel()
        return (share * (z.sigmoid() - t) if need_z else None), (-share * z if need_t else None)


class TorchForward(Loss):
    @staticmethod
    def forward(ctx, z, t):
        ctx.save_for_backward(z, t)
        return binary_cross_entropy_with_logits(z, t)


WRONG = {
    "stable_loss": {
        "overflow_in_forward": [Naive, ExpOverflows],
        "overflow_in_backward": [BackwardOverflows, NaivePair],
        "sum_for_mean": [Summed, SummedBack],
        "not_reduced": Unreduced,
        "number_from_forward": ANumber,
        "forgot_upstream": NoUpstream,
        "wrong_sign": Turned,
        "slope_through_both": SigmoidOnceMore,
        "residual_of_logits": LogitsMinusTargets,
        "none": NoneForTargets,
        "number_of_gradients": OneBack,
        "fails_gradgradcheck": [SlopeSaved, Once, Detached],
        "labels_swapped": OtherLabels,
        "only_positive": NoTargets,
        "tensor_on_ctx": OnCtx,
    }
}
RIGHT = {"stable_loss": [Loss, NewerStyle, TorchForward]}
