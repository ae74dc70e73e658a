"""Derivatives by a module's parameters, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import functional
from torch.func import functional_call, grad, jacfwd, jacrev


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
}

RIGHT = {
    "parameter_jacobian": [
        parameters_forward,
        parameters_of_watched_copies,
        parameters_by_functional,
    ],
}
