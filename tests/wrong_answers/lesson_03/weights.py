"""Answers about the argument of backward as a weight for each output."""

from __future__ import annotations

import math

import torch

# Row i of J.


def _weights(y, i, weight=1.0):
    v = torch.zeros_like(y)
    v[i] = weight
    return v


def _row_by_grad(x, y, i):
    return torch.autograd.grad(y, x, grad_outputs=torch.eye(len(y), dtype=y.dtype)[i])[0]


def _row_by_named_argument(x, y, i):
    v = [0.0] * len(y)
    v[i] = 1.0
    y.backward(gradient=torch.tensor(v))  # single precision: torch casts it
    return x.grad.clone()


def _row_by_sum(x, y, i):
    (y * torch.nn.functional.one_hot(torch.tensor(i), len(y))).sum().backward()
    return x.grad


def _row_ones(x, y, i):
    y.backward(torch.ones_like(y))
    return x.grad


def _row_sum(x, y, i):
    y.sum().backward()
    return x.grad


def _row_index_as_weight(x, y, i):
    y.backward(_weights(y, i, i))
    return x.grad


def _row_from_one(x, y, i):
    y.backward(_weights(y, i - 1))
    return x.grad


def _row_no_argument(x, y, i):
    y.backward()
    return x.grad[i]


def _row_number(x, y, i):
    y.backward(1.0)
    return x.grad


def _row_scalar(x, y, i):
    y.backward(torch.tensor(1.0))
    return x.grad


def _row_of_input_shape(x, y, i):
    v = torch.zeros_like(x)
    v[0] = 1
    y.backward(v)
    return x.grad


def _row_returned_by_backward(x, y, i):
    return y.backward(_weights(y, i))


def _row_forgot_return(x, y, i):
    torch.autograd.grad(y, x, _weights(y, i))


def _row_tuple(x, y, i):
    return torch.autograd.grad(y, x, _weights(y, i))


def _row_indexed(x, y, i):
    y[i].backward()
    return x.grad


def _jacobian(x, y):
    eye = torch.eye(len(y), dtype=y.dtype)
    return torch.stack([torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in eye])


def _row_of_all(x, y, i):
    return _jacobian(x, y)[i]


def _row_column(x, y, i):
    return _jacobian(x, y)[:, 0]


def _row_loop(x, y, i):
    for j in range(i + 1):
        y.backward(_weights(y, j), retain_graph=True)
    return x.grad


def _row_loop_freed(x, y, i):
    rows = []
    for j in range(len(y)):
        y.backward(_weights(y, j))
        rows.append(x.grad.clone())
        x.grad = None
    return rows[i]


# The classic.


def _count(x):
    y, k = x * 2, 1
    while y.norm() < 1000:
        y, k = y * 2, k + 1
    return k


def _classic_by_logarithm(x, v):
    k = max(1, math.ceil(math.log2(1000 / float(x.norm()))))
    return v * 2.0**k, k


def _classic_as_list(x, v):
    y, k = x + x, 1
    while torch.linalg.norm(y) < 1000:
        y, k = y + y, k + 1
    return [torch.tensor([2**k * float(entry) for entry in v]), torch.tensor(k)]


def _classic_by_difference(x, v):
    k = _count(x)
    return 2**k * (x + v) - 2**k * x, float(k)


def _classic_missed_first(x, v):
    y, k = x * 2, 0
    while y.norm() < 1000:
        y, k = y * 2, k + 1
    return 2**k * v, k


def _classic_missed_first_in_count(x, v):
    return 2 ** _count(x) * v, _count(x) - 1


def _classic_only_in_loop(x, v):
    y, k = x, 0
    while y.norm() < 1000:
        y, k = y * 2, k + 1
    return 2**k * v, k


def _classic_run(x, v):
    x = x.clone().requires_grad_()
    y, k = x * 2, 1
    while y.norm() < 1000:
        y, k = y * 2, k + 1
    y.backward(v)
    return x.grad, k


def _classic_no_argument(x, v):
    x = x.clone().requires_grad_()
    y = x * 2
    while y.norm() < 1000:
        y = y * 2
    y.backward()
    return x.grad, 0


# Two ways.


def _both(first, second):
    return lambda x, y, v: (first(x, y, v), second(x, y, v))


def _by_v(x, y, v):
    return torch.autograd.grad(y, x, v, retain_graph=True)[0]


def _by_number(number):
    return lambda x, y, v: torch.autograd.grad(number(y, v), x, retain_graph=True)[0]


def _ways_cloned(x, y, v):
    (v @ y).backward(retain_graph=True)
    summed = x.grad.clone()
    x.grad.zero_()
    y.backward(v)
    return [x.grad, summed]


def _ways_aliased(x, y, v):
    y.backward(v, retain_graph=True)
    first = x.grad
    (y * v).sum().backward()
    return first, x.grad


def _ways_accumulated(x, y, v):
    y.backward(v, retain_graph=True)
    first = x.grad.clone()
    (y * v).sum().backward()
    return first, x.grad


def _ways_freed(x, y, v):
    y.backward(v)
    first, x.grad = x.grad, None
    (y * v).sum().backward()
    return first, x.grad


def _ways_zero_number(x, y, v):
    y.backward(v, retain_graph=True)
    first, x.grad = x.grad, 0
    (y * v).sum().backward()
    return first, x.grad


def _ways_no_sum(x, y, v):
    y.backward(v, retain_graph=True)
    first, x.grad = x.grad, None
    (y * v).backward()
    return first, x.grad


def _ways_one_run(x, y, v):
    y.backward(v)
    return x.grad, x.grad.clone()


def _ways_returned_by_backward(x, y, v):
    return y.backward(v, retain_graph=True), (y * v).sum().backward()


