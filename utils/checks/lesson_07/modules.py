"""Gate, scale and reverse what flows back through a module, with or without its own weights."""

from __future__ import annotations

import torch

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
from utils.checks.verdict import Verdict, not_yet, right

NETS = """\
class WithGain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(3, 3)

    def forward(self, signal, gain):
        return gain * self.mix(signal).tanh()


class TwoOutputs(torch.nn.Linear):
    def forward(self, signal):
        mixed = super().forward(signal)
        return mixed.sin(), mixed.square()


first = fill(torch.nn.Linear(x.shape[1], 3).double(), seed)
kinds = {"two inputs": WithGain, "two outputs": lambda: TwoOutputs(3, 3)}
module = kinds.get(kind, lambda: torch.nn.Linear(3, 3))()
module = fill(module.double(), seed + 1)
head = fill(torch.nn.Linear(3, 1).double(), seed + 2)
net = torch.nn.ModuleDict({"first": first, "module": module, "head": head})


def loss():
    before = first(x).tanh()
    inside = module(before, gain) if kind == "two inputs" else module(before)
    if kind == "two outputs":
        inside = inside[0] + 2 * inside[1]
    through = head(inside.tanh()).square().sum()
    return through + past(before) if kind == "branch" else through


def past(before):  # another way from the first layer to the loss, beside the module
    return (before.square() * before).sum()
"""
PROGRAM = """\
handle = answer(module, factor)
value, problem = loss(), ""
values_same = bool(torch.allclose(value.detach(), untouched))
try:
    value.backward()
except TypeError as error:
    if "NoneType" not in str(error):
        raise
    problem = str(error)
gradients = {name: p.grad for name, p in net.named_parameters()}
net.zero_grad()
weights_same = all(torch.equal(p, q) for p, q in zip(net.parameters(), weights, strict=True))
ok = has_handle(handle)
if ok:
    remove_all(handle)
if not problem:
    loss().backward()
plain = {name: p.grad for name, p in net.named_parameters()}
"""
BEFORE = """\
untouched = loss().detach()
weights = [p.detach().clone() for p in net.parameters()]
"""


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, 4, d),
                "gain": 1.5,
                "seed": seed(rng),
                "factor": factor,
                "kind": kind,
            },
            "given": TOOLS + NETS + BEFORE,
            "program": PROGRAM,
            "report": ["values_same", "weights_same", "problem", "gradients", "plain", "ok"],
        }
        for d, factor, kind in (
            (2, 0.5, "layer"),
            (4, -2.0, "layer"),
            (2, 0.0, "layer"),
            (3, 0.25, "two inputs"),
            (2, 0.5, "two outputs"),
            (3, 0.5, "branch"),
        )
    ]


def _plain(case: Case) -> dict[str, torch.Tensor]:
    return _scaled(case, 1)


def _scaled(case: Case, factor: float, *parts: str, past_too=False) -> dict[str, torch.Tensor]:
    """The gradients when those of `parts` are scaled, without what came past unless `past_too`."""
    scope = run(case)
    scope["loss"]().backward()
    plain = {name: p.grad.clone() for name, p in scope["net"].named_parameters()}
    scope["net"].zero_grad()
    if case["inputs"]["kind"] == "branch" and not past_too:
        scope["past"](scope["first"](scope["x"]).tanh()).backward()
    beside = {name: p.grad for name, p in scope["net"].named_parameters()}
    for name, gradient in plain.items():
        if name.split(".")[0] in parts:
            rest = 0 if beside[name] is None else beside[name]
            plain[name] = factor * (gradient - rest) + rest
    return plain


def _skipping_the_module(case: Case) -> dict[str, torch.Tensor]:
    """The gradients when what arrives at the module's output is handed on to its input."""
    scope, factor = run(case), case["inputs"]["factor"]
    scope["module"].register_full_backward_hook(
        lambda module, at_inputs, at_outputs: (factor * at_outputs[0], *at_inputs[1:])
    )
    scope["loss"]().backward()
    return {name: p.grad for name, p in scope["net"].named_parameters()}


