"""A small exercise and answers to it, for tests of the machinery around exercises."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Exercise


def double(x):
    return 2 * x


def halve(x):
    return x / 2


def stub(x):
    """Twice x."""
    raise NotImplementedError


DOUBLE = Exercise(
    id="double",
    title="Twice",
    lesson="01_requires_grad",
    points=3,
    minutes=1,
    difficulty=1,
    answer="double",
    observe="call",
    cases=lambda rng: [{"args": [torch.rand(n, generator=rng) + 1]} for n in (3, 2)],
    judge=lambda case, seen: compare(
        seen["result"],
        2 * case["args"][0],
        "What `double` returned",
        simulated={"halved": case["args"][0] / 2},
        says={"halved": "{what} is half of `x`. Which way round?"},
    ),
    hints=("What is twice?", "Think of adding.", "Add `x` to itself."),
    symptom_hints={"halved": "You divide where you should multiply."},
)
