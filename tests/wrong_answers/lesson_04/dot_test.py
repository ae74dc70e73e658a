"""Tests of a hand-written VJP, right and wrong."""

from __future__ import annotations

import math

import torch
from torch.autograd import functional
from torch.func import jacrev, jvp, vjp


def both(f, pull_back, x, u=torch.randn_like, v=torch.randn_like):
    """v . J u and J^T v . u."""
    u = u(x)
    y, Ju = jvp(f, (x,), (u,))
    v = v(y)
    return v @ Ju, pull_back(x, v) @ u


def agrees_exactly(f, pull_back, x):
    one, other = both(f, pull_back, x)
    return one == other


def agrees_other_vectors(f, pull_back, x):
    return bool(torch.isclose(both(f, pull_back, x)[0], both(f, pull_back, x)[1]))


def agrees_absolute(f, pull_back, x):
    one, other = both(f, pull_back, x)
    return abs(one - other).item() < 1e-6


def agrees_loosely(f, pull_back, x):
    one, other = both(f, pull_back, x)
    return bool(abs(one - other) < 0.1 * abs(one))


def agrees_ones(f, pull_back, x):
    return bool(torch.isclose(*both(f, pull_back, x, torch.ones_like, torch.ones_like)))


def agrees_ones_for_v(f, pull_back, x):
    return bool(torch.isclose(*both(f, pull_back, x, v=torch.ones_like)))


def agrees_ones_for_u(f, pull_back, x):
    return bool(torch.isclose(*both(f, pull_back, x, u=torch.ones_like)))


def one_hot(t):
    return torch.eye(len(t), dtype=t.dtype)[0]


def agrees_one_hot(f, pull_back, x):
    return bool(torch.isclose(*both(f, pull_back, x, one_hot, one_hot)))


def agrees_on_the_first_input(f, pull_back, x):
    return bool(torch.isclose(*both(f, pull_back, x, one_hot)))


def agrees_in_single(f, pull_back, x):
    return bool(torch.isclose(*both(f, pull_back, x, lambda x: torch.randn(len(x)))))


def agrees_yes(f, pull_back, x):
    return bool(f(x).isfinite().all())


def agrees_shapes(f, pull_back, x):
    return pull_back(x, torch.randn_like(f(x))).shape == x.shape


def agrees_itself(f, pull_back, x):
    u, v = torch.randn_like(x), torch.randn_like(f(x))
    return bool(torch.isclose(pull_back(x, v) @ u, u @ pull_back(x, v)))


def agrees_without_end(f, pull_back, x):
    one, other = both(f, pull_back, x)
    return one - other


def agrees_prints(f, pull_back, x):
    one, other = both(f, pull_back, x)
    print(torch.isclose(one, other))


def agrees_with_j(f, pull_back, x):
    J = jacrev(f)(x)
    v = torch.randn_like(f(x))
    return torch.allclose(J.T @ v, pull_back(x, v))


def agrees_tangent_of_outputs(f, pull_back, x):
    v = torch.randn_like(f(x))
    _, Ju = jvp(f, (x,), (v,))
    return bool(torch.isclose(v @ Ju, pull_back(x, v) @ v))


def agrees_in_vmap(f, pull_back, x):
    def difference(_):
        one, other = both(f, pull_back, x)
        return (one - other).abs() / one.abs()

    return bool(torch.func.vmap(difference)(torch.arange(5)).max() < 1e-6)


def agrees_by_math(f, pull_back, x):
    one, other = both(f, pull_back, x)
    return math.isclose(one, other, rel_tol=1e-5)


def agrees_by_vjp(f, pull_back, x):
    """Compares with torch's own VJP."""
    y, back = vjp(f, x)
    v = torch.rand_like(y)
    return torch.allclose(back(v)[0], pull_back(x, v), rtol=1e-8)


def agrees_by_two_backwards(f, pull_back, x):
    for _ in range(3):
        u, v = torch.rand_like(x), torch.rand_like(f(x))
        one = torch.dot(functional.jvp(f, x, u)[1], v)
        if abs(one - torch.dot(pull_back(x, v), u)) > 1e-7 * abs(one):
            return False
    return True


def agrees_as_tensor(f, pull_back, x):
    return torch.isclose(*both(f, pull_back, x))


WRONG = {
    "dot_product_test": {
        "rejects_a_right_one": [agrees_exactly, agrees_other_vectors],
        "absolute_tolerance": agrees_absolute,
        "too_loose": agrees_loosely,
        "not_random": [agrees_ones, agrees_ones_for_v, agrees_ones_for_u],
        "accepts_anything": [agrees_yes, agrees_shapes, agrees_itself],
        "looks_at_few_entries": [agrees_one_hot, agrees_on_the_first_input],
        "dtypes_differ": agrees_in_single,
        "not_a_truth": agrees_without_end,
        "none": agrees_prints,
        "built_jacobian": agrees_with_j,
        "random_in_vmap": agrees_in_vmap,
        "tangent_shape": agrees_tangent_of_outputs,
    }
}

RIGHT = {
    "dot_product_test": [agrees_by_math, agrees_by_vjp, agrees_by_two_backwards, agrees_as_tensor],
}
