"""Hooks on the leaves: a mask for a weight's gradient, and training steps inside backward."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import (
    LESSON,
    TOOLS,
    no_handle,
    not_removed,
    numbers,
    run,
    same,
    seed,
)
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

MASK_PROGRAM = """\
if old is not None:  # an earlier backward, before there was any hook
    (weight * old).sum().backward()
handle = answer(weight, mask)
y = weight + update
sent = [first.clone(), second.clone()]
y.backward(sent[0], retain_graph=True)
y.backward(sent[1], retain_graph=True)
masked, other = weight.grad, update.grad
weight.grad = update.grad = None
ok = has_handle(handle)
if ok:
    remove_all(handle)
    y.backward(first)
plain = weight.grad
"""


def _cases_mask(rng: torch.Generator) -> list[Case]:
    def mask(rows: int, columns: int) -> torch.Tensor:
        """Some entries, not half of them, in no order."""
        order = torch.randperm(rows * columns, generator=rng).reshape(rows, columns)
        return order < 1 + rows * columns // 3

    return [
        {
            "inputs": {
                **{name: numbers(rng, *shape) for name in ("weight", "update")},
                **{name: numbers(rng, *shape, low=1, high=3) for name in ("first", "second")},
                "mask": mask(*shape),
                "old": numbers(rng, *shape, low=1, high=3) if started else None,
            },
            "leaves": ["weight", "update"],
            "given": TOOLS,
            "program": MASK_PROGRAM,
            "report": ["ok"],
            "facts": ["masked", "other", "plain", "sent", "weight"],
        }
        for shape, started in (((3, 4), False), ((2, 5), True))
    ]


def _judge_mask(case: Case, seen: Seen) -> Verdict:
    weight, first, second, mask = (
        case["inputs"][name] for name in ("weight", "first", "second", "mask")
    )
    if not close(seen["weight"]["value"], weight):
        return not_yet(
            "masked_the_weight",
            "The entries of `weight` changed. They were to be kept out of training, not out of the "
            "forward pass. What should be zero there?",
        )
    if not seen["weight"]["requires_grad"]:
        return not_yet(
            "froze_all",
            "`weight` does not require grad any more: that flag is for the whole tensor, and some "
            "entries are to be trained. What can look at each entry?",
        )
    total, old = first + second, case["inputs"]["old"]
    before = torch.zeros_like(weight) if old is None else old
    verdict = compare(
        seen["masked"],
        before + mask * total,
        "`weight.grad` after two backward passes",
        simulated={
            "not_returned": before + total,
            "mask_inverted": before + ~mask * total,
            "masked_too_early": mask * (before + first) + second,
            "old_wiped": mask * (before + total),
        },
        says={
            "not_returned": (
                "{what} has all its entries still. If your hook gives its argument a new value, "
                "nobody learns of it. How does a tensor hook say what should flow on?"
            ),
            "mask_inverted": (
                "{what} is there where `mask` is False. Which entries are to be trained?"
            ),
            "old_wiped": (
                "{what} has lost what an earlier backward, before your hook, had put there. "
                "Elsewhere yours was to add zero. Does your hook mask what comes in, or all that "
                "is in `.grad`?"
            ),
            "masked_too_early": (
                "{what} is masked in the first part only. A tensor hook runs before its gradient "
                "is added to `.grad`: what does it get, and what does it find in `.grad`?"
            ),
        },
    )
    edited = not close(seen["sent"]["items"][0]["value"], first)
    if edited and verdict.mistake in ("", "not_returned"):
        return not_yet(
            "edited_in_place",
            "Your hook edits the gradient in place, and that tensor has other readers: the "
            "caller's own vector changed. Which operation makes a new tensor?",
        )
    if verdict.outcome != RIGHT:
        return verdict
    if not close(seen["other"].get("value", mask), total):
        return not_yet(
            "edited_in_place",
            "`weight.grad` is right, but the gradient of a neighbour that got the same tensor "
            "changed too. Which operation makes a new tensor?",
        )
    if not seen["ok"]:
        return no_handle()
    if not close(seen["plain"]["value"], first):
        return not_removed()
    return right("Only the chosen entries learn, and the weight itself was never touched.")


MASK = Exercise(
    id="train_some_entries",
    title="Train only some entries of a weight",
    lesson=LESSON,
    points=2,
    minutes=5,
    difficulty=2,
    answer="train_only",
    observe="call_in_program",
    cases=_cases_mask,
    judge=_judge_mask,
    hints=(
        "`requires_grad` is a flag of the whole tensor. What else stands between a gradient and "
        "`.grad`, and sees every entry?",
        "A tensor hook on the weight gets what this backward brings, before it is added to "
        "`.grad`. What it returns is added in its place.",
        "Multiply the gradient by the mask, out of place, and return the product. The handle goes "
        "to the caller.",
    ),
    symptom_hints={
        "masked_too_early": "Look at the argument of your hook, not at `weight.grad`.",
        "edited_in_place": "Compare what `mul_` does with what `*` does.",
    },
    names=("Tensor.register_hook", "RemovableHandle"),
)

NET = """\
net = torch.nn.Sequential(
    torch.nn.Linear(batch.shape[1], 3),
    torch.nn.Tanh(),
    torch.nn.Linear(3, 4),
    torch.nn.Tanh(),
    torch.nn.Linear(4, 1),
).double()
fill(net, seed)
net[2].bias.requires_grad_(False)


