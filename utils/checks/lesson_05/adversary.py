"""One step of a generator: the gradient goes through the discriminator, but not into it."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_05.common import LESSON, flat, grads, numbers, run, seed
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

GAN = """\
draw = torch.Generator().manual_seed(seed)
generator = torch.nn.Sequential(
    torch.nn.Linear(noise.shape[1], 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)
).double()
discriminator = torch.nn.Sequential(
    torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)
).double()
for parameter in [*generator.parameters(), *discriminator.parameters()]:
    torch.nn.init.uniform_(parameter, -1, 1, generator=draw)
for parameter in [*generator.parameters(), discriminator[0].weight]:
    parameter.grad = torch.rand(parameter.shape, generator=draw, dtype=torch.float64) + 1
discriminator[2].bias.requires_grad_(False)
discriminator[1].eval()  # a part with a mode of its own
# The optimiser has been at work before, so that its step is not just the rate times the gradient.
optimiser = torch.optim.SGD(generator.parameters(), lr=0.5, momentum=0.8)
for parameter in generator.parameters():
    moved = torch.rand(parameter.shape, generator=draw, dtype=torch.float64) + 0.5
    optimiser.state[parameter]["momentum_buffer"] = moved
"""
GAN_PROGRAM = """\
cut = False
try:
    answer(generator, discriminator, noise, optimiser)
except RuntimeError as error:
    cut = "does not require grad and does not have a grad_fn" in str(error)
    if not cut:
        raise
