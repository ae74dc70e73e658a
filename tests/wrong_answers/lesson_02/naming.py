"""Naming nodes."""

from __future__ import annotations

import torch

TRUE_NAMES = {
    "a * b": "MulBackward0",
    "a ** 2": "PowBackward0",
    "a - 1": "SubBackward0",
    "torch.exp(a)": "ExpBackward0",
    "(a * b).sum()": "SumBackward0",
    "(2 * a + b).mean()": "MeanBackward0",
    "M @ N": "MmBackward0",
    "a": None,
    "a.detach() * 3": None,
    "a.detach() * b": "MulBackward0",
}


def names_with(changes):
    """An answer with some names changed."""

    def predictions():
        return {**TRUE_NAMES, **changes}

    return predictions


def names_as_list():
    return list(TRUE_NAMES.values())


def names_without_one():
    return {key: name for key, name in TRUE_NAMES.items() if key != "M @ N"}


def names_without_digit():
    return {key: name and name[:-1] for key, name in TRUE_NAMES.items()}


def names_of_forward():
    return {key: name and name.removesuffix("Backward0") for key, name in TRUE_NAMES.items()}


def names_in_capitals_of_functions():
    return {
        key: name and name.removesuffix("Backward0").lower() for key, name in TRUE_NAMES.items()
    }


def names_asked_of_torch():
    a, b = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    scope = {"torch": torch, "a": a, "b": b}
    scope["M"], scope["N"] = torch.rand(2, 3, requires_grad=True), torch.rand(3, 4)
    found = {}
    for expression in TRUE_NAMES:
        node = eval(expression, scope).grad_fn
        found[expression] = node.name() if node else None
    return found


def names_with_none_as_text():
    print("thinking")
    return {key: str(name) for key, name in TRUE_NAMES.items()}


WRONG = {
    "name_the_node": {
        "not_a_dict": names_as_list,
        "missing_key": names_without_one,
        "no_number": names_without_digit,
        "forward_name": names_of_forward,
        "leaf_has_a_node": names_with({"a": "AccumulateGrad"}),
        "detached_has_a_node": names_with({"a.detach() * 3": "MulBackward0"}),
        "detached_cuts_all": names_with({"a.detach() * b": None}),
        "first_operation": [
            names_with({"(a * b).sum()": "MulBackward0"}),
            names_with({"(2 * a + b).mean()": "AddBackward0"}),
        ],
        "no_node_for_at": names_with({"M @ N": "MatmulBackward0"}),
        "wrong_name": [
            names_with({"a ** 2": "MulBackward0"}),
            names_with({"a - 1": "AddBackward0"}),
        ],
    },
}

RIGHT = {
    "name_the_node": [names_asked_of_torch, names_with_none_as_text],
}
