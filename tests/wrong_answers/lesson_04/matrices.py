"""J by rows, by columns and by the cheaper of both, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import forward_ad as fw
from torch.autograd import functional, grad
from torch.func import jacfwd, jacrev, jvp, vjp, vmap

from tests.wrong_answers.lesson_04.products import watched


def eye(x):
    return torch.eye(len(x), dtype=x.dtype)


# --- jacobian_by_rows


def rows_transposed(f, x):
    x = watched(x)
    return torch.stack([grad(y, x, retain_graph=True)[0] for y in f(x)], dim=1)


def rows_transposed_by_hand(f, x):
    return jacrev(f)(x).T


def rows_accumulate(f, x):
    x, found = watched(x), []
    for y in f(x):
        y.backward(retain_graph=True)
        found.append(x.grad.clone())
    return torch.stack(found)


def rows_all_one(f, x):
    x, found = watched(x), []
    for y in f(x):
        if x.grad is not None:
            x.grad.zero_()
        y.backward(retain_graph=True)
        found.append(x.grad)  # no clone: all entries are the same tensor
    return torch.stack(found)


def rows_not_retained(f, x):
    x = watched(x)
    return torch.stack([grad(y, x)[0] for y in f(x)])


def rows_eye_not_batched(f, x):
    x = watched(x)
    y = f(x)
    return grad(y, x, eye(y))[0]


def rows_single_v_batched(f, x):
    x = watched(x)
    y = f(x)
    return grad(y, x, torch.ones_like(y), is_grads_batched=True)[0]


def rows_by_ones(f, x):
    x = watched(x)
    y = f(x)
    y.backward(torch.ones_like(y))
    return x.grad


def rows_by_jacfwd(f, x):
    return jacfwd(f)(x)


def rows_run_again(f, x):
    x = watched(x)
    return torch.stack([grad(f(x)[i], x)[0] for i in range(len(f(x.detach())))])


def rows_by_differences(f, x):
    h = 1e-6
    return torch.stack([(f(x + h * e) - f(x)) / h for e in eye(x)], dim=1)


def rows_batched(f, x):
    x = watched(x)
    y = f(x)
    return grad(y, x, eye(y), is_grads_batched=True)[0]


def rows_by_backward(f, x):
    x = watched(x)
    y = f(x)
    J = torch.empty(len(y), len(x), dtype=x.dtype)
    for i in range(len(y)):
        x.grad = None
        y[i].backward(retain_graph=i + 1 < len(y))
        J[i] = x.grad
    return J


def rows_by_vjp(f, x):
    y, back = vjp(f, x)
    return vmap(back)(eye(y))[0]


# --- jacobian_by_columns


def columns_as_rows(f, x):
    return torch.stack([jvp(f, (x,), (e,))[1] for e in eye(x)])


def columns_of_outputs(f, x):
    return torch.stack([jvp(f, (x,), (e,))[1] for e in eye(f(x))], dim=1)


def columns_of_outputs_functional(f, x):
    return torch.stack([functional.jvp(f, x, e)[1] for e in eye(f(x))], dim=1)


def columns_without_tuples(f, x):
    return torch.stack([jvp(f, x, e)[1] for e in eye(x)], dim=1)


def columns_without_level(f, x):
    return torch.stack([fw.unpack_dual(f(fw.make_dual(x, e))).tangent for e in eye(x)], dim=1)


def columns_after_level(f, x):
    found = []
    for e in eye(x):
        with fw.dual_level():
            y = f(fw.make_dual(x, e))
        found.append(fw.unpack_dual(y).tangent)
    return torch.stack(found, dim=1)


def columns_by_jacrev(f, x):
    return jacrev(f)(x)


def columns_by_two_backwards(f, x):
    return torch.stack([functional.jvp(f, x, e)[1] for e in eye(x)], dim=1)


def columns_summed(f, x):
    return jvp(f, (x,), (torch.ones_like(x),))[1]


def columns_by_differences(f, x):
    h = 1e-5
    return torch.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in eye(x)], dim=1)


def columns_by_jvp(f, x):
    return torch.stack([jvp(f, (x,), (e,))[1] for e in eye(x)], dim=1)


def columns_mapped(f, x):
    return vmap(lambda e: jvp(f, (x,), (e,))[1], out_dims=1)(eye(x))


def columns_vectorised(f, x):
    return functional.jacobian(f, x, vectorize=True, strategy="forward-mode")


def columns_one_level_each(f, x):
    J = torch.zeros(*f(x).shape, *x.shape, dtype=x.dtype)
    for j, e in enumerate(eye(x)):
        with fw.dual_level():
            J[:, j] = fw.unpack_dual(f(fw.make_dual(x, e)))[1]
    return J


# --- choose_the_mode


def mode_swapped(f, x):
    return jacfwd(f)(x) if len(f(x)) < len(x) else jacrev(f)(x)


def mode_by_stacking(f, x):
    m, n = len(f(x)), len(x)
    return rows_transposed(f, x) if m < n else columns_as_rows(f, x)


def mode_by_square(f, x):
    both = jacrev(f)(x), jacfwd(f)(x)
    return both[len(x) < len(both[0])]


def mode_of_own_loops(f, x):
    return rows_by_backward(f, x) if len(x) > len(f(x)) else columns_one_level_each(f, x)


def mode_by_strategy(f, x):
    strategy = "forward-mode" if f(x).numel() > x.numel() else "reverse-mode"
    return functional.jacobian(f, x, strategy=strategy, vectorize=True)


def rows_never_cleared(f, x):
    x, found = watched(x), []
    for y in f(x):
        y.backward(retain_graph=True)
        found.append(x.grad)  # no clone, and nothing clears it
    return torch.stack(found)


def rows_on_the_callers_x(f, x):
    x.requires_grad_()
    return torch.stack([grad(y, x, retain_graph=True)[0] for y in f(x)])


def columns_of_values(f, x):
    return torch.stack([jvp(f, (x,), (e,))[0] for e in eye(x)], dim=1)


def columns_of_primals(f, x):
    found = []
    with fw.dual_level():
        for e in eye(x):
            found.append(fw.unpack_dual(f(fw.make_dual(x, e))).primal)
    return torch.stack(found, dim=1)


def columns_never_reset(f, x):
    u, found = torch.zeros_like(x), []
    for j in range(len(x)):
        u[j] = 1
        found.append(jvp(f, (x,), (u,))[1])
    return torch.stack(found, dim=1)


def columns_in_single(f, x):
    return vmap(lambda e: jvp(f, (x,), (e,))[1], out_dims=1)(torch.eye(len(x)))


def mode_by_inputs_only(f, x):
    return jacrev(f)(x) if len(x) > 10 else jacfwd(f)(x)


WRONG = {
    "jacobian_by_rows": {
        "transposed": [rows_transposed, rows_transposed_by_hand],
        "accumulated_rows": rows_accumulate,
        "last_row_only": rows_all_one,
        "all_rows_one": rows_never_cleared,
        "marked_the_input": rows_on_the_callers_x,
        "graph_freed": rows_not_retained,
        "gradient_shape": [rows_eye_not_batched, rows_single_v_batched],
        "summed_rows": rows_by_ones,
        "columns_not_rows": rows_by_jacfwd,
        "ran_f_again": rows_run_again,
        "finite_differences": rows_by_differences,
    },
    "jacobian_by_columns": {
        "transposed": columns_as_rows,
        "tangent_shape": columns_of_outputs,
        "product_vector_shape": columns_of_outputs_functional,
        "jvp_needs_tuples": columns_without_tuples,
        "dual_without_level": columns_without_level,
        "none_in_a_list": columns_after_level,
        "went_backward": [columns_by_jacrev, columns_by_two_backwards],
        "summed_columns": columns_summed,
        "value_in_columns": [columns_of_values, columns_of_primals],
        "tangent_not_reset": columns_never_reset,
        "dtypes_differ": columns_in_single,
        "finite_differences": columns_by_differences,
    },
    "choose_the_mode": {
        "backward_for_tall": [
            columns_by_jacrev,
            rows_by_backward,
            mode_swapped,
            mode_by_square,
            mode_by_inputs_only,
        ],
        "forward_for_wide": [rows_by_jacfwd, columns_by_jvp],
        "transposed": mode_by_stacking,
        "summed_rows": rows_by_ones,
    },
}

RIGHT = {
    "jacobian_by_rows": [rows_batched, rows_by_backward, rows_by_vjp, columns_by_jacrev],
    "jacobian_by_columns": [
        columns_by_jvp,
        columns_mapped,
        columns_vectorised,
        columns_one_level_each,
        rows_by_jacfwd,
    ],
    "choose_the_mode": [mode_of_own_loops, mode_by_strategy],
}
