"""Answers about the convolution."""

from __future__ import annotations

import torch
from torch.autograd import Function
from torch.nn.functional import conv2d, conv_transpose2d, unfold
from torch.nn.grad import conv2d_input, conv2d_weight


class Convolution(Function):
    @staticmethod
    def forward(ctx, x, kernel, stride):
        ctx.save_for_backward(x, kernel)
        ctx.stride = stride
        return conv2d(x, kernel, stride=stride)

    @staticmethod
    def for_kernel(ctx, g):
        x, kernel = ctx.saved_tensors
        return conv2d_weight(x, kernel.shape, g, stride=ctx.stride)

    @staticmethod
    def for_x(ctx, g):
        x, kernel = ctx.saved_tensors
        return conv2d_input(x.shape, kernel, g, stride=ctx.stride)


class TransposedTooSmall(Convolution):
    @staticmethod
    def backward(ctx, g):
        _, kernel = ctx.saved_tensors
        grad_x = conv_transpose2d(g, kernel, stride=ctx.stride)
        return grad_x, Convolution.for_kernel(ctx, g), None


class StrideForgotten(Convolution):
    @staticmethod
    def backward(ctx, g):
        _, kernel = ctx.saved_tensors
        grad_x = conv_transpose2d(g, kernel)
        return grad_x, Convolution.for_kernel(ctx, g), None


class NoStrideForward(Convolution):
    @staticmethod
    def forward(ctx, x, kernel, stride):
        Convolution.forward(ctx, x, kernel, stride)
        return conv2d(x, kernel)

    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        return conv2d_input(x.shape, kernel, g), conv2d_weight(x, kernel.shape, g), None


class TwoGradients(Convolution):
    @staticmethod
    def backward(ctx, g):
        return Convolution.for_x(ctx, g), Convolution.for_kernel(ctx, g)


class OrderSwapped(Convolution):
    @staticmethod
    def backward(ctx, g):
        return Convolution.for_kernel(ctx, g), Convolution.for_x(ctx, g), None


class MeanOfBatch(Convolution):
    @staticmethod
    def backward(ctx, g):
        return Convolution.for_x(ctx, g), Convolution.for_kernel(ctx, g) / len(g), None


class FirstSample(Convolution):
    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        grad = conv2d_weight(x[:1], kernel.shape, g[:1], stride=ctx.stride)
        return Convolution.for_x(ctx, g), grad, None


class LastSample(Convolution):
    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        for one, upstream in zip(x, g, strict=True):
            one, upstream = one[None], upstream[None]
            grad = conv2d_weight(one, kernel.shape, upstream, stride=ctx.stride)
        return Convolution.for_x(ctx, g), grad, None


class Flipped(Convolution):
    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        grad_x = conv2d_input(x.shape, kernel.flip(2, 3), g, stride=ctx.stride)
        return grad_x, Convolution.for_kernel(ctx, g), None


class NoUpstream(Convolution):
    @staticmethod
    def backward(ctx, g):
        g = torch.ones_like(g)
        return Convolution.for_x(ctx, g), Convolution.for_kernel(ctx, g), None


class Autograd(Convolution):
    @staticmethod
    def backward(ctx, g):
        x, kernel = (part.detach().requires_grad_() for part in ctx.saved_tensors)
        with torch.enable_grad():
            y = conv2d(x, kernel, stride=ctx.stride)
        return *torch.autograd.grad(y, (x, kernel), g), None


class Vjp(Convolution):
    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        _, pull = torch.func.vjp(lambda x, k: conv2d(x, k, stride=ctx.stride), x, kernel)
        return *pull(g), None


class NoneForKernel(Convolution):
    @staticmethod
    def backward(ctx, g):
        return Convolution.for_x(ctx, g), None, None


class Ours(Convolution):
    @staticmethod
    def backward(ctx, g):
        return Convolution.for_x(ctx, g), Convolution.for_kernel(ctx, g), None


class OutputPadding(Convolution):
    """The transposed convolution, and a convolution with batch and channels swapped."""

    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        s, (h, w), (i, j) = ctx.stride, x.shape[2:], kernel.shape[2:]
        left = ((h - i) % s, (w - j) % s)
        grad_x = conv_transpose2d(g, kernel, stride=s, output_padding=left)
        grad_kernel = conv2d(x.transpose(0, 1), g.transpose(0, 1), dilation=s)
        return grad_x, grad_kernel.transpose(0, 1)[:, :, :i, :j], None


class Unfolded(Convolution):
    """The kernel as a matrix on unfolded windows, the input window by window."""

    @staticmethod
    def backward(ctx, g):
        x, kernel = ctx.saved_tensors
        s, (i, j) = ctx.stride, kernel.shape[2:]
        windows = unfold(x, (i, j), stride=s)
        grad_kernel = torch.einsum("ndl,nkl->dk", g.flatten(2), windows).view_as(kernel)
        grad_x = torch.zeros_like(x)
        for row in range(g.shape[2]):
            for column in range(g.shape[3]):
                part = torch.einsum("nd,dcij->ncij", g[:, :, row, column], kernel)
                grad_x[:, :, row * s : row * s + i, column * s : column * s + j] += part
        return grad_x, grad_kernel, None


WRONG = {
    "convolve": {
        "gradient_of_wrong_shape": [TransposedTooSmall, StrideForgotten, OrderSwapped],
        "stride_forgotten": NoStrideForward,
        "number_of_gradients": TwoGradients,
        "mean_over_batch": MeanOfBatch,
        "one_sample_only": [FirstSample, LastSample],
        "flipped": Flipped,
        "forgot_upstream": NoUpstream,
        "autograd_inside": [Autograd, Vjp],
        "none": NoneForKernel,
        "missing_backward": Convolution,
    }
}
RIGHT = {"convolve": [Ours, OutputPadding, Unfolded]}
