"""A target network that follows slowly: an exponential moving average, in place, unrecorded."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_05.common import LESSON, changed, flat, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

NETS = """\
generator = torch.Generator().manual_seed(seed)


def net():
    made = torch.nn.Sequential(
        torch.nn.Linear(width, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2)
    ).double()
    for tensor in [*made.parameters(), made[1].running_mean]:
        torch.nn.init.uniform_(tensor, -2, 2, generator=generator)
    torch.nn.init.uniform_(made[1].running_var, 0.5, 2, generator=generator)
    made[1].num_batches_tracked += int(torch.randint(5, 50, (), generator=generator))
    norm = torch.rand(3, generator=generator, dtype=torch.float64)
    made[0].register_buffer("last_norm", norm, persistent=False)  # in no state_dict
    return made


target, source = net(), net()
target.requires_grad_(watched)
source[0].weight.grad = torch.ones_like(source[0].weight)
"""
PROGRAM = """\
def tensors(module):
    return [*module.parameters(), *module.buffers()]


def places(tensors):
    return [tensor.untyped_storage().data_ptr() for tensor in tensors]


held, parameters = tensors(target), [*target.parameters()]
before = [tensor.detach() for tensor in held]  # keeps the memory, so no address is used again
for _ in range(2):
    answer(target, source, decay)
now = tensors(target)
same_parameters = [*map(id, parameters)] == [*map(id, target.parameters())]
same_buffers = [*map(id, held)] == [*map(id, now)]
shared = any(place in places(tensors(source)) for place in places(now))
in_place = places(before) == places(now)
"""


def _cases(rng: torch.Generator) -> list[Case]:
    # A target that is not watched becomes part of a graph, without an error, if one forgets.
    return [
        {
            "inputs": {"width": width, "decay": decay, "watched": watched, "seed": seed(rng)},
            "given": NETS,
            "program": PROGRAM,
            "report": ["same_parameters", "same_buffers", "shared", "in_place"],
            "facts": ["target", "source"],
        }
        for width, decay, watched in ((4, 0.9, False), (2, 0.75, True))
    ]


def _judge(case: Case, seen: Seen) -> Verdict:
    given, d = run(case), case["inputs"]["decay"]
    before = {name: facts(given[name]) for name in ("target", "source")}
    for what in ("value", "grad", "requires_grad"):
        for name in changed(before["source"], seen["source"], what):
            return not_yet(
                "changed_source",
                f"`{name}` of `source` changed (its {what}). The source is still being trained by "
                "somebody else: which of the two nets should move?",
            )
    if not seen["same_parameters"]:
        return not_yet(
            "replaced",
            "The target holds other parameter objects than before: who kept the old ones, an "
            "optimiser for example, is left behind. How do you change a tensor in place?",
        )
    if seen["shared"]:
        return not_yet(
            "aliased",
            "The target and the source share memory now, so the target will jump with each step "
            "of the source. Which assignment copies values and which hands out memory?",
        )
    if not seen["same_buffers"]:
        return not_yet(
            "buffers_replaced",
            "The target holds other buffer objects than before: who kept the old ones is left "
            "behind. How do you change a buffer in place?",
        )
    state = seen["target"]["state"]
    if any(fact["grad_fn"] for fact in state.values()):
        return not_yet(
            "graph_grows",
            "The target's parameters carry a `grad_fn` now: the update itself was recorded, and "
            "each further one makes the graph longer. Where should it run?",
        )
    if changed(before["target"], seen["target"], "requires_grad"):
        return not_yet(
            "flags_changed",
            "The target's parameters have another `requires_grad` than before. Flags stay when you "
            "leave: which switch is undone by itself?",
        )
    t, s, now = (
        flat(fact["value"] for fact in module["state"].values() if fact["parameter"])
        for module in (before["target"], before["source"], seen["target"])
    )

    def twice(a: float, b: float) -> torch.Tensor:
        return a * (a * t + b * s) + b * s

    if not (seen["in_place"] or close(now, t)):
        return not_yet(
            "new_memory",
            "The target's tensors are the same objects, but they have new memory now: an "
            "assignment to `.data` moved them there, and what looks at the old memory, such as a "
            "view or a shared weight, is left behind. Which operation writes into the old one?",
        )
    verdict = compare(
        now,
        twice(d, 1 - d),
        "The target after two updates",
        simulated={
            "rebound": t,
            "decay_swapped": twice(1 - d, d),
            "weights_do_not_add_up": [twice(d, 1), twice(1, 1 - d), twice(1, d)],
            "copied": s,
        },
        says={
            "rebound": (
                "{what} is what it was: `p = ...` gives a new tensor the name `p`, in your "
                "loop only. Which operation changes the tensor itself?"
            ),
            "decay_swapped": ("{what} is mostly the source. `decay` is near 1: whose share is it?"),
            "weights_do_not_add_up": (
                "{what} is no average: the two shares must add up to 1. What is the source's share?"
            ),
            "copied": "{what} is the source itself. Where does `decay` come in?",
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    theirs = before["source"]["state"]["1.running_mean"]["value"]
    counted = close(state["1.running_mean"]["value"], theirs)
    for name, fact in state.items():
        own, theirs = before["target"]["state"][name], before["source"]["state"][name]
        if fact["parameter"] or close(fact["value"], theirs["value"]):
            continue
        if close(fact["value"], own["value"]) and name == "0.last_norm" and counted:
            return not_yet(
                "hidden_buffer_left",
                f"The buffer `{name}` is as it was. It is not persistent, so no `state_dict` has "
                "it: who lists every buffer?",
            )
        if close(fact["value"], own["value"]):
            return not_yet(
                "buffers_left",
                f"The parameters are right, but the buffer `{name}` is as it was. The statistics "
                "of BatchNorm are no parameters: who lists them?",
            )
        return not_yet(
            "buffers_averaged",
            f"The buffer `{name}` is not the source's. Buffers should be copied: some only count.",
        )
    if changed(before["target"], seen["target"], "grad"):
        return not_yet("changed_grad", "The target's `.grad` changed. Which line touches it?")
    return right("The target follows, in place, and no graph grows.")


EMA = Exercise(
    id="ema_update",
    title="A target network that follows slowly",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="ema_update",
    observe="call_in_program",
    cases=_cases,
    judge=_judge,
    hints=(
        "Should this update be a part of any graph? And who else holds the target's parameters?",
        "Walk through both nets' parameters side by side and change the target's in place, where "
        "nothing is recorded. Then come the buffers.",
        "Under `no_grad`: multiply each parameter in place by `decay` and add the source's share, "
        "or use `lerp_`. Each buffer gets the source's values by `copy_`.",
    ),
    symptom_hints={
        "graph_grows": "Print `grad_fn` of a target parameter after one, two, three updates.",
        "buffers_left": "`state_dict()` lists more than `parameters()`. What is the difference?",
    },
    names=("no_grad",),
)
