"""Switch recording: off for a part of a model, and on where somebody has switched it off."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_05.common import LESSON, changed, flat, grads, numbers, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# The backbone notes whether its own inner result was recorded.
MODEL = """\
class Note(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tracked = []

    def forward(self, h):
        self.tracked.append(h.requires_grad)
        return h


note = Note()
generator = torch.Generator().manual_seed(seed)
backbone = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 4), note, torch.nn.Tanh()).double()
head = torch.nn.Linear(4, v.shape[1]).double()
for parameter in [*backbone.parameters(), *head.parameters()]:
    torch.nn.init.uniform_(parameter, -1, 1, generator=generator)
"""
SCORES_PROGRAM = """\
with torch.set_grad_enabled(recording):
    result = answer(backbone, head, x, finetune)
    mode_left = torch.is_grad_enabled()
notes = note.tracked
is_tensor = isinstance(result, torch.Tensor)
tracked = is_tensor and result.requires_grad
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
            },
            "given": MODEL,
            "program": SCORES_PROGRAM,
            "report": ["mode_left", "notes", "tracked", "problem"],
            "facts": ["result", "backbone", "head"],
        }
        for n, d, m, finetune, recording in (
            (4, 3, 2, False, True),
            (2, 4, 3, True, True),
            (3, 2, 4, True, False),
            (2, 5, 3, False, False),
        )
    ]


def _judge_scores(case: Case, seen: Seen) -> Verdict:
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

FUNCTION = """\
def f(x):
    return (weight * x.tanh()).sum(-1) ** 2
"""
SLOPE_PROGRAM = """\
MODES = {
    "on": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
}
with MODES[mode]():
    recording, inferring = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    x = x.clone().requires_grad_(mode == "on")
    if mode == "on":
        x.grad = torch.full_like(x, 5)
    watched = x.requires_grad
    stopped = ""
    try:
        result = answer(f, x)
    except RuntimeError as error:
        if mode == "on":
            raise
        result, stopped = None, str(error)
    mode_kept = recording == torch.is_grad_enabled()
    mode_kept = mode_kept and inferring == torch.is_inference_mode_enabled()
    marked = x.requires_grad != watched or (mode != "on" and x.grad is not None)
    marked = bool(marked or (mode == "on" and not torch.equal(x.grad, torch.full_like(x, 5))))
"""


def _cases_slope(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, n, d), "weight": numbers(rng, d), "mode": mode},
            "given": FUNCTION,
            "program": SLOPE_PROGRAM,
            "report": ["stopped", "mode_kept", "marked"],
            "facts": ["result", "x"],
        }
        for n, d, mode in ((3, 4, "on"), (2, 3, "no_grad"), (4, 2, "inference_mode"))
    ]


def _judge_slope(case: Case, seen: Seen) -> Verdict:
    x, weight, mode = (case["inputs"][name] for name in ("x", "weight", "mode"))
    if seen["stopped"]:
        said = seen["stopped"].split(".")[0]
        where = f"Under `torch.{mode}`, `input_gradient` stopped: {said}."
        if mode == "no_grad":
            return not_yet(
                "recording_is_off",
                f"{where} The caller records nothing. How do you switch recording on for the "
                "lines that need it?",
            )
        if "inference tensor" in said.lower():
            return not_yet(
                "inference_tensor_watched",
                f"{where} You left the mode, but `x` was made in it and stays what it is. "
                "What makes an ordinary tensor of it?",
            )
        return not_yet(
            "enable_grad_in_inference_mode",
            f"{where} `enable_grad` undoes `no_grad`, but inference mode stays. "
            "How do you leave inference mode for a while?",
        )
    inner = (weight * x.tanh()).sum(-1, keepdim=True)
    want = 2 * inner * weight * (1 - x.tanh() ** 2)
    verdict = compare(
        seen["result"],
        want,
        "The gradient that you return",
        simulated={"accumulated_on_old": want + 5, "value_for_gradient": inner.squeeze(-1) ** 2},
        says={
            "accumulated_on_old": (
                "{what} has the old content of `x.grad` in it. Whose `.grad` did backward fill?"
            )
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if seen["marked"] or not close(seen["x"]["value"], x):
        return not_yet(
            "marked_the_input",
            "The gradient is right, but the caller's `x` was changed: its flag, its `.grad` or its "
            "values. What could you watch in its place?",
        )
    if not seen["mode_kept"]:
        return not_yet(
            "mode_left_switched",
            "The gradient is right, but the caller's mode was not put back. "
            "Which form of the switch ends by itself?",
        )
    if seen["result"]["requires_grad"]:
        return not_yet(
            "tracked",
            "The gradient is right, but it requires grad, so it drags a graph along. "
            "Which argument asked for that?",
        )
    return right("On, off, or inference: you get your slope, and nobody notices.")


SLOPE = Exercise(
    id="input_gradient",
    title="A slope, whatever mode you are called in",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="input_gradient",
    observe="call_in_program",
    cases=_cases_slope,
    judge=_judge_slope,
    hints=(
        "What must be on while `f` runs, and what must be true of the tensor that goes in?",
        "Two modes may be in your way. One context undoes `no_grad`; inference mode is only left "
        "by its own context, called with False.",
        "Inside both blocks, make a watched copy of `x`: not just a detached one, since what was "
        "made in inference mode cannot be watched. Then ask `torch.autograd.grad`.",
    ),
    symptom_hints={
        "enable_grad_in_inference_mode": "`torch.inference_mode` takes an argument: try False.",
        "inference_tensor_watched": "An error message about inference tensors names the remedy: "
        "which method makes an ordinary one?",
    },
    names=("enable_grad", "inference_mode"),
)
