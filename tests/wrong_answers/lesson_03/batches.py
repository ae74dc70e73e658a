"""Answers about many vectors in one call."""

from __future__ import annotations

import torch
from torch.autograd import grad

# Many v.


def _many_vmapped(x, y, vs):
    return torch.func.vmap(lambda v: grad(y, x, v, retain_graph=True)[0])(vs)


def _many_listed(x, y, vs):
    return grad([y], [x], [vs], is_grads_batched=True, retain_graph=True)[0].clone()


def _many_loop(x, y, vs):
    return torch.stack([grad(y, x, v, retain_graph=True)[0] for v in vs])


def _many_loop_as_list(x, y, vs):
    return [grad(y, x, v, retain_graph=True)[0] for v in vs]


def _many_loop_freed(x, y, vs):
    return torch.stack([grad(y, x, v)[0] for v in vs])


def _many_not_batched(x, y, vs):
    return grad(y, x, vs)[0]


def _many_wrong_way_round(x, y, vs):
    return grad(y, x, vs.T, is_grads_batched=True)[0]


def _many_one_v(x, y, vs):
    return grad(y, x, vs[0], is_grads_batched=True)[0]


def _many_summed(x, y, vs):
    return grad(y, x, vs.sum(0))[0]


def _many_accumulated(x, y, vs):
    rows = []
    for v in vs:
        y.backward(v, retain_graph=True)
        rows.append(x.grad.clone())
    return torch.stack(rows)


def _many_aliased(x, y, vs):
    rows = []
    for v in vs:
        y.backward(v, retain_graph=True)
        rows.append(x.grad)
    return torch.stack(rows)


def _many_first(x, y, vs):
    y.backward(vs[0])
    return x.grad


def _many_jacobian(x, y, vs):
    eye = torch.eye(len(y), dtype=y.dtype)
    return grad(y, x, eye, is_grads_batched=True)[0]


def _many_through_jacobian(x, y, vs):
    return vs @ _many_jacobian(x, y, vs)


def _many_through_jacobian_by_rows(x, y, vs):
    rows = [grad(entry, x, retain_graph=True)[0] for entry in y]
    return vs @ torch.stack(rows)


def _many_tuple(x, y, vs):
    return grad(y, x, vs, is_grads_batched=True)


def _many_returned(x, y, vs):
    return y.backward(vs.sum(0))


# Norms of the samples' gradients.


def _batched(losses, parameters):
    eye = torch.eye(len(losses), dtype=losses.dtype)
    return grad(losses, parameters, eye, is_grads_batched=True)


def _norms_of_long_vectors(losses, parameters):
    grads = _batched(losses, parameters)
    return torch.cat([g.reshape(len(losses), -1) for g in grads], 1).norm(dim=1)


def _norms_vmapped(losses, parameters):
    def norm(v):
        grads = grad(losses, parameters, v, retain_graph=True)
        return torch.stack([g.norm() for g in grads]).norm()

    return torch.func.vmap(norm)(torch.eye(len(losses), dtype=losses.dtype))


def _norms_joined_unflattened(losses, parameters):
    return torch.cat(_batched(losses, parameters), 1).norm(dim=1)


def _norms_stacked_unflattened(losses, parameters):
    return torch.stack(_batched(losses, parameters), 1).norm(dim=1)


def _norms_in_a_list(losses, parameters):
    grads = _batched(losses, parameters)
    return [sum((g[i] ** 2).sum() for g in grads) ** 0.5 for i in range(len(losses))]


def _norm_of(grads):
    return torch.stack([g.norm() for g in grads]).norm()


def _norms_loop(losses, parameters):
    return torch.stack([_norm_of(grad(x, parameters, retain_graph=True)) for x in losses])


def _norms_loop_freed(losses, parameters):
    return torch.stack([_norm_of(grad(x, parameters)) for x in losses])


