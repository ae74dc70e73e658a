"""The exercise that builds something to keep: which pixels does an output of a model look at?"""

from __future__ import annotations

import copy

import torch

from utils.checks.compare import close, compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.facts import facts
from utils.checks.lesson_03.common import LESSON, no_tensor, numbers, whole
from utils.checks.observers import arguments
from utils.checks.verdict import RIGHT, Verdict, not_yet, right

# Output k is made small, so that it is never the highest. Some parameters have a gradient.
NETWORK = """\
n, channels, height, width = images.shape
model = torch.nn.Sequential(
    torch.nn.Conv2d(channels, 4, 3),
    torch.nn.BatchNorm2d(4),
    torch.nn.Tanh(),
    torch.nn.Flatten(),
    torch.nn.Linear(4 * (height - 2) * (width - 2), 5),
).double()
generator = torch.Generator().manual_seed(seed)
for parameter in model.parameters():
    torch.nn.init.uniform_(parameter, -0.3, 0.3, generator=generator)
with torch.no_grad():
    model[4].bias[k] -= 4
model[0].weight.grad = torch.ones_like(model[0].weight)
model[4].bias.requires_grad_(False)
model.train(training)
model[1].train(training and not frozen)
"""

# A model that has learned how frequent each class is, and looks at nothing else.
BASELINE = """\
class Baseline(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.scores = torch.nn.Parameter(torch.arange(classes, dtype=torch.float64))

    def forward(self, images):
        return self.scores.expand(len(images), -1)

model = Baseline(4).eval()
"""


def _cases(rng: torch.Generator) -> list[Case]:
    cases = []
    for shape, training, frozen in (((3, 3, 5, 6), True, False), ((4, 2, 6, 4), True, True)):
        inputs = {
            "images": numbers(rng, *shape),
            "k": whole(rng, 0, shape[0]),
            "seed": int(torch.randint(2**31, (), generator=rng)),
            "training": training,
            "frozen": frozen,
        }
        cases.append({"inputs": inputs, "given": NETWORK, "built": ["model", "images", "k"]})
    inputs = {"images": numbers(rng, 2, 3, 4, 5), "k": 2}
    return [*cases, {"inputs": inputs, "given": BASELINE, "built": ["model", "images", "k"]}]


def _judge(case: Case, seen: Seen) -> Verdict:
    model, images, k = arguments(case)
    verdict = _judge_model(facts(model), seen["args"][0])
    if verdict.outcome != RIGHT:
        return verdict
    empty = no_tensor(seen["result"], "What `saliency` returned", seen["args"][1])
    if empty:
        return empty
    if "seed" not in case["inputs"]:
        flat = torch.zeros_like(images[:, 0])
        what = "The map of a model that looks at no pixel"
        verdict = compare(seen["result"], flat, what, says=BASELINE_SAYS)
        return verdict if verdict.outcome != RIGHT else right(WELL_DONE)
    want = _gradient(model, images, k).abs().amax(1)
    pair = seen["result"]["items"] if seen["result"]["kind"] == "tuple" else []
    if len(pair) == 2 and getattr(pair[1].get("value"), "dtype", None) == torch.int64:
        return not_yet(
            "values_and_indices",
            "`saliency` returned two tensors: over a dimension, `max` gives the largest values and "
            "where they are. Which of the two is the map?",
        )
    if not seen["runs"] and getattr(seen["result"].get("value"), "shape", None) == want.shape:
        return not_yet(
            "by_hand",
            "No backward ran inside `saliency`. If you tried the pixels out one by one: how many "
            "times does the model run for that, and how many times with autograd?",
        )
    verdict = compare(seen["result"], want, "Your saliency map")
    if verdict.outcome != RIGHT:  # only now are the usual mistakes worth their time
        return compare(
            seen["result"],
            want,
            "Your saliency map",
            simulated=_simulated(model, images, k),
            says=SAYS,
        )
    after = seen["args"][1]
    if after["requires_grad"] or after["grad"] is not None:
        return not_yet(
            "marked_the_images",
            "The map is right, but the caller's `images` now require grad or hold a gradient. "
            "They were lent to you: what could you watch instead of them?",
        )
    if seen["result"]["requires_grad"]:
        return not_yet(
            "tracked",
            "The map is right, but it requires grad, so it keeps a whole graph alive. "
            "Which argument built that second graph?",
        )
    if len(seen["runs"]) > 1:
        return not_yet(
            "one_by_one",
            f"The map is right, but backward ran {len(seen['runs'])} times for {len(images)} "
            "images. The score of one image does not depend on the others: what may you add up?",
        )
    return right(WELL_DONE)


