"""Answers about hooks that are gone afterwards."""

from __future__ import annotations

import contextlib


@contextlib.contextmanager
def no_finally(tensors, hook):
    handles = [tensor.register_hook(hook) for tensor in tensors]
    yield
    for handle in handles:
        handle.remove()


@contextlib.contextmanager
def try_too_late(tensors, hook):
    handles = [tensor.register_hook(hook) for tensor in tensors]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def list_inside(tensors, hook):
    handles = []
    try:
        handles = [tensor.register_hook(hook) for tensor in tensors]
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def swallows(tensors, hook):
    with contextlib.ExitStack() as stack:
        for tensor in tensors:
            stack.callback(tensor.register_hook(hook).remove)
        with contextlib.suppress(Exception):
            yield


@contextlib.contextmanager
def removes_the_last(tensors, hook):
    for tensor in tensors:
        handle = tensor.register_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def never_removes(tensors, hook):
    for tensor in tensors:
        tensor.register_hook(hook)
    yield


@contextlib.contextmanager
def clears_all(tensors, hook):
    try:
        for tensor in tensors:
            tensor.register_hook(hook)
        yield
    finally:
        for tensor in tensors:
            (tensor._backward_hooks or {}).clear()


@contextlib.contextmanager
def skips_who_refuses(tensors, hook):
    handles = [tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def removes_at_once(tensors, hook):
    for tensor in tensors:
        tensor.register_hook(hook).remove()
    yield


@contextlib.contextmanager
def by_a_stack(tensors, hook):
    with contextlib.ExitStack() as stack:
        for tensor in tensors:
            stack.callback(tensor.register_hook(hook).remove)
        yield


@contextlib.contextmanager
def handles_as_contexts(tensors, hook):
    with contextlib.ExitStack() as stack:
        for tensor in tensors:
            stack.enter_context(tensor.register_hook(hook))
        yield


class Attached:
    def __init__(self, tensors, hook):
        self.tensors, self.hook, self.handles = tensors, hook, []

    def __enter__(self):
        try:
            for tensor in self.tensors:
                self.handles.append(tensor.register_hook(self.hook))
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error):
        while self.handles:
            self.handles.pop().remove()


WRONG = {
    "remove_every_handle": {
        "left_after_error": no_finally,
        "left_half_way": [try_too_late, list_inside],
        "swallowed_error": swallows,
        "hooks_left": [removes_the_last, never_removes],
        "removed_others": clears_all,
        "hid_the_refusal": skips_who_refuses,
        "wrong_count": removes_at_once,
    },
}
RIGHT = {"remove_every_handle": [by_a_stack, handles_as_contexts, Attached]}