def _judge_common(case: Case, seen: Seen) -> Verdict | None:
    """The mistakes that both exercises know."""
    plain, factor = _plain(case), case["inputs"]["factor"]
    if not seen["weights_same"]:
        return not_yet(
            "scaled_weights",
            "The parameters themselves changed. Hooks act on what flows: which of their arguments "
            "is a gradient?",
        )
    if not seen["values_same"]:
        return not_yet(
            "forward_changed",
            "The loss is another one with your hook on: you changed what the module gives forward. "
            "Which hook of a module runs on the way back?",
        )
    if seen["problem"]:
        return not_yet(
            "none_in_the_tuple",
            "This module has two inputs, and one of them is a plain number, so its place in the "
            f"tuple holds None: {seen['problem']}. What should your hook return in that place?",
        )
    got = seen["gradients"]
    if same(got, plain):
        return not_yet(
            "nothing_changed",
            "Every gradient is what it is without your hook. If the hook works something out and "
            "returns nothing, who learns of it?",
        )
    if factor == 0 and any(got[name] is None for name in got):
        return not_yet(
            "none_cuts",
            "With a factor of zero the layers before the module have None in `.grad`: None in the "
            "tuple means that there is no gradient at all, not that it is zero. What is zero times "
            "a tensor?",
        )
    for parts in (("first",), ("module", "first")):
        hooked = _scaled(case, factor, *parts, past_too=True)
        if case["inputs"]["kind"] == "branch" and same(got, hooked):
            return not_yet(
                "hooked_the_input",
                "The module's input is also read by another branch, and what comes back from that "
                "is scaled too: a hook on a tensor sees the sum of all that its readers send. "
                "Which hook sees what this module alone hands back?",
            )
    if same(got, _scaled(case, factor, "module")):
        return not_yet(
            "weights_only",
            "The module's own weights got a scaled gradient, and the layers before it got what "
            "they always get. You are on the weights: what carries the gradient on to earlier "
            "layers?",
        )
    return None


def _judge_end(case: Case, seen: Seen, said: str) -> Verdict:
    if not seen["ok"]:
        return no_handle()
    if not same(seen["plain"], _plain(case)):
        return not_removed()
    return right(said)


def _judge_flow(case: Case, seen: Seen) -> Verdict:
    verdict = _judge_common(case, seen)
    if verdict is not None:
        return verdict
    got, factor = seen["gradients"], case["inputs"]["factor"]
    if same(got, _scaled(case, factor, "module", "first")):
        return not_yet(
            "own_weights_too",
            "The layers before the module get `factor` times as much, but so do its own weights, "
            "and those should get what they always get. Is your hook called before or after the "
            "module's gradients are worked out?",
        )
    if not same(got, _scaled(case, factor, "first")):
        if same(got, _skipping_the_module(case)):
            return not_yet(
                "grad_output_returned",
                "The layers before the module get what arrives at its output, as if the module "
                "were not there. Which of the hook's two tuples is on the input's side?",
            )
        return not_yet(
            "other_gradients",
            "Gradients that should stay the same have changed. Which ones does a full backward "
            "hook replace, and which are computed beside them?",
        )
    return _judge_end(
        case, seen, "Earlier layers feel it. The module's own weights, and later layers, do not."
    )


FLOW = Exercise(
    id="scale_the_flow",
    title="Gate, scale and reverse what flows on",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="scale_flow",
    observe="call_in_program",
    cases=_cases,
    judge=_judge_flow,
    hints=(
        "A full backward hook runs when the gradients at the module's inputs are there. "
        "What does it get, and what does it return?",
        "It gets the module and two tuples: gradients at the inputs, gradients at the outputs. A "
        "tuple that it returns replaces the first. The weights' gradients are in neither.",
        "Return a tuple as long as the first one: `factor` times each entry, and None where there "
        "is None. Return the handle as well.",
    ),
    symptom_hints={
        "multiplied_the_tuple": "Multiply each entry, not the tuple around them.",
        "nothing_changed": "A name that is given a new tensor inside a function changes nothing "
        "outside.",
        "none_in_the_tuple": "A comprehension may ask of each entry whether it is None.",
    },
    names=("register_full_backward_hook", "RemovableHandle"),
)


def _judge_slow(case: Case, seen: Seen) -> Verdict:
    verdict = _judge_common(case, seen)
    if verdict is not None:
        return verdict
    got, factor = seen["gradients"], case["inputs"]["factor"]
    if not same(got, _scaled(case, factor, "module", "first")):
        if same(got, _scaled(case, factor, "first")):
            return not_yet(
                "own_weights_missed",
                "The layers before the module get `factor` times as much, and its own weights get "
                "what they always got. Your hook comes too late for them: which kind runs first?",
            )
        return not_yet(
            "other_flow",
            "The module's weights and the earlier layers do not all get `factor` times their "
            "gradient. What does the hook get, and what does it return?",
        )
    return _judge_end(case, seen, "One factor at the output, and all behind it feel it.")


SLOW = Exercise(
    id="slow_a_module",
    title="The same, with the module's own weights",
    lesson=LESSON,
    points=2,
    minutes=5,
    difficulty=3,
    answer="slow_down",
    observe="call_in_program",
    cases=_cases,
    judge=_judge_slow,
    hints=(
        "Before a module's weights get their gradient, something must arrive. At which end of the "
        "module?",
        "There is a hook that runs before the module's backward. It gets the module and the tuple "
        "of gradients at its outputs, and may return another such tuple.",
        "It is registered like the full backward hook, with `pre` in its name. Return `factor` "
        "times each entry of its second argument, and the handle.",
    ),
    symptom_hints={
        "wrong_number_of_arguments": "This hook gets two arguments: module and `grad_output`.",
    },
    names=("register_full_backward_pre_hook", "RemovableHandle"),
)
