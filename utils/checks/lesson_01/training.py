"""Training: gradients from mini-batches, and a backbone that stays as it is."""

from __future__ import annotations

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.lesson_01.draw import uniform
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _cases_accumulate(rng: torch.Generator) -> list[Case]:
    cases = []
    for width, sizes in ((4, (5, 2, 4)), (3, (3, 7))):
        batches = [(uniform(rng, n, width), uniform(rng, n, low=2, high=5)) for n in sizes]
        case = {"args": [uniform(rng, width)], "leaves": (0,), "inputs": {"batches": batches}}
        cases.append({**case, "built": ["batches"]})
    return cases


def _judge_accumulate(case: Case, seen: Seen) -> Verdict:
    (w,), batches = case["args"], case["inputs"]["batches"]
    sizes = torch.tensor([len(y) for _, y in batches], dtype=torch.float64)
    means = torch.stack([(x @ w - y).square().mean() for x, y in batches])
    grads = torch.stack([2 * x.T @ (x @ w - y) / len(y) for x, y in batches])
    share = sizes / sizes.sum()
    width = len(w)
    after, returned = seen["args"][0], seen["result"]
    if not torch.equal(after["value"], w):
        return not_yet(
            "stepped_inside",
            "The values of `w` changed on the way, so each batch saw another `w`. "
            "Which line moves it, and when is the time for that?",
        )
    if after["grad"] is None:
        return not_yet(
            "none",
            "`w.grad` is None at the end: no gradient was left there. Which call fills it, and "
            "does anything empty it afterwards?",
        )
    verdict = compare(
        after["grad"],
        share @ grads,
        "`w.grad`",
        simulated={
            "sum_of_means": grads.sum(0),
            "uneven_batches": grads.mean(0),
            "sum_for_mean": sizes @ grads,
            "divided_by_entries": (share @ grads / width, grads.sum(0) / width),
            "overwritten": (grads[-1], share[-1] * grads[-1], grads[-1] / len(batches)),
        },
        says=ACCUMULATION_SAYS,
    )
    if verdict.outcome != RIGHT:
        return verdict
    if not seen["nodes_run"]:
        return not_yet(
            "by_hand",
            "`w.grad` is right, but no backward ran: you worked the formula out by hand. "
            "Can the graph of each batch do that for you?",
        )
    if seen["arrived"][0] < len(batches):
        return not_yet(
            "all_at_once",
            "`w.grad` is right, but it came from one backward through all batches at once, so all "
            "of them were in memory together. When can the graph of a batch be let go?",
        )
    if returned["kind"] == "tensor" and returned["requires_grad"]:
        return not_yet(
            "loss_keeps_graph",
            "The loss that you return still requires grad, so it keeps a graph of every batch "
            "alive. What turns it into a plain number?",
        )
    verdict = compare(
        returned,
        share @ means,
        "The loss that you return",
        simulated={
            "sum_of_means": means.sum(),
            "uneven_batches": means.mean(),
            "sum_for_mean": sizes @ means,
            "divided_by_entries": (share @ means / width, means.sum() / width),
            "overwritten": (means[-1], share[-1] * means[-1], means[-1] / len(batches)),
        },
        says=ACCUMULATION_SAYS,
    )
    if verdict.outcome != RIGHT:
        return verdict
    return right("Small batches, one at a time, and the gradient of the big one.")


ACCUMULATION_SAYS = {
    "sum_of_means": (
        "{what} is the sum over the batches' means, so more batches make it bigger. "
        "What part of the whole mean does each batch contribute?"
    ),
    "uneven_batches": (
        "{what} gives each batch the same weight. But the batches have different sizes: "
        "which part of all rows is in each of them?"
    ),
    "sum_for_mean": (
        "{what} belongs to the sum over all rows. By what should each batch be divided to give "
        "the mean over all of them?"
    ),
    "divided_by_entries": (
        "{what} is divided by the entries of `x`, but there is one error for each row. "
        "What does `x.numel()` count, and what does `len(x)`?"
    ),
    "none": "{what} is None. What should come after `return`?",
    "overwritten": (
        "{what} holds the last batch only. What happens in your loop to what came from the "
        "batches before?"
    ),
}

