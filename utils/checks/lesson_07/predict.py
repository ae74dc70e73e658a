"""Eighteen short programs with hooks: who is called, in which order, and what comes of it?"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON
from utils.checks.verdict import Verdict, not_yet, right

# The notebook shows these very lines. Each program starts with these names and leaves `seen`.
GIVEN = """\
x = torch.ones(1, requires_grad=True)
seen = []
layer = torch.nn.Linear(1, 1, bias=False)
torch.nn.init.constant_(layer.weight, 3.0)


class Twin(torch.nn.Module):
    def forward(self, x):
        return (x * 3) + 1


class InADict(torch.nn.Module):
    def forward(self, x):
        return {"out": x * 3}
"""
PROGRAMS = {
    1: """\
h = x * 2
h.register_hook(lambda g: seen.append("tensor hook"))
h.grad_fn.register_prehook(lambda arrived: seen.append("node prehook"))
h.grad_fn.register_hook(lambda leaves, arrived: seen.append("node hook"))
x.register_post_accumulate_grad_hook(lambda leaf: seen.append("post-accumulate"))
h.sum().backward()""",
    2: """\
def hook(g):
    g = g * 10
x.register_hook(hook)
x.sum().backward()
seen = x.grad.item()""",
    3: """\
for _ in range(2):
    x.register_hook(lambda g: g * 2)
x.sum().backward()
seen = x.grad.item()""",
    4: """\
x.register_hook(lambda g: seen.append(g.item()))
(x * 2 + x * 3).backward()""",
    5: """\
x.register_hook(lambda g: seen.append(g.item()))
for _ in range(2):
    (x * 3).backward()""",
    6: """\
x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.item()))
for _ in range(2):
    (x * 3).backward()""",
    7: """\
x.register_hook(lambda g: seen.append("tensor hook"))
x.register_post_accumulate_grad_hook(lambda leaf: seen.append("post-accumulate"))
torch.autograd.grad((x * 2).sum(), x)""",
    8: """\
(x * 2).register_post_accumulate_grad_hook(print)""",
    9: """\
h = x * 2
h.retain_grad()
h.register_hook(lambda g: g * 10)
h.sum().backward()
seen = h.grad.item()""",
    10: """\
layer.register_full_backward_hook(lambda m, sent, came: seen.append("called"))
layer(x)""",
    11: """\
layer.register_full_backward_hook(lambda m, sent, came: seen.append(came[0].item()))
layer(x).backward()  # the output is 3, the weight is 3""",
    12: """\
layer.register_full_backward_hook(
    lambda m, sent, came: seen.append(m.weight.grad is None))
layer(torch.ones(1)).backward()""",
    13: """\
layer.register_full_backward_hook(lambda m, sent, came: (None,))
layer(x).backward()
seen = x.grad""",
    14: """\
layer.register_full_backward_hook(lambda m, sent, came: (came[0] * 2,))
layer(torch.ones(1)).backward()""",
    15: """\
layer.register_full_backward_hook(lambda m, sent, came: None)
torch.nn.ReLU(inplace=True)(layer(x))""",
    16: """\
module = InADict()
module.register_full_backward_hook(lambda m, sent, came: seen.append("called"))
module(x)["out"].backward()""",
    17: """\
module = Twin()
module.register_backward_hook(lambda m, sent, came: seen.append(sent[0].item()))
module(x).backward()""",
    18: """\
layer.register_backward_hook(lambda m, sent, came: None)
layer.register_full_backward_hook(lambda m, sent, came: None)""",
}
RAISES = "raises"

