"""Answers about several roots, and about inputs that were broadcast."""

from __future__ import annotations

import torch

# Undo a broadcast.


def _reduce_in_one(v, shape):
    return v.sum_to_size(shape)


def _reduce_by_autograd(v, shape):
    x = torch.zeros(shape, dtype=v.dtype, requires_grad=True)
    x.expand(v.shape).backward(v)
    return x.grad


def _reduce_by_loop(v, shape):
    while v.ndim > len(shape):
        v = v.sum(0)
    for d, size in enumerate(shape):
        if size == 1:
            v = v.sum(d, keepdim=True)
    return v


def _reduce_by_mean(v, shape):
    while v.ndim > len(shape):
        v = v.mean(0)
    for d, size in enumerate(shape):
        if size == 1:
            v = v.mean(d, keepdim=True)
    return v


def _reduce_to_first_copy(v, shape):
    while v.ndim > len(shape):
        v = v[0]
    for d, size in enumerate(shape):
        v = v.narrow(d, 0, size)
    return v


def _reduce_leading_only(v, shape):
    while v.ndim > len(shape):
        v = v.sum(0)
    return v


def _reduce_without_keepdim(v, shape):
    while v.ndim > len(shape):
        v = v.sum(0)
    return v.sum([d for d, size in enumerate(shape) if size == 1]) if 1 in shape else v


def _reduce_keeping_all(v, shape):
    padded = (1,) * (v.ndim - len(shape)) + tuple(shape)
    for d, size in enumerate(padded):
        if size == 1:
            v = v.sum(d, keepdim=True)
    return v


def _reduce_from_the_left(v, shape):
    while v.ndim > len(shape):
        v = v.sum(-1)
    return v


def _reduce_by_reshaping(v, shape):
    return v.reshape(shape)


def _reduce_in_one_sum(v, shape):
    new = v.ndim - len(shape)
    once = [new + d for d, size in enumerate(shape) if size == 1]
    return v.sum([*range(new), *once]).reshape(shape)


def _reduce_aligned_left(v, shape):
    for d, size in enumerate(shape):
        if size == 1 or v.shape[d] != size:
            v = v.sum(d)
    return v.sum(len(shape))


def _reduce_over_no_new_one(v, shape):
    v = v.sum(tuple(range(v.ndim - len(shape))))
    for d, size in enumerate(shape):
        if size == 1:
            v = v.sum(d, keepdim=True)
    return v


def _reduce_with_empty_list(v, shape):
    new = v.ndim - len(shape)
    v = v.sum(list(range(new))) if new else v
    return v.sum([d for d, size in enumerate(shape) if size == 1], keepdim=True) if shape else v


def _reduce_fronts_only_if_any(v, shape):
    once = [d for d, size in enumerate(shape) if size == 1]
    if once:
        v = v.sum([d - len(shape) for d in once], keepdim=True)
    return v.sum(list(range(v.ndim - len(shape))))


def _reduce_in_place(v, shape):
    want = v.sum_to_size(shape).clone()
    v.zero_()
    return want


# Two roots.


def _roots_by_grad(x, loss, y, v):
    return torch.autograd.grad([loss, y], x, [torch.ones_like(loss), v])[0]


def _roots_added(x, loss, y, v):
    (loss + (v * y).sum()).backward()
    return x.grad


def _roots_other_order(x, loss, y, v):
    torch.autograd.backward((y, loss), (v, None))
    return x.grad.clone()


def _roots_weighed_first(x, loss, y, v):
    torch.autograd.backward([loss, torch.dot(v, y)])
    return x.grad


def _roots_one_vector(x, loss, y, v):
    torch.autograd.backward([loss, y], [v])
    return x.grad


def _roots_loss_as_weight(x, loss, y, v):
    torch.autograd.backward([loss, y], [loss, v])
    return x.grad


def _roots_unrecorded(x, loss, y, v):
    with torch.no_grad():  # the graph is there already: it can be walked anywhere
        torch.autograd.backward([loss, y], grad_tensors=[None, v])
    return x.grad


def _roots_freed(x, loss, y, v):
    loss.backward()
    y.backward(v)
    return x.grad


def _roots_one_by_one(x, loss, y, v):
    loss.backward(retain_graph=True)
    y.backward(v)
    return x.grad


def _roots_cleared_between(x, loss, y, v):
    loss.backward(retain_graph=True)
    x.grad = None
    y.backward(v)
    return x.grad


def _roots_loss_only(x, loss, y, v):
    loss.backward()
    return x.grad


def _roots_without_v(x, loss, y, v):
    torch.autograd.backward([loss, y])
    return x.grad


def _roots_ones(x, loss, y, v):
    torch.autograd.backward([loss, y], [None, torch.ones_like(y)])
    return x.grad


def _roots_broadcast(x, loss, y, v):
    (loss + y).backward(v)
    return x.grad


def _roots_broadcast_in_sum(x, loss, y, v):
    (loss + v * y).sum().backward()
    return x.grad


def _roots_swapped(x, loss, y, v):
    torch.autograd.backward([loss, y], [v, None])
    return x.grad


def _roots_tuple(x, loss, y, v):
    return torch.autograd.grad([loss, y], x, [None, v])


def _roots_apart(x, loss, y, v):
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    (second,) = torch.autograd.grad(y, x, v)
    return [first, second]


def _roots_returned(x, loss, y, v):
    return torch.autograd.backward([loss, y], [None, v])


WRONG = {
    "undo_broadcast": {
        "unreduced_broadcast": lambda v, shape: v,
        "mean_for_sum": _reduce_by_mean,
        "one_copy_only": _reduce_to_first_copy,
        "leading_only": _reduce_leading_only,
        "lost_a_dimension": _reduce_without_keepdim,
        "kept_a_dimension": _reduce_keeping_all,
        "summed_everything": lambda v, shape: v.sum().expand(shape),
        "summed_the_others": _reduce_from_the_left,
        "summed_over_no_dimension": [_reduce_with_empty_list, _reduce_fronts_only_if_any],
        "reshaped_for_sum": [_reduce_by_reshaping, _reduce_in_one_sum],
        "no_such_dimension": [_reduce_aligned_left, _reduce_over_no_new_one],
        "changed_input": _reduce_in_place,
    },
    "two_roots": {
        "graph_freed": _roots_freed,
        "two_runs": _roots_one_by_one,
        "one_root_only": [_roots_cleared_between, _roots_loss_only],
        "backward_on_nonscalar": _roots_without_v,
        "ones_instead_of_v": _roots_ones,
        "weighed_the_loss": _roots_broadcast,
        "loss_many_times": _roots_broadcast_in_sum,
        "loss_as_weight": _roots_loss_as_weight,
        "built_a_sum": [_roots_added, _roots_weighed_first],
        "gradient_shape": [_roots_swapped, _roots_one_vector],
        "tuple_not_unpacked": _roots_tuple,
        "kept_apart": _roots_apart,
        "backward_returns_none": _roots_returned,
    },
}

RIGHT = {
    "undo_broadcast": [_reduce_in_one, _reduce_by_autograd, _reduce_by_loop],
    "two_roots": [_roots_by_grad, _roots_other_order, _roots_unrecorded],
}
