"""The observer that runs a program around an answer, and what it counts."""

from __future__ import annotations

import pytest
import torch

from utils.checks.facts import facts
from utils.checks.observers import OBSERVERS
from utils.checks.program_observers import Allocations, attempt, call_in_program

X = torch.tensor([1.0, 2.0, 4.0])


def test_a_program_runs_around_the_answer() -> None:
    case = {
        "inputs": {"x": X, "factor": 3},
        "leaves": ["x"],
        "given": "weight = factor * torch.ones(3)",
        "program": "result = answer(x, weight)\nproblem = attempt(lambda: result.backward())",
        "report": ["problem"],
        "facts": ["result", "x"],
    }
    seen = call_in_program(lambda x, weight: (x * weight).sum(), case)
    assert seen["problem"] == ""
    assert seen["result"]["value"] == 21
    assert seen["x"]["grad"].tolist() == [3, 3, 3]
    assert X.grad is None and not X.requires_grad
    seen = call_in_program(lambda x, weight: x.detach().sum(), case)
    assert seen["problem"].startswith("RuntimeError: element 0")
    assert seen["x"]["grad"] is None
    assert OBSERVERS["call_in_program"] is call_in_program


def test_an_error_of_the_answer_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        call_in_program(lambda: 1 / 0, {"inputs": {}, "program": "answer()"})


def test_attempt_names_the_error() -> None:
    assert attempt(lambda: 3) == ""
    assert attempt(lambda: {}["x"]) == "KeyError: 'x'"


def test_allocations_count_new_memory_and_nothing_else() -> None:
    def made(action) -> int:
        x = torch.rand(2, 3)
        with Allocations() as memory:
            action(x)
        return memory.count

    assert made(lambda x: x * 2) == 1
    assert made(lambda x: (x * 2).exp() + 1) == 3
    assert made(lambda x: x.mul_(2).relu_()) == 0
    assert made(lambda x: x.T[0].detach()) == 0
    assert made(lambda x: x.clone()) == 1
    assert made(lambda x: torch.add(1, x, out=x)) == 0
    assert made(lambda x: print(x)) == 0, "printing is no work of the answer"


def test_allocations_tell_one_backward_from_one_within_another() -> None:
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with torch.enable_grad():
                return torch.autograd.grad(x.exp(), x, g)[0]

    def runs(function) -> int:
        x = X.clone().requires_grad_()
        with Allocations() as memory:
            function(x).sum().backward()
        return len(memory.runs)

    assert runs(torch.exp) == 1
    assert runs(Nested.apply) == 2
    with Allocations() as memory:
        X.exp()
    assert memory.runs == set()


def test_an_inference_tensor_has_facts_too() -> None:
    with torch.inference_mode():
        made = torch.ones(2)
    assert facts(made)["version"] is None
    assert facts(made)["value"].tolist() == [1, 1]
    assert facts(X)["version"] == 0
