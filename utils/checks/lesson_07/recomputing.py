"""What the graph does not keep, and computes again in backward."""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, numbers, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

BLOCKS = """\
class Noted(torch.nn.Module):
    def __init__(self, size, number):
        super().__init__()
        self.number = number
        self.mix = torch.nn.Linear(size, size)
        self.drop = torch.nn.Dropout(0.5)
        self.runs = 0

    def forward(self, x):
        self.runs += 1
        order.append(self.number)
        return torch.sigmoid(self.drop(self.mix(x)).exp())


order = []
blocks = [fill(Noted(x.shape[1], number).double(), seed + number) for number in range(count)]
"""
CHECKPOINT_PROGRAM = """\
torch.manual_seed(seed)
result = answer(blocks, x)
pair = isinstance(result, tuple | list) and len(result) == 2
y, counts = result if pair else (result, None)
forward = [block.runs for block in blocks]
order.clear()
said_forward = list(counts) if isinstance(counts, list | tuple) else None
nodes = [y.grad_fn] if isinstance(y, torch.Tensor) and y.grad_fn is not None else []
tracked = bool(nodes)
problem = attempt(lambda: y.backward(v)) if tracked else ""
backward = [block.runs for block in blocks]
said_backward = list(counts) if isinstance(counts, list | tuple) else None
at_weights = [block.mix.weight.grad for block in blocks]
"""


def _cases_checkpoint(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n, d),
                "v": numbers(rng, n, d, low=0.5, high=2),
                "seed": seed(rng),
                "count": count,
            },
            "given": TOOLS + BLOCKS,
            "program": CHECKPOINT_PROGRAM,
            "report": [
                *("pair", "forward", "said_forward", "tracked", "problem"),
                *("backward", "said_backward", "at_weights", "order"),
            ],
            "facts": ["y"],
        }
        for n, d, count in ((4, 3, 3), (2, 5, 2))
    ]


def _judge_checkpoint(case: Case, seen: Seen) -> Verdict:
    count = case["inputs"]["count"]
    if not seen["pair"] or seen["said_forward"] is None:
        return not_yet(
            "not_a_pair",
            "`checkpointed` should return two things: the output, and a list with a number for "
            "each block. What did yours return?",
        )
    if seen["forward"] != [1] * count:
        return not_yet(
            "ran_too_often",
            "In the forward pass each block should run once. Do you call blocks yourself as well, "
            "to count them?",
        )
    y, gradients = _uncheckpointed(case)
    verdict = compare(seen["y"], y, "The output")
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["tracked"]:
        return not_yet(
            "reentrant",
            "The output has no graph: `x` needs no gradient, and the reentrant way looks at inputs "
            "only, never at parameters. Which argument chooses the other way?",
        )
    if seen["problem"]:
        return not_yet(
            "recomputed_differently",
            f"Backward stopped: {seen['problem'].split('.')[0]}. "
            "What is different when a block runs a second time?",
        )
    if seen["backward"] == seen["forward"]:
        return not_yet(
            "nothing_recomputed",
            "No block ran again in backward, so all that is saved inside them was kept. "
            "Who throws it away and calls the block again?",
        )
    if seen["backward"] == [1] * (count - 1) + [1 + count]:
        return not_yet(
            "late_binding",
            "In backward the last block ran in every other's place: your functions look up the "
            "loop's variable when they run, and by then the loop is over. What can a checkpoint "
            "be given in place of a function of yours?",
        )
    if seen["backward"] != [2] * count:
        return not_yet(
            "some_not_checkpointed",
            "In backward not each block ran once more. What is one checkpoint around, and is one "
            "inside another?",
        )
    if seen["order"] != list(reversed(range(count))):
        return not_yet(
            "one_checkpoint",
            "In backward the blocks ran again from the first to the last, all before any gradient "
            "had passed one: everything inside them is kept at the same time then. What is one "
            "checkpoint around?",
        )
    got = seen["at_weights"]
    if any(g is None or not close(g, w) for g, w in zip(got, gradients, strict=True)):
        return not_yet(
            "other_noise",
            "The gradients are not those of the output that you returned: the second run drew "
            "other numbers for its dropout. Who keeps the state of the generator?",
        )
    if not _are_numbers(seen["said_forward"], count):
        return not_yet(
            "not_counts", "The list should hold one whole number a block. What is in yours?"
        )
    if seen["said_forward"] != seen["forward"]:
        return not_yet(
            "miscounted",
            "After the forward pass the list says something else than how often each block ran. "
            "Who counts, and when?",
        )
    if seen["said_backward"] == seen["said_forward"]:
        return not_yet(
            "second_run_not_counted",
            "Each block ran again in backward, and the list does not know: a second run ends "
            "early, once all that backward needs is there, and hooks after forward never come. "
            "Which hook runs at the beginning, and is it still there?",
        )
    if seen["said_backward"] != seen["backward"]:
        return not_yet(
            "miscounted", "After backward the list is not how often each block ran. Who counts?"
        )
    return right("Kept: what goes into each block. All inside was computed twice, and you counted.")


def _are_numbers(thing: Any, count: int) -> bool:
    return len(thing) == count and all(isinstance(item, int | float) for item in thing)


def _uncheckpointed(case: Case) -> tuple[torch.Tensor, list[torch.Tensor]]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case["inputs"]["seed"])
        scope = run(case)
        torch.manual_seed(case["inputs"]["seed"])
        y = scope["x"]
        for block in scope["blocks"]:
            y = block(y)
    y.backward(case["inputs"]["v"])
    return y.detach(), [block.mix.weight.grad for block in scope["blocks"]]


CHECKPOINT = Exercise(
    id="count_recomputation",
    title="Checkpoint, and count what runs again",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="checkpointed",
    observe="call_in_program",
    cases=_cases_checkpoint,
    judge=_judge_checkpoint,
    hints=(
        "If nothing inside a block is kept, how does backward get what it needs there? "
        "How could a hook notice?",
        "`torch.utils.checkpoint.checkpoint` takes a function and its inputs; with `use_reentrant` "
        "False it works when only parameters require grad. A forward pre-hook notices every run.",
        "A list of zeros; for each block a pre-hook that adds one at the block's place, made by a "
        "helper so that it keeps its number. Then send `x` through one checkpoint after another.",
    ),
    symptom_hints={
        "second_run_not_counted": "Backward comes after your function has returned: the hooks must "
        "still be there, and they must run before forward.",
        "no_graph": "There are two kinds of checkpoint: `use_reentrant` chooses.",
    },
    names=("checkpoint", "register_forward_pre_hook"),
)
