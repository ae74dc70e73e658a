"""An evaluation that records nothing, switches off what is for training, and puts it all back."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_05.common import LESSON, changed, numbers, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The last part notes what it meets, and refuses a batch that holds NaN.
MODEL = """\
class Note(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tracked, self.modes = [], []

    def forward(self, h):
        if not h.isfinite().all():
            raise ValueError("bad batch")
        self.tracked.append(h.requires_grad)
        self.modes.append(self.training)
        return h


note = Note()
generator = torch.Generator().manual_seed(seed)
d = batches[0][0].shape[1]
model = torch.nn.Sequential(
    torch.nn.Linear(d, 4),
    torch.nn.BatchNorm1d(4),
    torch.nn.Tanh(),
    torch.nn.Dropout(0.5),
    torch.nn.Linear(4, 1),
    torch.nn.Flatten(0),
    note,
).double()
for parameter in model.parameters():
    torch.nn.init.uniform_(parameter, 0.2, 1, generator=generator)
model.train(training)
model[1].eval()  # a frozen BatchNorm: its own flag has another value
"""
PROGRAM = """\
stopped, result = "", None
try:
    result = answer(model, batches)
except ValueError as error:
    if "bad batch" not in str(error):
        raise
    stopped = "bad batch"
mode_left, notes, modes = torch.is_grad_enabled(), note.tracked, note.modes
"""


def _cases(rng: torch.Generator) -> list[Case]:
    cases = []
    for d, sizes, training, bad in (
        (3, (4, 2, 5), True, False),
        (2, (3, 5), False, False),
        (4, (3, 2), True, True),
    ):
        batches = [
            (numbers(rng, n, d), numbers(rng, n, low=k, high=k + 2)) for k, n in enumerate(sizes)
        ]
        if bad:
            batches[-1][0][0, 0] = float("nan")
        cases.append(
            {
                "inputs": {
                    "batches": batches,
                    "seed": seed(rng),
                    "training": training,
                    "bad": bad,
                },
                "given": MODEL,
                "program": PROGRAM,
                "report": ["stopped", "mode_left", "notes", "modes"],
                "facts": ["result", "model"],
            }
        )
    return cases


def _judge(case: Case, seen: Seen) -> Verdict:
    given, batches, bad = run(case), case["inputs"]["batches"], case["inputs"]["bad"]
    model = given["model"]
    before, after = facts(model), seen["model"]
    if bad and not seen["stopped"]:
        return not_yet(
            "swallowed_error",
            "The model raised an error in one of the batches, and it never reached the caller. "
            "How do you tidy up after an error and still let it pass?",
        )
    if any(seen["notes"]):
        return not_yet(
            "graph_built",
            "The model recorded a graph while it was evaluated. `eval()` tells Dropout and "
            "BatchNorm how to behave: what tells autograd?",
        )
    if any(seen["modes"]):
        return not_yet(
            "still_training",
            "The model was in training mode while you evaluated it, so Dropout was at work: call "
            "your function twice, and it differs. `no_grad` stops the recording: what stops "
            "Dropout?",
        )
    if not bad:
        verdict = _judge_loss(model, batches, seen["result"])
        if verdict.outcome != RIGHT:
            return verdict
    if not seen["mode_left"]:
        return not_yet(
            "mode_left_switched",
            "After your evaluation nothing is recorded any more, in the whole program. "
            "Which form of the switch ends by itself, even after an error?",
        )
    verdict = _judge_flags(before["training"], after["training"], bad)
    if verdict.outcome != RIGHT:
        return verdict
    for what in ("value", "requires_grad", "grad"):
        for name in changed(before, after, what):
            return not_yet(
                "changed_model",
                f"`{name}` of the model changed during the evaluation (its {what}). "
                "An evaluation only looks: which line did that?",
            )
    return right("Nothing recorded, nothing dropped out, and every flag is where it was.")


def _judge_flags(before: dict[str, bool], after: dict[str, bool], bad: bool) -> Verdict:
    for name, was in before.items():
        now, where = after[name], f"The model's part `{name}`" if name else "The model"
        if was and not now and bad:
            return not_yet(
                "left_in_eval_after_error",
                f"{where} was training when you came. A batch raised an error, and your line that "
                "switches back was never reached. Which block runs even then?",
            )
        if was and not now:
            return not_yet(
                "left_in_eval",
                f"{where} was training when you came, and is not any more: the next epoch would "
                "train without Dropout. Who switches it back?",
            )
        if now and not was:
            return not_yet(
                "switched_all_on",
                f"{where} was in evaluation mode when you came, and now it is in training mode. "
                "`train()` reaches every part: how do you give each its own flag back?",
            )
    return right()


def _judge_loss(model: torch.nn.Module, batches: list, result: Seen) -> Verdict:
    def squares(training: bool) -> list[torch.Tensor]:
        model.train(training)
        return [(model(x) - y).detach().square() for x, y in batches]

    parts = squares(False)
    want = torch.cat(parts).mean()
    verdict = compare(
        result,
        want,
        "The loss that you return",
        simulated={
            "mean_of_means": torch.stack([part.mean() for part in parts]).mean(),
            "sum_for_mean": [
                torch.cat(parts).sum(),
                torch.stack([part.mean() for part in parts]).sum(),
            ],
            "last_batch_only": [parts[-1].mean(), parts[-1].sum()],
            "first_batch_only": [parts[0].mean()],
            "sum_over_batches": torch.cat(parts).sum() / len(parts),
            "nothing_added_up": torch.zeros_like(want),
        },
        says={
            "none": "{what} is None. Which line should return it, after all batches?",
            "mean_of_means": (
                "{what} is the mean of the batches' means. The batches differ in size: "
                "does each sample count the same?"
            ),
            "last_batch_only": "{what} is the last batch's alone. Where do you add the others up?",
            "first_batch_only": "{what} is the first batch's alone. Is the `return` in the loop?",
            "sum_over_batches": (
                "{what} is the sum over the samples, divided by the number of batches. "
                "What should it be divided by?"
            ),
            "nothing_added_up": (
                "{what} is 0, and the model is not that good. Where do the errors come in, and do "
                "they go into the number that you return?"
            ),
        },
        tolerance=1e-6,
    )
    if verdict.outcome == RIGHT and result.get("requires_grad"):
        return not_yet(
            "tracked", "The loss requires grad, so each evaluation would keep a graph. Whose?"
        )
    if verdict.outcome == RIGHT and result["kind"] == "tensor":
        return not_yet(
            "not_a_plain_number",
            "The loss is right, but it is a tensor. A plain number was asked for, as a log or a "
            "comparison needs it: which method of a tensor with one entry gives that?",
        )
    return verdict


EVALUATE = Exercise(
    id="evaluate",
    title="An evaluation that leaves no trace",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=3,
    answer="evaluate",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Two different things must be off: the recording, and what Dropout and BatchNorm do in "
        "training. Which call is for which?",
        "`eval()` reaches every part of the model. Write down each part's own flag before, and "
        "give it back in a block that runs after an error too.",
        "Collect `(part, part.training)` for all of `model.modules()`, call `eval()`, then sum "
        "squared errors and count samples under `no_grad`, inside `try` with a `finally`.",
    ),
    symptom_hints={
        "switched_all_on": "Each module has a `training` flag of its own that you may set.",
        "still_training": "Call your function twice: does it give the same number?",
    },
    names=("no_grad",),
)
