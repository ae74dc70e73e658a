"""Answers about gradient reversal."""

from __future__ import annotations

import torch
from torch.autograd import Function


class Turn(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.strength * g, None


class TurnOnce(Turn):
    @staticmethod
    def backward(ctx, g):
        return -ctx.strength * g


class TurnWithNumber(Turn):
    @staticmethod
    def backward(ctx, g):
        return -ctx.strength * g, g.sum()


class TurnWithZero(Turn):
    @staticmethod
    def backward(ctx, g):
        return -ctx.strength * g, 0


class TurnNone(Turn):
    @staticmethod
    def backward(ctx, g):
        return None, -ctx.strength * g


class NoMinus(Turn):
    @staticmethod
    def backward(ctx, g):
        return ctx.strength * g, None


class NoStrength(Turn):
    @staticmethod
    def backward(ctx, g):
        return -g, None


class Through(Turn):
    @staticmethod
    def backward(ctx, g):
        return g, None


class NoUpstream(Turn):
    @staticmethod
    def backward(ctx, g):
        return torch.full_like(g, -ctx.strength), None


class InPlace(Turn):
    @staticmethod
    def backward(ctx, g):
        return g.mul_(-ctx.strength), None


class WritesGrad(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.x, ctx.strength = x, strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        ctx.x.grad = -ctx.strength * g
        return -ctx.strength * g, None


class ValuesToo(Turn):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return -strength * x


class ModuleTurn(torch.nn.Module):
    def forward(self, x):
        return x.view_as(x)

    def backward(self, g):
        return -g


def forward_called(x, strength):
    return Turn.forward(x, strength)


def dummy_ctx(x, strength):
    class Ctx:
        pass

    return Turn.forward(Ctx(), x, strength)


def a_module(x, strength):
    return ModuleTurn()(x)


def by_detach(x, strength):
    return (1 + strength) * x.detach() - strength * x


def by_hook(x, strength):
    y = x.view_as(x)
    y.register_hook(lambda g: -strength * g)
    return y


def keyword(x, strength):
    return TurnOnce.apply(x, strength=strength)


def the_class(x, strength):
    return Turn


def instance_called(x, strength):
    return Turn()(x, strength)


def scaled_outside(x, strength):
    class Negate(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            print("backward runs")
            return g.neg().mul(strength)  # from the function around it

    return Negate.apply(x)


def as_tensor(x, strength):
    class Negate(Function):
        @staticmethod
        def forward(x, strength):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[1])

        @staticmethod
        def backward(ctx, g):
            return -ctx.saved_tensors[0] * g, None

    return Negate.apply(x, torch.tensor(strength, dtype=x.dtype))


def through(answer):
    """As a function that applies it."""
    return lambda x, strength: answer.apply(x, strength)


WRONG = {
    "reverse_gradient": {
        "forward_for_apply": forward_called,
        "called_an_instance": instance_called,
        "no_custom_node": [dummy_ctx, a_module, by_detach, by_hook],
        "number_of_gradients": [through(TurnOnce), keyword],
        "gradient_for_a_number": [through(TurnWithNumber), through(TurnWithZero)],
        "sign_lost": through(NoMinus),
        "strength_lost": through(NoStrength),
        "passed_on": through(Through),
        "forgot_upstream": through(NoUpstream),
        "changed_upstream": through(InPlace),
        "accumulated_twice": through(WritesGrad),
        "reversed_the_value": through(ValuesToo),
        "not_a_tensor": the_class,
    },
}
RIGHT = {"reverse_gradient": [through(Turn), scaled_outside, as_tensor]}
