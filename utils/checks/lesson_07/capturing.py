"""Forward hooks by layer name."""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, numbers, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

NET = """\
class Block(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mix = torch.nn.Linear(size, size)
        self.act = torch.nn.Tanh()

    def forward(self, x):
        return self.act(self.mix(x)) + x


class Fails(torch.nn.Module):
    def forward(self, x):
        raise KeyError("own error")


net = torch.nn.Sequential()
net.add_module("first", torch.nn.Linear(x.shape[1], 3))
net.add_module("relu", torch.nn.ReLU(inplace=True))
net.add_module("block", Block(3))
net.add_module("head", torch.nn.Linear(3, 2))
fill(net.double(), seed)
broken = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 3), Fails()).double()
LAYERS = ("first", "relu", "block.mix", "block.act", "head")
"""
CAPTURE_PROGRAM = """\
result = answer(net, x)
left = hooks_on(net)
complaint = attempt(lambda: answer(broken, x))
left_after_error = hooks_on(broken)
"""


def _cases_capture(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, n, d), "seed": seed(rng)},
            "given": TOOLS + NET,
            "program": CAPTURE_PROGRAM,
            "report": ["left", "complaint", "left_after_error"],
            "facts": ["result"],
        }
        for n, d in ((6, 2), (5, 4))
    ]


def _judge_capture(case: Case, seen: Seen) -> Verdict:
    result = seen["result"]
    if result["kind"] not in ("tuple", "list") or len(result["items"]) != 2:
        return not_yet(
            "not_a_pair",
            "`capture` should return two things: what the model gives, and a dict of activations. "
            "What did yours return?",
        )
    out, captured = result["items"]
    if captured["kind"] != "dict":
        return not_yet(
            "not_a_pair",
            "The second thing that `capture` returns should be a dict. What is it in yours?",
        )
    output, want = _reference(case)
    if compare(out, output, "The output").outcome != RIGHT or not out["requires_grad"]:
        return not_yet(
            "replaced_the_output",
            "The first thing that you return is not what the model gives without hooks, or it has "
            "lost its graph. Did a hook hand something back that took the output's place, or was "
            "recording off?",
        )
    verdict = _judge_activations(captured["items"], want)
    if verdict.outcome != RIGHT:
        return verdict
    if seen["left"]:
        return not_yet(
            "hooks_left",
            "The activations are right, but your hooks are still on the model, and run at every "
            "call from now on. What did each registration return?",
        )
    if not seen["complaint"].startswith("KeyError"):
        return not_yet(
            "swallowed_error",
            "A layer raised an error, and the caller did not get it. Should it stop at you?",
        )
    if seen["left_after_error"]:
        return not_yet(
            "left_after_error",
            "A layer raised an error, and your hooks stayed on the model. "
            "Which block runs whether or not an error passes through?",
        )
    return right("Every activation under its name, and nobody can tell that you were there.")


def _judge_activations(captured: dict[str, Seen], want: dict[str, torch.Tensor]) -> Verdict:
    names = set(captured)
    if len(names) == 1 and names <= set(want):
        return not_yet(
            "late_binding",
            "There is one entry only. Your hooks look up the loop's variable when they run, and "
            "by then the loop is over. How can each keep its own name?",
        )
    if names and all(name.split("(")[0].strip()[:1].isupper() for name in names):
        return not_yet(
            "named_by_class",
            "Your keys are names of classes, which several layers share. "
            "Where does the model keep what it calls its layers?",
        )
    if "block" in names or "" in names:
        return not_yet(
            "containers_too",
            "There is an entry for a module that is made of others, not a layer of its own. "
            "How do you tell one that has no children?",
        )
    if names != set(want):
        return not_yet(
            "wrong_names",
            f"Your keys are {', '.join(sorted(names)) or 'none'}, and that is not what the model "
            "calls all its layers. Which method gives names with dots, down to the last level?",
        )
    for name, value in want.items():
        fact = captured[name]
        if fact["kind"] != "tensor":
            return not_yet(
                "not_tensors",
                f'The entry for "{name}" is not a tensor. Which of the hook\'s arguments is what '
                "the layer gives: the tuple, or the tensor?",
            )
        if name == "first" and close(fact["value"], value.clamp(min=0)):
            return not_yet(
                "not_copied",
                'The entry for "first" has lost its negative numbers: the layer after it works in '
                "place and overwrote what you kept. What should you keep?",
            )
        if fact["requires_grad"]:
            return not_yet(
                "not_detached",
                "An activation in your dict requires grad, so it keeps the whole graph of this "
                "pass alive. What leaves the graph behind?",
            )
        verdict = compare(fact, value, f'The activation of "{name}"')
        if verdict.mistake in ("wrong_shape", "wrong_values"):
            return not_yet(
                "wrong_activation",
                f'The entry for "{name}" is not what that layer gives. Is it what goes in, a '
                "gradient, or another layer's?",
            )
        if verdict.outcome != RIGHT:
            return verdict
    return right()


def _reference(case: Case) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    scope = run(case)
    net: Any = scope["net"]
    first = net.first(scope["x"])
    relu = first.clamp(min=0)
    mix = net.block.mix(relu)
    head = net.head(mix.tanh() + relu)
    values = dict(zip(scope["LAYERS"], (first, relu, mix, mix.tanh(), head), strict=True))
    return head.detach(), {name: value.detach() for name, value in values.items()}


CAPTURE = Exercise(
    id="capture_activations",
    title="Capture activations by layer name",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="capture",
    observe="call_in_program",
    cases=_cases_capture,
    judge=_judge_capture,
    hints=(
        "A layer knows nothing of its name, and its output comes in the forward pass. Who knows "
        "the names, and which hook runs right after a layer's forward?",
        "A forward hook gets the module, the tuple of inputs and the output; it returns nothing. "
        "A layer behind may overwrite that output in place.",
        "Walk through `named_modules`, take those without children, let a helper make each hook. "
        "Keep a detached clone. Call the model in a `try`, remove all handles in its `finally`.",
    ),
    symptom_hints={
        "replaced_the_output": "A one-line lambda with `setdefault` returns what it stored, and a "
        "forward hook's result takes the output's place.",
        "late_binding": "A default argument of the hook, or a function that makes it, fixes the "
        "name.",
    },
    names=("register_forward_hook", "RemovableHandle"),
)