def _norms_accumulated(losses, parameters):
    norms = []
    for loss in losses:
        loss.backward(retain_graph=True)
        norms.append(_norm_of([p.grad for p in parameters]))
    return torch.stack(norms)


def _norms_of_batch(losses, parameters):
    losses.sum().backward()
    return _norm_of([p.grad for p in parameters]).expand(len(losses))


def _norms_of_mean(losses, parameters):
    return _norm_of(grad(losses.mean(), parameters))


def _norms_of_rows(losses, parameters):
    losses.backward(torch.ones_like(losses))
    return _norm_of([p.grad for p in parameters])


def _norms_of_list(losses, parameters):
    return torch.stack([g.norm() for g in grad(list(losses), parameters)])


def _norms_no_argument(losses, parameters):
    losses.backward()
    return _norm_of([p.grad for p in parameters])


def _norms_eye_not_batched(losses, parameters):
    return grad(losses, parameters, torch.eye(len(losses), dtype=losses.dtype))[0]


def _norms_all_in_one(losses, parameters):
    return _norm_of(_batched(losses, parameters))


def _norms_without_dim(losses, parameters):
    return sum(g.norm() for g in _batched(losses, parameters))


def _norms_added(losses, parameters):
    return sum(g.flatten(1).norm(dim=1) for g in _batched(losses, parameters))


def _norms_squared(losses, parameters):
    return sum(g.flatten(1).square().sum(1) for g in _batched(losses, parameters))


def _norms_apart(losses, parameters):
    return torch.stack([g.flatten(1).norm(dim=1) for g in _batched(losses, parameters)])


def _norms_first_only(losses, parameters):
    return _batched(losses, parameters)[0].flatten(1).norm(dim=1)


def _norms_weights_only(losses, parameters):
    return _norms_of_long_vectors(losses, [p for p in parameters if p.ndim > 1])


def _norms_absolute(losses, parameters):
    return sum(g.flatten(1).abs().sum(1) for g in _batched(losses, parameters))


def _norms_shares_of_mean(losses, parameters):
    return _norms_of_long_vectors(losses / len(losses), parameters)


def _norms_filled(losses, parameters):
    gradients = _batched(losses, parameters)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.mean(0)  # as if this were all that is wanted
    return torch.cat([g.flatten(1) for g in gradients], 1).norm(dim=1)


WRONG = {
    "pull_back_many": {
        "one_by_one": [_many_loop, _many_loop_as_list, _many_through_jacobian_by_rows],
        "graph_freed": _many_loop_freed,
        "gradient_shape": [_many_not_batched, _many_wrong_way_round, _many_one_v],
        "summed": [_many_summed, _many_aliased],
        "accumulated": _many_accumulated,
        "one_only": _many_first,
        "whole_jacobian": _many_jacobian,
        "built_jacobian": _many_through_jacobian,
        "tuple_not_unpacked": _many_tuple,
        "backward_returns_none": _many_returned,
    },
    "sample_norms": {
        "one_by_one": _norms_loop,
        "graph_freed": _norms_loop_freed,
        "accumulated": _norms_accumulated,
        "batch_gradient": [_norms_of_batch, _norms_of_mean, _norms_of_rows, _norms_of_list],
        "backward_on_nonscalar": _norms_no_argument,
        "gradient_shape": _norms_eye_not_batched,
        "joined_unlike_shapes": [_norms_joined_unflattened, _norms_stacked_unflattened],
        "all_in_one": [_norms_all_in_one, _norms_without_dim],
        "added_norms": _norms_added,
        "not_rooted": _norms_squared,
        "kept_apart": _norms_apart,
        "left_out": [_norms_first_only, _norms_weights_only],
        "another_norm": _norms_absolute,
        "mean_for_sum": _norms_shares_of_mean,
        "filled_grads": _norms_filled,
    },
}

RIGHT = {
    "pull_back_many": [_many_vmapped, _many_listed],
    "sample_norms": [_norms_of_long_vectors, _norms_vmapped, _norms_in_a_list],
}
