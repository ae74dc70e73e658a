"""Answers about saving the output."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Squash(Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y - y * y)


class InputSaved(Squash):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sigmoid()

    @staticmethod
    def backward(ctx, g):
        y = ctx.saved_tensors[0].sigmoid()
        return g * y * (1 - y)


class BothSaved(Squash):
    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        return g * y * (1 - y)


class OnCtx(Squash):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.sigmoid()
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y * (1 - ctx.y)


class SlopeOnCtx(Squash):
    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.slope = y * (1 - y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


class CloneSaved(Squash):
    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.save_for_backward(y.clone())
        return y


class SlopeSaved(Squash):
    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.save_for_backward(y * (1 - y))
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class NoUpstream(Squash):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (1 - y)


class FormulaWithInput(InputSaved):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * (1 - x)


class SigmoidTwice(Squash):
    @staticmethod
    def backward(ctx, g):
        y = ctx.saved_tensors[0].sigmoid()
        return g * y * (1 - y)


class FactorLost(Squash):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class Typo(Squash):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_for_backward
        return g * y * (1 - y)


class NewerStyle(Squash):
    @staticmethod
    def forward(x):
        return torch.special.expit(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)


WRONG = {
    "saves_its_output": {
        "saved_the_input": [InputSaved, BothSaved],
        "tensor_on_ctx": [OnCtx, SlopeOnCtx],
        "saved_a_copy": [CloneSaved, SlopeSaved],
        "forgot_upstream": NoUpstream,
        "formula_of_the_other": [FormulaWithInput, SigmoidTwice],
        "slope_of_exp": FactorLost,
        "saved_for_backward_typo": Typo,
    },
}
RIGHT = {"saves_its_output": [Squash, NewerStyle]}
