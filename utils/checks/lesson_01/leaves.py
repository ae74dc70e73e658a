"""Leaves: find them, make them."""

from __future__ import annotations

import torch

from utils.checks.compare import compare, items
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.verdict import Verdict, not_yet, right

KINDS = """\
{w} = torch.rand(3, requires_grad=True)
{bias} = torch.rand(3, requires_grad=True)
{data} = torch.rand(3)
{scaled} = {data} * 2
{inner} = {w} * {scaled}
{total} = {inner} + {bias}
{cut} = {total}.detach()
tensors = {{{entries}}}
"""
ROLES = ("w", "bias", "data", "scaled", "inner", "total", "cut")


def _cases_receivers(rng: torch.Generator) -> list[Case]:
    cases = []
    for letters in ("pqrstuv", "efghijk"):
        order = torch.randperm(len(ROLES), generator=rng).tolist()
        names = dict(zip(ROLES, (letters[n] for n in order), strict=True))
        entries = ", ".join(f"'{name}': {name}" for name in letters)
        given = KINDS.format(**names, entries=entries)
        cases.append({"given": given, "built": ["tensors"], "names": names})
    return cases


def _judge_receivers(case: Case, seen: Seen) -> Verdict:
    listed, names = items(seen["result"]), case["names"]
    if listed is None or any(not isinstance(item.get("value"), str) for item in listed):
        return not_yet(
            "not_names",
            "`receivers` should return a list of names, the keys of `tensors`. "
            "What does yours hold instead?",
        )
    mine = {item["value"] for item in listed}
    leaves, inner = {names["w"], names["bias"]}, {names["inner"], names["total"]}
    if mine == leaves:
        return right("These are the places where gradients land: leaves that require grad.")
    everything, untracked = set(names.values()), set(names.values()) - leaves - inner
    for slug, value, message in (
        (
            "inner_too",
            leaves | inner,
            "You list every tensor that requires grad. Gradients flow through some of them without "
            "staying: what do these have that `torch.rand(3, requires_grad=True)` has not?",
        ),
        (
            "untracked_too",
            leaves | untracked,
            "You list every leaf. Some of them are leaves only because nothing is recorded for "
            "them: what must a leaf ask for to receive a gradient?",
        ),
        (
            "inner_only",
            inner,
            "You list the results of operations. Backward goes through those: where does it end?",
        ),
        (
            "untracked_only",
            untracked,
            "You list the tensors that autograd does not watch at all. Is a condition upside down?",
        ),
        (
            "asked_grad_too_early",
            set(),
            "You list nothing. Before backward every `.grad` is still None: which flags tell "
            "beforehand who will get one?",
        ),
        ("all_tensors", everything, "You list all of them. Which ones is autograd watching?"),
    ):
        if mine == value:
            return not_yet(slug, message)
    return not_yet(
        "wrong_names",
        "Your list is not the one that backward would fill. Try `receivers` on three tensors: "
        "data, a weight, and their product. Which one should come out?",
    )


RECEIVERS = Exercise(
    id="receivers",
    title="Where will gradients land?",
    lesson="01_requires_grad",
    points=1,
    minutes=4,
    difficulty=1,
    answer="receivers",
    observe="call",
    cases=_cases_receivers,
    judge=_judge_receivers,
    hints=(
        "Backward fills `.grad` of some tensors only. What do these have in common?",
        "Two flags of a tensor tell it together; each of them alone lists too many.",
        "Go through `tensors.items()` and keep a name if its tensor is watched and no operation "
        "made it.",
    ),
    symptom_hints={
        "asked_grad_too_early": "No backward has run yet. Look at flags, not at `.grad`.",
    },
    names=("is_leaf", "requires_grad"),
)


def _cases_make(rng: torch.Generator) -> list[Case]:
    cases = []
    for ints, rows, columns in ((3, 2, 4), (5, 3, 2)):
        inputs = {
            "counts": torch.randint(1, 50, (ints,), generator=rng).tolist(),
            "rows": (torch.rand(rows, columns, generator=rng) * 10 - 5).tolist(),
            "table": torch.rand(columns, rows + 2, generator=rng, dtype=torch.float64),
        }
        given = "array = table.numpy()"
        cases.append({"inputs": inputs, "given": given, "built": ["counts", "rows", "array"]})
    return cases


def _judge_make(case: Case, seen: Seen) -> Verdict:
    made = items(seen["result"])
    if seen["result"]["kind"] == "tensor" or made is None or len(made) != 3:
        return not_yet(
            "not_three",
            "`make_leaves` should return three tensors: from `counts`, from `rows`, from `array`. "
            "What does yours return?",
        )
    wanted = {
        "counts": torch.tensor(case["inputs"]["counts"], dtype=torch.float64),
        "rows": torch.tensor(case["inputs"]["rows"], dtype=torch.float64),
        "array": case["inputs"]["table"],
    }
    for (name, want), fact in zip(wanted.items(), made, strict=True):
        what = f"The tensor from `{name}`"
        if fact["kind"] == "tensor" and not fact["value"].is_floating_point():
            return not_yet(
                "integer_dtype",
                f"{what} holds {str(fact['value'].dtype).removeprefix('torch.')} numbers, which "
                "have no slope. Which dtype can require grad?",
            )
        verdict = compare(fact, want, what)
        if verdict.outcome != "right":
            return verdict
        misspelt = [name for name in fact["attributes"] if "require" in name]
        if not fact["requires_grad"] and misspelt:
            return not_yet(
                "typo",
                f"{what} got an attribute `{misspelt[0]}`, which torch has never heard of, and "
                "still does not require grad. How is the flag spelt?",
            )
        verdict = _flags(fact, what)
        if verdict.outcome != "right":
            return verdict
    return right("Three trainable leaves: backward will fill the `.grad` of each.")


def _flags(fact: Seen, what: str) -> Verdict:
    if not fact["requires_grad"]:
        return not_yet(
            "not_tracked",
            f"{what} does not require grad, so autograd will not watch it. Who asks for that?",
        )
    if not fact["is_leaf"]:
        return not_yet(
            "not_a_leaf",
            f"{what} is not a leaf: {fact['grad_fn']} made it, so its `.grad` stays empty. "
            "Which operation came after `requires_grad`, and could it come before?",
        )
    return right()


MAKE = Exercise(
    id="make_leaves",
    title="Make trainable leaves",
    lesson="01_requires_grad",
    points=2,
    minutes=5,
    difficulty=2,
    answer="make_leaves",
    observe="call",
    cases=_cases_make,
    judge=_judge_make,
    hints=(
        "Which dtype does `torch.tensor` choose for each of the three, and which of these can have "
        "a slope?",
        "Choose the dtype while you make the tensor: a cast afterwards is an operation, and what "
        "it gives is no leaf.",
        "`torch.tensor` takes `dtype` and the flag in one call, and it reads lists and NumPy "
        "arrays alike.",
    ),
    symptom_hints={
        "not_a_leaf": "Cast first, ask for the gradient last, or do both in one call.",
        "integer_dtype": "A list of ints gives an integer tensor unless you name another dtype.",
    },
    names=("requires_grad", "requires_grad_()", "is_leaf"),
)
