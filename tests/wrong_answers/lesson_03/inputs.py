"""Answers about the leaves where a backward ends."""

from __future__ import annotations

import torch

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


def _only_restored_object(loss, leaves, names):
    old = {name: leaf.grad for name, leaf in leaves.items() if name not in names}
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


def _use_flags_of_leaves(loss, leaves):
    return _filled(loss, leaves), [leaf.requires_grad for leaf in leaves]


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
    "only_these": {
        "filled_others": [_only_all, _only_restored_object],
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
        "all_called_used": [_use_after_filling, _use_flags_of_leaves],
        "flags_inverted": _use_inverted,
        "filled_grads": _use_filled_grads,
        "several_runs": _use_twice,
        "graph_freed": _use_none_left,
        "not_a_pair": _use_gradients_only,
        "swapped": lambda loss, leaves: _use_by_loop(loss, leaves)[::-1],
    },
}

RIGHT = {
    "only_these": [_only_by_grad, _only_by_function],
    "unused_inputs": [_use_walked, _use_by_loop],
}
