"""The exercise that builds something to keep: how much can a network stretch a small step?"""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_04.common import LESSON, built, left_alone, no_tensor, numbers
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

NETWORK = """\
first, last = torch.nn.Linear(*B.T.shape), torch.nn.Linear(*A.T.shape)
f = torch.nn.Sequential(first, torch.nn.Tanh(), last).double()
with torch.no_grad():
    for parameter, value in zip(f.parameters(), (B, b, A, c)):
        parameter.copy_(value)
last.bias.grad = torch.full_like(last.bias, 0.25)
"""


def _rows(rng: torch.Generator, count: int, size: int, *, unlucky: bool = False) -> torch.Tensor:
    """Orthonormal rows; with `unlucky`, the first one is at right angles to ones."""
    rows = numbers(rng, count, size)
    if unlucky:
        rows[0] -= rows[0].mean()
    return torch.linalg.qr(rows.T).Q.T


def _draw(
    rng: torch.Generator,
    m: int,
    n: int,
    middle: int,
    tolerance: float,
    *,
    unlucky: bool = False,
    scale: float = 1,
) -> Case:
    """A network whose J at x is U diag(stretch) B, so that its singular values are known."""
    x, b = numbers(rng, n), numbers(rng, middle)
    B = _rows(rng, middle, n, unlucky=unlucky)
    slope = 1 - torch.tanh(B @ x + b) ** 2
    stretch = (
        scale * 10 * (3.5 + numbers(rng, 1)) * 0.6 ** torch.arange(middle, dtype=torch.float64)
    )
    A = _rows(rng, middle, m).T * (stretch / slope)
    return {
        "inputs": {"A": A, "B": B, "b": b, "c": numbers(rng, m), "x": x, "tolerance": tolerance},
        "given": NETWORK,
        "built": ["f", "x", "tolerance"],
        "stretch": stretch,
        "scale": scale,
    }


