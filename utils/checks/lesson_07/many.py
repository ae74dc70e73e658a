"""One hook for many tensors."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, no_handle, not_removed, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

MULTI_PROGRAM = """\
norms = []
inner = a * 2
total_of = [a, b, inner]
handle = answer(total_of, norms.append)
(v * inner * 3).sum().backward(retain_graph=True)
without_b = len(norms)
b.grad = None
((v * inner).sum() + (u * b).sum() + (u * b * 2).sum()).backward(retain_graph=True)
with_all = len(norms) - without_b
ok = has_handle(handle)
norms_seen = list(norms)
if ok:
    remove_all(handle)
    ((v * inner).sum() + (u * b).sum()).backward()
after = len(norms) - len(norms_seen)
numbers_only = all(isinstance(n, int | float | torch.Tensor) for n in norms_seen)
numbers_only = numbers_only and all(torch.as_tensor(n).numel() == 1 for n in norms_seen)
norms_seen = [float(n) for n in norms_seen] if numbers_only else []
"""


def _judge_multi(case: Case, seen: Seen) -> Verdict:
    u, v = case["inputs"]["u"], case["inputs"]["v"]
    if not seen["without_b"] and not seen["with_all"]:
        return not_yet(
            "never_called",
            "Two backward passes came, and `callback` was never called. "
            "On which tensors are your hooks, and what do they wait for?",
        )
    if not seen["without_b"]:
        return not_yet(
            "waits_for_all",
            "In the first backward one of the tensors had no part, and your count never got full. "
            "Who knows beforehand which gradients will come in this pass?",
        )
    if seen["without_b"] != 1 or seen["with_all"] != 1:
        return not_yet(
            "called_too_often",
            f"`callback` was called {seen['without_b']} times in the first backward and "
            f"{seen['with_all']} in the second: once each was asked for. "
            "What is called when the last of several gradients is there?",
        )
    if not seen["numbers_only"]:
        return not_yet(
            "not_a_number",
            "`callback` should get one number, the norm over all gradients of this pass. "
            "What does it get from you?",
        )
    # The gradients of a and inner, without and with b.
    for place, parts in enumerate(([6 * v, 3 * v], [2 * v, 3 * u, v])):
        squares = torch.stack([part.square().sum() for part in parts])
        verdict = compare(
            torch.tensor(seen["norms_seen"][place], dtype=torch.float64),
            squares.sum().sqrt(),
            f"The number in call {place + 1}",
            simulated={
                "sum_of_norms": squares.sqrt().sum(),
                "no_root": squares.sum(),
                "largest_norm": squares.sqrt().max(),
                "mean_of_norms": squares.sqrt().mean(),
            },
            says={
                "sum_of_norms": (
                    "{what} is the sum of the norms. The total norm is that of one long vector: "
                    "what adds up there?"
                ),
                "no_root": "{what} is the sum of squares. Which step makes a norm of it?",
                "largest_norm": "{what} is the norm of one gradient only. What of the others?",
                "mean_of_norms": "{what} is the mean of the norms. Is that how lengths combine?",
            },
            tolerance=1e-6,
        )
        if verdict.outcome != RIGHT:
            if verdict.mistake in ("wrong_values", "wrong_number"):
                return not_yet(
                    "other_norm",
                    f"The number in call {place + 1} is not the total norm of what this pass "
                    "brought. Do you use the gradients that the hook gets, or `.grad`, which adds "
                    "up and may not be filled yet?",
                )
            return verdict
    if not seen["ok"]:
        return no_handle()
    if seen["after"]:
        return not_removed()
    return right("One call a pass, when all that will come is there.")


MULTI = Exercise(
    id="one_hook_for_many",
    title="One call when all gradients are there",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=4,
    answer="on_total_norm",
    observe="call_in_program",
    cases=lambda rng: [
        {
            "inputs": {
                name: numbers(rng, size, low=0.5, high=2)
                for name, size in (("a", 3), ("b", 4), ("u", 4), ("v", 3))
            },
            "leaves": ["a", "b"],
            "given": TOOLS,
            "program": MULTI_PROGRAM,
            "report": [
                *("without_b", "with_all", "ok", "norms_seen", "numbers_only", "after"),
            ],
        }
        for _ in range(2)
    ],
    judge=_judge_multi,
    hints=(
        "Each tensor's own hook knows its own gradient. Who could know that all of this pass have "
        "come, even if some tensor has no part in it?",
        "`torch.autograd.graph.register_multi_grad_hook` takes tensors and a function. That gets "
        "the gradients in the tensors' order, with None for those without a part.",
        "In that function leave out the None, take the norm of each gradient, and the norm of "
        "those norms. Hand that to `callback` and return the handle.",
    ),
    symptom_hints={
        "grad_is_none": "A tensor without a part in this pass has None in its place.",
        "called_too_often": "There is one hook that looks at many tensors together.",
    },
    names=("register_multi_grad_hook", "RemovableHandle"),
)
