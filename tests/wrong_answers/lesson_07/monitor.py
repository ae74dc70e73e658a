"""Answers about a monitor of the gradients' sizes."""

from __future__ import annotations

import contextlib

import torch


class Monitor:
    """Right in itself; the wrong ones change one thing."""

    def __init__(self, model):
        self.model, self.norms, self.handles = model, {}, []

    def learning(self):
        return [(n, p) for n, p in self.model.named_parameters() if p.requires_grad]

    def register(self, name, parameter):
        return parameter.register_hook(lambda g: self.note(name, g))

    def note(self, name, gradient):
        self.norms.setdefault(name, []).append(float(gradient.norm()))

    def __enter__(self):
        self.handles = [self.register(name, p) for name, p in self.learning()]
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()


class OfAccumulated(Monitor):
    def register(self, name, parameter):
        return parameter.register_post_accumulate_grad_hook(lambda p: self.note(name, p.grad))


class ReadsGradInTheHook(Monitor):
    def register(self, name, parameter):
        def hook(g):
            old = torch.zeros_like(g) if parameter.grad is None else parameter.grad
            self.note(name, old)

        return parameter.register_hook(hook)


class LateBinding(Monitor):
    def __enter__(self):
        for name, p in self.learning():
            self.handles.append(p.register_hook(lambda g: self.note(name, g)))  # noqa: B023
        return self


class AllParameters(Monitor):
    def learning(self):
        return list(self.model.named_parameters())


class WakesTheFrozen(Monitor):
    def learning(self):
        return [(n, p.requires_grad_()) for n, p in self.model.named_parameters()]


class NeverRemoves(Monitor):
    def __exit__(self, *error):
        self.handles = []


class OnlyWhenWell(Monitor):
    def __exit__(self, kind, *error):
        if kind is None:
            super().__exit__()


class Swallows(Monitor):
    def __exit__(self, *error):
        super().__exit__()
        return True


class ForgetsSelf(Monitor):
    def __enter__(self):
        super().__enter__()


class ReadsAtTheEnd(Monitor):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        for name, p in self.learning():
            if p.grad is not None:
                self.note(name, p.grad)


class NeverStarts(Monitor):
    def __enter__(self):
        return self


class EmptiesGrad(Monitor):
    def __exit__(self, *error):
        super().__exit__()
        self.model.zero_grad()


class EmptiesGradFirst(Monitor):
    def __enter__(self):
        self.model.zero_grad()
        return super().__enter__()


class Normalises(Monitor):
    def note(self, name, gradient):
        super().note(name, gradient)
        return gradient / gradient.norm()


class KeepsTensors(Monitor):
    def note(self, name, gradient):
        self.norms.setdefault(name, []).append(gradient.norm())


class KeepsGradients(Monitor):
    def note(self, name, gradient):
        self.norms.setdefault(name, []).append(gradient.detach().clone())


class OneNumber(Monitor):
    def note(self, name, gradient):
        self.norms[name] = float(gradient.norm())


class Squares(Monitor):
    def note(self, name, gradient):
        self.norms.setdefault(name, []).append(float(gradient.square().sum()))


class Means(Monitor):
    def note(self, name, gradient):
        self.norms.setdefault(name, []).append(float(gradient.abs().mean()))


class ByNumber(Monitor):
    def learning(self):
        return list(enumerate(p for p in self.model.parameters() if p.requires_grad))


class RegistersAtOnce(Monitor):
    def __init__(self, model):
        super().__init__(model)
        super().__enter__()

    def __enter__(self):
        return self


class ClearsAll(Monitor):
    def __exit__(self, *error):
        for p in self.model.parameters():
            (p._backward_hooks or {}).clear()


class MarksTheModel(Monitor):
    def __enter__(self):
        self.model.flow = self
        return super().__enter__()


class StoresAndReturns(Monitor):
    """A logging lambda that hands back what it stored."""

    def register(self, name, parameter):
        return parameter.register_hook(
            lambda g: self.norms.setdefault(name, [g.norm().item()]) and g.abs()
        )


class Differences(Monitor):
    """What `.grad` became, minus what it was."""

    def __enter__(self):
        last = {n: None if p.grad is None else p.grad.clone() for n, p in self.learning()}

        def hook_for(name):
            def hook(p):
                now = p.grad.detach().clone()
                self.note(name, now if last[name] is None else now - last[name])
                last[name] = now

            return hook

        self.handles = [
            p.register_post_accumulate_grad_hook(hook_for(n)) for n, p in self.learning()
        ]
        return self


class ByAStack:
    def __init__(self, model):
        self.model = model
        self.norms = {name: [] for name, p in model.named_parameters() if p.requires_grad}

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        for name, p in self.model.named_parameters():
            if name in self.norms:

                def hook(g, part=self.norms[name]):
                    part.append(torch.linalg.vector_norm(g.detach()))

                self.stack.enter_context(p.register_hook(hook))
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)


WRONG = {
    "gradient_flow": {
        "norms_of_accumulated": [OfAccumulated, ReadsGradInTheHook],
        "late_binding": LateBinding,
        "hook_on_untracked": AllParameters,
        "flags_changed": WakesTheFrozen,
        "hooks_left": NeverRemoves,
        "left_after_error": OnlyWhenWell,
        "swallowed_error": Swallows,
        "no_norms": ForgetsSelf,
        "not_each_pass": ReadsAtTheEnd,
        "grads_changed": [EmptiesGrad, EmptiesGradFirst, Normalises, StoresAndReturns],
        "nothing_collected": NeverStarts,
        "graph_held": KeepsTensors,
        "not_numbers": KeepsGradients,
        "not_a_list": OneNumber,
        "no_root": Squares,
        "other_norm": Means,
        "wrong_names": ByNumber,
        "registered_too_early": RegistersAtOnce,
        "removed_others": ClearsAll,
        "attributes_left": MarksTheModel,
    },
}
RIGHT = {"gradient_flow": [Monitor, Differences, ByAStack]}
