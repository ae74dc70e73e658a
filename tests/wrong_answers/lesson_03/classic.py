"""Answers about the loop that doubles, and about the factor that makes a mean of a sum."""

from __future__ import annotations

import math

import torch

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


def _classic_logarithm_alone(x, v):
    k = math.ceil(math.log2(1000 / float(x.norm())))
    return v * 2.0**k, k


def _classic_doubled_too_late(x, v):
    k = _count(x) + 3
    return v * 2.0**k, k


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
            _classic_logarithm_alone,
            _classic_doubled_too_late,
        ],
        "swapped": [
            lambda x, v: (_count(x), 2 ** _count(x) * v),
            lambda x, v: [torch.tensor(_count(x)), [2 ** _count(x) * w for w in v.tolist()]],
        ],
        "not_a_tensor": lambda x, v: ([2 ** _count(x) * w for w in v.tolist()], _count(x)),
        "added_factors": lambda x, v: (2 * _count(x) * v, _count(x)),
        "v_alone": lambda x, v: (v, _count(x)),
        "one_number": lambda x, v: ((2 ** _count(x) * v).sum(), _count(x)),
        "asked_autograd": _classic_run,
        "backward_on_nonscalar": _classic_no_argument,
        "not_a_pair": lambda x, v: 2 ** _count(x) * v.sum(),
    },
    "mean_from_sum": {
        "sum_for_mean": _mean_plain,
        "number_for_v": _mean_number,
        "gradient_shape": _mean_full_shape,
        "rows_only": [_mean_rows, _mean_columns],
        "weights_counted": lambda total, predictions, w: total.backward(
            torch.tensor(1 / w.numel())
        ),
        "multiplied": _mean_multiplied,
        "scaled_the_old": _mean_scaled_after,
        "overwritten": [_mean_assigned, _mean_cleared],
        "not_filled": _mean_dropped,
        "cleared_first": _mean_cleared_after,
        "zero_weight": lambda total, predictions, w: total.backward(
            torch.tensor(1 // predictions.numel())
        ),
        "touched_the_loss": _mean_new_loss,
    },
}

RIGHT = {
    "doubled": [_classic_by_logarithm, _classic_as_list, _classic_by_difference],
    "mean_from_sum": [_mean_single_precision, _mean_listed, _mean_by_grad],
}
