"""Switch recording off for a part of a model, without overruling the caller."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_05.common import LESSON, changed, flat, grads, numbers, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The backbone notes whether its own inner result was recorded.
MODEL = """\
class Note(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tracked, self.fails = [], False

    def forward(self, h):
        if self.fails:
            raise KeyError("own error")
        self.tracked.append(h.requires_grad)
        return h


note = Note()
generator = torch.Generator().manual_seed(seed)
backbone = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 4), note, torch.nn.Tanh()).double()
head = torch.nn.Linear(4, v.shape[1]).double()
for parameter in [*backbone.parameters(), *head.parameters()]:
    torch.nn.init.uniform_(parameter, -1, 1, generator=generator)
backbone[2].eval()  # a part with a mode of its own
"""
SCORES_PROGRAM = """\
import copy

with torch.set_grad_enabled(recording):
    result = answer(backbone, head, x, finetune)
    mode_left = torch.is_grad_enabled()
notes = note.tracked
is_tensor = isinstance(result, torch.Tensor)
tracked = is_tensor and result.requires_grad
broken, error_seen = copy.deepcopy(backbone), not fails
broken[1].fails = True
flags = [parameter.requires_grad for parameter in broken.parameters()]
with torch.set_grad_enabled(recording):
    try:
        if fails:
            answer(broken, head, x, finetune)
    except KeyError as error:
        error_seen = error.args == ("own error",)
    back = torch.is_grad_enabled() == recording
    back = back and flags == [parameter.requires_grad for parameter in broken.parameters()]
problem = attempt(lambda: result.backward(v)) if tracked else ""
"""


def _cases_scores(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, n, d),
                "v": numbers(rng, n, m, low=0.5, high=2),
                "seed": seed(rng),
                "finetune": finetune,
                "recording": recording,
                "fails": fails,
            },
            "given": MODEL,
            "program": SCORES_PROGRAM,
            "report": ["mode_left", "back", "error_seen", "notes", "tracked", "problem"],
            "facts": ["result", "backbone", "head"],
        }
        for n, d, m, finetune, recording, fails in (
            (4, 3, 2, False, True, False),
            (2, 4, 3, True, True, False),
            (3, 2, 4, True, False, False),
            (2, 5, 3, False, False, False),
            (3, 4, 2, False, True, True),
        )
    ]


def _judge_scores(case: Case, seen: Seen) -> Verdict:
    verdict = _judge_run(case, seen)
    if verdict.outcome != RIGHT:
        return verdict
    given = run(case)
    for name in ("backbone", "head"):
        if facts(given[name])["training"] != seen[name]["training"]:
            return not_yet(
                "training_flags_changed",
                f"The scores are right, but `{name}` or a part of it is in another mode than "
                "before: `eval()` and `train()` are about Dropout and BatchNorm, and stay. Was "
                "that asked for?",
            )
    if not seen["error_seen"]:
        return not_yet(
            "swallowed_error",
            "The backbone raised an error, and the caller never saw it. Which errors are yours?",
        )
    if not seen["back"]:
        return not_yet(
            "not_restored_after_error",
            "The backbone raised an error, and the grad mode, or a flag, stayed as you had set it: "
            "your line that switches back was never reached. What ends whatever happens?",
        )
    return verdict


def _judge_run(case: Case, seen: Seen) -> Verdict:
    given = run(case)
    backbone, head, x = given["backbone"], given["head"], given["x"]
    finetune, recording = case["inputs"]["finetune"], case["inputs"]["recording"]
    features = backbone(x)
    scores = head(features)
    verdict = compare(
        seen["result"],
        scores.detach(),
        "What you return",
        simulated={"inner_value": features},
        says={"inner_value": "{what} is what the backbone gives. Who makes scores of that?"},
    )
    if verdict.outcome != RIGHT:
        return verdict
    for name in ("backbone", "head"):
        if changed(facts(given[name]), seen[name], "requires_grad"):
            return not_yet(
                "flags_changed",
                f"The scores are right, but parameters of `{name}` have another `requires_grad` "
                "than before. Flags stay when you leave: which switch is undone by itself?",
            )
    if seen["mode_left"] != recording:
        return not_yet(
            "mode_left_switched",
            "When you left, the caller's grad mode was not what it had been: a plain call of "
            "`set_grad_enabled` goes on until somebody switches back. How do you make it end, "
            "whatever happens?",
        )
    if not recording:
        if any(seen["notes"]) or seen["tracked"]:
            return not_yet(
                "overruled_the_caller",
                "The caller has switched recording off, for an evaluation maybe, and your block "
                "switched it on again. How can you ask in which mode you were called?",
            )
        return right("The switch is off exactly as long as the backbone runs.")
    if not seen["tracked"]:
        return not_yet(
            "head_not_recorded",
            "The scores don't require grad, so the head cannot learn. "
            "Where does your block end: before the head runs, or after it?",
        )
    to_head = flat(torch.autograd.grad(scores, head.parameters(), given["v"], retain_graph=True))
    to_backbone = flat(torch.autograd.grad(scores, backbone.parameters(), given["v"]))
    arrived = flat(grads(seen["backbone"]))
    verdict = compare(flat(grads(seen["head"])), to_head, "The gradient of the head")
    if verdict.outcome != RIGHT:
        return verdict
    if finetune:
        if arrived is None:
            return not_yet(
                "never_finetunes",
                "`finetune` is True, and no gradient reached the backbone. What does the flag "
                "change in your function?",
            )
        return compare(arrived, to_backbone, "The gradient of the backbone")
    if arrived is not None:
        return not_yet(
            "always_finetunes",
            "`finetune` is False, and gradients reached the backbone all the same. "
            "Which mode should it have run in?",
        )
    if any(seen["notes"]):
        return not_yet(
            "recorded_then_cut",
            "The gradients are right, but the backbone was recorded first and cut off afterwards: "
            "its whole graph was built, and kept its memory, for nothing. Which mode doesn't even "
            "begin?",
        )
    return right("The switch is off exactly as long as the backbone runs.")


SCORES = Exercise(
    id="score_with_backbone",
    title="Record the head, and the backbone if asked",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="scores",
    observe="call_in_program",
    cases=_cases_scores,
    judge=_judge_scores,
    hints=(
        "Which of the two calls should depend on `finetune`, and when is the switch to be put "
        "back?",
        "There is one context for both answers: it takes a boolean. And one function tells you "
        "whether the caller records at all.",
        "Enter `set_grad_enabled` for the backbone alone, with True only if `finetune` is asked "
        "for and recording is on already. The head runs after the block.",
    ),
    symptom_hints={
        "inference_tensor": "Tensors made in inference mode cannot be saved for the head's own "
        "backward. Which milder mode is there?",
        "head_not_recorded": "Print `torch.is_grad_enabled()` just before the head runs.",
    },
    names=("set_grad_enabled", "is_grad_enabled"),
)
