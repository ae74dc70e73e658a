"""Answers about the argument of backward as a weight for each output."""

from __future__ import annotations

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


def _ways_zeroed_in_place(x, y, v):
    y.backward(v, retain_graph=True)
    first = x.grad
    x.grad.zero_()
    (v * y).sum().backward()
    return first, x.grad


def _ways_first_lost(x, y, v):
    y.backward(0 * v, retain_graph=True)
    first = x.grad.detach()  # a new tensor, but no new memory
    (v * y).sum().backward()
    return [first, x.grad]


def _ways_stacked(x, y, v):
    y.backward(v, retain_graph=True)
    first, x.grad = x.grad, None
    (v * y).sum().backward()
    return tuple(torch.stack([first, x.grad]))  # rows of one memory, but not the same entries


def _ways_accumulated(x, y, v):
    y.backward(v, retain_graph=True)
    first = x.grad.clone()
    (y * v).sum().backward()
    return first, x.grad


def _ways_copied_too_late(x, y, v):
    y.backward(v, retain_graph=True)
    first = x.grad
    (y * v).sum().backward()
    return first.clone(), x.grad


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
    "weighted_sum": {
        "aliased": [_ways_aliased, _ways_zeroed_in_place, _ways_first_lost],
        "accumulated_twice": [_ways_accumulated, _ways_copied_too_late],
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
        "backward_returns_none": _ways_returned_by_backward,
        "tuple_not_unpacked": lambda x, y, v: (
            torch.autograd.grad(y, x, v, retain_graph=True),
            torch.autograd.grad((y * v).sum(), x),
        ),
        "v_made_unit": lambda x, y, v: (_by_v(x, y, v / v.norm()), _by_v(x, y, v)),
    },
}

RIGHT = {
    "row_of_j": [_row_by_grad, _row_by_named_argument, _row_by_sum],
    "weighted_sum": [
        _ways_cloned,
        _ways_stacked,
        _both(_by_v, _by_number(torch.dot)),
        _both(_by_number(lambda y, v: (v * y).mean() * len(v)), _by_v),
    ],
}
