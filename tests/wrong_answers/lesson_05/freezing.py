"""Answers about a module that is frozen for a while."""

from __future__ import annotations

from contextlib import contextmanager

import torch


def flags_of(module):
    return [(p, p.requires_grad) for p in module.parameters()]


def put_back(flags):
    for p, flag in flags:
        p.requires_grad_(flag)


def without_decorator(module):
    flags = flags_of(module)
    module.requires_grad_(False)
    yield
    put_back(flags)


@contextmanager
def without_yield(module):
    flags = flags_of(module)
    module.requires_grad_(False)
    put_back(flags)


@contextmanager
def all_on_afterwards(module):
    module.requires_grad_(False)
    try:
        yield
    finally:
        module.requires_grad_(True)


@contextmanager
def never_put_back(module):
    module.requires_grad_(False)
    yield module


@contextmanager
def without_finally(module):
    flags = flags_of(module)
    module.requires_grad_(False)
    yield
    put_back(flags)


@contextmanager
def keeps_the_error(module):
    flags = flags_of(module)
    module.requires_grad_(False)
    try:
        yield
    except Exception as error:
        print(error)
    put_back(flags)


class SaysYesToErrors:
    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.flags = flags_of(self.module)
        self.module.requires_grad_(False)

    def __exit__(self, *error):
        put_back(self.flags)
        return True


@contextmanager
def under_no_grad(module):
    with torch.no_grad():
        yield


def just_no_grad(module):
    return torch.no_grad()


@contextmanager
def frozen_and_unrecorded(module):
    flags = flags_of(module)
    module.requires_grad_(False)
    try:
        with torch.no_grad():
            yield
    finally:
        put_back(flags)


@contextmanager
def in_eval(module):
    module.eval()
    try:
        yield
    finally:
        module.train()


@contextmanager
def attribute_on_the_module(module):
    module.requires_grad = False
    yield
    module.requires_grad = True


@contextmanager
def last_layer_only(module):
    flags = flags_of(module)
    for p in list(module.parts)[-1].parameters():
        p.requires_grad = False
    try:
        yield
    finally:
        put_back(flags)


@contextmanager
def weights_only(module):
    flags = flags_of(module)
    for name, p in module.named_parameters():
        if "weight" in name:
            p.requires_grad_(False)
    try:
        yield
    finally:
        put_back(flags)


def frozen(parameters_of):
    """A context manager that freezes only these parameters."""

    @contextmanager
    def temporarily_frozen(module):
        flags = flags_of(module)
        for p in parameters_of(module):
            p.requires_grad_(False)
        try:
            yield
        finally:
            put_back(flags)

    return temporarily_frozen


@frozen
def own_only(module):
    return module.parameters(recurse=False)


@frozen
def of_direct_parts(module):
    return [p for part in module.children() for p in part.parameters(recurse=False)]


@frozen
def of_parts_only(module):
    return [p for part in module.children() for p in part.parameters()]


@contextmanager
def gradients_cleared(module):
    flags = flags_of(module)
    module.requires_grad_(False)
    module.zero_grad()
    try:
        yield
    finally:
        put_back(flags)


@contextmanager
def gradients_taken_away(module):
    flags = flags_of(module)
    try:
        for p, _ in flags:
            p.requires_grad, p.grad = False, None
        yield
    finally:
        put_back(flags)


class Frozen:
    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.on = [p for p in self.module.parameters() if p.requires_grad]
        for p in self.on:
            p.requires_grad = False
        return self.module

    def __exit__(self, kind, error, where):
        for p in self.on:
            p.requires_grad = True


@contextmanager
def by_name(module):
    flags = {name: p.requires_grad for name, p in module.named_parameters()}
    for p in module.parameters():
        p.requires_grad = False
    print("frozen")
    try:
        yield module
    finally:
        for name, p in module.named_parameters():
            p.requires_grad = flags[name]


WRONG = {
    "temporarily_frozen": {
        "not_a_context": without_decorator,
        "never_yields": without_yield,
        "switched_all_on": all_on_afterwards,
        "left_frozen": never_put_back,
        "not_restored_after_error": without_finally,
        "swallowed_error": [keeps_the_error, SaysYesToErrors],
        "no_grad_for_frozen": [under_no_grad, just_no_grad, frozen_and_unrecorded],
        "eval_for_frozen": in_eval,
        "not_frozen": attribute_on_the_module,
        "some_not_frozen": [last_layer_only, weights_only, of_parts_only],
        "parts_not_frozen": own_only,
        "nothing_frozen": of_direct_parts,
        "cleared_grads": [gradients_cleared, gradients_taken_away],
    },
}
RIGHT = {"temporarily_frozen": [Frozen, by_name]}
