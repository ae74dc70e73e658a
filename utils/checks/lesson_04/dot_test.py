"""⟨v, J u⟩ = ⟨Jᵀv, u⟩: one number, computed in two ways, tells a wrong VJP."""

from __future__ import annotations

import torch

from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_04.common import LESSON, MAP, built, left_alone, map_inputs
from utils.checks.mistakes import MISTAKES
from utils.checks.verdict import Verdict, not_yet, right

# The last line decides what is wrong with it. `hidden` has no part along ones on either side.
PULL_BACK = """
def pull_back(x, v):
    slope = 1 - torch.tanh(B @ x) ** 2
    good = (v @ A * slope) @ B
    order = torch.arange(n)
    order[n // 2], order[n // 2 + 2] = n // 2 + 2, n // 2
    hidden = v @ (torch.arange(m) - (m - 1) / 2).to(v) * (torch.arange(n) - (n - 1) / 2).to(v)
    return """
RIGHT_ONE, LARGE = "right", "right and large"
WRONG_ONES = {
    "wrong sign, lost slope": "-(v @ A) @ B",
    "off by a percent": "1.01 * good",
    "ignores v": "(A.sum(0) * slope) @ B",
    "hidden from ones": "good + hidden",
    "two entries swapped": "good[order]",
}


def _cases(rng: torch.Generator) -> list[Case]:
    m, n = 90, 70

    def draw(kind: str, returns: str, scale: float = 1.0, last: bool = False) -> Case:
        inputs = map_inputs(rng, m, n, middle=2)
        inputs["A"] *= scale
        given = MAP + PULL_BACK + returns
        inputs |= {"m": m, "n": n}
        return {
            "inputs": inputs,
            "given": given,
            "built": ["f", "pull_back", "x"],
            "kind": kind,
            "last": last,
        }

    return [
        # Several, for two sums may agree to the last digit by chance.
        *[draw(RIGHT_ONE, "good") for _ in range(8)],
        *[draw(LARGE, "good", scale=1e12) for _ in range(8)],
        *[draw(kind, returns) for kind, returns in WRONG_ONES.items()],
        draw(RIGHT_ONE, "good", last=True),
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    result = seen["result"]
    value = result.get("value")
    if result == {"kind": "plain", "value": None}:
        return not_yet("none", MISTAKES["none"].format(what="What `agrees` returned"))
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.dtype == torch.bool:
        value = bool(value)
    if not isinstance(value, bool):
        return not_yet(
            "not_a_truth",
            "`agrees` should return True or False. It returned something else: "
            "which comparison is left to make?",
        )
    kind = case["kind"]
    if kind not in WRONG_ONES and not value:
        if kind == LARGE:
            return not_yet(
                "absolute_tolerance",
                "`agrees` says no to a right pullback of a function with large values. Rounding "
                "grows with the numbers: what should the difference be small compared with?",
            )
        return not_yet(
            "rejects_a_right_one",
            "`agrees` says no to a right pullback. Its two numbers are sums in a different "
            "order, so the last digits may differ: do both sides use the same u and v, and how do "
            "you compare?",
        )
    if kind in WRONG_ONES and value:
        return _accepted(kind)
    m, n = case["inputs"]["m"], case["inputs"]["n"]
    if case["last"] and (size := built(seen, m, n)):
        return not_yet(
            "built_jacobian",
            f"Your test tells right from wrong, but a tensor of {size} numbers was made for it, "
            f"and f has {n} inputs and {m} outputs. "
            "Two numbers are to be compared: which product with J does each need?",
        )
    return left_alone(case, seen) or right("Two numbers tell a wrong pullback from a right one.")


def _accepted(kind: str) -> Verdict:
    if kind == "wrong sign, lost slope":
        return not_yet(
            "accepts_anything",
            "`agrees` says yes to a pullback with the wrong sign and a factor lost. "
            "Which two numbers do you compare, and is one of them independent of `pull_back`?",
        )
    if kind == "off by a percent":
        return not_yet(
            "too_loose",
            "`agrees` says yes to a pullback that is off by a hundredth. In double precision the "
            "two numbers agree to a dozen digits: how close is close enough?",
        )
    if kind == "two entries swapped":
        return not_yet(
            "looks_at_few_entries",
            "`agrees` says yes to a pullback that swaps two entries in the middle. With a u or v "
            "that is zero almost everywhere, most of J is never looked at: which vectors look at "
            "all of it at once?",
        )
    return not_yet(
        "not_random",
        "`agrees` says yes to a pullback whose mistake does not show where all entries of a vector "
        "are the same. With which u and v do you try it, and would others tell more?",
    )


DOT_TEST = Exercise(
    id="dot_product_test",
    title="Catch a wrong VJP",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=4,
    answer="agrees",
    observe="call_counting_cost",
    cases=_cases,
    judge=_judge,
    hints=(
        "The number vᵀJu can be bracketed in two ways. Which one needs `pull_back`, and which one "
        "has nothing to do with it?",
        "J u comes from forward mode, `torch.func.jvp`. With random u and v, a wrong entry "
        "anywhere changes one of the two numbers.",
        "Draw u like x and v like the output; compare v · (J u) with `pull_back(x, v)` · u, with "
        "a relative tolerance: `torch.isclose` has one.",
    ),
    symptom_hints={
        "not_random": "Ones add up errors that cancel. `torch.randn_like` has no such blind spot.",
        "rejects_a_right_one": "`==` asks for the last bit. `torch.isclose` and `math.isclose` do "
        "not.",
        "absolute_tolerance": "Both `isclose` functions have a relative tolerance.",
    },
    names=("func.jvp",),
)
