"""Keep a module out by the flags of its parameters, for a while."""

from __future__ import annotations

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_05.common import LESSON, numbers, run, seed
from utils.checks.verdict import Verdict, not_yet, right

MODULE = """\
generator = torch.Generator().manual_seed(seed)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(2))
        inner = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
        self.parts = torch.nn.Sequential(
            torch.nn.Linear(x.shape[1], 4), inner, torch.nn.Linear(3, 2)
        )

    def forward(self, x):
        return self.scale * self.parts(x)


module = Scaled().double()
for parameter in module.parameters():
    torch.nn.init.uniform_(parameter, -1, 1, generator=generator)
module.parts[0].bias.requires_grad_(False)  # frozen by somebody else, before
for part in (module, module.parts[0], module.parts[1][0]):  # and a backward has been here
    first = next(part.parameters(recurse=False))
    first.grad = torch.rand(first.shape, generator=generator, dtype=torch.float64)
"""
FROZEN_PROGRAM = """\
def flags():
    return [parameter.requires_grad for parameter in module.parameters()]


def grads():
    return [None if p.grad is None else p.grad.tolist() for p in module.parameters()]


held, touched, cleared = grads(), False, False
own = ["." not in name for name, _ in module.named_parameters()]
made = answer(module)
type_name = type(made).__name__
is_context = hasattr(type(made), "__enter__") and hasattr(type(made), "__exit__")
yields = not hasattr(made, "gen") or hasattr(made.gen, "__next__")
is_context = is_context and yields
inside, after, training, error_seen, after_error = [], [], True, "", []
attributes = []
leaf = x.clone().requires_grad_()
arrived = None
if is_context:
    with made:
        inside, training = flags(), module.training
        attributes = sorted(name for name in vars(module) if "require" in name)
        recording = torch.is_grad_enabled()
        y = module(leaf)
    after, cleared = flags(), grads() != held
    arrived = attempt(lambda: y.sum().backward())
    touched = not cleared and grads() != held
    try:
        with answer(module):
            raise KeyError("from the block")
    except KeyError as error:
        error_seen = str(error)
    except Exception as error:
        error_seen = type(error).__name__
    after_error = flags()
else:
    recording = True
"""
FROZEN_REPORT = ["type_name", "yields", "is_context", "inside", "after", "training", "recording"]
FROZEN_REPORT += ["own", "attributes", "cleared", "arrived", "touched", "error_seen", "after_error"]


def _cases_frozen(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, n, d), "seed": seed(rng)},
            "given": MODULE,
            "program": FROZEN_PROGRAM,
            "report": FROZEN_REPORT,
            "facts": ["leaf"],
        }
        for n, d in ((3, 2), (2, 4))
    ]


def _judge_frozen(case: Case, seen: Seen) -> Verdict:
    module = run(case)["module"]
    flags = [parameter.requires_grad for parameter in module.parameters()]
    if not seen["yields"]:
        return not_yet(
            "never_yields",
            "`temporarily_frozen` never yields, so nothing can happen between freezing and giving "
            "the flags back. Where in your function does the caller's block run?",
        )
    if not seen["is_context"]:
        return not_yet(
            "not_a_context",
            f"`temporarily_frozen(module)` gives `{seen['type_name']}`, which `with` cannot enter. "
            "What makes a context manager of a function that yields once?",
        )
    if not seen["recording"]:
        return not_yet(
            "no_grad_for_frozen",
            "Inside your block nothing at all is recorded, so no gradient goes through the module "
            "to what came before it. Which flags concern the module's own parameters only?",
        )
    if seen["inside"] == flags and not seen["training"]:
        return not_yet(
            "eval_for_frozen",
            "Inside your block the parameters require grad as before, and the module is in "
            "evaluation mode. `eval()` is about Dropout and BatchNorm: which flag says whether a "
            "parameter takes a gradient?",
        )
    if seen["inside"] == flags and not seen["attributes"]:
        return not_yet(
            "nothing_frozen",
            "Inside your block all parameters require grad as before. Which ones do you switch, "
            "and do you reach those of the parts, and of parts of parts?",
        )
    if seen["inside"] == flags:
        return not_yet(
            "not_frozen",
            "Inside your block the parameters require grad as before. An attribute that you give "
            "the module is read by nobody: which flag, on which objects, does autograd look at?",
        )
    top = [flag and not own for flag, own in zip(flags, seen["own"], strict=True)]
    if seen["inside"] == top:
        return not_yet(
            "parts_not_frozen",
            "Inside your block the module's own parameters are frozen, and those of its parts are "
            "not. How do you reach the parts, and the parts of parts?",
        )
    if any(seen["inside"]):
        return not_yet(
            "some_not_frozen",
            f"Inside your block {sum(seen['inside'])} of {len(flags)} parameters still require "
            "grad. Do you reach the module's own, those of its parts, and those of parts of parts?",
        )
    if not seen["training"]:
        return not_yet(
            "eval_for_frozen",
            "Inside your block the module is in evaluation mode. Frozen weights are one thing, "
            "Dropout another: was that asked for?",
        )
    if seen["arrived"] or seen["leaf"]["grad"] is None:
        return not_yet(
            "no_grad_for_frozen",
            "What was computed in your block leads back to nothing: no gradient came through to "
            "the input. What is to be switched off, the recording or the parameters' flags?",
        )
    if seen["cleared"]:
        return not_yet(
            "cleared_grads",
            "A `.grad` of the module is not what it was when you came: somebody's gradient was in "
            "it. You are to move flags: which line touched it?",
        )
    if seen["touched"]:
        return not_yet("not_frozen", "Gradients reached the parameters after all. Which flag?")
    if not any(seen["after"]):
        return not_yet(
            "left_frozen",
            "After your block all is still frozen. What has to run when the block ends?",
        )
    if seen["after"] != flags:
        return not_yet(
            "switched_all_on",
            "After your block more parameters require grad than before: one of them had been "
            "frozen by somebody else. What do you have to remember, and for how many?",
        )
    if seen["error_seen"] != "'from the block'":
        return not_yet(
            "swallowed_error",
            "An error was raised inside the block, and the caller never saw that error. "
            "How do you tidy up and still let it pass?",
        )
    if seen["after_error"] != flags:
        return not_yet(
            "not_restored_after_error",
            "After an error inside the block the module stays frozen: your line behind the `yield` "
            "was never reached. Which block runs whatever happens?",
        )
    return right("Frozen while it lasts, and every flag comes back, after an error too.")


FROZEN = Exercise(
    id="temporarily_frozen",
    title="Frozen for as long as the block lasts",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="temporarily_frozen",
    observe="call_in_program",
    cases=_cases_frozen,
    judge=_judge_frozen,
    hints=(
        "`no_grad` stops all recording in its block. What should be off here, and what should go "
        "on?",
        "Write down each parameter's own flag, switch them off, yield, and give each its flag "
        "back. One decorator of `contextlib` turns that into a context manager.",
        "Put the `yield` into a `try` and the loop over the remembered pairs into its `finally`.",
    ),
    symptom_hints={
        "switched_all_on": "One parameter did not require grad when you came. Does it now?",
        "not_a_context": "A function with `yield` alone makes a generator.",
    },
    names=("requires_grad_()",),
)
