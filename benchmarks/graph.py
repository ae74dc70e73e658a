"""Walking and recording against torchviz and a plain backward, on a residual net and on chains."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torchviz import make_dot

from utils.graph import record, structure, walk

from .measure import Row, medians

VIZ = "torchviz"
BACKWARD = "backward"


class Block(nn.Module):
    """A shortcut around a norm and two linear maps: 13 nodes of the graph."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(torch.relu(self.first(self.norm(x))))


def residual_net() -> tuple[nn.Module, torch.Tensor]:
    """A net and its loss, with 491 nodes behind it."""
    torch.manual_seed(0)
    blocks = [Block(32) for _ in range(37)]
    net = nn.Sequential(nn.LayerNorm(32), *blocks, nn.Linear(32, 1), nn.Tanh())
    return net, net(torch.randn(8, 32)).pow(2).sum()


def chain(length: int) -> torch.Tensor:
    """One number behind `length` operations, one after the other."""
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(length // 2):
        y = y.sin() * 1.01
    return y.sum()


def rows() -> list[Row]:
    """All comparisons of this file."""
    return [*_net(), *_chain(1_000, repeats=9), *_chain(20_000, repeats=3)]


def _net() -> Iterator[Row]:
    net, y = residual_net()
    title = f"residual net of {len(structure(y).names)} nodes"
    ours, theirs = medians(lambda: structure(y), lambda: make_dot(y), repeats=21)
    yield Row(f"structure, {title}", ours, VIZ, theirs, bar=10)
    ours, theirs = medians(lambda: walk(y, names={}, saved=False), lambda: make_dot(y))
    yield Row(f"walk without saved, {title}", ours, VIZ, theirs)
    ours, theirs = medians(
        lambda: walk(y, names={}), lambda: make_dot(y, show_attrs=True, show_saved=True)
    )
    yield Row(f"walk, {title}", ours, f"{VIZ}, saved", theirs)
    names = {"net": net, "y": y}
    ours, theirs = medians(
        lambda: walk(y, names=names),
        lambda: make_dot(y, dict(net.named_parameters()), show_attrs=True, show_saved=True),
    )
    yield Row(f"walk with names, {title}", ours, f"{VIZ}, saved, names", theirs)
    ours, theirs = medians(lambda: record(y, names={}), lambda: _backward(y))
    yield Row(f"record, {title}", ours, BACKWARD, theirs, note="every edge written down")
    net.zero_grad()


def _chain(length: int, repeats: int) -> Iterator[Row]:
    y = chain(length)
    title = f"chain of {length:,} ops"
    note = _says(lambda: make_dot(y))
    with _deep_recursion():
        ours, theirs = medians(lambda: structure(y), lambda: make_dot(y), repeats=repeats)
        yield Row(f"structure, {title}", ours, VIZ, theirs, note=note)
        ours, theirs = medians(
            lambda: walk(y, names={}),
            lambda: make_dot(y, show_attrs=True, show_saved=True),
            repeats=repeats,
        )
        yield Row(f"walk, {title}", ours, f"{VIZ}, saved", theirs, note=note)
    ours, theirs = medians(lambda: record(y, names={}), lambda: _backward(y), repeats=repeats)
    # About a second where nothing else runs; the bar leaves room for a busy machine.
    most = 5_000 if length == 20_000 else None
    yield Row(f"record, {title}", ours, BACKWARD, theirs, most=most)


def _backward(y: torch.Tensor) -> None:
    y.backward(retain_graph=True)


def _says(program: Callable[[], object]) -> str:
    """A word on whether torchviz can do it with Python as it is."""
    try:
        program()
    except RecursionError:
        return f"{VIZ}: RecursionError; timed with the limit raised"
    return ""


@contextmanager
def _deep_recursion() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
