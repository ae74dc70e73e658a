"""Derivatives by the parameters of a module: of each output, and of each sample's loss."""

from __future__ import annotations

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_04.common import LESSON, by_differences, module_left_alone, numbers
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# One parameter has a gradient already, as after somebody's backward.
NETWORK = """\
model = torch.nn.Sequential(
    torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 5)
).double()
generator = torch.Generator().manual_seed(seed)
for parameter in model.parameters():
    torch.nn.init.uniform_(parameter, -0.8, 0.8, generator=generator)
model[2].bias.grad = torch.full_like(model[2].bias, 0.25)
model[1].eval()  # a part with a mode of its own
model.register_buffer("runs", torch.zeros(2).double())
"""
FROZEN = "model[0].weight.requires_grad_(False)\n"
LOSS = """
def loss(prediction, target):
    return (prediction - target).square().mean()
"""
FORM = """
class Weights(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor(1.5, dtype=torch.float64))
        self.inner = torch.nn.Linear(4, 2, bias=False).double()

    def forward(self, x):
        return torch.sin(self.gain * self.inner(x))

model = Weights()
generator = torch.Generator().manual_seed(seed)
torch.nn.init.uniform_(model.inner.weight, -0.8, 0.8, generator=generator)
"""


def _seed(rng: torch.Generator) -> int:
    return int(torch.randint(2**31, (), generator=rng))


def _judge_dict(seen: Seen, model: torch.nn.Module, answer: str) -> Verdict | None:
    """Is there an entry for each parameter, and is the module as it was?"""
    result = seen["result"]
    if result["kind"] != "dict":
        known = result["kind"] if result["kind"] != "plain" else type(result["value"]).__name__
        return not_yet(
            "not_a_dict",
            f"`{answer}` should return a dict with an entry for each name in "
            f"`model.named_parameters()`; it returned a {known}. With respect to what did you "
            "differentiate, and where do the names come from?",
        )
    missing = [n for n, _ in model.named_parameters() if n not in result["items"]]
    if missing:
        return not_yet(
            "names_missing",
            f"Your dict has no entry for the parameter `{missing[0]}`. Biases, single numbers and "
            "frozen ones are parameters too: which method gives all of them with their names?",
        )
    strangers = sorted(result["items"].keys() - dict(model.named_parameters()).keys())
    if strangers:
        return not_yet(
            "too_many_names",
            f"Your dict has an entry for `{strangers[0]}`, which is no parameter. A `state_dict` "
            "lists the buffers as well: which method gives the parameters alone?",
        )
    return None


def _judge_module(seen: Seen, model: torch.nn.Module) -> Verdict | None:
    before, after = facts(model)["state"], seen["args"][0]["state"]
    for name, was in before.items():
        now = after[name]
        if (now["grad"] is None) != (was["grad"] is None) or (
            was["grad"] is not None and not close(now["grad"], was["grad"])
        ):
            return not_yet(
                "filled_grads",
                f"The numbers are right, but `.grad` of the model's `{name}` is not what it was. "
                "It belongs to whoever trains the model: which calls return gradients instead of "
                "leaving them there?",
            )
    return module_left_alone(facts(model), seen["args"][0])


READ_GRAD = (
    "{what} is what `.grad` of the module held. Transforms and `functional_call` never fill "
    "that: where does their gradient come out?"
)


def _old_grad(parameter: torch.Tensor) -> torch.Tensor:
    """What may be read from `.grad`; a value that nothing has where there is none."""
    return torch.tensor(float("nan")) if parameter.grad is None else parameter.grad


def _cases_jacobian(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {"x": numbers(rng, 4), "seed": _seed(rng)},
            "given": given,
            "built": ["model", "x"],
        }
        for given in (NETWORK, FORM, NETWORK + FROZEN)
    ]


def _parameter_jacobian(model: torch.nn.Module, x: torch.Tensor) -> dict[str, torch.Tensor]:
    names, params = zip(*model.requires_grad_().named_parameters(), strict=True)
    rows = [torch.autograd.grad(y, params, retain_graph=True) for y in model(x)]
    return dict(zip(names, map(torch.stack, zip(*rows, strict=True)), strict=True))


