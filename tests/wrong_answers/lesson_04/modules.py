"""Derivatives by a module's parameters, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import functional
from torch.func import functional_call, grad, jacfwd, jacrev, stack_module_state, vmap


def weights(model, detach=True):
    return {name: p.detach() if detach else p for name, p in model.named_parameters()}


# --- parameter_jacobian


def parameters_summed(model, x):
    names, params = zip(*model.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(model(x).sum(), params), strict=True))


def parameters_summed_by_grad(model, x):
    return grad(lambda p: functional_call(model, p, (x,)).sum())(weights(model))


def parameters_by_backward(model, x):
    rows = {name: [] for name, _ in model.named_parameters()}
    for y in model(x):
        for p in model.parameters():
            p.grad = None
        y.backward(retain_graph=True)
        for name, p in model.named_parameters():
            rows[name].append(p.grad)
    return {name: torch.stack(found) for name, found in rows.items()}


def parameters_accumulated(model, x):
    rows = {name: [] for name, _ in model.named_parameters()}
    for y in model(x):
        y.backward(retain_graph=True)
        for name, p in model.named_parameters():
            rows[name].append(p.grad.clone())
    return {name: torch.stack(found) for name, found in rows.items()}


def parameters_by_input(model, x):
    return jacrev(model)(x)


def parameters_as_tuple(model, x):
    names, params = zip(*model.named_parameters(), strict=True)

    def output(*params):
        return functional_call(model, dict(zip(names, params, strict=True)), (x,))

    return functional.jacobian(output, params)


def parameters_weights_only(model, x):
    found = jacrev(lambda p: functional_call(model, p, (x,)))(weights(model))
    return {name: J for name, J in found.items() if name.endswith("weight")}


def parameters_outputs_last(model, x):
    found = jacrev(lambda p: functional_call(model, p, (x,)))(weights(model))
    return {name: J.movedim(0, -1) for name, J in found.items()}


def parameters_first_output(model, x):
    return grad(lambda p: functional_call(model, p, (x,))[0])(weights(model))


def parameters_backward_detached(model, x):
    functional_call(model, weights(model), (x,)).sum().backward()
    return {name: p.grad for name, p in model.named_parameters()}


def parameters_read_grad(model, x):
    copies = {name: p.requires_grad_() for name, p in weights(model).items()}
    functional_call(model, copies, (x,)).sum().backward()
    return {name: p.grad for name, p in model.named_parameters()}


def parameters_frozen(model, x):
    params = weights(model)
    model.requires_grad_(False)
    return jacrev(lambda p: functional_call(model, p, (x,)))(params)


def parameters_in_eval(model, x):
    model.eval()
    return parameters_forward(model, x)


def parameters_unfrozen(model, x):
    model.requires_grad_(True)
    return parameters_forward(model, x)


def parameters_unfrozen_only(model, x):
    found = parameters_forward(model, x)
    return {name: found[name] for name, p in model.named_parameters() if p.requires_grad}


def parameters_of_the_state(model, x):
    return jacrev(lambda p: functional_call(model, p, (x,)))(model.state_dict())


def parameters_by_differences(model, x):
    params, found = weights(model), {}
    with torch.no_grad():
        for name, p in params.items():
            J = torch.zeros(len(model(x)), p.numel(), dtype=p.dtype)
            for i in range(p.numel()):
                step = torch.zeros(p.numel(), dtype=p.dtype)
                step[i] = 1e-6
                moved = {**params, name: p + step.view_as(p)}
                J[:, i] = (functional_call(model, moved, (x,)) - model(x)) / 1e-6
            found[name] = J.view(-1, *p.shape)
    return found


def parameters_of_watched_copies(model, x):
    copies = {name: p.requires_grad_() for name, p in weights(model).items()}
    rows = [
        torch.autograd.grad(y, list(copies.values()), retain_graph=True)
        for y in functional_call(model, copies, (x,))
    ]
    return dict(zip(copies, map(torch.stack, zip(*rows, strict=True)), strict=True))


def parameters_forward(model, x):
    return jacfwd(lambda p: functional_call(model, p, x))(dict(model.named_parameters()))


def parameters_by_rows(model, x):
    names, params = zip(*model.named_parameters(), strict=True)
    rows = [torch.autograd.grad(y, params, retain_graph=True) for y in model(x)]
    return {name: torch.stack([row[i] for row in rows]) for i, name in enumerate(names)}


def parameters_batched(model, x):
    names, params = zip(*model.named_parameters(), strict=True)
    y = model(x)
    one_hot = torch.eye(len(y), dtype=y.dtype)
    return dict(
        zip(names, torch.autograd.grad(y, params, one_hot, is_grads_batched=True), strict=True)
    )


def parameters_by_functional(model, x):
    names = [name for name, _ in model.named_parameters()]
    return dict(zip(names, parameters_as_tuple(model, x), strict=True))


# --- sample_gradients


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
    "parameter_jacobian": {
        "summed_rows": [parameters_summed, parameters_summed_by_grad],
        "filled_grads": parameters_by_backward,
        "accumulated_rows": parameters_accumulated,
        "not_a_dict": [parameters_by_input, parameters_as_tuple],
        "names_missing": [parameters_weights_only, parameters_unfrozen_only],
        "outputs_last": parameters_outputs_last,
        "one_output_only": parameters_first_output,
        "no_graph": parameters_backward_detached,
        "none": parameters_read_grad,
        "changed_module": [parameters_frozen, parameters_unfrozen],
        "training_flags_changed": parameters_in_eval,
        "too_many_names": parameters_of_the_state,
        "input_not_tracked": [parameters_by_rows, parameters_batched],
        "finite_differences": parameters_by_differences,
    },
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
    "parameter_jacobian": [
        parameters_forward,
        parameters_of_watched_copies,
        parameters_by_functional,
    ],
    "sample_gradients": [samples_by_jacrev, samples_by_eye, samples_as_batches_of_one],
}
