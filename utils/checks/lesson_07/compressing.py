"""What the graph keeps for backward, in fewer bytes."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, numbers, run
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# Saves the result of tanh, a matrix, an index (whole numbers) and both factors of a product.
COMPRESS = """\
def f(t):
    kept = (t.tanh() @ mix)[picks]
    return kept * (t * scale)[picks]
"""
# What was packed is looked at where torch keeps it: it may be a tensor or anything around one.
COMPRESS_PROGRAM = """\
def tensors(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    parts = thing.values() if isinstance(thing, dict) else thing
    if not isinstance(parts, list | tuple) and not isinstance(thing, dict):
        return [t for t in vars(thing).values() if isinstance(t, torch.Tensor)] if hasattr(
            thing, "__dict__") else []
    return [t for part in parts for t in tensors(part)]


def packed(root):
    nodes, found = [root], []
    for node in nodes:
        nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]
        for name in dir(node):
            if name.startswith("_raw_saved_"):
                raw = getattr(node, name)
                for part in raw if isinstance(raw, tuple | list) else [raw]:
                    found += tensors(part.data)
    return found


result = answer(f, x)
problem, largest, wide = "", 0, 0
if isinstance(result, torch.Tensor) and result.grad_fn is not None:
    saved = packed(result.grad_fn)
    wide = sum(t.is_floating_point() and t.element_size() > 2 for t in saved)
    problem = attempt(lambda: result.backward(v))
later = x.detach().clone().requires_grad_()
plain = attempt(lambda: f(later).backward(v))
"""


def _cases_compress(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "x": numbers(rng, 5, n),
                "mix": numbers(rng, n, n, low=0.5, high=1),
                "scale": numbers(rng, 5, n, low=2, high=3),
                "picks": torch.randint(5, (7,), generator=rng),
                "v": numbers(rng, 7, n, low=0.5, high=2),
            },
            "leaves": ["x"],
            "given": COMPRESS,
            "program": COMPRESS_PROGRAM,
            "report": ["problem", "wide"],
            "facts": ["result", "x", "later"],
        }
        for n in (3, 4)
    ]


def _judge_compress(case: Case, seen: Seen) -> Verdict:
    scope = run(case)
    x, f, v = scope["x"].requires_grad_(), scope["f"], scope["v"]
    exact = f(x)
    (gradient,) = torch.autograd.grad(exact, x, v)
    if seen["result"]["kind"] == "tensor" and seen["result"]["value"].dtype != x.dtype:
        return not_yet(
            "result_compressed",
            "What you return has another dtype than what `f` gives: the forward pass itself was "
            "compressed. What should be small is only what waits for backward. Who packs that?",
        )
    verdict = compare(
        seen["result"],
        exact,
        "What you return",
        simulated={"result_compressed": [f(x.half().double()), f(x.bfloat16().double())]},
        says={
            "result_compressed": (
                "{what} was computed from rounded inputs. What should be small is only what waits "
                "for backward: who packs that?"
            )
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    if "must return" in seen["problem"] or "NoneType" in seen["problem"]:
        return not_yet(
            "unpack_gives_nothing",
            f"Backward stopped: {seen['problem'].split('.')[0]}. What does your second function "
            "return?",
        )
    if "tensors used as indices" in seen["problem"]:
        return not_yet(
            "packed_the_indices",
            f"Backward stopped: {seen['problem'].split('.')[0]}. Among what the graph saves are "
            "whole numbers, which are no values but places. Which tensors can be rounded?",
        )
    if seen["problem"]:
        return not_yet(
            "unpacked_the_wrong_type",
            f"Backward stopped: {seen['problem'].split('.')[0]}. "
            "Does each tensor come out of your second function as it went into the first?",
        )
    if seen["wide"]:
        return not_yet(
            "not_compressed",
            f"The graph of the result still holds {seen['wide']} floating-point tensors of more "
            "than two bytes an entry. Do your two functions stand around the call of `f`, and what "
            "does the first one hand back?",
        )
    got = seen["x"]["grad"]
    if got is None:
        return not_yet("detached", "No gradient reached `x`. What cut the graph?")
    if not close(got, gradient, 0.05):
        return not_yet(
            "gradient_off",
            "`x.grad` is further from the exact gradient than rounding explains. "
            "Does each tensor come back with its own values and its own dtype?",
        )
    if not close(seen["later"]["grad"], gradient):
        return not_yet(
            "hooks_stay_on",
            "After your function has returned, a graph that somebody else builds is packed too. "
            "Where do your hooks end?",
        )
    return right("Two bytes an entry wait for backward, and the indices are what they were.")


COMPRESS_SAVED = Exercise(
    id="compress_saved",
    title="Save for backward in two bytes an entry",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=4,
    answer="compressed",
    observe="call_in_program",
    cases=_cases_compress,
    judge=_judge_compress,
    hints=(
        "Between forward and backward the graph keeps tensors. Who could replace each by something "
        "smaller when it is put away, and restore it when it is taken out?",
        "`torch.autograd.graph.saved_tensors_hooks` is a context that takes two functions, pack "
        "and unpack. Unpack gets whatever pack returned: it may be a tuple.",
        "Pack: a floating-point tensor becomes a pair of its half-precision copy and its dtype; "
        "any other stays. Unpack turns it back. Call `f` in the context, and return what it gives.",
    ),
    symptom_hints={
        "packed_the_indices": "Ask each tensor whether it is floating point.",
        "unpacked_the_wrong_type": "Pack may return a tuple, so that the dtype travels along.",
    },
    names=("saved_tensors_hooks",),
)