def _scores(model: torch.nn.Module, images: torch.Tensor, training: bool = False) -> torch.Tensor:
    return copy.deepcopy(model).train(training)(images)


def _gradient(
    model: torch.nn.Module, images: torch.Tensor, k: int | None, training: bool = False
) -> torch.Tensor:
    """Gradient of output k of each image, or of all outputs, at the pixels; (n, c, h, w)."""
    watched = images.clone().requires_grad_()
    scores = _scores(model, watched, training)
    return torch.autograd.grad(scores.sum() if k is None else scores[:, k].sum(), watched)[0]


def _simulated(
    model: torch.nn.Module, images: torch.Tensor, k: int
) -> dict[str, torch.Tensor | list[torch.Tensor]]:
    """What usual mistakes make of the map."""
    gradient = _gradient(model, images, k)
    size, n = gradient.abs(), len(images)
    want = size.amax(1)
    one_image = torch.eye(n, dtype=want.dtype)[:, :, None, None]

    def map_of(loss) -> torch.Tensor:  # type: ignore[no-untyped-def]
        watched = images.clone().requires_grad_()
        scores = _scores(model, watched)
        return torch.autograd.grad(loss(scores), watched)[0].abs().amax(1)

    target = torch.full((n,), k)
    return {
        "channels_kept": [size, size.amax(1, keepdim=True), gradient],
        "signed": [gradient.amax(1), gradient.amax(1).abs(), gradient.sum(1).abs()],
        "other_than_the_largest": [
            size.sum(1),
            size.mean(1),
            gradient.norm(dim=1),
            gradient.square().sum(1),
            size[:, 0],
            size.amin(1),
        ],
        "times_the_image": [(gradient * images).abs().amax(1)],
        "training_mode": [_gradient(model, images, k, training=True).abs().amax(1)],
        "every_output": [_gradient(model, images, None).abs().amax(1)],
        "highest_output": [map_of(lambda s: s.amax(1).sum())],
        "image_for_output": [map_of(lambda s: s[k].sum())],
        "one_image_only": [want * row for row in one_image],
        "probability_for_score": [
            map_of(lambda s: s.softmax(1)[:, k].sum()),
            map_of(lambda s: torch.nn.functional.cross_entropy(s, target, reduction="sum")),
            map_of(lambda s: torch.nn.functional.cross_entropy(s, target)),
        ],
        "mean_for_sum": [want / n],
        "rescaled": [want / want.max(), want / want.amax((1, 2), keepdim=True)],
    }


def _judge_model(before: Seen, after: Seen) -> Verdict:
    """Is the model as it was?"""
    for name, was in before["state"].items():
        now = after["state"].get(name, was)
        if not close(now["value"], was["value"]):
            return not_yet(
                "changed_statistics" if not was["parameter"] else "changed_weights",
                f"`{name}` of the model has other values now than before. "
                "In which mode does a model count and average what passes through it?",
            )
        if now["requires_grad"] != was["requires_grad"]:
            return not_yet(
                "flags_changed",
                f"`requires_grad` of the model's `{name}` is not what it was. "
                "Which gradient do you need, and is there a way to ask for that one alone?",
            )
        if was["grad"] is not None and (now["grad"] is None or not now["grad"].any()):
            return not_yet(
                "cleared_grads",
                f"`.grad` of the model's `{name}` was cleared. Somebody's backward had filled it. "
                "What has to be cleared when nothing is put there?",
            )
        if (now["grad"] is None) != (was["grad"] is None) or (
            was["grad"] is not None and not close(now["grad"], was["grad"])
        ):
            return not_yet(
                "filled_grads",
                f"`.grad` of the model's `{name}` has changed: your backward went on to the "
                "parameters, and the next step would use that. How do you ask for the gradient of "
                "the pixels alone?",
            )
    for name, was in before["training"].items():
        now = after["training"][name]
        where = f"The model's part `{name}`" if name else "The model"
        if was and not now:
            return not_yet(
                "left_in_eval",
                f"{where} was in training mode when you came, and is not any more. "
                "Which line puts it back?",
            )
        if now and not was:
            return not_yet(
                "switched_all_on",
                f"{where} was in evaluation mode when you came, and now it trains. `train()` "
                "reaches every part: how do you give each its own flag back?",
            )
    return right()


