"""Answers about addition."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Plus(Function):
    """The forward that most answers share."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias


class NoBackward(Plus):
    @staticmethod
    def helper():
        return 1


class OneGradient(Plus):
    @staticmethod
    def backward(ctx, g):
        return g


class ThreeGradients(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g.sum(0), g


class NoReturn(Plus):
    @staticmethod
    def backward(ctx, g):
        print(g, g.sum(0))


class NoneForBias(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, None


class Unreduced(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g


class KeptDimension(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g.sum(0, keepdim=True)


class OtherOrder(Plus):
    @staticmethod
    def backward(ctx, g):
        return g.sum(0), g


class WrongDimension(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g.sum(1)


class LocalDerivative(Plus):
    @staticmethod
    def backward(ctx, g):
        return torch.ones_like(g), torch.ones_like(g).sum(0)


class MeanOfRows(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g.mean(0)


class FirstRow(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g[0]


class TotalSum(Plus):
    @staticmethod
    def backward(ctx, g):
        return g, g.sum().expand(g.shape[1])


class Numbers(Plus):
    @staticmethod
    def backward(ctx, g):
        return 1, 1


class TakesTwo(Plus):
    @staticmethod
    def backward(ctx, g_x, g_bias):
        return g_x, g_bias.sum(0)


class NoCtx(Function):
    @staticmethod
    def forward(x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g.sum(0)


class Module(torch.nn.Module):
    def forward(self, x, bias):
        return x + bias

    def backward(self, g):
        return g, g.sum(0)


class DoublesThenHalves(Plus):
    @staticmethod
    def backward(ctx, g):
        g *= 2
        return g / 2, g.sum(0) / 2


class NewerStyle(Function):
    @staticmethod
    def forward(x, bias):
        return torch.add(x, bias)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shapes = [t.shape for t in inputs]

    @staticmethod
    def backward(ctx, g):
        print(g.shape)
        return tuple(g.sum_to_size(shape) for shape in ctx.shapes)


class AsVjp(Plus):
    @staticmethod
    def vjp(ctx, g):
        return [g.clone(), torch.einsum("nm->m", g)][0], torch.einsum("nm->m", g)


WRONG = {
    "add_function": {
        "missing_backward": NoBackward,
        "number_of_gradients": [OneGradient, ThreeGradients, NoReturn],
        "none": NoneForBias,
        "unreduced_broadcast": [Unreduced, KeptDimension],
        "gradient_of_wrong_shape": [OtherOrder, WrongDimension],
        "forgot_upstream": LocalDerivative,
        "mean_for_sum": MeanOfRows,
        "overwritten": FirstRow,
        "summed_too_much": TotalSum,
        "number_for_gradient": Numbers,
        "backward_signature": TakesTwo,
        "forward_signature": NoCtx,
        "no_apply": lambda x, bias: x + bias,
        "module_for_function": Module,
        "changed_upstream": DoublesThenHalves,
    },
}
RIGHT = {"add_function": [NewerStyle, AsVjp]}
