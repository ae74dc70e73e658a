"""Answers about activations by layer name."""

from __future__ import annotations

import functools

import torch


def layers_of(model):
    return [(name, part) for name, part in model.named_modules() if not list(part.children())]


def run_with(hook_for, keep_hooks=False, layers=layers_of):
    """An answer that registers `hook_for(found, name)` at each layer."""

    def capture(model, x):
        found, handles = {}, []
        try:
            for name, part in layers(model):
                handles.append(part.register_forward_hook(hook_for(found, name)))
            return model(x), found
        finally:
            for handle in handles:
                if not keep_hooks:
                    handle.remove()

    return capture


def keeps(found, name):
    def hook(module, inputs, output):
        found[name] = output.detach().clone()

    return hook


def setdefault_returns_it(found, name):
    return lambda module, inputs, output: found.setdefault(name, output.detach().clone())


def two_arguments(found, name):
    return lambda module, output: found.update({name: output.detach().clone()})


def asks_the_module(found, name):
    return lambda m, inputs, output: found.update({m.name: output.detach().clone()})


def no_copy(found, name):
    return lambda m, inputs, output: found.update({name: output.detach()})


def no_detach(found, name):
    return lambda m, inputs, output: found.update({name: output.clone()})


def the_inputs(found, name):
    return lambda m, inputs, output: found.update({name: inputs[0].detach().clone()})


def the_input_tuple(found, name):
    return lambda m, inputs, output: found.update({name: inputs})


def by_class(found, name):
    return lambda m, i, output: found.update({type(m).__name__: output.detach().clone()})


def late_binding(model, x):
    found, handles = {}, []
    for name, part in layers_of(model):
        handles.append(
            part.register_forward_hook(lambda m, i, o: found.update({name: o.detach().clone()}))  # noqa: B023
        )
    try:
        return model(x), found
    finally:
        for handle in handles:
            handle.remove()


def without_finally(model, x):
    found = {}
    handles = [part.register_forward_hook(keeps(found, name)) for name, part in layers_of(model)]
    out = model(x)
    for handle in handles:
        handle.remove()
    return out, found


def swallows(model, x):
    try:
        return run_with(keeps)(model, x)
    except Exception as error:
        return error, {}


def by_backward_hooks(model, x):
    found, handles = {}, []
    for name, part in layers_of(model):
        handles.append(
            part.register_full_backward_hook(
                lambda m, i, o, name=name: found.update({name: o[0].clone()})
            )
        )
    out = model(x)
    out.sum().backward(retain_graph=True)
    for handle in handles:
        handle.remove()
    return out, found


def by_backward_hooks_out_of_place(model, x):
    for part in model.modules():
        if isinstance(part, torch.nn.ReLU):
            part.inplace = False
    return by_backward_hooks(model, x)


def under_no_grad(model, x):
    with torch.no_grad():
        return run_with(keeps)(model, x)


def only_the_dict(model, x):
    return run_with(keeps)(model, x)[1]


def by_partial(model, x):
    found = {}

    def keep(name, module, inputs, output):
        found[name] = output.data.clone()

    handles = [
        part.register_forward_hook(functools.partial(keep, name)) for name, part in layers_of(model)
    ]
    try:
        out = model(x)
    finally:
        [handle.remove() for handle in handles]
    return [out, found]


WRONG = {
    "capture_activations": {
        "replaced_the_output": [run_with(setdefault_returns_it), under_no_grad],
        "wrong_number_of_arguments": run_with(two_arguments),
        "module_has_no_name": run_with(asks_the_module),
        "not_copied": run_with(no_copy),
        "not_detached": run_with(no_detach),
        "not_tensors": run_with(the_input_tuple),
        "wrong_activation": [run_with(the_inputs), by_backward_hooks_out_of_place],
        "named_by_class": run_with(by_class),
        "containers_too": [
            run_with(keeps, layers=lambda model: model.named_modules()),
            run_with(keeps, layers=lambda model: model.named_children()),
        ],
        "wrong_names": run_with(
            keeps, layers=lambda model: [n for n in model.named_children() if n[0] != "block"]
        ),
        "late_binding": late_binding,
        "hooks_left": run_with(keeps, keep_hooks=True),
        "left_after_error": without_finally,
        "swallowed_error": swallows,
        "in_place_after_full_hook": by_backward_hooks,
        "not_a_pair": only_the_dict,
    },
}
RIGHT = {"capture_activations": [by_partial, run_with(keeps)]}