def _judge_jacobian(case: Case, seen: Seen) -> Verdict:
    model, x = arguments(case)
    problem = _judge_dict(seen, model, "parameter_jacobian")
    if problem:
        return problem
    params = dict(model.named_parameters())
    wanted = _parameter_jacobian(model, x)
    for name, want in wanted.items():
        item = seen["result"]["items"][name]
        verdict = by_differences({"result": item}, want, f'Your entry for "{name}"') or compare(
            item,
            want,
            f'Your entry for "{name}"',
            simulated={
                "summed_rows": want.sum(0),
                "accumulated_rows": [want.cumsum(0), want.cumsum(0) + _old_grad(params[name])],
                "outputs_last": want.movedim(0, -1),
                "one_output_only": [want[0], want[-1]],
                "read_grad": _old_grad(params[name]),
                "last_row_repeated": [want[-1].expand_as(want), want.sum(0).expand_as(want)],
            },
            says={
                "none": "{what} is None. Did you look into `.grad` of the module? Transforms and "
                "`functional_call` with tensors of yours never fill it: where does the gradient "
                "go?",
                "summed_rows": "{what} has the shape of the parameter: all outputs were added up "
                "before going back. A row for each output was asked for: how do they stay apart?",
                "accumulated_rows": "{what} grows from output to output: each row holds those "
                "before it too. What was still in `.grad` when the next backward came?",
                "outputs_last": "{what} has the outputs in its last dimension. J has a row for "
                "each output: where does that index go?",
                "one_output_only": "{what} belongs to one output only. Where do the others go?",
                "read_grad": READ_GRAD,
                "last_row_repeated": "{what} has the same in every row. Are your rows all one "
                "tensor, that every backward adds to?",
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    return _judge_module(seen, arguments(case)[0]) or right(
        "A J for each parameter; the module saw nothing."
    )


PARAMETER_JACOBIAN = Exercise(
    id="parameter_jacobian",
    title="J by a module's parameters",
    lesson=LESSON,
    points=3,
    minutes=10,
    difficulty=3,
    answer="parameter_jacobian",
    observe="call_counting_cost",
    cases=_cases_jacobian,
    judge=_judge_jacobian,
    hints=(
        "`jacrev` wants a function of what it differentiates by. What is the module a function of?",
        "`torch.func.functional_call(model, params, (x,))` runs the module with tensors of yours "
        "in the place of its parameters.",
        "Write a function of a dict of parameters that calls the module with it at x, and give "
        "`jacrev` of that the dict of `model.named_parameters()`.",
    ),
    symptom_hints={
        "filled_grads": "`torch.autograd.grad` and `torch.func` leave `.grad` alone.",
        "read_grad": "`jacrev` and `grad` return what they find.",
        "no_graph": "Detached parameters have no graph; a transform needs none.",
    },
    names=("functional_call", "jacrev"),
)


def _cases_samples(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                "X": numbers(rng, size, 4),
                "T": numbers(rng, size, outputs),
                "seed": _seed(rng),
            },
            "given": given + LOSS,
            "built": ["model", "loss", "X", "T"],
        }
        for given, size, outputs in ((NETWORK, 7, 5), (FORM, 6, 2))
    ]


def _against_all_targets(model, loss, X, T) -> dict[str, torch.Tensor]:  # type: ignore[no-untyped-def]
    """The gradients if each sample met the targets of all."""
    names, params = zip(*model.named_parameters(), strict=True)
    each = [torch.autograd.grad(loss(model(x), T), params) for x in X]
    return dict(zip(names, map(torch.stack, zip(*each, strict=True)), strict=True))


def _judge_samples(case: Case, seen: Seen) -> Verdict:
    model, loss, X, T = arguments(case)
    problem = _judge_dict(seen, model, "sample_gradients")
    if problem:
        return problem
    names, params = zip(*model.named_parameters(), strict=True)
    each = [torch.autograd.grad(loss(model(x), t), params) for x, t in zip(X, T, strict=True)]
    crossed = _against_all_targets(model, loss, X, T)
    for name, parameter, parts in zip(names, params, zip(*each, strict=True), strict=True):
        want = torch.stack(parts)
        total, old = want.sum(0), _old_grad(parameter)
        verdict = compare(
            seen["result"]["items"][name],
            want,
            f'Your entry for "{name}"',
            simulated={
                "batch_gradient": [
                    part.expand(shape)
                    for part in (total, want.mean(0), want.mean(0) / len(X))
                    for shape in (want.shape, total.shape)
                ],
                "accumulated": [want.cumsum(0), want.cumsum(0) + old],
                "mean_for_sum": want / len(X),
                "read_grad": old,
                "shared_target": crossed[name],
                "cut_inside": torch.zeros_like(want),
            },
            says={
                "none": "{what} is None. Did you look into `.grad` of the module? Transforms and "
                "`functional_call` with tensors of yours never fill it: where does the gradient "
                "go?",
                "batch_gradient": "{what} is the gradient of the whole batch: the samples were "
                "added up on the way, and nothing takes them apart again. What would be a function "
                "of the parameters and of one sample?",
                "shared_target": "{what} has every sample's prediction compared with all targets. "
                "`in_dims` says what is taken apart: what belongs to one sample besides its x?",
                "accumulated": "{what} grows from sample to sample: each holds those before it "
                "too. What was still in `.grad` when the next backward came?",
                "mean_for_sum": "{what} is smaller by the number of samples: was a mean over the "
                "batch taken before the derivative?",
                "read_grad": READ_GRAD,
                "cut_inside": "{what} is all zeros: what you differentiate does not depend on the "
                "parameters. Did the module run without recording, or with tensors cut off "
                "inside the function that you transform?",
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    problem = _judge_module(seen, model)
    if problem:
        return problem
    if len(seen["runs"]) >= len(X):
        return not_yet(
            "one_by_one",
            f"The gradients are right, but backward ran {len(seen['runs'])} times for {len(X)} "
            "samples. Which transform takes a gradient function of one sample to a batch?",
        )
    return right("One backward for all samples, and each keeps its own gradient.")


SAMPLE_GRADIENTS = Exercise(
    id="sample_gradients",
    title="A gradient for each sample",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=4,
    answer="sample_gradients",
    observe="call_counting_cost",
    cases=_cases_samples,
    judge=_judge_samples,
    hints=(
        "After the backward of a batch, can the part of one sample be told apart? What would be a "
        "function of one sample only?",
        "A function of (params, x, t) that runs the module by `functional_call` and gives the loss "
        "of one sample. `torch.func.grad` differentiates by its first argument.",
        "Map the gradient function over x and t with `vmap`; `in_dims` says that the parameters "
        "are the same for all samples.",
    ),
    symptom_hints={
        "mapped_sizes_differ": "An entry of None in `in_dims` marks what all samples share.",
        "one_by_one": "Your loop is right; the function inside it can be mapped.",
        "not_a_dict": "`torch.func.grad` differentiates by the first argument unless told.",
        "backward_in_transform": "Inside, return the loss; the transform goes backward for you.",
    },
    names=("vmap", "func.grad", "functional_call"),
)