ACCUMULATE = Exercise(
    id="accumulate",
    title="Small batches, one gradient",
    lesson="01_requires_grad",
    points=3,
    minutes=10,
    difficulty=4,
    answer="accumulate_gradients",
    observe="call_counting",
    cases=_cases_accumulate,
    judge=_judge_accumulate,
    hints=(
        "Backward adds to `.grad`. So what should each batch add, if all rows are to weigh the "
        "same?",
        "The mean over all rows is a weighted mean of the batches' means. The weights depend on "
        "the sizes.",
        "Count all rows first. Then, for each batch: its loss, scaled by its part of the rows, "
        "goes backward at once, and a plain number is added to the total.",
    ),
    symptom_hints={
        "uneven_batches": "Try it on two batches with 1 and 3 rows, with losses you know by heart.",
        "all_at_once": "Call backward inside the loop: then the graph of that batch is let go.",
    },
    names=("gradient accumulation", ".grad"),
)


# The notebook shows these very lines.
NET = """\
class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = torch.nn.Sequential(
            torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)
        )
        self.head = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.backbone(x))
"""


def _cases_freeze(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"lr": lr},
            "given": f"{NET}\nmodel = Net()",
            "built": ["model", "lr"],
            "batch": (torch.rand(6, 4, generator=rng), torch.rand(6, 2, generator=rng) + 2),
        }
        for lr in (0.1, 0.03)
    ]


def _judge_freeze(case: Case, seen: Seen) -> Verdict:
    parameters = seen["parameters"]
    backbone = [p for name, p in parameters.items() if name.startswith("backbone")]
    head = [p for name, p in parameters.items() if name.startswith("head")]
    watched = [p["requires_grad"] for p in backbone]
    if seen["attributes"] and all(watched):
        owner, names = next(iter(seen["attributes"].items()))
        return not_yet(
            "attribute_only",
            f"Nothing is frozen. You made a new attribute `{names[0]}` on `{owner or 'model'}`, "
            "which torch does not read. What has the flag: a module, or its parameters? And is "
            "the name spelt right?",
        )
    if not any(p["requires_grad"] for p in head):
        if any(watched):
            return not_yet(
                "froze_the_head",
                "You froze the head and train the backbone. Which of the two should stay as it is?",
            )
        return not_yet(
            "froze_everything",
            "No parameter requires grad any more, not even the head's, so there is nothing left "
            "to train. Whose parameters do you switch off?",
        )
    if all(watched):
        return not_yet(
            "still_watched",
            "The backbone's parameters still require grad: autograd computes their gradients in "
            "each step, whoever uses them. What tells autograd to leave them out?",
        )
    if any(watched):
        return not_yet(
            "froze_some",
            "Some of the backbone's parameters still require grad. Which ones does your loop miss: "
            "biases, a layer?",
        )
    if not seen["optimiser"]:
        return not_yet(
            "no_optimiser",
            "The backbone is frozen, but `freeze_backbone` did not return an optimiser. "
            "Who trains the head?",
        )
    if any(p["optimised"] for p in backbone):
        return not_yet(
            "optimiser_holds_frozen",
            "The backbone is frozen, but your optimiser still holds its parameters. A momentum or "
            "a weight decay could move them one day: which parameters should it get?",
        )
    if not all(p["optimised"] and p["requires_grad"] for p in head) or seen["strangers"]:
        return not_yet(
            "head_incomplete",
            "Your optimiser does not hold all of the head's parameters. Training the head means "
            "its weight and its bias: what did you pass?",
        )
    if seen["backward"] or not all(p["moved"] for p in head):
        return not_yet(
            "head_does_not_move",
            "The right parameters are frozen, but a training step does not move the head. "
            "What stops it: a learning rate, or a forward pass without a graph?",
        )
    if any(abs(rate / case["inputs"]["lr"] - 1) > 1e-6 for rate in seen["rates"]):
        return not_yet(
            "wrong_rate",
            "The right parameters are frozen and trained, but your optimiser's learning rate is "
            "not the `lr` that came in. Which one did you give it, or did it choose its own?",
        )
    return right("The head learns, the backbone stays, and autograd does no needless work.")


FREEZE = Exercise(
    id="freeze_backbone",
    title="Freeze the backbone",
    lesson="01_requires_grad",
    points=3,
    minutes=8,
    difficulty=3,
    answer="freeze_backbone",
    observe="call_then_train",
    cases=_cases_freeze,
    judge=_judge_freeze,
    hints=(
        "Who carries the flag `requires_grad`: the module, or each of its parameters?",
        "A module has a method that switches the flag of all its parameters; its name ends in an "
        "underscore.",
        "Switch the backbone's parameters off, then give the optimiser those parameters of the "
        "model that still require grad, as a list.",
    ),
    symptom_hints={
        "attribute_only": "Print `[p.requires_grad for p in model.parameters()]` after your line.",
        "nothing_to_optimise": "Print the list of parameters that you pass before you pass it.",
    },
    names=("requires_grad_()", "requires_grad"),
)