# For each program, the belief that a wrong prediction comes from, and what to say.
BELIEFS = {
    1: (
        "wrong_order",
        "The order of program 1 is another. Follow one gradient: it reaches the tensor `h`, then "
        "the node that made it, leaves that, and ends in a leaf. Where does each hook stand?",
    ),
    2: (
        "rebinding_changes_the_gradient",
        "In program 2 the hook gives its own name `g` a new tensor, and ends. "
        "What does it return, and what does that say to torch?",
    ),
    3: (
        "second_replaces_the_first",
        "Program 3 is what happens when a cell with a registration runs twice. "
        "Does a second hook put the first one out?",
    ),
    4: (
        "once_for_each_use",
        "In program 4 the tensor is used twice. Does its hook run for each use, or where the uses "
        "have been added up?",
    ),
    5: (
        "hook_sees_accumulated",
        "In program 5 the hook runs in two passes. Does it get what is in `.grad` by then, or what "
        "each pass brings?",
    ),
    6: (
        "post_accumulate_sees_one_pass",
        "The hook in program 6 reads `.grad` after it was filled. What is in there from the pass "
        "before?",
    ),
    7: (
        "grad_accumulates",
        "`torch.autograd.grad` in program 7 hands the gradient back and leaves `.grad` alone. "
        "Which of the two hooks waits for something that does not happen?",
    ),
    8: (
        "inner_tensors_accumulate",
        "In program 8 the hook is for an inner tensor. Does anything accumulate there?",
    ),
    9: (
        "retain_grad_comes_first",
        "In program 9 `retain_grad` was called before the hook was registered. Does it keep what "
        "came in, or what all hooks of the tensor made of it?",
    ),
    10: (
        "backward_hook_runs_forward",
        "In program 10 the module is called, and that is all. When does a backward hook run?",
    ),
    11: (
        "grad_output_is_the_activation",
        "In program 11 the hook looks at `grad_output`. Is that what the layer gives, or how the "
        "loss changes with it?",
    ),
    12: (
        "weight_grad_is_there",
        "In program 12 the hook asks for the weight's gradient. The input is data here, so the "
        "hook runs as soon as the gradient at the output is known. What comes after?",
    ),
    13: (
        "none_in_a_tuple_means_unchanged",
        "In program 13 the hook returns a tuple, and a tuple takes the place of what would flow. "
        "What flows, then?",
    ),
    14: (
        "data_gets_a_gradient",
        "In program 14 the hook hands a gradient on to the module's input. Is there anybody before "
        "this layer who could take it?",
    ),
    15: (
        "full_hooks_change_nothing_forward",
        "In program 15 the output of a hooked layer is overwritten in place. A full backward hook "
        "wraps the output, so that it knows when its gradient comes. May that be overwritten?",
    ),
    16: (
        "hook_sees_any_output",
        "The module in program 16 returns a dict. Where does torch look for the tensors whose "
        "gradients it should wait for?",
    ),
    17: (
        "old_hook_sees_the_input",
        "Program 17 uses the old `register_backward_hook`, on a module that runs two operations. "
        "It looks at the last node only. What leaves that one?",
    ),
    18: (
        "old_and_new_mix",
        "In program 18 one module gets a hook of the old kind and one of the new. "
        "Could it serve both?",
    ),
}


@functools.cache
def truth(number: int) -> Any:
    """What program `number` leaves in `seen`, or RAISES."""
    scope: dict[str, Any] = {"torch": torch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(GIVEN, "<given>", "exec"), scope)
        try:
            exec(compile(PROGRAMS[number], "<given>", "exec"), scope)
        except RuntimeError:
            return RAISES
    return scope["seen"]


def _plain(fact: Seen) -> Any:
    if "items" in fact and fact["kind"] in ("list", "tuple"):
        return [_plain(item) for item in fact["items"]]
    if fact["kind"] == "tensor" and fact["value"].numel() == 1:
        return fact["value"].item()
    return fact.get("value", fact["kind"])


def _judge(case: Case, seen: Seen) -> Verdict:
    result = seen["result"]
    if result["kind"] != "dict":
        return not_yet(
            "not_a_prediction",
            "`predictions` should return a dict that gives the number of each program what it "
            "leaves in `seen`. What does yours return?",
        )
    said = {key: _plain(fact) for key, fact in result["items"].items()}
    missing = [number for number in PROGRAMS if str(number) not in said]
    if missing:
        programs = ", ".join(map(str, missing))
        return not_yet(
            "missing_programs", f"You say nothing about these yet: {programs}. What of them?"
        )
    for number, (slug, message) in BELIEFS.items():
        guess, is_so = said[str(number)], truth(number)
        if isinstance(guess, torch.Tensor) or guess != is_so:
            return not_yet(slug, message)
    return right("All eighteen. You know who is called, when, and what comes of it.")


PREDICT = Exercise(
    id="predict_hooks",
    title="Who is called, and what comes of it?",
    lesson=LESSON,
    points=4,
    minutes=15,
    difficulty=3,
    answer="predictions",
    observe="call",
    cases=lambda rng: [{}],
    judge=_judge,
    hints=(
        "For each program ask: on what is the hook, does anything pass there, and does the hook "
        "return something?",
        "A tensor's hooks run when its gradient is complete, before its node's prehook; the node's "
        "own hook follows; `.grad` is filled last. A module's full backward hook looks at "
        "gradients at outputs and inputs, never at values or weights.",
        "Run one program in a fresh cell and print `seen`. Four of them raise. In one the answer "
        "is None, and in two the list stays empty.",
    ),
    symptom_hints={
        "wrong_order": "The tensor's hook runs before all that belongs to its node.",
        "weight_grad_is_there": "Print `m.weight.grad` in the hook and after backward.",
    },
    names=("Tensor.register_hook", "register_post_accumulate_grad_hook", "retain_grad"),
)