mode_left = torch.is_grad_enabled()
"""


def _cases_gan(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"noise": numbers(rng, n, d), "seed": seed(rng)},
            "given": GAN,
            "program": GAN_PROGRAM,
            "report": ["cut", "mode_left"],
            "facts": ["generator", "discriminator"],
        }
        for n, d in ((5, 2), (3, 4))
    ]


def _judge_gan(case: Case, seen: Seen) -> Verdict:
    given = run(case)
    generator, discriminator, noise = (
        given[name] for name in ("generator", "discriminator", "noise")
    )
    if seen["cut"]:
        return not_yet(
            "no_graph",
            "Backward stopped: no graph leads from your loss to anything. Something cut it off on "
            "the way: `detach`, or a block of `no_grad` around one of the nets. The gradient has "
            "to go through the discriminator: what keeps it out of the parameters only?",
        )
    parameters = list(generator.parameters())
    old = flat(p.grad for p in parameters)
    found = flat(grads(seen["generator"]))
    unreached = found is None or not found.any() or close(found, old)
    verdict = _judge_discriminator(facts(discriminator), seen["discriminator"], unreached)
    if verdict.outcome != RIGHT:
        return verdict
    for name in ("generator", "discriminator"):
        if seen[name]["training"] != facts(given[name])["training"]:
            return not_yet(
                "training_flags_changed",
                f"The {name}, or a part of it, is in another mode than when you came: `eval()` and "
                "`train()` are about Dropout and BatchNorm, and stay. Was that asked for?",
            )
    if not seen["mode_left"]:
        return not_yet("mode_left_switched", "Recording is off when you leave. Who turns it on?")
    start = flat(parameters)
    held = flat(given["optimiser"].state[p]["momentum_buffer"] for p in parameters)
    scores = discriminator(generator(noise))

    def gradient(loss: torch.Tensor) -> torch.Tensor:
        return flat(torch.autograd.grad(loss, parameters, retain_graph=True))

    def step(loss: torch.Tensor) -> torch.Tensor:
        return start - 0.5 * (gradient(loss) + 0.8 * held)

    def softplus(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.softplus(x)

    want = step(softplus(-scores).mean())
    fooled_less = step(softplus(scores).mean())
    state = seen["generator"]["state"].values()
    if any(not fact["requires_grad"] for fact in state):
        return not_yet("generator_frozen", "The generator is frozen now. Which net did you mean?")
    verdict = compare(
        flat(fact["value"] for fact in state),
        want,
        "The generator after your step",
        simulated={
            "generator_not_moved": start,
            "only_stale_gradient": start - 0.5 * (old + 0.8 * held),
            "no_new_gradient": start - 0.5 * 0.8 * held,
            "stepped_by_hand": start - 0.5 * gradient(softplus(-scores).mean()),
            "stale_gradient": want - 0.5 * old,
            "wrong_side": [fooled_less, step(-softplus(-scores).mean())],
            "sum_for_mean": step(softplus(-scores).sum()),
            "raw_scores": [step(-scores.mean()), step(scores.mean())],
        },
        says={
            "generator_not_moved": (
                "The generator did not move. Did a gradient reach it, and did the optimiser step?"
            ),
            "only_stale_gradient": (
                "The generator moved by what was in `.grad` before you came, and by nothing else: "
                "no new gradient arrived. What cuts the way from the scores back to the generator?"
            ),
            "no_new_gradient": (
                "The generator moved by what the optimiser remembers of earlier steps, and by "
                "nothing else. What cuts the way from the scores back to the generator?"
            ),
            "stepped_by_hand": (
                "The generator moved by the rate times the gradient: you made the step yourself. "
                "This optimiser has a momentum, another one may have more: who knows its step?"
            ),
            "stale_gradient": (
                "The generator moved by your gradient and by what was in `.grad` before you came. "
                "Who clears it, and when?"
            ),
            "wrong_side": (
                "The generator moved so that the discriminator is fooled less. Which label would "
                "it like its fakes to get?"
            ),
            "sum_for_mean": (
                "The generator moved too far, by the sum over its fakes. Where does the mean come "
                "in?"
            ),
            "raw_scores": (
                "The generator moved along the raw scores. The loss was to be the softplus of "
                "minus the score: which function gives that?"
            ),
        },
    )
    if verdict.outcome != RIGHT:
        return verdict
    return right("The generator learned from the discriminator, and left nothing in it.")


def _judge_discriminator(before: Seen, after: Seen, unreached: bool) -> Verdict:
    """`unreached`: the generator got no gradient."""
    for name, was in before["state"].items():
        now = after["state"].get(name, was)
        part = f"`{name}` of the discriminator"
        if not close(was["value"], now["value"]):
            return not_yet(
                "discriminator_moved",
                f"{part} has other values now. Whose step was this to be?",
            )
        if was["requires_grad"] and not now["requires_grad"]:
            return not_yet(
                "left_frozen",
                f"{part} does not require grad any more, so the next step of the discriminator "
                "would not train it. Who gives the flag back?",
            )
        if now["requires_grad"] and not was["requires_grad"]:
            return not_yet(
                "switched_all_on",
                f"{part} was frozen when you came and is not now. How do you give each parameter "
                "its own flag back?",
            )
        if was["grad"] is not None and (now["grad"] is None or not now["grad"].any()):
            return not_yet(
                "cleared_grads",
                f"`.grad` of {part} was cleared: somebody's gradient was in it. What has to be "
                "cleared when nothing is put there?",
            )
        if (was["grad"] is None) != (now["grad"] is None) or (
            was["grad"] is not None and not close(was["grad"], now["grad"])
        ):
            if unreached:
                return not_yet(
                    "only_discriminator_reached",
                    f"`.grad` of {part} has changed, and no gradient came to the generator: it is "
                    "the wrong way round. What cuts the fakes off from the net that made them?",
                )
            return not_yet(
                "filled_grads",
                f"`.grad` of {part} has changed: the gradient went through the discriminator, as "
                "it should, and also into its parameters. Which flags keep it out of these?",
            )
    return right()


GENERATOR = Exercise(
    id="train_generator",
    title="Through the discriminator, but not into it",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=4,
    answer="train_generator",
    observe="call_in_program",
    cases=_cases_gan,
    judge=_judge_gan,
    hints=(
        "The gradient must go through the discriminator to reach the generator. Would `no_grad` or "
        "`detach` let it?",
        "Frozen parameters let a gradient pass and take none themselves. Or you ask for the "
        "gradients of the generator's parameters alone.",
        "Clear the optimiser's gradients. Freeze the discriminator for as long as the forward pass "
        "and backward last, then give each flag back, and step.",
    ),
    symptom_hints={
        "only_stale_gradient": "`detach` on the fakes is for the discriminator's own step.",
        "filled_grads": "You wrote a context manager that does just this.",
        "no_graph": "If the discriminator runs under `no_grad`, what does its output lead to?",
    },
    names=("requires_grad_()", "autograd.grad"),
)