# The mean from the sum.


def _mean_single_precision(total, predictions, w):
    total.backward(torch.tensor(1 / predictions.numel()))


def _mean_listed(total, predictions, w):
    n, d = predictions.shape
    torch.autograd.backward([total], [torch.ones_like(total) / n / d])


def _mean_by_grad(total, predictions, w):
    share = torch.ones_like(total) / predictions.numel()
    w.grad += torch.autograd.grad(total, w, grad_outputs=share)[0]


def _mean_plain(total, predictions, w):
    total.backward()


def _mean_number(total, predictions, w):
    total.backward(1 / predictions.numel())


def _mean_full_shape(total, predictions, w):
    total.backward(torch.full_like(predictions, 1 / predictions.numel()))


def _mean_rows(total, predictions, w):
    total.backward(torch.tensor(1 / len(predictions)))


def _mean_columns(total, predictions, w):
    total.backward(torch.tensor(1 / predictions.shape[1]))


def _mean_multiplied(total, predictions, w):
    total.backward(torch.tensor(float(predictions.numel())))


def _mean_scaled_after(total, predictions, w):
    total.backward()
    w.grad /= predictions.numel()


def _mean_assigned(total, predictions, w):
    share = torch.ones_like(total) / predictions.numel()
    w.grad = torch.autograd.grad(total, w, share)[0]


def _mean_cleared(total, predictions, w):
    w.grad = None
    total.backward(torch.tensor(1 / predictions.numel()))


def _mean_dropped(total, predictions, w):
    return torch.autograd.grad(total, w, torch.tensor(1 / predictions.numel()))[0]


def _mean_cleared_after(total, predictions, w):
    _mean_single_precision(total, predictions, w)
    w.grad = None


def _mean_new_loss(total, predictions, w):
    (total / predictions.numel()).backward()


WRONG = {
    "row_of_j": {
        "ones_instead_of_v": [_row_ones, _row_sum],
        "index_as_weight": _row_index_as_weight,
        "counted_from_one": _row_from_one,
        "backward_on_nonscalar": _row_no_argument,
        "number_for_v": _row_number,
        "gradient_shape": [_row_scalar, _row_of_input_shape],
        "backward_returns_none": _row_returned_by_backward,
        "none": _row_forgot_return,
        "tuple_not_unpacked": _row_tuple,
        "indexed_first": _row_indexed,
        "whole_jacobian": [_row_of_all, lambda x, y, i: _jacobian(x, y)],
        "column_for_row": _row_column,
        "rows_added_up": _row_loop,
        "graph_freed": _row_loop_freed,
    },
    "doubled": {
        "ones_instead_of_v": lambda x, v: (2.0 ** _count(x) * torch.ones_like(v), _count(x)),
        "value_weighted": lambda x, v: (x * 2 ** _count(x) * v, _count(x)),
        "v_as_step": lambda x, v: ((x + v) * 2 ** _count(x), _count(x)),
        "value_for_gradient": lambda x, v: (x * 2 ** _count(x), _count(x)),
        "v_made_unit": lambda x, v: (2 ** _count(x) * v / v.norm(), _count(x)),
        "miscounted": [
            _classic_missed_first,
            _classic_missed_first_in_count,
            _classic_only_in_loop,
        ],
        "added_factors": lambda x, v: (2 * _count(x) * v, _count(x)),
        "v_alone": lambda x, v: (v, _count(x)),
        "one_number": lambda x, v: ((2 ** _count(x) * v).sum(), _count(x)),
        "asked_autograd": _classic_run,
        "backward_on_nonscalar": _classic_no_argument,
        "not_a_pair": lambda x, v: 2 ** _count(x) * v.sum(),
    },
    "weighted_sum": {
        "aliased": _ways_aliased,
        "accumulated_twice": _ways_accumulated,
        "graph_freed": _ways_freed,
        "backward_on_nonscalar": _ways_no_sum,
        "mean_for_sum": _both(_by_v, _by_number(lambda y, v: (y * v).mean())),
        "ones_instead_of_v": _both(_by_v, _by_number(lambda y, v: y.sum())),
        "summed_apart": _both(_by_v, _by_number(lambda y, v: y.sum() * v.sum())),
        "squared_weights": _both(
            _by_v, lambda x, y, v: torch.autograd.grad(y * v, x, v, retain_graph=True)[0]
        ),
        "one_way_only": _ways_one_run,
        "same_way_twice": [
            _both(_by_v, _by_v),
            _both(_by_number(torch.dot), _by_number(lambda y, v: (y * v).sum())),
        ],
        "number_for_grad": _ways_zero_number,
        "none": _ways_returned_by_backward,
    },
    "mean_from_sum": {
        "sum_for_mean": _mean_plain,
        "number_for_v": _mean_number,
        "gradient_shape": _mean_full_shape,
        "rows_only": [_mean_rows, _mean_columns],
        "multiplied": _mean_multiplied,
        "scaled_the_old": _mean_scaled_after,
        "overwritten": [_mean_assigned, _mean_cleared],
        "not_filled": _mean_dropped,
        "cleared_first": _mean_cleared_after,
        "touched_the_loss": _mean_new_loss,
    },
}

RIGHT = {
    "row_of_j": [_row_by_grad, _row_by_named_argument, _row_by_sum],
    "doubled": [_classic_by_logarithm, _classic_as_list, _classic_by_difference],
    "weighted_sum": [
        _ways_cloned,
        _both(_by_v, _by_number(torch.dot)),
        _both(_by_number(lambda y, v: (v * y).mean() * len(v)), _by_v),
    ],
    "mean_from_sum": [_mean_single_precision, _mean_listed, _mean_by_grad],
}