WELL_DONE = "One backward for the whole batch, and nobody can see that you were there."
SAYS = {
    "channels_kept": (
        "{what} still has a dimension for the channels. One number for each pixel was asked for: "
        "which of its channels' should it be?"
    ),
    "signed": (
        "{what} lets a large negative slope lose against a small positive one, or cancel it. "
        "Which comes first: the absolute value, or the maximum?"
    ),
    "other_than_the_largest": (
        "{what} combines the channels in another way than asked. Sum, mean, norm, one channel: "
        "which of these is the largest |slope| of a pixel?"
    ),
    "times_the_image": (
        "{what} is the slope times the pixel. That is another method: a dark pixel can matter too. "
        "What does the slope alone say?"
    ),
    "training_mode": (
        "{what} belongs to the model in training mode, where each image's score depends on the "
        "whole batch. In which mode is the model when it is used?"
    ),
    "every_output": (
        "{what} adds the slopes of all outputs. Only output `k` was asked for: "
        "which v lets it through?"
    ),
    "highest_output": (
        "{what} belongs to each image's highest output. The question was about `k`, whatever "
        "wins: where does `k` come in?"
    ),
    "image_for_output": (
        "{what} belongs to all outputs of one image: you took a row of the scores. "
        "Which dimension counts images, and which outputs?"
    ),
    "one_image_only": (
        "{what} is zero for all images but one. Does what you go backward from hold the score of "
        "one image, or of each?"
    ),
    "probability_for_score": (
        "{what} belongs to a probability or a loss made of the scores: softmax mixes the other "
        "outputs in. What does output `k` say on its own?"
    ),
    "mean_for_sum": (
        "{what} is smaller by the number of images, so it depends on the company of an image. "
        "Which sum or weights would not do that?"
    ),
    "rescaled": (
        "{what} was rescaled. That is for the picture: the caller may want to compare maps. "
        "What are the slopes themselves?"
    ),
}
BASELINE_SAYS = {
    "none": "{what} is None. No slope at all: which tensor says that for each pixel?",
    "wrong_shape": (
        "{what} has shape {seen}, where {want} was asked for. "
        "Zeros in the shape of what do you need, and which step takes the channels away?"
    ),
}

SALIENCY = Exercise(
    id="saliency",
    title="Build: a saliency map",
    lesson=LESSON,
    points=5,
    minutes=20,
    difficulty=5,
    answer="saliency",
    observe="call_watching_backward",
    cases=_cases,
    judge=_judge,
    hints=(
        "Whose gradient do you want, and who gets one too when you call `backward`? What else does "
        "a model change when it runs?",
        "Watch a copy of the images. Add up output `k` over the batch: the score of one image "
        "does not depend on the others' pixels, once the model is in evaluation mode.",
        "Remember the flag of each module, switch to `eval()`, ask `torch.autograd.grad` for the "
        "copy alone, and give every module its flag back in a `finally`.",
    ),
    symptom_hints={
        "unused_input": "An argument of `torch.autograd.grad` gives zeros where nothing arrives.",
        "grad_is_none": "A model may ignore its input. What is `.grad` then, and what should the "
        "map be?",
        "switched_all_on": "`model.modules()` gives each part, and each part has its own flag.",
        "filled_grads": "`torch.autograd.grad` hands gradients to you and fills no `.grad`.",
    },
    names=("autograd.grad", "materialize_grads"),
)