def loss():
    return net(batch).square().mean()
"""
TRAIN_PROGRAM = """\
handles = answer(net, lr)
loss().backward()
once = {name: p.detach().clone() for name, p in net.named_parameters()}
left = {name: p.grad for name, p in net.named_parameters() if p.grad is not None}
zeros = bool(left) and not any(bool(gradient.any()) for gradient in left.values())
left = sorted(left)
loss().backward()
twice = {name: p.detach().clone() for name, p in net.named_parameters()}
ok = has_handle(handles)
if ok:
    remove_all(handles)
loss().backward()
thrice = {name: p.detach().clone() for name, p in net.named_parameters()}
"""


def _cases_train(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"batch": numbers(rng, n, d), "seed": seed(rng), "lr": lr},
            "given": TOOLS + NET,
            "program": TRAIN_PROGRAM,
            "report": ["once", "twice", "thrice", "left", "zeros", "ok"],
            "facts": ["net"],
        }
        for n, d, lr in ((5, 2, 0.5), (3, 4, 0.25))
    ]


def _judge_train(case: Case, seen: Seen) -> Verdict:
    start, want = _trained(case, 0), _trained(case, 1)
    if not same(seen["once"], want):
        up = {name: 2 * start[name] - p for name, p in want.items()}
        if same(seen["once"], start):
            return not_yet(
                "not_moved",
                "After backward no parameter has moved. Do your hooks change the parameter itself, "
                "or a name inside the function?",
            )
        if same(seen["once"], up):
            return not_yet("uphill", "Your steps go uphill. Which way does the loss fall?")
        still = [name for name, p in want.items() if close(seen["once"][name], start[name])]
        still = [name for name in still if not close(want[name], start[name])]
        if still:
            return not_yet(
                "some_not_moved",
                "Some parameters moved, and others did not, though they require grad. Which ones "
                "have a hook, and which parameter does each hook move?",
            )
        return not_yet(
            "wrong_step",
            "The parameters moved, but not by `lr` times the gradient of this backward. "
            "What does each hook subtract, and how often does it run?",
        )
    if seen["left"] and seen["zeros"]:
        return not_yet(
            "zeroed_not_freed",
            "The steps are right, but each `.grad` is a tensor of zeros, which takes as much "
            "memory as before. What says 'nothing there', and lets the memory go?",
        )
    if seen["left"]:
        return not_yet(
            "grad_left",
            "The step is right, but gradients are left in `.grad` when backward returns: the "
            "memory that this saves is not saved, and the next pass adds up. Does your hook run "
            "before or after `.grad` is filled, and who empties it?",
        )
    if not same(seen["twice"], _trained(case, 2)):
        return not_yet(
            "second_step_differs",
            "The first backward trains right, the second does not. What is left over from the "
            "first, or counted when the hooks were made?",
        )
    if not seen["ok"]:
        return no_handle("a list of handles")
    if not same(seen["thrice"], seen["twice"]):
        return not_removed()
    return right("Each gradient lives for a moment: the step is taken, and its memory is free.")


def _trained(case: Case, steps: int) -> dict[str, torch.Tensor]:
    scope = run(case)
    parameters = dict(scope["net"].named_parameters())
    optimiser = torch.optim.SGD(parameters.values(), lr=case["inputs"]["lr"])
    for _ in range(steps):
        optimiser.zero_grad()
        scope["loss"]().backward()
        optimiser.step()
    return {name: p.detach() for name, p in parameters.items()}


TRAIN = Exercise(
    id="step_in_backward",
    title="The optimiser steps inside backward",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="step_in_backward",
    observe="call_in_program",
    cases=_cases_train,
    judge=_judge_train,
    hints=(
        "When a leaf's `.grad` has just been filled, nobody needs it but the step. "
        "Which hook runs at that moment?",
        "A post-accumulate hook belongs to a leaf and is called with it. It returns nothing; it "
        "may move the leaf and empty its `.grad`.",
        "One hook for every parameter that requires grad. Inside, without recording: subtract "
        "`lr` times `.grad` in place, then set `.grad` to None. Collect the handles.",
    ),
    symptom_hints={
        "grad_left": "The plain tensor hook runs before `.grad` is filled, so it cannot empty it.",
        "hook_on_untracked": "A frozen parameter takes no hook: ask for its flag first.",
    },
    names=("register_post_accumulate_grad_hook", "RemovableHandle"),
)
