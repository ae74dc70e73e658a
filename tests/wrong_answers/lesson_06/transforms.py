"""Answers about forward mode and vmap."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Rules(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return a * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a

    @staticmethod
    def jvp(ctx, at, bt):
        a, b = ctx.saved_tensors
        return a * bt + b * at


class NoJvp(Function):
    generate_vmap_rule = True
    forward, setup_context, backward = Rules.forward, Rules.setup_context, Rules.backward


class NoRule(Rules):
    generate_vmap_rule = False


class Older(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        return a * b

    backward, jvp = Rules.backward, Rules.jvp


class BackwardOnly(Rules):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


class OrderSwapped(Rules):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * a, g * b


class LocalOnly(Rules):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return b, a


class OneTangent(Rules):
    @staticmethod
    def jvp(ctx, at, bt):
        _, b = ctx.saved_tensors
        return at * b


class TangentProduct(Rules):
    @staticmethod
    def jvp(ctx, at, bt):
        return at * bt


class TangentsSwapped(Rules):
    @staticmethod
    def jvp(ctx, at, bt):
        a, b = ctx.saved_tensors
        return a * at + b * bt


class LikeBackward(Rules):
    @staticmethod
    def jvp(ctx, at, bt):
        a, b = ctx.saved_tensors
        return a + b


class OnCtx(Rules):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.a, ctx.b = inputs

    @staticmethod
    def backward(ctx, g):
        return g * ctx.b, g * ctx.a

    @staticmethod
    def jvp(ctx, at, bt):
        return at * ctx.b + ctx.a * bt


class OwnRuleBroadcast(Rules):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, a, b):
        a, b = (
            part.expand(info.batch_size, *part.shape) if dim is None else part.movedim(dim, 0)
            for part, dim in zip((a, b), in_dims, strict=True)
        )
        return OwnRuleBroadcast.apply(a, b), 0


class InDimsIgnored(Rules):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, a, b):
        return InDimsIgnored.apply(*torch.broadcast_tensors(a, b)), 0


class FirstOfNothing(BackwardOnly):
    @staticmethod
    def jvp(ctx, at, bt):
        return at * ctx.saved_tensors[1] + ctx.saved_tensors[0] * bt


class OtherWords(Rules):
    @staticmethod
    def forward(a, b):
        return torch.mul(a, b)

    @staticmethod
    def jvp(ctx, *tangents):
        a, b = ctx.saved_tensors
        return torch.addcmul(tangents[0] * b, a, tangents[1])


WRONG = {
    "forward_and_mapped": {
        "missing_jvp": NoJvp,
        "missing_vmap": NoRule,
        "no_setup_context": Older,
        "not_saved_for_forward": [BackwardOnly, FirstOfNothing],
        "in_dims_ignored": InDimsIgnored,
        "gradients_swapped": OrderSwapped,
        "forgot_upstream": [LocalOnly, LikeBackward],
        "one_tangent_only": OneTangent,
        "tangents_multiplied": TangentProduct,
        "tangents_swapped": TangentsSwapped,
        "tensor_on_ctx": OnCtx,
    }
}
RIGHT = {"forward_and_mapped": [Rules, OwnRuleBroadcast, OtherWords]}
