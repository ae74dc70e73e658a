"""Answers about what flows back through a module."""

from __future__ import annotations

import torch


def full(hook_for):
    """An answer that registers `hook_for(factor)` as a full backward hook."""
    return lambda module, factor: module.register_full_backward_hook(hook_for(factor))


def pre(hook_for):
    return lambda module, factor: module.register_full_backward_pre_hook(hook_for(factor))


def times(entries, factor):
    return tuple(None if g is None else factor * g for g in entries)


def rebinds(factor):
    def hook(module, grad_input, grad_output):
        grad_input = times(grad_input, factor)

    return hook


def pre_rebinds(factor):
    def hook(module, grad_output):
        grad_output = times(grad_output, factor)

    return hook


def gate_by_none(factor):
    def hook(module, grad_input, grad_output):
        return (None,) * len(grad_input) if factor == 0 else times(grad_input, factor)

    return hook


def on_the_weight(module, factor):
    handles = [p.register_hook(lambda g: factor * g) for p in module.parameters()]
    return handles


def on_all_weights_and_flow(module, factor):
    on_the_weight(module, factor)
    return full(lambda f: lambda m, gi, go: times(gi, f))(module, factor)


def on_the_output(module, factor):
    return module.register_forward_hook(lambda m, args, out: out * factor)


def halves_the_weights(module, factor):
    with torch.no_grad():
        for p in module.parameters():
            p.mul_(factor)
    return full(lambda f: lambda m, gi, go: times(gi, f))(module, factor)


def by_keyword(module, factor):
    return module.register_full_backward_hook(lambda m, gi, go: times(gi, factor), remove_hook=True)


def old_and_new(module, factor):
    module.register_backward_hook(lambda m, gi, go: None)
    return full(lambda f: lambda m, gi, go: times(gi, f))(module, factor)


def without_handle(module, factor):
    full(lambda f: lambda m, gi, go: times(gi, f))(module, factor)


def twice_registered(module, factor):
    full(lambda f: lambda m, gi, go: None)(module, factor)
    module.register_full_backward_hook(
        lambda m, gi, go: times(gi, factor**0.5 if factor > 0 else factor)
    )
    return module.register_full_backward_hook(
        lambda m, gi, go: times(gi, factor**0.5 if factor > 0 else 1)
    )


def by_a_loop(module, factor):
    def hook(module, grad_input, grad_output):
        out = []
        for g in grad_input:
            out.append(g if g is None else g.mul(factor))
        return tuple(out)

    return module.register_full_backward_hook(hook)


def by_prehook_on_the_input(module, factor):
    """Scales backward only: the values are the same."""

    def hook(module, args):
        first, *others = args
        return (first * factor + (first * (1 - factor)).detach(), *others)

    return module.register_forward_pre_hook(hook)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.factor * g, None


def by_a_function(module, factor):
    return module.register_forward_pre_hook(
        lambda m, args: (Scale.apply(args[0], factor), *args[1:])
    )


def slow_by_a_function(module, factor):
    def hook(module, args, out):
        if isinstance(out, tuple):
            return tuple(Scale.apply(part, factor) for part in out)
        return Scale.apply(out, factor)

    return module.register_forward_hook(hook)


def on_the_input_tensor(module, factor):
    def hook(module, args):
        args[0].register_hook(lambda g: factor * g)

    return module.register_forward_pre_hook(hook)


def on_the_input_and_the_weights(module, factor):
    return [on_the_input_tensor(module, factor), *on_the_weight(module, factor)]


def slow_without_handle(module, factor):
    pre(lambda f: lambda m, go: times(go, f))(module, factor)


WRONG = {
    "scale_the_flow": {
        "nothing_changed": full(rebinds),
        "none_cuts": full(gate_by_none),
        "none_in_the_tuple": full(lambda f: lambda m, gi, go: tuple(f * g for g in gi)),
        "multiplied_the_tuple": full(lambda f: lambda m, gi, go: gi * f),
        "grad_output_returned": [
            full(lambda f: lambda m, gi, go: times(go, f)),
            full(lambda f: lambda m, gi, go: (f * go[0], *gi[1:])),
        ],
        "invalid_number_of_gradients": [
            full(lambda f: lambda m, gi, go: (times(gi, f), go)),
            full(lambda f: lambda m, gi, go: f * gi[0]),
        ],
        "wrong_number_of_arguments": full(lambda f: lambda m, gi: times(gi, f)),
        "own_weights_too": [
            pre(lambda f: lambda m, go: times(go, f)),
            on_all_weights_and_flow,
            slow_by_a_function,
        ],
        "hooked_the_input": on_the_input_tensor,
        "weights_only": on_the_weight,
        "forward_changed": on_the_output,
        "scaled_weights": halves_the_weights,
        "keyword_for_removal": by_keyword,
        "mixed_hooks": old_and_new,
        "no_handle": without_handle,
        "not_removed": twice_registered,
    },
    "slow_a_module": {
        "own_weights_missed": [full(lambda f: lambda m, gi, go: times(gi, f)), by_a_function],
        "wrong_number_of_arguments": pre(lambda f: lambda m, gi, go: times(go, f)),
        "nothing_changed": pre(pre_rebinds),
        "multiplied_the_tuple": pre(lambda f: lambda m, go: go * f),
        "invalid_number_of_gradients": [
            pre(lambda f: lambda m, go: f * go[0]),
            pre(lambda f: lambda m, go: (f * go[0],)),
        ],
        "hooked_the_input": on_the_input_and_the_weights,
        "weights_only": on_the_weight,
        "forward_changed": on_the_output,
        "no_handle": slow_without_handle,
    },
}
RIGHT = {
    "scale_the_flow": [by_a_loop, by_prehook_on_the_input, by_a_function],
    "slow_a_module": [
        slow_by_a_function,
        pre(lambda f: lambda m, go: [g.mul(f) for g in go]),
    ],
}
