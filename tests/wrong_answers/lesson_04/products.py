"""J^T v and J u, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import functional, grad
from torch.func import jacfwd, jacrev, jvp, linearize, vjp

# --- pull_back_without_j


def watched(x):
    return x.detach().clone().requires_grad_()


def pull_by_j(f, x, v):
    return jacrev(f)(x).T @ v


def pull_by_functional_j(f, x, v):
    return v @ functional.jacobian(f, x)


def pull_into_the_callers_x(f, x, v):
    f(x.requires_grad_()).backward(v)
    return x.grad


def pull_by_columns_of_eye(f, x, v):
    eye = torch.eye(len(x), dtype=x.dtype)
    return torch.stack([jvp(f, (x,), (e,))[1] @ v for e in eye])


def pull_is_push(f, x, v):
    return functional.jvp(f, x, v)[1]


def pull_j_times_v(f, x, v):
    return functional.jacobian(f, x) @ v


def pull_ones(f, x, v):
    x = watched(x)
    y = f(x)
    y.backward(torch.ones_like(y))
    return x.grad


def pull_sum(f, x, v):
    x = watched(x)
    return grad(f(x).sum(), x)[0]


def pull_unit(f, x, v):
    return functional.vjp(f, x, v / v.norm())[1]


def pull_weights(f, x, v):
    return vjp(f, x)[1](v / v.sum())[0]


def pull_row_by_row(f, x, v):
    x = watched(x)
    y = f(x)
    return sum(w * grad(out, x, retain_graph=True)[0] for w, out in zip(v, y, strict=True))


def pull_column_by_column(f, x, v):
    found = torch.zeros_like(x)
    for j in range(len(x)):
        one_hot = torch.zeros_like(x)
        one_hot[j] = 1
        found[j] = v @ jvp(f, (x,), (one_hot,))[1]
    return found


def pull_differences(f, x, v):
    h = 1e-6
    steps = torch.eye(len(x), dtype=x.dtype) * h
    return torch.stack([v @ (f(x + step) - f(x - step)) / (2 * h) for step in steps])


def pull_pair(f, x, v):
    return functional.vjp(f, x, v)


def pull_tuple(f, x, v):
    return vjp(f, x)[1](v)


def pull_function(f, x, v):
    _, product = vjp(f, x)
    return product


def pull_without_v(f, x, v):
    return functional.vjp(f, x)[1] * v


def pull_nothing(f, x, v):
    x = watched(x)
    return f(x).backward(v)


def pull_whole(f, x, v):
    return jacrev(f)(x)


def pull_unwatched(f, x, v):
    return grad(f(x), x, v)[0]


def pull_by_backward(f, x, v):
    x = watched(x)
    f(x).backward(v)
    return x.grad


def pull_by_grad(f, x, v):
    x = watched(x)
    return grad((f(x) * v).sum(), x)[0]


def pull_by_vjp(f, x, v):
    print("going back")
    _, back = vjp(f, x)
    return back(v)[0]


def pull_by_func_grad(f, x, v):
    return torch.func.grad(lambda x: f(x) @ v)(x)


# --- push_forward_backwards


def twice(f, x, u, v_of, at, kept=True):
    x = watched(x)
    y = f(x)
    v = v_of(y)
    (g,) = grad(y, x, v, create_graph=kept)
    return grad(g, {"x": x, "v": v}[at], u)[0]


def zeros(y):
    return torch.zeros_like(y, requires_grad=True)


def ones(y):
    return torch.ones_like(y, requires_grad=True)


def push_by_trick(f, x, u):
    return twice(f, x, u, ones, "v")


def push_second_derivative(f, x, u):
    return twice(f, x, u, ones, "x")


def push_unwatched_v(f, x, u):
    return twice(f, x, u, torch.ones_like, "v")


def push_no_graph(f, x, u):
    return twice(f, x, u, zeros, "v", kept=False)


def push_of_ones(f, x, u):
    return twice(f, x, torch.ones_like(u), zeros, "v")


def push_is_pull(f, x, u):
    return functional.vjp(f, x, u)[1]


def push_by_j(f, x, u):
    return functional.jacobian(f, x) @ u


def push_by_jacfwd(f, x, u):
    return jacfwd(f)(x) @ u


def push_whole(f, x, u):
    return jacfwd(f)(x)


def push_forward_mode(f, x, u):
    return jvp(f, (x,), (u,))[1]


def push_row_by_row(f, x, u):
    x = watched(x)
    return torch.stack([grad(y, x, retain_graph=True)[0] @ u for y in f(x)])


def push_differences(f, x, u):
    h = 1e-5
    return (f(x + h * u) - f(x - h * u)) / (2 * h)


def push_without_tuples(f, x, u):
    return jvp(f, x, u)[1]


def push_pair(f, x, u):
    return functional.jvp(f, x, u)


def push_by_functional(f, x, u):
    _, product = functional.jvp(f, x, u)
    return product


def push_by_nested_vjp(f, x, u):
    y, back = vjp(f, x)
    _, forth = vjp(lambda v: back(v)[0], torch.zeros_like(y))
    return forth(u)[0]


def push_of_product(f, x, u):
    x = watched(x)
    y = f(x)
    v = torch.rand_like(y).requires_grad_()
    g = grad((y * v).sum(), x, create_graph=True)[0]
    return grad((g * u).sum(), v)[0]


def push_linearised(f, x, u):
    return linearize(f, x)[1](u)


def push_on_the_callers_x(f, x, u):
    y = f(x.requires_grad_())
    v = torch.zeros_like(y, requires_grad=True)
    return grad(grad(y, x, v, create_graph=True)[0], v, u)[0]


WRONG = {
    "pull_back_without_j": {
        "marked_the_input": pull_into_the_callers_x,
        "built_jacobian": [pull_by_j, pull_by_functional_j],
        "pushed_forward": [pull_is_push, pull_j_times_v],
        "ones_instead_of_v": [pull_ones, pull_sum],
        "normalised": [pull_unit, pull_weights],
        "one_by_one": pull_row_by_row,
        "column_by_column": [pull_column_by_column, pull_by_columns_of_eye],
        "finite_differences": pull_differences,
        "pair_returned": pull_pair,
        "tuple_not_unpacked": pull_tuple,
        "function_not_called": pull_function,
        "product_without_vector": pull_without_v,
        "none": pull_nothing,
        "whole_jacobian": pull_whole,
        "no_graph": pull_unwatched,
    },
    "push_forward_backwards": {
        "marked_the_input": push_on_the_callers_x,
        "second_derivative": push_second_derivative,
        "input_not_tracked": push_unwatched_v,
        "no_graph": push_no_graph,
        "ones_instead_of_u": push_of_ones,
        "pulled_back": push_is_pull,
        "built_jacobian": [push_by_j, push_by_jacfwd],
        "whole_jacobian": push_whole,
        "forward_mode": [push_forward_mode, push_linearised],
        "one_by_one": push_row_by_row,
        "finite_differences": push_differences,
        "jvp_needs_tuples": push_without_tuples,
        "pair_returned": push_pair,
    },
}

RIGHT = {
    "pull_back_without_j": [pull_by_backward, pull_by_grad, pull_by_vjp, pull_by_func_grad],
    "push_forward_backwards": [
        push_by_trick,
        push_by_functional,
        push_by_nested_vjp,
        push_of_product,
    ],
}
