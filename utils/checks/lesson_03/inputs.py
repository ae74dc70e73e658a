"""Where a backward ends: in chosen leaves only, and in leaves that were not used."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_03.common import LESSON, numbers
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

PARTS = """\
for leaf in (first, second, scale):
    leaf.requires_grad_()
first.grad, scale.grad = old_first.clone(), old_scale.clone()
h = torch.sin(data @ first)
loss = (torch.tanh(h @ second) * scale).square().mean()
leaves = {"first": first, "second": second, "scale": scale}
"""


def _cases_only(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "data": numbers(rng, 5, 3),
                "first": numbers(rng, 3, 2),
                "second": numbers(rng, 2, 4),
                "scale": numbers(rng, 4, low=1, high=2),
                "old_first": numbers(rng, 3, 2, low=5, high=9),
                "old_scale": numbers(rng, 4, low=5, high=9),
                "names": names,
            },
            "given": PARTS,
            "built": ["loss", "leaves", "names"],
        }
        for names in (["second", "scale"], ["first"])
    ]


def _judge_only(case: Case, seen: Seen) -> Verdict:
    loss, leaves, names = arguments(case)
    grads = dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))
    after = seen["args"][1]["items"]
    for name in leaves:
        if not after[name]["requires_grad"]:
            return not_yet(
                "left_frozen",
                f"`{name}` does not require grad any more when you leave: from now on nobody can "
                "train it. Does a backward have to change a leaf to pass it by?",
            )
    for name in (name for name in leaves if name not in names):
        now = after[name]["grad"]
        if not _is_new(leaves[name], after[name]):
            continue
        if now is None or not now.any():
            return not_yet(
                "wiped_others",
                f"`{name}` was not in `names`, and its `.grad` is not what it was: it was "
                "cleared. It may hold what somebody still needs. Who may touch it?",
            )
        return not_yet(
            "filled_others",
            f"`{name}` was not in `names`, but a gradient came to its `.grad`. A backward adds to "
            "all leaves that it finds, even into a `.grad` that you only put aside: how do you "
            "tell it which ones you mean?",
        )
    for name in names:
        before = torch.zeros_like(leaves[name]) if leaves[name].grad is None else leaves[name].grad
        now, grad = after[name]["grad"], grads[name]
        if now is None or not _is_new(leaves[name], after[name]):
            if any(_is_new(leaves[n], after[n]) for n in names):
                return not_yet(
                    "some_left_out",
                    f"Nothing new is in `.grad` of `{name}`, though another leaf in `names` got "
                    "its gradient. With `inputs`, backward fills the leaves in that list and no "
                    "others: what is in yours?",
                )
            return not_yet(
                "not_filled",
                f"Nothing new is in `.grad` of `{name}`. `torch.autograd.grad` returns gradients "
                "and leaves `.grad` alone: who puts them there?",
            )
        verdict = compare(
            now,
            before + grad,
            f"`.grad` of `{name}`",
            simulated={
                "overwritten": grad if before.any() else [],
                "accumulated_twice": before + 2 * grad,
            },
            says={
                "accumulated_twice": (
                    "{what} grew by twice the gradient. How often did a backward bring it there?"
                ),
                "overwritten": (
                    "{what} holds the new gradient alone. Something was in it when you came, and "
                    "a backward would have added to that: what did you do instead?"
                ),
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    if len(seen["runs"]) > 1:
        return not_yet(
            "one_run_per_leaf",
            f"The gradients are right, but backward ran {len(seen['runs'])} times through the same "
            "graph. How many leaves can one run bring gradients to?",
        )
    if "first" not in names and "SinBackward0" in seen["nodes_run"]:
        return not_yet(
            "computed_all",
            "In the end each `.grad` is right, but the gradient of `first` was computed all the "
            "same, and thrown away. The engine can leave out the nodes that nobody needs: what "
            "does it have to know for that?",
        )
    return right("The engine went only where you sent it; all other leaves are as they were.")


def _is_new(leaf: torch.Tensor, after: Seen) -> bool:
    """Whether `.grad` of a leaf has changed."""
    if after["grad"] is None or leaf.grad is None:
        return after["grad"] is not leaf.grad
    return not close(after["grad"], leaf.grad)


ONLY_THESE = Exercise(
    id="only_these",
    title="Only these inputs",
    lesson=LESSON,
    points=2,
    minutes=7,
    difficulty=3,
    answer="backward_into",
    observe="call_watching_backward",
    cases=_cases_only,
    judge=_judge_only,
    hints=(
        "Clearing up afterwards is too late: who needs what was there? What could keep the others "
        "out from the start?",
        "Look at the arguments of `backward`: one of them lists the leaves to fill.",
        "Take the leaves that are named out of the dict, as a list, and hand that list to the one "
        "`backward` call.",
    ),
    symptom_hints={
        "not_filled": "`backward` adds to `.grad`; `torch.autograd.grad` only returns.",
        "computed_all": "Tell `backward` itself which leaves you mean.",
    },
    names=("backward(inputs=)", "autograd.grad"),
)

USE = """\
a, b, c, dead, spare = (leaf.requires_grad_() for leaf in (a, b, c, dead, spare))
loss = (a**3).sum() + torch.relu(dead).sum() + torch.sin(b).sum() * c
leaves = [{"a": a, "b": b, "c": c, "dead": dead, "spare": spare}[name] for name in order]
"""


def _cases_unused(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "a": numbers(rng, 3, low=1, high=2),
                "b": numbers(rng, 2, 2),
                "c": numbers(rng, low=1, high=2),
                "dead": numbers(rng, 4, low=-3, high=-1),
                "spare": numbers(rng, 2, 3),
                "order": order,
            },
            "given": USE,
            "built": ["loss", "leaves"],
        }
        for order in (["a", "spare", "c", "dead", "b"], ["spare", "b", "dead", "a"])
    ]


def _judge_unused(case: Case, seen: Seen) -> Verdict:
    loss, leaves = arguments(case)
    found = torch.autograd.grad(loss, leaves, allow_unused=True)
    used = [grad is not None for grad in found]
    pair = items(seen["result"]) or []
    parts = [items(part) for part in pair]
    if len(pair) != 2 or any(part is None for part in parts):
        return not_yet(
            "not_a_pair",
            "`gradients_and_use` should return two lists: the gradients, and whether each leaf was "
            "used. What does yours return?",
        )
    mine, flags = parts
    if all(isinstance(fact.get("value"), bool) for fact in mine):
        return not_yet(
            "swapped",
            "Your lists are the other way round: the gradients come first, then the flags. "
            "What happens if you swap them?",
        )
    if len(mine) < len(leaves) or len(flags) < len(leaves):
        return not_yet(
            "dropped_unused",
            "One of your lists is shorter than `leaves`, so its entries no longer stand beside "
            "the leaves they belong to. What should stand in the place of an unused one?",
        )
    for position, (fact, grad) in enumerate(zip(mine, found, strict=False)):
        zeros = torch.zeros_like(leaves[position])
        if fact == {"kind": "plain", "value": None} and grad is None:
            return not_yet(
                "none_left",
                f"Entry {position} of your gradients is None. The loss does not use that leaf, and "
                "whoever adds gradients up will stumble there. Which tensor says 'no slope'?",
            )
        value = torch.as_tensor(fact["value"]) if _holds_zero(fact) else None
        if grad is None and value is not None and value.shape != zeros.shape:
            return not_yet(
                "zero_without_shape",
                f"Entry {position} of your gradients is a zero without the shape of its leaf. "
                "Which function makes zeros like another tensor?",
            )
        want = zeros if grad is None else grad
        verdict = compare(fact, want, f"Entry {position} of your gradients")
        if verdict.outcome != RIGHT:
            return verdict
    verdict = _judge_flags(flags, used, found)
    if verdict.outcome != RIGHT:
        return verdict
    if any(fact["grad"] is not None for fact in seen["args"][1]["items"]):
        return not_yet(
            "filled_grads",
            "Both lists are right, but the leaves' own `.grad` were filled on the way. "
            "Which function only hands the gradients to you?",
        )
    if len(seen["runs"]) > 1:
        return not_yet(
            "several_runs",
            f"Both lists are right, but backward ran {len(seen['runs'])} times. One call takes "
            "all leaves and tells both: what does it give for one that was not used?",
        )
    return right("None says that no way leads there, zero that the slope is flat. You kept both.")


def _holds_zero(fact: Seen) -> bool:
    value = fact.get("value")
    return isinstance(value, int | float | torch.Tensor) and not torch.as_tensor(value).any()


def _judge_flags(
    flags: list[Seen], used: list[bool], found: tuple[torch.Tensor | None, ...]
) -> Verdict:
    """The second list: was each leaf used?"""
    values = [flag.get("value") for flag in flags]
    if any(
        not isinstance(v, bool | int | torch.Tensor) or torch.as_tensor(v).numel() != 1
        for v in values
    ):
        return not_yet(
            "not_a_pair", "Your second list should hold True or False for each leaf. Does it?"
        )
    said = [bool(value) for value in values]
    if said == used:
        return right()
    if said == [not flag for flag in used]:
        return not_yet(
            "flags_inverted",
            "Your gradients are right, and your flags are all the other way round. "
            "Does True mean used, or unused?",
        )
    if said == [grad is not None and bool(grad.any()) for grad in found]:
        return not_yet(
            "zero_means_unused",
            "Your gradients are right, but you call a leaf unused because its gradient is zero. "
            "The loss may use a leaf and be flat there. What does torch give for a leaf that it "
            "cannot reach at all?",
        )
    if all(said):
        return not_yet(
            "all_called_used",
            "Your gradients are right, but you call all leaves used. All of them require grad, and "
            "once zeros are filled in, all have a gradient: neither says anything about this loss. "
            "What does torch give for a leaf that it cannot reach?",
        )
    return not_yet(
        "wrong_flags",
        "Your gradients are right, but not all flags are. How can you tell a leaf that the graph "
        "does not reach from the others?",
    )


UNUSED_INPUTS = Exercise(
    id="unused_inputs",
    title="Flat, or not used at all?",
    lesson=LESSON,
    points=2,
    minutes=7,
    difficulty=3,
    answer="gradients_and_use",
    observe="call_watching_backward",
    cases=_cases_unused,
    judge=_judge_unused,
    hints=(
        "What does `torch.autograd.grad` do by default with a leaf that the loss does not use? "
        "And what could stand for a gradient that does not exist?",
        "Two arguments of `torch.autograd.grad` deal with unused inputs: with one you get None for "
        "them, with the other zeros. Which one still tells you what was used?",
        "Ask once, and let unused leaves give None. Read the flags off that, then put zeros in "
        "the shape of the leaf wherever None stands.",
    ),
    symptom_hints={
        "unused_input": "The error's last words name the argument that allows this.",
        "zero_means_unused": "Compare the entries with None, not with zero.",
    },
    names=("autograd.grad", "allow_unused", "materialize_grads"),
)
