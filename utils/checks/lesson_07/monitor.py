"""The exercise that builds something to keep: a monitor of the gradients' sizes."""

from __future__ import annotations

import torch

from utils.checks.compare import close
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_07.common import LESSON, TOOLS, numbers, run, seed
from utils.checks.lesson_07.monitor_program import NET, PROGRAM
from utils.checks.verdict import Verdict, not_yet, right


def _cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, n, d), "seed": seed(rng)},
            "given": TOOLS + NET,
            "program": PROGRAM,
            "report": [
                *("early", "left", "new_attributes", "gradients", "flags", "is_dict", "lists"),
                *("numbers_only", "graph_held", "collected", "theirs_ran", "after", "complaint"),
                "left_after_error",
            ],
        }
        for n, d in ((5, 2), (4, 3))
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    scope = run(case)
    named = dict(scope["net"].named_parameters())
    learning = [p for p in named.values() if p.requires_grad]
    passes = [
        torch.autograd.grad(loss, learning, retain_graph=True, allow_unused=True)
        for loss in scope["losses"]()
    ]
    names = [name for name, p in named.items() if p.requires_grad]
    brought = {
        name: [gradients[i] for gradients in passes]
        for i, name in enumerate(names)
        if passes[0][i] is not None
    }
    old = {name: named[name].grad for name in brought}
    verdict = (
        _judge_untouched(seen, brought, old, named)
        or _judge_form(seen)
        or _judge_norms(seen["collected"], brought, old)
        or _judge_leaving(seen)
    )
    return verdict or right("Every pass in numbers, and the model never knew. Keep this one.")


def _judge_untouched(
    seen: Seen,
    brought: dict[str, list[torch.Tensor]],
    old: dict[str, torch.Tensor | None],
    named: dict[str, torch.Tensor],
) -> Verdict | None:
    for name, parts in brought.items():
        want = sum(parts) if old[name] is None else sum(parts) + old[name]
        got = seen["gradients"].get(name)
        if got is None or not close(got, want):
            return not_yet(
                "grads_changed",
                f"After the block `.grad` of `{name}` is not what it is without your monitor. Does "
                "a hook return something, or do you empty or overwrite `.grad`?",
            )
    if any(seen["flags"][name] != p.requires_grad for name, p in named.items()):
        return not_yet(
            "flags_changed",
            "A frozen parameter was frozen no more after the block. A monitor looks: what should "
            "it do with a parameter that takes no hook?",
        )
    if seen["new_attributes"]:
        return not_yet(
            "attributes_left",
            f"The model has new attributes: {', '.join(seen['new_attributes'])}. "
            "Where else could you keep them?",
        )
    return None


def _judge_form(seen: Seen) -> Verdict | None:
    if not seen["is_dict"]:
        return not_yet(
            "no_norms",
            "What the block gives under `as flow` has no dict called `norms`. "
            "What does `__enter__` return?",
        )
    if not seen["lists"]:
        return not_yet(
            "not_a_list",
            "`flow.norms` should hold a list for each name, one number for each backward. "
            "What is there in yours?",
        )
    if not seen["numbers_only"]:
        return not_yet(
            "not_numbers",
            "The lists in `flow.norms` should hold one number for each backward. "
            "What do you append?",
        )
    if seen["graph_held"]:
        return not_yet(
            "graph_held",
            "A norm in your lists requires grad: that pass was recorded, and your monitor keeps "
            "its graph alive. What makes a plain number of it?",
        )
    return None


