"""A gradient for each sample, right and wrong."""

from __future__ import annotations

import torch
from torch.func import functional_call, grad, jacrev, stack_module_state, vmap

from tests.wrong_answers.lesson_04.modules import weights


def sample_loss(model, loss):
    return lambda params, x, t: loss(functional_call(model, params, (x,)), t)


def samples_one_batch(model, loss, X, T):
    names, params = zip(*model.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(loss(model(X), T), params), strict=True))


def samples_backward(model, loss, X, T):
    loss(model(X), T).backward()
    return {name: p.grad for name, p in model.named_parameters()}


def samples_expanded(model, loss, X, T):
    found = samples_one_batch(model, loss, X, T)
    return {name: g.expand(len(X), *g.shape) for name, g in found.items()}


def samples_loop(model, loss, X, T):
    rows = [samples_one_batch(model, loss, x, t) for x, t in zip(X, T, strict=True)]
    return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}


def samples_accumulated(model, loss, X, T):
    rows = {name: [] for name, _ in model.named_parameters()}
    for x, t in zip(X, T, strict=True):
        loss(model(x), t).backward()
        for name, p in model.named_parameters():
            rows[name].append(p.grad.clone())
    return {name: torch.stack(found) for name, found in rows.items()}


def samples_fill_grads(model, loss, X, T):
    rows = {name: [] for name, _ in model.named_parameters()}
    for x, t in zip(X, T, strict=True):
        model.zero_grad()
        loss(model(x), t).backward()
        for name, p in model.named_parameters():
            rows[name].append(p.grad)
    return {name: torch.stack(found) for name, found in rows.items()}


def samples_without_in_dims(model, loss, X, T):
    return vmap(grad(sample_loss(model, loss)))(weights(model), X, T)


def samples_of_input(model, loss, X, T):
    """Differentiates by the first argument, and that is the sample."""

    def one(x, t, params):
        return loss(functional_call(model, params, (x,)), t)

    return vmap(grad(one), in_dims=(0, 0, None))(X, T, weights(model))


def samples_read_grad(model, loss, X, T):
    vmap(grad(sample_loss(model, loss)), in_dims=(None, 0, 0))(weights(model), X, T)
    return {name: p.grad for name, p in model.named_parameters()}


def samples_item(model, loss, X, T):
    def one(params, x, t):
        value = loss(functional_call(model, params, (x,)), t)
        print(value.item())
        return value

    return vmap(grad(one), in_dims=(None, 0, 0))(weights(model), X, T)


def samples_backward_inside(model, loss, X, T):
    def one(x, t):
        value = loss(model(x), t)
        value.backward()
        return value

    return vmap(grad(one))(X, T)


def samples_count_inside(model, loss, X, T):
    total = torch.zeros((), dtype=X.dtype)

    def one(params, x, t):
        value = loss(functional_call(model, params, (x,)), t)
        total.add_(value)
        return value

    return vmap(grad(one), in_dims=(None, 0, 0))(weights(model), X, T)


def samples_no_grad_inside(model, loss, X, T):
    def one(params, x, t):
        with torch.no_grad():
            prediction = functional_call(model, params, (x,))
        return loss(prediction, t)

    return vmap(grad(one), in_dims=(None, 0, 0))(weights(model), X, T)


def samples_own_module(model, loss, X, T):
    """The function never uses the parameters that it is given."""
    gradient = grad(lambda params, x, t: loss(model(x), t))
    return vmap(gradient, in_dims=(None, 0, 0))(weights(model), X, T)


def samples_vector_loss(model, loss, X, T):
    def one(params, x, t):
        return (functional_call(model, params, (x,)) - t).square()

    return vmap(grad(one), in_dims=(None, 0, 0))(weights(model), X, T)


def samples_of_all_targets(model, loss, X, T):
    def one(params, x, t):
        return loss(functional_call(model, params, (x,)), t)

    return vmap(grad(one), in_dims=(None, 0, None))(weights(model), X, T)


def samples_in_eval(model, loss, X, T):
    model.eval()
    return samples_by_jacrev(model, loss, X, T)


def samples_share(model, loss, X, T):
    """The batch's gradient, shared out among the samples."""
    gradient = grad(lambda p: loss(functional_call(model, p, (X,)), T))(weights(model))
    return {name: (g / len(X)).expand(len(X), *g.shape) for name, g in gradient.items()}


def samples_mean(model, loss, X, T):
    def total(params, sample):
        each = vmap(loss)(functional_call(model, params, (X,)), T)
        return (each * sample).mean()

    one_hot = torch.eye(len(X), dtype=X.dtype)
    return vmap(grad(total), in_dims=(None, 0))(weights(model), one_hot)


def samples_by_jacrev(model, loss, X, T):
    def losses(params):
        return vmap(loss)(functional_call(model, params, (X,)), T)

    return jacrev(losses)(weights(model, detach=False))


def samples_by_eye(model, loss, X, T):
    names, params = zip(*model.named_parameters(), strict=True)
    each = vmap(loss)(model(X), T)
    one_hot = torch.eye(len(X), dtype=X.dtype)
    found = torch.autograd.grad(each, params, one_hot, is_grads_batched=True)
    return dict(zip(names, found, strict=True))


def samples_as_batches_of_one(model, loss, X, T):
    params, buffers = stack_module_state([model])
    params = {name: p[0].detach() for name, p in params.items()}

    def one(params, x, t):
        prediction = functional_call(model, (params, buffers), (x[None],))
        return loss(prediction, t[None])

    return vmap(grad(one, argnums=0), (None, 0, 0))(params, X, T)


WRONG = {
    "sample_gradients": {
        "batch_gradient": [samples_share, samples_one_batch, samples_expanded, samples_backward],
        "one_by_one": samples_loop,
        "accumulated": samples_accumulated,
        "filled_grads": samples_fill_grads,
        "shared_target": samples_of_all_targets,
        "training_flags_changed": samples_in_eval,
        "mapped_sizes_differ": samples_without_in_dims,
        "not_a_dict": samples_of_input,
        "none": samples_read_grad,
        "item_in_vmap": samples_item,
        "backward_in_transform": samples_backward_inside,
        "changed_captured_tensor": samples_count_inside,
        "cut_inside": [samples_no_grad_inside, samples_own_module],
        "not_a_scalar_function": samples_vector_loss,
        "mean_for_sum": samples_mean,
    },
}

RIGHT = {
    "sample_gradients": [samples_by_jacrev, samples_by_eye, samples_as_batches_of_one],
}
