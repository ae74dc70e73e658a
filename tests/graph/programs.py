"""Small programs that several tests look at."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from utils.graph import Graph, Node


def leaf(*entries: float) -> torch.Tensor:
    """A vector that requires grad; 1, 2, 3 if nothing else is asked for."""
    return torch.tensor(entries or (1.0, 2.0, 3.0), requires_grad=True)


def names(graph: Graph) -> list[str]:
    """Torch's names of the nodes, in order."""
    return [node.name for node in graph.nodes]


def find(graph: Graph, name: str) -> Node:
    """The only node of that name."""
    (node,) = [node for node in graph.nodes if node.name == name]
    return node


class Residual(nn.Module):
    """A block with a shortcut, two linear maps and a norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(torch.relu(self.first(self.norm(x))))


class Power(torch.autograd.Function):
    """x ** p, with p on the ctx, an integer input that needs no gradient, and None saved."""

    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x, None)
        ctx.p = p
        return x**p

    @staticmethod
    def backward(ctx, grad):
        x, _ = ctx.saved_tensors
        return grad * ctx.p * x ** (ctx.p - 1), None


class Fails(torch.autograd.Function):
    """The identity, whose backward raises."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ArithmeticError("half-way")


class Drops(torch.autograd.Function):
    """a + b, whose backward sends nothing to b."""

    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, grad):
        return grad, None


@contextmanager
def no_collector() -> Iterator[None]:
    """Inside, only counted references keep anything alive, and none are cleared up late."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
