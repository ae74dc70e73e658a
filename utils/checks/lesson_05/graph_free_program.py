"""The functions that a graph-free decorator meets, and the program that tries it on them."""

from __future__ import annotations

FUNCTIONS = """\
from collections import OrderedDict, namedtuple
from concurrent.futures import ThreadPoolExecutor

notes = []
Pair = namedtuple("Pair", "first second")
weight = torch.nn.Parameter(torch.ones(2))


def affine(x, *, scale, shift=1.0):
    "Scales and shifts."
    notes.append(torch.is_grad_enabled())
    return scale * x + shift


def report(x):
    return {"parts": [x * 2, (x.sum(), None)], "name": "report", "count": 3}


def hands_it_back(x):
    return x


def wakes_up(x):
    with torch.enable_grad():
        return x * 3


def wakes_up_deep_down(x):
    with torch.enable_grad():
        return {"deep": [1, ("a", {"deeper": x * 3})]}


def wakes_up_in_a_list(x):
    with torch.enable_grad():
        return [x.detach(), x * 3]


def hands_out_a_parameter(x):
    return weight


def wakes_up_in_a_named_tuple(x):
    with torch.enable_grad():
        return Pair(1, x * 3)


def wakes_up_in_an_ordered_dict(x):
    with torch.enable_grad():
        return OrderedDict(a=1, b=x * 3)


def works_in_a_thread(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: x * 3).result()


def leaves_it_on(x):
    torch.set_grad_enabled(True)
    return x.detach() * 2


def fails(x):
    raise KeyError("own error")
"""
PROGRAM = """\
def tensors(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    parts = thing.values() if isinstance(thing, dict) else thing
    if not isinstance(thing, dict | list | tuple):
        return []
    return [tensor for part in parts for tensor in tensors(part)]


def end_of(out):
    found = tensors(out)
    if any(tensor.requires_grad for tensor in found):
        return "tracked"
    return "inference" if any(tensor.is_inference() for tensor in found) else "untracked"


leaf = x.clone().requires_grad_()
inner = leaf * 1
recording = torch.is_grad_enabled()
wrapped, not_functions = {}, []
for f in (affine, report, hands_it_back, wakes_up, wakes_up_deep_down, wakes_up_in_a_list,
          hands_out_a_parameter, wakes_up_in_a_named_tuple, wakes_up_in_an_ordered_dict,
          works_in_a_thread, leaves_it_on, fails):
    wrapped[f.__name__] = answer(f)
    not_functions += [] if callable(wrapped[f.__name__]) else [type(wrapped[f.__name__]).__name__]
mode_at_start = torch.is_grad_enabled()
names, docs, result, nested, ends, modes = "", "", None, None, {}, {}
if not not_functions:
    names = getattr(wrapped["affine"], "__name__", "")
    docs = getattr(wrapped["affine"], "__doc__", "")
    try:
        result = wrapped["affine"](inner, scale=2.0, shift=shift)
    except RuntimeError:
        if not any(notes):  # else it found a graph that it should not have let be built
            raise
    modes["affine"] = torch.is_grad_enabled()
    for name in list(wrapped)[1:]:
        torch.set_grad_enabled(recording)
        given = leaf if name == "hands_it_back" else inner
        try:
            out = wrapped[name](given)
            ends[name] = end_of(out)
            nested = out if name == "report" else nested
        except Exception as error:
            own = isinstance(error, KeyError) and error.args == ("own error",)
            ends[name] = type(error).__name__ + (" (own)" if own else "")
        modes[name] = torch.is_grad_enabled()
    torch.set_grad_enabled(recording)
    with torch.no_grad():
        attempt(lambda: wrapped["affine"](inner, scale=1.0))
        modes["under no_grad"] = not torch.is_grad_enabled()
"""
