"""Cut a history; find the node that made NaN."""

from __future__ import annotations

from typing import Any

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.graph_observers import build, graph_nodes
from utils.checks.lesson_02.common import LESSON, numbers
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _state_cases(rng: torch.Generator) -> list[Case]:
    def draw(n: int, steps: int, size: int) -> Case:
        # Centred, so that tanh is far from flat and what lies before a cut is seen after it.
        inputs = {
            "W": numbers(rng, n, n) - 0.7,
            "xs": numbers(rng, steps, n) - 1.0,
            "h": numbers(rng, n) - 0.6,
            "size": size,
        }
        return {"inputs": inputs, "leaves": ("W",), "call": ("W", "xs", "h", "size")}

    return [draw(2, 6, 3), draw(3, 8, 2)]


def _run_state(
    case: Case,
    cut: int,
    *,
    start: int = 1,
    each: int | None = None,
    reset: float | None = None,
    last_only: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradient of W and the last state, when history is cut after every `cut` steps.

    Steps are counted from `start`, a loss is taken after every `each` of them (`size` if None),
    and with `reset` the state begins each chunk anew, as that many times the first one.
    """
    scope = build(case)
    W, h, size, losses = scope["W"], scope["h"], each or scope["size"], []
    for step, x in enumerate(scope["xs"], start=start):
        h = torch.tanh(h @ W + x)
        if step % size == 0:
            losses.append(h.square().sum())
            h = h if reset is None else reset * scope["h"]
        if step % cut == 0:
            h = h.detach()
    return torch.autograd.grad(losses[-1] if last_only else sum(losses), W)[0], h.detach()


def _judge_state(case: Case, seen: Seen) -> Verdict:
    size, steps = case["inputs"]["size"], len(case["inputs"]["xs"])
    gradient, last = _run_state(case, cut=size)
    verdict = compare(
        seen["inputs"]["W"]["grad"],
        gradient,
        "`W.grad`",
        simulated={
            "history_kept": _run_state(case, cut=steps)[0],
            "cut_every_step": _run_state(case, cut=1)[0],
            "state_reset": tuple(_run_state(case, cut=size, reset=k)[0] for k in (1.0, 0.0)),
            "last_chunk_only": _run_state(case, cut=size, last_only=True)[0],
            "border_early": _run_state(case, cut=size, start=0)[0],
            "loss_every_step": tuple(_run_state(case, cut=c, each=1)[0] for c in (1, size, steps)),
            "mean_for_sum": gradient / len(case["inputs"]["h"]),
        },
        says={
            "none": "`W.grad` is None after your training. Which call fills it, once per chunk?",
            "history_kept": "`W.grad` is what the whole sequence gives: backward went across the "
            "borders of the chunks. Which tensor carries the history over, and where do you "
            "cut it?",
            "cut_every_step": "`W.grad` is what you get when history is cut after every step. "
            "Within a chunk the gradient should flow: how often do you cut?",
            "state_reset": "`W.grad` is what it would be if every chunk began anew, with the first "
            "state or with zeros. Cutting history keeps the values: what should the next chunk "
            "start from?",
            "border_early": "`W.grad` is what you get when each border lies one step after the "
            "start of a chunk, not at its end. If you count steps from 0: what is `t % size` after "
            "the last step of a chunk?",
            "loss_every_step": "`W.grad` is what you get with a loss after every step. "
            "After which steps was a loss asked for?",
            "mean_for_sum": "`W.grad` is smaller by the number of entries of `h`. "
            "Which of mean and sum makes the loss?",
            "wrong_values": "`W.grad` is not what the chunks give. A chunk is `size` steps, then "
            "one loss and one backward, then a cut. Print the step at which each of the three "
            "happens: does one of them come too early, too late or too often?",
            "last_chunk_only": "`W.grad` holds the last chunk alone, but the chunks should add "
            "up. What empties `.grad` in between, or how often do you call backward?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    verdict = compare(seen["result"], last, "The state that you return")
    if verdict.outcome != RIGHT:
        return verdict
    if seen["result"]["requires_grad"]:
        return not_yet(
            "tracked",
            "The state that you return still has its history, so the next call would go on "
            "growing the graph. What would cut it off after the last chunk too?",
        )
    return right("The state goes on, its history does not.")


CUT_THE_STATE = Exercise(
    id="cut_the_state",
    title="Cut a recurrent state",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=3,
    answer="train_in_chunks",
    observe="call_on_graph",
    cases=_state_cases,
    judge=_judge_state,
    hints=(
        "After a chunk's backward, what does `h` still point to?",
        "The next chunk needs the numbers in `h`, not the nodes behind it. Which method gives you "
        "the one without the other?",
        "After each backward, bind the name `h` to its detached self; `h.detach()` alone on a line "
        "changes nothing.",
    ),
    symptom_hints={
        "border_early": "With `enumerate(xs, start=1)` the last step of a chunk is a multiple of "
        "`size`; or let `xs.split(size)` make the chunks.",
        "graph_freed": "The second chunk went back into the first one's graph, which is gone. "
        "Keeping that graph would only let it grow: cut instead. `h.detach()` changes nothing by "
        "itself: what becomes of what it returns?",
        "history_kept": "Keeping the graph made the error go away, not the cause. Take the "
        "keeping argument out again and ask where chunk two hangs on chunk one.",
    },
    names=("grad_fn", "detach"),
)

# In the second, the root makes inf, and only the power below turns inf into NaN. Names are
# distinct where a usual mistake would name one.
_NAN_PROGRAMS = (
    "s = (x * 0).sin()\nr = torch.where(s > 0, s.log(), w)\ny = (r / w + w.exp()).sum()",
    "n = ((x * 0).sin() ** 2).sum().sqrt()\ny = (n / 2 + w.exp()).mean()",
    "y = ((x * w).log().exp() * w).sum()",
)


def _nan_cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, 3), "w": numbers(rng, 3)},
            "leaves": ("x", "w"),
            "call": ("y",),
            "given": given,
        }
        for given in _NAN_PROGRAMS
    ]


def _real_backward(case: Case) -> list[tuple[str, bool, bool, bool]]:
    """Each node in the order of a real backward: name, NaN in, NaN out, inf or NaN out."""
    y, ran = build(case)["y"], []

    def holds(tensors: Any, test: Any) -> bool:
        return any(bool(test(t).any()) for t in tensors if t is not None)

    for node in graph_nodes(y):
        name = type(node).__name__
        node.register_hook(
            lambda out, came, name=name: ran.append(
                (
                    name,
                    holds(came, torch.isnan),
                    holds(out, torch.isnan),
                    holds(out, lambda t: ~torch.isfinite(t)),
                )
            )
        )
    y.backward()
    return ran


def _judge_nan(case: Case, seen: Seen) -> Verdict:
    ran = _real_backward(case)
    made = [name for name, _, out, _ in ran if out]
    result = seen["result"]
    name = result.get("value") if result["kind"] == "plain" else None
    if result["kind"] != "plain":
        return not_yet(
            "not_a_name",
            "`first_nan` should return a name, or None. It returned something else: "
            "what is a node's name as a string?",
        )
    name = str(name).removeprefix("torch::autograd::") if name else None
    if not made:
        if name is None:
            return right("You name the node that makes NaN, and you say so when there is none.")
        return not_yet(
            "named_without_nan",
            "There is a graph whose backward makes no NaN at all, and `first_nan` names a node "
            "all the same. What do you return when nothing was found?",
        )
    if name == made[0]:
        return right()
    if name is None:
        return not_yet(
            "found_nothing",
            "`first_nan` finds nothing, but `.grad` would hold NaN. The forward values are finite "
            "at the root: do you look at what backward computes?",
        )
    if name == made[-1]:
        return not_yet(
            "last_not_first",
            "`first_nan` names the node nearest to the leaf. NaN spreads on the way back, so "
            "many nodes pass it on: which one made it?",
        )
    if name in [n for n, came, _, _ in ran if came]:
        return not_yet(
            "received_not_made",
            "`first_nan` names a node that was handed NaN by another one. Do you look at what "
            "comes into a node, or at what it sends on?",
        )
    if name in [n for n, _, _, out in ran if out]:
        return not_yet(
            "inf_is_not_nan",
            "`first_nan` names a node that made inf. That leads to NaN further on, but which node "
            "made inf into NaN?",
        )
    if name == ran[0][0]:
        return not_yet(
            "named_the_root",
            "`first_nan` names the root's node, where backward starts. Nothing is NaN there yet: "
            "how far back does the trouble begin?",
        )
    return not_yet(
        "wrong_node",
        "`first_nan` names a node that makes no NaN. Look at what every node sends on, in the "
        "order in which they run: where is NaN for the first time?",
    )


FIRST_NAN = Exercise(
    id="first_nan",
    title="Find the node that made NaN",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=3,
    answer="first_nan",
    observe="call_on_graph",
    cases=_nan_cases,
    judge=_judge_nan,
    hints=(
        "Once one node has made NaN, what do all the nodes after it send on?",
        "Anomaly mode checks what every node sends on, and raises at the first NaN. "
        "Or look yourself: `node.register_hook` takes a function that is called when the node has "
        "run.",
        "Run backward inside anomaly mode and catch the RuntimeError: its words hold the node's "
        "name between quotes. No error means None.",
    ),
    symptom_hints={
        "anomaly_raised": "Put the backward in a try block; the words of the error hold the name.",
        "received_not_made": "A node hook is called with what the node sends on first, then with "
        "what came in.",
    },
    names=("detect_anomaly", "grad_fn"),
)
