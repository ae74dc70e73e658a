"""Answers about derivatives of backward."""

from __future__ import annotations

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Smooth(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.logaddexp(x, -x) - np.log(2)

    @staticmethod
    def backward(ctx, g):
        return g * torch.tanh(ctx.saved_tensors[0])


class SlopeSaved(Smooth):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.tanh())
        return x.cosh().log()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class SlopeOnCtx(Smooth):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = x.tanh()
        return x.cosh().log()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


class Detached(Smooth):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].detach().tanh()


class ThroughData(Smooth):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].data.tanh()


class WithNumpy(Smooth):
    @staticmethod
    def backward(ctx, g):
        return torch.from_numpy(g.detach().numpy() * np.tanh(ctx.saved_tensors[0].detach().numpy()))


class NumpyRefuses(Smooth):
    @staticmethod
    def backward(ctx, g):
        return g * torch.from_numpy(np.tanh(ctx.saved_tensors[0].numpy()))


class UnderNoGrad(Smooth):
    @staticmethod
    @torch.no_grad()
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].tanh()


class Once(Smooth):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].tanh()


class NoUpstream(Smooth):
    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0].tanh()


class TimesValue(Smooth):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cosh().log()


class SecondForFirst(Smooth):
    @staticmethod
    def backward(ctx, g):
        return g / ctx.saved_tensors[0].cosh() ** 2


class InputOnCtx(Smooth):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x.cosh().log()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.x.tanh()


class Quotient(Smooth):
    @staticmethod
    def forward(x):
        return x.cosh().log()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.sinh() / x.cosh()


class Root(Function):
    """With NumPy, and honest about it."""

    @staticmethod
    def forward(ctx, x):
        ctx.y = np.cbrt(x.detach().numpy())
        return torch.from_numpy(ctx.y)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return torch.from_numpy(g.numpy() / (3 * ctx.y**2))


class Silent(Root):
    @staticmethod
    def backward(ctx, g):
        return torch.from_numpy(g.detach().numpy() / (3 * ctx.y**2))


class SilentSlope(Root):
    @staticmethod
    def backward(ctx, g):
        return g * torch.from_numpy(1 / (3 * ctx.y**2))


class NotWrapped(Root):
    @staticmethod
    def forward(ctx, x):
        ctx.y = np.cbrt(x.detach().numpy())
        return ctx.y


class ArrayBack(Root):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g.numpy() / (3 * ctx.y**2)


class NoNegatives(Root):
    @staticmethod
    def forward(ctx, x):
        ctx.y = np.power(x.detach().numpy(), 1 / 3)
        return torch.from_numpy(ctx.y)


class ThirdLost(Root):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return torch.from_numpy(g.numpy() / ctx.y**2)


class NotSquared(Root):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return torch.from_numpy(g.numpy() / (3 * ctx.y))


class SlopeAlone(Root):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return torch.from_numpy(1 / (3 * ctx.y**2))


class HalfSeen(Root):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.cbrt(x.detach().numpy()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = torch.from_numpy(np.cbrt(x.detach().numpy()))
        return g * y / (3 * x)


class NumpyOnTracked(Root):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.cbrt(x.detach().numpy()))

    @staticmethod
    def backward(ctx, g):
        return g / 3 / torch.from_numpy(np.cbrt(ctx.saved_tensors[0].numpy()) ** 2)


class TensorOnCtx(Root):
    @staticmethod
    def forward(ctx, x):
        ctx.root = torch.from_numpy(np.cbrt(x.detach().numpy()))
        return ctx.root.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g / (3 * ctx.root**2)


class OutputSaved(Root):
    """Backward of torch's own operations: the second derivative holds."""

    @staticmethod
    def forward(ctx, x):
        y = torch.as_tensor(np.cbrt(x.detach().numpy()))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (3 * y**2)


WRONG = {
    "twice_differentiable": {
        "second_cut": [SlopeSaved, SlopeOnCtx, Detached, ThroughData, WithNumpy, UnderNoGrad],
        "once_differentiable": Once,
        "numpy_on_tracked": NumpyRefuses,
        "forgot_upstream": NoUpstream,
        "value_for_slope": TimesValue,
        "slope_of_tanh": SecondForFirst,
        "tensor_on_ctx": InputOnCtx,
    },
    "numpy_inside": {
        "silent_second": [Silent, SilentSlope],
        "number_from_forward": NotWrapped,
        "number_for_gradient": ArrayBack,
        "nan": NoNegatives,
        "lost_third": ThirdLost,
        "wrong_power": NotSquared,
        "forgot_upstream": SlopeAlone,
        "second_wrong": HalfSeen,
        "tensor_on_ctx": TensorOnCtx,
    },
}
RIGHT = {
    "twice_differentiable": [Smooth, Quotient],
    "numpy_inside": [Root, OutputSaved, NumpyOnTracked],
}