def _judge_norms(
    collected: dict[str, list[float]],
    brought: dict[str, list[torch.Tensor]],
    old: dict[str, torch.Tensor | None],
) -> Verdict | None:
    if not any(collected.values()):
        return not_yet(
            "nothing_collected",
            "Two backward passes ran in the block, and there is no number in `flow.norms`. "
            "What is registered, and when?",
        )
    filled = [name for name, part in collected.items() if part]
    if len(filled) == 1:
        return not_yet(
            "late_binding",
            "All numbers are under one name. Your hooks look up the loop's variable when they "
            "run, and by then the loop is over. How can each keep its own name?",
        )
    lost = [name for name in brought if name not in filled]
    if lost:
        return not_yet(
            "wrong_names",
            f"Nothing is there under `{lost[0]}`, the name that the model has for it. "
            "Which method gives parameters with their names?",
        )
    if any(len(collected[name]) != 2 for name in brought):
        return not_yet(
            "not_each_pass",
            "Two backward passes ran in the block, and not every list has two numbers. "
            "How often do you look, and when?",
        )

    def all_close(norm: object, gradients: object) -> bool:
        return all(
            abs(collected[name][k] - norm(gradients(name, k))) < 1e-5 * (1 + collected[name][k])
            for name in brought
            for k in (0, 1)
        )

    def of_pass(name: str, k: int) -> torch.Tensor:
        return brought[name][k]

    def accumulated(name: str, k: int) -> torch.Tensor:
        total = sum(brought[name][: k + 1])
        return total if old[name] is None else total + old[name]

    def before(name: str, k: int) -> torch.Tensor:
        return accumulated(name, k) - brought[name][k]

    if all_close(torch.linalg.vector_norm, of_pass):
        return None
    if all_close(torch.linalg.vector_norm, accumulated) or all_close(
        torch.linalg.vector_norm, before
    ):
        return not_yet(
            "norms_of_accumulated",
            "Your numbers are the norms of `.grad`, with what was in there before. "
            "Which hook gets what this pass brings, and nothing else?",
        )
    if all_close(lambda g: g.square().sum(), of_pass):
        return not_yet("no_root", "Your numbers are sums of squares. Which step is left to a norm?")
    return not_yet(
        "other_norm",
        "Your numbers are not the norms of the gradients that each pass brings: all entries of a "
        "gradient as one vector, its length. What do you compute?",
    )


def _judge_leaving(seen: Seen) -> Verdict | None:
    if seen["theirs_ran"] != 2 or seen["left"] < 0:
        return not_yet(
            "removed_others",
            "Hooks that were on the model before you came are gone. "
            "Whose handles do you have, and what do they remove?",
        )
    if seen["early"]:
        return not_yet(
            "registered_too_early",
            "A monitor that was made and never entered has left its hooks on the model. "
            "In which method do they belong?",
        )
    if seen["left"] or seen["after"]:
        return not_yet(
            "hooks_left",
            "The numbers are right, but after the block your hooks are still on the model. "
            "What did each registration return?",
        )
    if not seen["complaint"].startswith("KeyError"):
        return not_yet(
            "swallowed_error",
            "An error was raised in the block, and the caller did not get it. "
            "What does a true value from `__exit__` mean?",
        )
    if seen["left_after_error"]:
        return not_yet(
            "left_after_error",
            "An error left the block, and your hooks stayed on the model. "
            "Does `__exit__` clean up in every case?",
        )
    return None


MONITOR = Exercise(
    id="gradient_flow",
    title="Build: a monitor that leaves the model as it was",
    lesson=LESSON,
    points=5,
    minutes=20,
    difficulty=5,
    answer="GradientFlow",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "What passes a parameter in each backward, before `.grad` adds it up? And which "
        "parameters does nothing ever pass?",
        "`__enter__` registers a tensor hook on every parameter that requires grad, keeps the "
        "handles and returns the monitor. `__exit__` removes them, whether an error came or not.",
        "Let a helper make the hook for a name, so that each has its own; it appends the norm as a "
        "Python number and returns nothing. `__exit__` returns nothing either.",
    ),
    symptom_hints={
        "norms_of_accumulated": "The argument of a tensor hook is this pass's gradient alone.",
        "hook_on_untracked": "Ask each parameter for its flag before you register.",
    },
    names=("Tensor.register_hook", "RemovableHandle"),
)
