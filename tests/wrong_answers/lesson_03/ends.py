"""Answers about where a backward starts and ends, and about broadcasting."""

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


# Only these inputs.


def _only_named(leaves, names):
    return [leaves[name] for name in names]


def _only_by_grad(loss, leaves, names):
    wanted = _only_named(leaves, names)
    for leaf, gradient in zip(wanted, torch.autograd.grad(loss, wanted), strict=True):
        leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


def _only_by_function(loss, leaves, names):
    torch.autograd.backward(loss, inputs=tuple(_only_named(leaves, names)))


def _only_all(loss, leaves, names):
    loss.backward()


def _only_then_cleared(loss, leaves, names):
    loss.backward()
    for name in leaves.keys() - set(names):
        leaves[name].grad = None


def _only_zeroed_first(loss, leaves, names):
    for leaf in leaves.values():
        leaf.grad = None
    loss.backward(inputs=_only_named(leaves, names))


def _only_cleared_named(loss, leaves, names):
    wanted = _only_named(leaves, names)
    for leaf in wanted:
        leaf.grad = None
    loss.backward(inputs=wanted)


def _only_assigned(loss, leaves, names):
    wanted = _only_named(leaves, names)
    for leaf, gradient in zip(wanted, torch.autograd.grad(loss, wanted), strict=True):
        leaf.grad = gradient


def _only_mixed_up(loss, leaves, names):
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    for name, gradient in zip(names, gradients, strict=False):
        leaves[name].grad = gradient


def _only_first_name(loss, leaves, names):
    loss.backward(inputs=[leaves[names[0]]])


def _only_returned(loss, leaves, names):
    return torch.autograd.grad(loss, _only_named(leaves, names))


def _only_restored(loss, leaves, names):
    old = {name: leaf.grad for name, leaf in leaves.items() if name not in names}
    for name in old:
        leaves[name].grad = None
    loss.backward()
    for name, grad in old.items():
        leaves[name].grad = grad


def _only_unfrozen_again(loss, leaves, names):
    rest = [leaves[name] for name in leaves if name not in names]
    for leaf in rest:
        leaf.requires_grad_(False)
    loss.backward()
    for leaf in rest:
        leaf.requires_grad_(True)


def _only_frozen(loss, leaves, names):
    for name in leaves:
        leaves[name].requires_grad_(name in names)
    loss.backward()


def _only_one_by_one(loss, leaves, names):
    for name in names:
        loss.backward(inputs=[leaves[name]], retain_graph=True)


def _only_loop_freed(loss, leaves, names):
    for name in names:
        loss.backward(inputs=[leaves[name]])


def _only_twice(loss, leaves, names):
    wanted = _only_named(leaves, names)
    loss.backward(inputs=wanted, retain_graph=True)
    loss.backward(inputs=wanted)


# Unused inputs.


def _use_walked(loss, leaves):
    reached, todo = set(), [loss.grad_fn]
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            reached.add(id(node.variable))
        todo += [parent for parent, _ in node.next_functions if parent is not None]
    used = torch.tensor([id(leaf) in reached for leaf in leaves])
    return torch.autograd.grad(loss, leaves, materialize_grads=True), used


def _use_by_loop(loss, leaves):
    gradients, used = [], []
    for leaf, g in zip(leaves, torch.autograd.grad(loss, leaves, allow_unused=True), strict=True):
        used.append(g is not None)
        gradients.append(leaf.detach() * 0 if g is None else g)
    return [gradients, used]


def _found(loss, leaves):
    return torch.autograd.grad(loss, leaves, allow_unused=True)


def _filled(loss, leaves):
    return torch.autograd.grad(loss, leaves, materialize_grads=True)


def _use_default(loss, leaves):
    gradients = torch.autograd.grad(loss, leaves)
    return gradients, [g is not None for g in gradients]


def _use_none_left(loss, leaves):
    return _found(loss, leaves), [g is not None for g in _found(loss, leaves)]


def _use_none_in_list(loss, leaves):
    gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
    return list(gradients), [g is not None for g in gradients]


def _use_dropped(loss, leaves):
    gradients = _found(loss, leaves)
    return [g for g in gradients if g is not None], [g is not None for g in gradients]


def _use_number(loss, leaves):
    gradients = _found(loss, leaves)
    return [0.0 if g is None else g for g in gradients], [g is not None for g in gradients]


def _use_scalar_zero(loss, leaves):
    gradients = _found(loss, leaves)
    zero = torch.tensor(0.0)
    return [zero if g is None else g for g in gradients], [g is not None for g in gradients]


def _use_any(loss, leaves):
    gradients = _filled(loss, leaves)
    return gradients, [bool(g.any()) for g in gradients]


def _use_after_filling(loss, leaves):
    gradients = _filled(loss, leaves)
    return gradients, [g is not None for g in gradients]


def _use_inverted(loss, leaves):
    gradients, used = _use_by_loop(loss, leaves)
    return gradients, [not flag for flag in used]


def _use_filled_grads(loss, leaves):
    loss.backward()
    used = [leaf.grad is not None for leaf in leaves]
    return [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves], used


def _use_twice(loss, leaves):
    used = [
        g is not None
        for g in torch.autograd.grad(loss, leaves, allow_unused=True, retain_graph=True)
    ]
    return _filled(loss, leaves), used


def _use_gradients_only(loss, leaves):
    return _filled(loss, leaves)[:1]


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
        "gradient_shape": _roots_swapped,
        "tuple_not_unpacked": _roots_tuple,
        "kept_apart": _roots_apart,
        "backward_returns_none": _roots_returned,
    },
    "only_these": {
        "filled_others": _only_all,
        "wiped_others": [_only_then_cleared, _only_zeroed_first],
        "overwritten": [_only_assigned, _only_cleared_named],
        "not_filled": _only_returned,
        "some_left_out": _only_first_name,
        "grad_of_wrong_shape": _only_mixed_up,
        "computed_all": [_only_restored, _only_unfrozen_again],
        "left_frozen": _only_frozen,
        "one_run_per_leaf": _only_one_by_one,
        "graph_freed": _only_loop_freed,
        "accumulated_twice": _only_twice,
    },
    "unused_inputs": {
        "unused_input": _use_default,
        "none_left": _use_none_in_list,
        "dropped_unused": _use_dropped,
        "zero_without_shape": [_use_number, _use_scalar_zero],
        "zero_means_unused": _use_any,
        "all_called_used": _use_after_filling,
        "flags_inverted": _use_inverted,
        "filled_grads": _use_filled_grads,
        "several_runs": _use_twice,
        "graph_freed": _use_none_left,
        "not_a_pair": _use_gradients_only,
    },
}

RIGHT = {
    "undo_broadcast": [_reduce_in_one, _reduce_by_autograd, _reduce_by_loop],
    "two_roots": [_roots_by_grad, _roots_added, _roots_other_order, _roots_unrecorded],
    "only_these": [_only_by_grad, _only_by_function],
    "unused_inputs": [_use_walked, _use_by_loop],
}
