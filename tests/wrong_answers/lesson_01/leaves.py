"""Answers about leaves."""

from __future__ import annotations

import warnings

import numpy as np
import torch

from utils.checks.lesson_01.predict import TWELVE


def _really() -> dict[str, tuple[bool, bool]]:
    scope = {"torch": torch}
    exec(TWELVE, scope)
    return {n: (scope[n].requires_grad, scope[n].is_leaf) for n in "abcdefghijkm"}


def _believing(**beliefs):
    """Right predictions but for some, given as letter=(requires_grad, is_leaf)."""

    def predictions():
        return {**_really(), **beliefs}

    return predictions


def _names_made_by_an_operation(tensors):
    return [name for name, t in tensors.items() if t.grad_fn is not None]


def _names_that_have_a_gradient_now(tensors):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [name for name, t in tensors.items() if t.grad is not None]


def _leaves_with_a_warning(tensors):
    warnings.warn("thinking", stacklevel=1)
    print("looking at", list(tensors))
    found = []
    for name in tensors:
        if tensors[name].grad_fn is None and tensors[name].requires_grad is True:
            found.append(name)
    return tuple(found)


def _ints_as_they_are(counts, rows, array):
    return [torch.tensor(item, requires_grad=True) for item in (counts, rows, array)]


def _ints_unwatched(counts, rows, array):
    return torch.tensor(counts), torch.tensor(rows), torch.tensor(array)


def _cast_last(counts, rows, array):
    return [
        torch.tensor(counts, dtype=torch.float64, requires_grad=True).float(),
        torch.tensor(rows, requires_grad=True),
        torch.tensor(array, requires_grad=True),
    ]


def _moved_last(counts, rows, array):
    leaves = [torch.tensor(item, dtype=torch.float64) for item in (counts, rows, array)]
    return [leaf.requires_grad_() * 1 for leaf in leaves]


def _nobody_asked(counts, rows, array):
    return [torch.tensor(item, dtype=torch.float32) for item in (counts, rows, array)]


def _missing_s(counts, rows, array):
    leaves = [torch.tensor(item, dtype=torch.float32) for item in (counts, rows, array)]
    for leaf in leaves:
        leaf.require_grad = True
    return leaves


def _arrays(counts, rows, array):
    return [np.asarray(counts, dtype=float), np.asarray(rows), array]


def _arrays_in_a_dict(counts, rows, array):
    return {"counts": counts, "rows": rows, "array": array}


def _flat(counts, rows, array):
    flat = [counts, [number for row in rows for number in row], array]
    return [torch.tensor(item, dtype=torch.float64, requires_grad=True) for item in flat]


def _doubles(counts, rows, array):
    return tuple(torch.tensor(item).double().requires_grad_() for item in (counts, rows, array))


def _parameters(counts, rows, array):
    def leaf(item):
        return torch.nn.Parameter(torch.as_tensor(item, dtype=torch.float32))

    return [leaf(counts), leaf(rows), leaf(array)]


def _shared(counts, rows, array):
    shared = torch.from_numpy(array)
    shared.requires_grad = True
    return [torch.FloatTensor(counts).requires_grad_(), torch.Tensor(rows).requires_grad_(), shared]


WRONG = {
    "predict_leaves": {
        "leaf_means_made_by_hand": [
            _believing(d=(False, False), f=(False, False), k=(False, False), m=(False, False)),
            _believing(f=(False, False)),
            _believing(d=(False, False), m=(False, False)),
        ],
        "watched_means_leaf": _believing(c=(True, True), e=(True, True), i=(True, True)),
        "cast_keeps_the_leaf": _believing(i=(True, True)),
        "cast_before_spoils_the_leaf": _believing(j=(True, False)),
        "watched_by_default": [
            _believing(a=(True, True), d=(True, True)),
            _believing(a=(True, True), d=(True, True), g=(True, True), i=(True, True)),
        ],
        "all_operands_must_be_watched": _believing(e=(False, True)),
        "results_are_not_watched": _believing(c=(False, True), e=(False, True), i=(False, True)),
        "detach_keeps_watching": _believing(f=(True, True)),
        "like_copies_the_flag": _believing(g=(True, True)),
        "parameters_are_not_watched": _believing(h=(False, True)),
        "comparison_keeps_the_graph": _believing(k=(True, True)),
        "no_grad_is_overlooked": _believing(m=(True, True)),
        "swapped": lambda: {name: pair[::-1] for name, pair in _really().items()},
        "missing_names": lambda: {n: pair for n, pair in _really().items() if n not in "km"},
        "not_pairs": [
            lambda: {name: pair[0] for name, pair in _really().items()},
            lambda: list(_really().values()),
        ],
        "wrong_prediction": _believing(b=(True, False)),
    },
    "receivers": {
        "inner_too": lambda tensors: [n for n, t in tensors.items() if t.requires_grad],
        "untracked_too": [
            lambda tensors: [n for n, t in tensors.items() if t.is_leaf],
            lambda tensors: [n for n, t in tensors.items() if t.grad_fn is None],
        ],
        "inner_only": _names_made_by_an_operation,
        "untracked_only": lambda tensors: [n for n, t in tensors.items() if not t.requires_grad],
        "asked_grad_too_early": _names_that_have_a_gradient_now,
        "all_tensors": lambda tensors: list(tensors),
        "not_names": [
            lambda tensors: [t for t in tensors.values() if t.is_leaf and t.requires_grad],
            lambda tensors: {n: t.is_leaf and t.requires_grad for n, t in tensors.items()},
        ],
    },
    "make_leaves": {
        "integer_dtype": [_ints_as_they_are, _ints_unwatched],
        "not_a_leaf": [_cast_last, _moved_last],
        "not_tracked": _nobody_asked,
        "typo": _missing_s,
        "not_a_tensor": _arrays,
        "wrong_shape": _flat,
        "not_three": [
            lambda counts, rows, array: torch.tensor(counts, dtype=torch.float32),
            _arrays_in_a_dict,
        ],
    },
}

RIGHT = {
    "predict_leaves": [
        _really,
        lambda: {name: list(pair) for name, pair in reversed(_really().items())},
    ],
    "receivers": [
        _leaves_with_a_warning,
        lambda tensors: {n for n in tensors if tensors[n].requires_grad and tensors[n].is_leaf},
        lambda tensors: list(
            filter(lambda n: tensors[n].requires_grad > (tensors[n].grad_fn is not None), tensors)
        ),
    ],
    "make_leaves": [_doubles, _parameters, _shared],
}
