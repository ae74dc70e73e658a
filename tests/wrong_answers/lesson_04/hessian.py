"""H u and the Laplacian, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import functional
from torch.func import grad, hessian, jacfwd, jvp, vjp, vmap

from tests.wrong_answers.lesson_04.products import watched


def hvp_by_h(f, x, u):
    return hessian(f)(x) @ u


def hvp_by_functional_h(f, x, u):
    return functional.hessian(f, x) @ u


def hvp_row_sums(f, x, u):
    x = watched(x)
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)[0]


def hvp_row_sums_backward(f, x, u):
    return grad(lambda x: grad(f)(x).sum())(x)


def hvp_not_recorded(f, x, u):
    x = watched(x)
    (g,) = torch.autograd.grad(f(x), x)
    return torch.autograd.grad(g @ u, x)[0]


def hvp_gradient_times_u(f, x, u):
    return grad(f)(x) * u


def hvp_directional_slope(f, x, u):
    return jvp(f, (x,), (u,))[1]


def hvp_quadratic(f, x, u):
    return u @ jvp(grad(f), (x,), (u,))[1]


def hvp_weighted_row_sums(f, x, u):
    return hvp_by_double_backward(f, x, u) * u


def hvp_whole(f, x, u):
    return hessian(f)(x)


def hvp_diagonal(f, x, u):
    return functional.hessian(f, x).diagonal() * u


def hvp_row_by_row(f, x, u):
    x = watched(x)
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(g_i, x, retain_graph=True)[0] @ u for g_i in g])


def hvp_differences(f, x, u):
    h = 1e-5
    return (grad(f)(x + h * u) - grad(f)(x - h * u)) / (2 * h)


def hvp_of_vector(f, x, u):
    return functional.hvp(grad(f), x, u)[1]


def hvp_of_vector_by_grad(f, x, u):
    return grad(grad(f))(x) * u


def hvp_pair(f, x, u):
    return functional.hvp(f, x, u)


def hvp_without_tuples(f, x, u):
    return jvp(grad(f), x, u)[1]


def hvp_gradient_freed(f, x, u):
    x = watched(x)
    y = f(x)
    y.backward()
    return torch.autograd.grad(x.grad @ u, x)[0]


def hvp_by_double_backward(f, x, u):
    x = watched(x)
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(g, x, u)[0]


def hvp_by_two_backwards_into_grad(f, x, u):
    x = watched(x)
    f(x).backward(create_graph=True)
    (x.grad @ u).backward()
    return x.grad.detach()


def hvp_multiplied_after(f, x, u):
    return hvp_row_sums(f, x, u) * u


def hvp_that_uses_up_u(f, x, u):
    product = jvp(grad(f), (x,), (u,))[1]
    u.zero_()
    return product


def hvp_on_the_callers_x(f, x, u):
    (g,) = torch.autograd.grad(f(x.requires_grad_()), x, create_graph=True)
    return torch.autograd.grad(g, x, u)[0]


def hvp_by_hvp(f, x, u):
    return functional.hvp(f, x, u)[1]


def hvp_by_vhp(f, x, u):
    _, product = functional.vhp(f, x, v=u)
    return product


def hvp_by_grads(f, x, u):
    return grad(lambda x: grad(f)(x) @ u)(x)


def hvp_by_vjp(f, x, u):
    return vjp(grad(f), x)[1](u)[0]


def hvp_by_backward(f, x, u):
    x = watched(x)
    torch.autograd.grad(f(x), x, create_graph=True)[0].backward(u)
    return x.grad


# --- laplacian


def laplacian_by_summing(f, X):
    X = watched(X)
    (g,) = torch.autograd.grad(f(X).sum(), X, create_graph=True)
    return torch.autograd.grad(g.sum(), X)[0]


def laplacian_by_summing_twice(f, X):
    return laplacian_by_summing(f, X).sum(1)


def laplacian_diagonal(f, X):
    return vmap(hessian(f))(X).diagonal(dim1=1, dim2=2)


def laplacian_total(f, X):
    return vmap(lambda x: hessian(f)(x).trace())(X).sum()


def laplacian_first(f, X):
    return vmap(grad(f))(X).sum(1)


def laplacian_squared_slopes(f, X):
    return vmap(grad(f))(X).square().sum()


def laplacian_hessians(f, X):
    return vmap(hessian(f))(X)


def laplacian_of_batch(f, X):
    return hessian(f)(X)


def laplacian_of_vector(f, X):
    return functional.hessian(f, X)


def laplacian_differences(f, X):
    h, steps = 1e-4, torch.eye(X.shape[1], dtype=X.dtype) * 1e-4
    return sum(f(X + s) - 2 * f(X) + f(X - s) for s in steps) / h**2


def laplacian_trace(f, X):
    return vmap(lambda x: jacfwd(grad(f))(x).diagonal().sum())(X)


def laplacian_by_entries(f, X):
    X = watched(X)
    (g,) = torch.autograd.grad(f(X).sum(), X, create_graph=True)
    parts = [
        torch.autograd.grad(g[:, i].sum(), X, retain_graph=True)[0][:, i] for i in range(X.shape[1])
    ]
    return torch.stack(parts).sum(0)


def laplacian_loop(f, X):
    return torch.stack([functional.hessian(f, x).trace() for x in X])


WRONG = {
    "laplacian": {
        "row_sums": [laplacian_by_summing, laplacian_by_summing_twice],
        "diagonal_not_summed": laplacian_diagonal,
        "summed_over_batch": laplacian_total,
        "no_second_derivative": laplacian_first,
        "squared_slopes": laplacian_squared_slopes,
        "hessians_returned": laplacian_hessians,
        "wrong_shape": laplacian_of_batch,
        "not_a_scalar_function": laplacian_of_vector,
        "finite_differences": laplacian_differences,
    },
    "hessian_vector_product": {
        "built_hessian": [hvp_by_h, hvp_by_functional_h],
        "row_sums": [hvp_row_sums, hvp_row_sums_backward],
        "no_graph": [hvp_not_recorded, hvp_gradient_freed],
        "no_second_derivative": [hvp_gradient_times_u, hvp_directional_slope],
        "quadratic_form": hvp_quadratic,
        "twice_multiplied": hvp_weighted_row_sums,
        "hessian_itself": hvp_whole,
        "diagonal_only": hvp_diagonal,
        "gradient_added": hvp_by_two_backwards_into_grad,
        "multiplied_after": hvp_multiplied_after,
        "changed_input": hvp_that_uses_up_u,
        "marked_the_input": hvp_on_the_callers_x,
        "one_by_one": hvp_row_by_row,
        "finite_differences": hvp_differences,
        "not_a_scalar_function": [hvp_of_vector, hvp_of_vector_by_grad],
        "pair_returned": hvp_pair,
        "jvp_needs_tuples": hvp_without_tuples,
    },
}

RIGHT = {
    "laplacian": [laplacian_trace, laplacian_by_entries, laplacian_loop],
    "hessian_vector_product": [
        hvp_by_double_backward,
        hvp_by_hvp,
        hvp_by_vhp,
        hvp_by_grads,
        hvp_by_vjp,
        hvp_by_backward,
    ],
}
