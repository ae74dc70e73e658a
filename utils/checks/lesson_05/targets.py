"""Stop the gradient where a number is meant: a target, and a step that should have no slope."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_05.common import LESSON, changed, flat, grads, numbers, run, seed
from utils.checks.mistakes import MISTAKES
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

NET = """\
generator = torch.Generator().manual_seed(seed)
net = torch.nn.Sequential(
    torch.nn.Linear(state.shape[1], 4),
    torch.nn.Tanh(),
    torch.nn.Linear(4, 1),
    torch.nn.Flatten(0),
).double()
for parameter in net.parameters():
    torch.nn.init.uniform_(parameter, -1, 1, generator=generator)
"""
TD_PROGRAM = """\
result = answer(net, state, reward, next_state, gamma)
is_tensor, mode_left = isinstance(result, torch.Tensor), torch.is_grad_enabled()
problem = attempt(lambda: result.backward()) if is_tensor else ""
"""


def _cases_td(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "state": numbers(rng, n, d),
                "reward": numbers(rng, n, low=1, high=3),
                "next_state": numbers(rng, n, d),
                "gamma": gamma,
                "seed": seed(rng),
            },
            "given": NET,
            "program": TD_PROGRAM,
            "report": ["problem", "mode_left"],
            "facts": ["result", "net"],
        }
        for n, d, gamma in ((5, 3, 0.9), (4, 2, 0.7))
    ]


def _judge_td(case: Case, seen: Seen) -> Verdict:
    given = run(case)
    net, reward, gamma = given["net"], given["reward"], given["gamma"]
    now, later = net(given["state"]), net(given["next_state"])
    target = reward + gamma * later.detach()
    error = target - now
    if seen["result"]["kind"] == "plain" and seen["result"]["value"] is not None:
        kind = type(seen["result"]["value"]).__name__
        return not_yet("not_a_tensor", MISTAKES["not_a_tensor"].format(what="Your loss", kind=kind))
    verdict = compare(
        seen["result"],
        error.square().mean().detach(),
        "Your loss",
        simulated={
            "sum_for_mean": error.square().sum(),
            "forgot_gamma": (reward + later - now).square().mean(),
            "not_squared": error.mean(),
            "broadcast_loss": (target - now[:, None]).square().mean(),
        },
        says={
            "forgot_gamma": "{what} counts the next state's value in full. Where is `gamma`?",
            "not_squared": "{what} is the mean of the errors themselves. What of the square?",
            "broadcast_loss": (
                "{what} compares each value with each target. "
                "Which shapes do the two have, and what does their difference have?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    after = seen["net"]
    if changed(facts(net), after, "requires_grad"):
        return not_yet(
            "flags_changed",
            "The loss is right, but parameters of `net` do not require grad any more. The value "
            "must still learn: what is it that should be held fixed, the net or the target?",
        )
    if "second time" in seen["problem"]:
        return not_yet("graph_freed", MISTAKES["graph_freed"].format(what="your loss"))
    if seen["problem"]:
        return not_yet(
            "detached",
            "The value of the loss is right, but no graph leads to `net`: nothing can learn. "
            "Which of the two calls of `net` should be recorded?",
        )

    def gradient(loss: torch.Tensor) -> torch.Tensor | None:
        return flat(torch.autograd.grad(loss, list(net.parameters()), retain_graph=True))

    verdict = compare(
        flat(grads(after)),
        gradient(error.square().mean()),
        "The gradient of `net`'s parameters",
        simulated={
            "target_not_detached": gradient((reward + gamma * later - now).square().mean()),
            "detached_the_value": gradient((reward + gamma * later - now.detach()).square().mean()),
        },
        says={
            "target_not_detached": (
                "{what} flows through the target as well: the net would learn to move the target "
                "to its value, not only the value to the target. What makes a number of it?"
            ),
            "detached_the_value": (
                "{what} comes from the target alone: you cut off the value of `state`. "
                "Which of the two should move towards the other?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["mode_left"]:
        return not_yet(
            "mode_left_switched",
            "The gradient is right, but recording is off since you left, in the whole program. "
            "Which form of the switch ends by itself?",
        )
    return right("The value moves towards its target, and the target stands still.")


TD = Exercise(
    id="td_loss",
    title="A target that stands still",
    lesson=LESSON,
    points=2,
    minutes=6,
    difficulty=2,
    answer="td_loss",
    observe="call_in_program",
    cases=_cases_td,
    judge=_judge_td,
    hints=(
        "The net is called twice. Which of the two results should move when the loss falls?",
        "The target is meant as a number, so its history has to go; the value of `state` keeps its "
        "own. There is a method that gives the same numbers without the history.",
        "First the target: reward plus `gamma` times the detached value of `next_state`. Then the "
        "mean of the squared differences to the value of `state`.",
    ),
    symptom_hints={
        "detached": "A block of `no_grad` around everything also covers the value.",
        "inference_tensor": "Which block makes tensors that backward may save?",
    },
    names=("detach", "no_grad"),
)

ROUND_PROGRAM = """\
source = x if leaf else x * 1
result = answer(source)
is_tensor = isinstance(result, torch.Tensor)
tracked = is_tensor and result.requires_grad
problem = attempt(lambda: result.backward(v)) if tracked else ""
"""


def _cases_round(rng: torch.Generator) -> list[Case]:
    return [
        {
            # Distinct fractions, negative and positive: no other rounding gives the same.
            "inputs": {
                "x": torch.tensor([-2.7, -1.2, 0.6, 1.8, 3.4, 0.2], dtype=dtype)[:n]
                + numbers(rng, n, low=-0.09, high=0.09).to(dtype),
                "v": numbers(rng, n, low=0.5, high=2).to(dtype),
                "leaf": leaf,
            },
            "leaves": ["x"],
            "program": ROUND_PROGRAM,
            "report": ["tracked", "problem"],
            "facts": ["x", "source", "result"],
        }
        for n, leaf, dtype in ((6, True, torch.float64), (5, False, torch.float64))
    ]


def _judge_round(case: Case, seen: Seen) -> Verdict:
    x, v = case["inputs"]["x"], case["inputs"]["v"]
    verdict = compare(
        seen["result"],
        x.round(),
        "What you return",
        simulated={
            "not_rounded": x,
            "other_rounding": [x.floor(), x.ceil(), x.trunc()],
            "not_rounded_back": [x - x.round(), x.round() - x],
        },
        says={
            "not_rounded": "{what} is `x`, not rounded. Which of the two should be seen forward?",
            "other_rounding": (
                "{what} is rounded, but not to the nearest whole number. "
                "Which way do `floor`, `ceil` and a cast to `int` go?"
            ),
            "not_rounded_back": (
                "{what} is only the difference that rounding makes. What is it to be added to?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if any(not close(seen[name]["value"], x) for name in ("x", "source")):
        return not_yet("changed_input", MISTAKES["changed_input"].format(what="`x`"))
    if not seen["tracked"]:
        return not_yet("detached", MISTAKES["detached"].format(what="What you return"))
    if seen["problem"]:
        return not_yet(
            "backward_fails",
            f"The values are right, but backward stops: {seen['problem']}. Which operation is it?",
        )
    gradient = seen["x"]["grad"]
    if gradient is None:
        return not_yet(
            "new_leaf",
            "What you return requires grad, but nothing arrived at `x`: it is a new leaf, and "
            "backward ends there. Which of your calls cut it off from `x`?",
        )
    verdict = compare(
        gradient,
        v,
        "`x.grad`",
        simulated={
            "zero_slope": torch.zeros_like(v),
            "sign_of_the_correction": -v,
            "slope_twice": 2 * v,
            "ones_instead_of_v": torch.ones_like(v),
        },
        says={
            "zero_slope": (
                "{what} is zero: the slope of rounding arrived, and that is flat almost everywhere."
                " Which part of your sum should autograd take for a constant?"
            ),
            "sign_of_the_correction": (
                "{what} has the wrong sign: the part that should be a constant is the one that "
                "autograd follows. Which of your two parts did you detach?"
            ),
            "slope_twice": "{what} is twice too large. How often does `x` occur undetached?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    return right("Rounded on the way there, and a straight line on the way back.")


ROUND = Exercise(
    id="round_through",
    title="Round forward, straight through backward",
    lesson=LESSON,
    points=2,
    minutes=8,
    difficulty=3,
    answer="round_through",
    observe="call_in_program",
    cases=_cases_round,
    judge=_judge_round,
    hints=(
        "The slope of `round` is zero. Which function has the slope that you want, and what must "
        "be added to its value?",
        "A detached tensor is a constant to backward. So put the result together from two parts: "
        "one carries the slope, the other corrects the value.",
        "`x` itself carries the slope one. The constant to be added is what rounding changes: "
        "the rounded value minus `x`, as a whole without history.",
    ),
    symptom_hints={
        "zero_slope": "Write down the slope of each part of your sum. Which ones are followed?",
    },
    names=("detach",),
)
