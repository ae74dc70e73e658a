"""Answers about a decorator that proves that no graph was built."""

from __future__ import annotations

import functools

import torch


def tensors_in(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, dict):
        thing = list(thing.values())
    if not isinstance(thing, list | tuple):
        return []
    return [tensor for part in thing for tensor in tensors_in(part)]


def complain(out):
    if any(tensor.requires_grad for tensor in tensors_in(out)):
        raise RuntimeError("a graph was built")
    return out


def no_check(fn):
    return torch.no_grad()(fn)


def inference_mode_alone(fn):
    return torch.inference_mode()(fn)


def asks_for_the_mode(fn):
    @functools.wraps(fn)
    @torch.no_grad()
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        if torch.is_grad_enabled():
            raise RuntimeError("a graph was built")
        return out

    return wrapper


def top_level_only(fn):
    @functools.wraps(fn)
    @torch.no_grad()
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        if isinstance(out, torch.Tensor) and out.requires_grad:
            raise RuntimeError("a graph was built")
        return out

    return wrapper


def one_level_down(fn):
    @functools.wraps(fn)
    @torch.no_grad()
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        parts = out if isinstance(out, list | tuple) else [out]
        if any(isinstance(part, torch.Tensor) and part.requires_grad for part in parts):
            raise RuntimeError("a graph was built")
        return out

    return wrapper


def asks_for_grad_fn(fn):
    @functools.wraps(fn)
    @torch.no_grad()
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        if any(tensor.grad_fn is not None for tensor in tensors_in(out)):
            raise RuntimeError("a graph was built")
        return out

    return wrapper


def checks_without_no_grad(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return complain(fn(*args, **kwargs))

    return wrapper


def detach_all(thing):
    if isinstance(thing, torch.Tensor):
        return thing.detach()
    if isinstance(thing, dict):
        return {key: detach_all(part) for key, part in thing.items()}
    if isinstance(thing, list | tuple):
        return type(thing)(detach_all(part) for part in thing)
    return thing


def cuts_afterwards(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return detach_all(fn(*args, **kwargs))

    return wrapper


def cuts_in_silence(fn):
    @functools.wraps(fn)
    @torch.no_grad()
    def wrapper(*args, **kwargs):
        return detach_all(fn(*args, **kwargs))

    return wrapper


def nameless(fn):
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return complain(fn(*args, **kwargs))

    return wrapper


def asserts(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            out = fn(*args, **kwargs)
        assert not any(tensor.requires_grad for tensor in tensors_in(out))
        return out

    return wrapper


def switches_by_calls(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        torch.set_grad_enabled(False)
        out = complain(fn(*args, **kwargs))
        torch.set_grad_enabled(True)
        return out

    return wrapper


def never_switches_back(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        torch.set_grad_enabled(False)
        return complain(fn(*args, **kwargs))

    return wrapper


def forgets_to_return(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            complain(fn(*args, **kwargs))

    return wrapper


def drops_keywords(fn):
    @functools.wraps(fn)
    def wrapper(*args, scale=1.0, **kwargs):
        with torch.no_grad():
            return complain(
                fn(*args, scale=scale) if "scale" in fn.__code__.co_varnames else fn(*args)
            )

    return wrapper


def catches_everything(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        try:
            with torch.no_grad():
                return complain(fn(*args, **kwargs))
        except Exception as error:
            raise RuntimeError("something went wrong") from error

    return wrapper


def complains_of_all_but_tensors(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            out = fn(*args, **kwargs)
        if not isinstance(out, torch.Tensor) or out.requires_grad:
            raise RuntimeError("a graph was built")
        return out

    return wrapper


def complains_of_arguments(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            out = fn(*args, **kwargs)
        return complain((*args, out)) if not kwargs else complain(out)

    return wrapper


def gives_a_list(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            out = complain(fn(*args, **kwargs))
        return out if isinstance(out, torch.Tensor) else tensors_in(out)

    return wrapper


def exact_types(fn):
    def tracked(thing):
        if type(thing) is torch.Tensor:
            return thing.requires_grad
        if type(thing) is dict:
            thing = list(thing.values())
        return type(thing) in (list, tuple) and any(map(tracked, thing))

    @functools.wraps(fn)
    @torch.no_grad()
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        return complain(torch.ones(1, requires_grad=True)) if tracked(out) else out

    return wrapper


def runs_at_once(fn):
    with torch.no_grad():
        return fn.__name__


def in_inference_mode(fn):
    @functools.wraps(fn)
    @torch.inference_mode()
    def wrapper(*args, **kwargs):
        return complain(fn(*args, **kwargs))

    return wrapper


def by_a_stack(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
        try:
            out = fn(*args, **kwargs)
        finally:
            torch.set_grad_enabled(before)
        stack = [out]
        while stack:
            thing = stack.pop()
            if isinstance(thing, torch.Tensor) and (thing.requires_grad or thing.grad_fn):
                raise RuntimeError(f"{fn} built a graph")
            if isinstance(thing, dict):
                stack.extend(thing.values())
            elif isinstance(thing, tuple | list):
                stack.extend(thing)
        return out

    return wrapper


class Decorated:
    """A decorator that is a class."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn = fn

    @torch.no_grad()
    def __call__(self, *args, **kwargs):
        return complain(self.fn(*args, **kwargs))


WRONG = {
    "graph_free": {
        "no_proof": [no_check, asks_for_the_mode],
        "mode_trusted": inference_mode_alone,
        "nested_overlooked": [top_level_only, one_level_down],
        "subclass_overlooked": exact_types,
        "leaf_overlooked": asks_for_grad_fn,
        "recorded_then_cut": [cuts_afterwards, checks_without_no_grad],
        "cut_in_silence": cuts_in_silence,
        "lost_name": nameless,
        "wrong_error": asserts,
        "mode_left_switched": [switches_by_calls, never_switches_back],
        "none": forgets_to_return,
        "arguments_lost": drops_keywords,
        "swallowed_error": catches_everything,
        "false_alarm": [complains_of_all_but_tensors, complains_of_arguments],
        "changed_output": gives_a_list,
        "ran_at_decoration": runs_at_once,
    },
}
RIGHT = {"graph_free": [in_inference_mode, by_a_stack, Decorated]}
