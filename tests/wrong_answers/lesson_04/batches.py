"""A J for each sample, and a penalty on J, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import functional, grad
from torch.func import jacfwd, jacrev, vmap

from tests.wrong_answers.lesson_04.products import watched

# --- batch_of_jacobians


def batch_four_d(f, X):
    return functional.jacobian(f, X)


def batch_four_d_by_jacrev(f, X):
    return jacrev(f)(X)


def batch_diagonal(f, X):
    return torch.stack([J[:, b] for b, J in enumerate(jacrev(f)(X))])


def batch_diagonal_of(f, X):
    return functional.jacobian(f, X).diagonal(dim1=0, dim2=2).movedim(-1, 0)


def batch_loop(f, X):
    return torch.stack([jacrev(f)(x) for x in X])


def batch_summed_first(f, X):
    return jacrev(lambda X: f(X).sum(0))(X)


def batch_mean_first(f, X):
    return jacrev(lambda X: f(X).mean(0))(X).movedim(1, 0)


def batch_added(f, X):
    return vmap(jacrev(f))(X).sum(0)


def batch_transposed(f, X):
    return vmap(jacrev(f), out_dims=0)(X).mT


def batch_gradient(f, X):
    X = watched(X)
    return grad(f(X).sum(), X)[0]


def batch_first(f, X):
    return jacfwd(f)(X[0])


def batch_item(f, X):
    def one(x):
        return f(x) * (x.sum().item() / x.sum().item())

    return vmap(jacrev(one))(X)


def batch_list(f, X):
    found = []
    vmap(lambda x: (found.append(jacrev(f)(x)), x)[1])(X)
    return torch.stack(found)


def batch_into_buffer(f, X):
    def one(x):
        J = torch.zeros(len(f(x)), len(x), dtype=x.dtype)
        return J.copy_(jacrev(f)(x))

    return vmap(one)(X)


def batch_returns_number(f, X):
    return vmap(lambda x: len(f(x)))(X)


def batch_forward(f, X):
    return vmap(jacfwd(f))(X)


def batch_sum_trick(f, X):
    return functional.jacobian(lambda X: f(X).sum(0), X).movedim(1, 0)


def batch_row_trick(f, X):
    X = watched(X)
    outputs = f(X).sum(0)
    return torch.stack([grad(y, X, retain_graph=True)[0] for y in outputs], dim=1)


def batch_chunks(f, X):
    return vmap(jacrev(f), chunk_size=4)(X)


# --- jacobian_penalty


def penalty_detached(model, x):
    return functional.jacobian(model, x).pow(2).sum()


def penalty_not_recorded(model, x):
    x = watched(x)
    return sum(grad(y, x, retain_graph=True)[0].square().sum() for y in model(x))


def penalty_wrapped(model, x):
    return functional.jacobian(model, x).square().sum().requires_grad_()


def penalty_by_differences(model, x):
    columns = [(model(x + 1e-6 * e) - model(x)) / 1e-6 for e in torch.eye(len(x), dtype=x.dtype)]
    return torch.stack(columns).square().sum()


def penalty_in_eval(model, x):
    model.eval()
    return penalty_by_jacfwd(model, x)


def penalty_rooted(model, x):
    return jacrev(model)(x).norm()


def penalty_summed_rows(model, x):
    x = watched(x)
    return grad(model(x).sum(), x, create_graph=True)[0].square().sum()


def penalty_mean(model, x):
    return jacrev(model)(x).square().mean()


def penalty_signed(model, x):
    return jacrev(model)(x).sum()


def penalty_absolute(model, x):
    return jacrev(model)(x).abs().sum()


def penalty_outputs(model, x):
    return model(x).square().sum()


def penalty_spectral(model, x):
    return torch.linalg.matrix_norm(jacrev(model)(x), 2)


def penalty_matrix(model, x):
    return jacrev(model)(x) ** 2


def penalty_fills_grad(model, x):
    x, total = watched(x), 0
    for y in model(x):
        x.grad = None
        y.backward(create_graph=True)
        total = total + x.grad.square().sum()
    return total


def penalty_half_detached(model, x):
    J = jacrev(model)(x)
    return (J * J.detach()).sum()


def penalty_backward_inside(model, x):
    def slope(x):
        y = model(x).sum()
        y.backward()
        return y

    return torch.func.grad(slope)(x).square().sum()


def penalty_by_jacfwd(model, x):
    return (jacfwd(model)(x) ** 2).sum()


def penalty_by_rows(model, x):
    x = watched(x)
    return sum(grad(y, x, create_graph=True)[0].pow(2).sum() for y in model(x))


def penalty_of_norm(model, x):
    return torch.linalg.matrix_norm(jacrev(model)(x)) ** 2


WRONG = {
    "batch_of_jacobians": {
        "blocks_between_samples": [batch_four_d, batch_four_d_by_jacrev],
        "built_the_blocks": [batch_diagonal, batch_diagonal_of],
        "one_by_one": batch_loop,
        "outputs_first": batch_summed_first,
        "mean_for_sum": batch_mean_first,
        "summed_over_batch": batch_added,
        "transposed": batch_transposed,
        "summed_outputs": batch_gradient,
        "first_sample_only": batch_first,
        "item_in_vmap": batch_item,
        "escaped_tensor": batch_list,
        "unbatched_buffer": batch_into_buffer,
        "vmap_returns_tensors": batch_returns_number,
    },
    "jacobian_penalty": {
        "detached": [penalty_detached, penalty_not_recorded],
        "new_leaf": penalty_wrapped,
        "cut_on_the_way": penalty_half_detached,
        "finite_differences": penalty_by_differences,
        "training_flags_changed": penalty_in_eval,
        "rooted": penalty_rooted,
        "summed_rows": penalty_summed_rows,
        "mean_for_sum": penalty_mean,
        "not_squared": [penalty_signed, penalty_absolute],
        "penalised_outputs": penalty_outputs,
        "largest_only": penalty_spectral,
        "matrix_returned": penalty_matrix,
        "filled_grads": penalty_fills_grad,
        "backward_in_transform": penalty_backward_inside,
    },
}

RIGHT = {
    "batch_of_jacobians": [batch_forward, batch_sum_trick, batch_row_trick, batch_chunks],
    "jacobian_penalty": [penalty_by_jacfwd, penalty_by_rows, penalty_of_norm],
}