def _cases(rng: torch.Generator) -> list[Case]:
    flat = _draw(rng, 120, 140, 3, 1e-4)
    flat["inputs"]["A"].zero_()
    flat["stretch"] = torch.zeros_like(flat["stretch"])
    return [
        _draw(rng, 300, 220, 4, 1e-3),
        _draw(rng, 160, 250, 5, 1e-8, unlucky=True),
        _draw(rng, 140, 130, 4, 1e-5, scale=1e-7),
        flat,
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    stretch, tolerance = case["stretch"] / case["scale"], case["inputs"]["tolerance"]
    result = dict(seen["result"])
    if isinstance(result.get("value"), float | torch.Tensor):
        result["value"] = result["value"] / case["scale"]  # the tolerance is a relative one
    what = "What `largest_singular_value` returned"
    verdict = no_tensor(seen, "largest_singular_value") or compare(
        result,
        stretch[0],
        what,
        says={
            "nan": "{what} is not a number. Where all slopes are zero, J u is zero for every u, "
            "and so is its length: what do you divide by?"
        },
        tolerance=tolerance,
    )
    if verdict.outcome != RIGHT:
        return _named(case, stretch, result) or verdict
    (m, _), n = case["inputs"]["A"].shape, len(case["inputs"]["x"])
    if size := built(seen, m, n):
        return not_yet(
            "built_jacobian",
            f"The number is right, but a tensor of {size} numbers was made on the way, "
            f"and f has {n} inputs and {m} outputs. "
            "Which products with J, and with its transpose, does power iteration use?",
        )
    if stretch.any() and not seen["runs"]:
        return not_yet(
            "by_hand",
            "The number is right, but no backward ran. Power iteration goes to and fro between "
            "inputs and outputs: which product leads back from the outputs?",
        )
    if seen["calls"] > 600:
        return not_yet(
            "too_many",
            f"The number is right, but `f` ran {seen['calls']} times, where some dozens would do. "
            "How do you notice that the number hardly changes any more?",
        )
    return (
        _judge_network(case, seen)
        or left_alone(case, seen)
        or right(
            "The largest singular value, and never more numbers at a time than a few vectors have."
        )
    )


def _judge_network(case: Case, seen: Seen) -> Verdict | None:
    before = facts(arguments(case)[0])["state"]
    for name, now in seen["args"][0]["state"].items():
        was = before[name]["grad"]
        if (was is None) != (now["grad"] is None) or (
            was is not None and not close(now["grad"], was)
        ):
            return not_yet(
                "filled_grads",
                f"The number is right, but `.grad` of the network's `{name}` is not what it was. "
                "Which calls give a product and leave every `.grad` alone?",
            )
    if seen["result"].get("requires_grad"):
        return not_yet(
            "tracked",
            "The number is right, but it requires grad and drags the graph of every step behind "
            "it. Where do you cut that off?",
        )
    return None


def _named(case: Case, stretch: torch.Tensor, result: Seen) -> Verdict | None:
    """A mistake that leaves its mark on the number, told with more tolerance than the answer."""
    value = result.get("value")
    if not isinstance(value, float | torch.Tensor):
        return None
    value = torch.as_tensor(value, dtype=torch.float64)
    if value.shape != () or not stretch.any():
        return None
    top = stretch[0]
    if not value.isfinite() or value > 100 * top:
        return not_yet(
            "not_normalised",
            "Your number has grown beyond all bounds. Every round trip stretches u further: what "
            "keeps its length at one?",
        )
    for slug, mistaken, says in (
        (
            "not_rooted",
            top**2,
            "is the square of the largest singular value. A round trip by J and Jᵀ stretches "
            "twice: which step undoes one of them?",
        ),
        (
            "frobenius_norm",
            stretch.norm(),
            "is the root of the sum of all squares in J, the Frobenius norm. It counts every "
            "direction: which single one is stretched most?",
        ),
        (
            "unlucky_start",
            stretch[1],
            "is another singular value than the largest. Your first u had no part in the "
            "direction that is stretched most, so no step can find it: how do you choose a start "
            "that nobody can foresee?",
        ),
    ):
        if close(value, mistaken, 1e-3):
            return not_yet(slug, f"What `largest_singular_value` returned {says}")
    if 0 <= value < top and case["scale"] != 1:
        return not_yet(
            "absolute_tolerance",
            "What `largest_singular_value` returned is too small, for a network that stretches by "
            "some millionths only: you stopped too early there. The tolerance is relative: "
            "compared with what should a change be small?",
        )
    if 0 < value < top:
        return not_yet(
            "stopped_early",
            "What `largest_singular_value` returned is too small for the tolerance: u has not "
            "turned far enough yet. When do you stop, and what has `tolerance` to say about it?",
        )
    return None


SINGULAR = Exercise(
    id="largest_singular_value",
    title="Build: the largest stretch of a network",
    lesson=LESSON,
    points=5,
    minutes=25,
    difficulty=5,
    answer="largest_singular_value",
    observe="call_counting_cost",
    cases=_cases,
    judge=_judge,
    hints=(
        "The matrix JᵀJ is symmetric, and its largest eigenvalue is the square you look for. "
        "What happens to a vector that it is multiplied with again and again?",
        "From a random u of length one: push it forward, pull the result back, normalise, repeat. "
        "The length of J u comes nearer and nearer to the answer.",
        "Stop when the length changes by less than the tolerance, relative to itself. If J u or "
        "what comes back is zero, there is nothing to normalise. The result needs no graph.",
    ),
    symptom_hints={
        "tangent_shape": "J u lives among the outputs. What brings it back to the inputs?",
        "stopped_early": "A fixed number of rounds suits one network and not the next.",
        "unlucky_start": "`torch.randn_like` points everywhere a little.",
        "filled_grads": "`torch.func` and `torch.autograd.grad` fill nothing.",
    },
    names=("func.jvp", "func.vjp"),
)
