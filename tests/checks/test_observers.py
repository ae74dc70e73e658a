"""Observers: they report plain facts and give the answer fresh copies."""

from __future__ import annotations

import pytest
import torch
from torch.optim import optimizer

from utils.checks.facts import facts
from utils.checks.observers import (
    arguments,
    call,
    call_counting,
    call_counting_cost,
    call_then_train,
    call_watching_backward,
)

X = torch.tensor([1.0, 2.0, 4.0])


def test_arguments_are_fresh_leaves_with_their_old_gradients() -> None:
    case = {"args": [X, 3], "leaves": (0,), "grads": {0: X * 10}}
    x, number = arguments(case)
    assert (x.requires_grad, x.is_leaf, number) == (True, True, 3)
    assert torch.equal(x.grad, X * 10)
    with torch.no_grad():
        x += 1
        x.grad += 1
    again, _ = arguments(case)
    assert torch.equal(again, X)
    assert torch.equal(again.grad, X * 10)


def test_arguments_that_are_no_plain_data_are_built() -> None:
    case = {
        "args": [X],
        "inputs": {"factor": torch.tensor(2.0)},
        "given": "loss = lambda w: (factor * w).sum()",
        "built": ["loss", "factor"],
    }
    x, loss, factor = arguments(case)
    assert loss(x) == 14
    factor += 1
    assert case["inputs"]["factor"] == 2


def test_facts_are_plain_and_hold_no_graph() -> None:
    w = X.clone().requires_grad_()
    y = w * 2
    w.require_grad = True
    assert facts(y)["grad_fn"] == "MulBackward0"
    assert not facts(y)["value"].requires_grad
    assert facts(w)["attributes"] == ["require_grad"]
    assert facts([1, None])["items"][1] == {"kind": "plain", "value": None}
    assert facts({3: "x"})["items"]["3"]["value"] == "x"
    assert facts(torch.Size([2]))["kind"] == "tuple"
    assert facts(object())["type"] == "object"


def test_call_tells_what_became_of_the_arguments() -> None:
    def answer(x):
        (x**2).sum().backward()
        return x

    seen = call(answer, {"args": [X], "leaves": (0,)})
    assert seen["same"] == [True]
    assert seen["shares_storage"] == [True]
    assert torch.equal(seen["args"][0]["grad"], 2 * X)


def test_call_counting_counts_backwards_and_steps() -> None:
    def answer(w, data):
        optimiser = torch.optim.SGD([w], lr=0.1)
        for _ in range(3):
            (w * data + w).sum().backward()
            optimiser.step()
        torch.autograd.grad((w**2).sum(), w)

    seen = call_counting(answer, {"args": [X, X], "leaves": (0,)})
    assert seen["arrived"] == [4, 0]
    assert seen["optimiser_steps"] == 3
    assert "MulBackward0" in seen["nodes_run"]


def test_call_counting_sees_no_backward_where_there_is_none() -> None:
    seen = call_counting(lambda w: 2 * w.detach(), {"args": [X], "leaves": (0,)})
    assert (seen["arrived"], seen["optimiser_steps"], seen["nodes_run"]) == ([0], 0, [])


def test_call_counting_lets_go_of_its_hook_after_a_crash() -> None:
    before = len(optimizer._global_optimizer_pre_hooks)
    with pytest.raises(ZeroDivisionError):
        call_counting(lambda w: 1 / 0, {"args": [X], "leaves": (0,)})
    assert len(optimizer._global_optimizer_pre_hooks) == before


def test_a_formula_beside_a_backward_is_not_from_nodes() -> None:
    def watched(answer) -> bool:
        return call_watching_backward(answer, {"args": [X], "leaves": (0,)})["from_nodes"]

    def formula(x):
        (x**3).sum().backward()
        return 3 * x**2

    assert not watched(formula)
    assert watched(lambda x: torch.autograd.grad((x**3).sum(), x)[0])
    assert watched(lambda x: [(x**3).sum().backward(), x.grad.clone() + 0][1])


def test_call_then_train_tells_who_learns() -> None:
    case = {
        "given": "model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))",
        "built": ["model"],
        "batch": (torch.rand(4, 2), torch.rand(4, 1) + 3),
    }

    def answer(model):
        model[0].requires_grad_(False)
        model[0].requires_gradient = False
        other = torch.ones(1, requires_grad=True)
        return torch.optim.SGD([*model[1].parameters(), other], lr=0.1)

    seen = call_then_train(answer, case)
    assert seen["optimiser"]
    assert seen["rates"] == [0.1]
    assert seen["strangers"] == 1
    assert seen["attributes"] == {"0": ["requires_gradient"]}
    nothing = dict.fromkeys(("requires_grad", "optimised", "got_grad", "moved"), False)
    assert seen["parameters"]["0.weight"] == nothing
    assert seen["parameters"]["1.bias"] == dict.fromkeys(nothing, True)
    assert seen["backward"] == ""


def test_call_then_train_reports_a_step_that_torch_refuses() -> None:
    case = {
        "given": "model = torch.nn.Linear(2, 1)",
        "built": ["model"],
        "batch": (torch.rand(4, 2), torch.rand(4, 1)),
    }
    seen = call_then_train(lambda model: model.requires_grad_(False) and None, case)
    assert "does not require grad" in seen["backward"]
    assert not seen["optimiser"]


MAP = {
    "inputs": {"A": torch.rand(40, 2), "B": torch.rand(2, 30), "x": torch.rand(30)},
    "given": "def f(x):\n    return A @ torch.tanh(B @ x)\n",
    "built": ["f", "x"],
}


def test_call_counting_cost_tells_the_size_of_what_was_made() -> None:
    bytes_of_j = 40 * 30 * 4
    product = call_counting_cost(lambda f, x: torch.func.vjp(f, x)[1](torch.ones(40))[0], MAP)
    assert (product["calls"], product["dual_calls"], len(product["runs"])) == (1, 0, 1)
    assert product["largest"] == 40 * 4
    whole = call_counting_cost(lambda f, x: torch.func.jacrev(f)(x), MAP)
    assert len(whole["runs"]) == 1, "all rows go back in one batch"
    assert whole["largest"] >= bytes_of_j
    assert whole["made"] > 10 * product["made"]


def test_call_counting_cost_tells_forward_mode_from_backward() -> None:
    forward = call_counting_cost(lambda f, x: torch.func.jvp(f, (x,), (x,))[1], MAP)
    assert (forward["calls"], forward["dual_calls"], forward["runs"]) == (1, 1, [])
    backward = call_counting_cost(lambda f, x: torch.autograd.functional.jvp(f, x, x)[1], MAP)
    assert (backward["calls"], backward["dual_calls"], len(backward["runs"])) == (1, 0, 2)


def test_call_counting_cost_counts_the_runs_of_a_module() -> None:
    case = {"given": "model = torch.nn.Linear(2, 2)", "built": ["model"]}
    seen = call_counting_cost(lambda model: [model(torch.ones(2)) for _ in range(3)], case)
    assert seen["calls"] == 3
