"""Answers about the saliency map."""

from __future__ import annotations

import contextlib
import copy

import torch


@contextlib.contextmanager
def _evaluating(model):
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def _slopes(model, images, score, **options):
    """Gradient of score(model's scores) at the pixels; zeros where there is none."""
    with _evaluating(model):
        pixels = images.detach().clone().requires_grad_()
        loss = score(model(pixels))
        return torch.autograd.grad(loss, pixels, materialize_grads=True, **options)[0]


def _map_of(score):
    return lambda model, images, k: _slopes(model, images, lambda s: score(s, k)).abs().amax(1)


def _made_of(combine):
    return lambda model, images, k: combine(_slopes(model, images, lambda s: s[:, k].sum()))


_right = _made_of(lambda slope: slope.abs().amax(1))


# Right.


def _with_weights(model, images, k):
    twin = copy.deepcopy(model).eval()
    pixels = images.clone().requires_grad_()
    scores = twin(pixels)
    v = torch.zeros_like(scores)
    v[:, k] = 1
    scores.backward(v)
    slope = torch.zeros_like(images) if pixels.grad is None else pixels.grad
    return slope.abs().max(dim=1).values


def _with_inputs(model, images, k):
    with _evaluating(model):
        pixels = torch.empty_like(images).copy_(images).requires_grad_()
        pixels.grad = torch.zeros_like(pixels)
        model(pixels)[:, k].sum().backward(inputs=[pixels])
    return torch.amax(torch.abs(pixels.grad), 1)


def _functional(model, images, k):
    with _evaluating(model):
        slope = torch.func.grad(lambda pixels: model(pixels)[:, k].sum())(images)
    return slope.detach().abs().amax(dim=-3)


# Wrong: the model is not as it was.


def _never_eval(model, images, k):
    pixels = images.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(pixels)[:, k].sum(), pixels, materialize_grads=True)
    return slope.abs().amax(1)


def _left_in_eval(model, images, k):
    model.eval()
    return _right(model, images, k)


def _train_at_the_end(model, images, k):
    saliency = _right(model, images, k)
    model.train()
    return saliency


def _one_flag_for_all(model, images, k):
    training = model.training
    saliency = _right(model, images, k)
    model.train(training)
    return saliency


def _plain_backward(model, images, k):
    with _evaluating(model):
        pixels = images.clone().requires_grad_()
        model(pixels)[:, k].sum().backward()
    return pixels.grad.abs().amax(1)


def _zero_grad_afterwards(model, images, k):
    saliency = _plain_backward(model, images, k)
    model.zero_grad()
    return saliency


def _frozen(model, images, k):
    model.requires_grad_(False)
    return _right(model, images, k)


def _unfrozen(model, images, k):
    model.requires_grad_(False)
    saliency = _right(model, images, k)
    model.requires_grad_(True)
    return saliency


def _twin_in_training(model, images, k):
    pixels = images.clone().requires_grad_()
    score = copy.deepcopy(model)(pixels)[:, k].sum()
    return torch.autograd.grad(score, pixels, materialize_grads=True)[0].abs().amax(1)


# Wrong: the images are not as they were, or not watched.


def _marked(model, images, k):
    images.requires_grad_()
    with _evaluating(model):
        score = model(images)[:, k].sum()
    return torch.autograd.grad(score, images, materialize_grads=True)[0].abs().amax(1)


def _not_watched(model, images, k):
    with _evaluating(model):
        return torch.autograd.grad(model(images)[:, k].sum(), images)[0].abs().amax(1)


def _no_zeros(model, images, k):
    with _evaluating(model):
        pixels = images.clone().requires_grad_()
        return torch.autograd.grad(model(pixels)[:, k].sum(), pixels)[0].abs().amax(1)


def _no_zeros_in_grad(model, images, k):
    with _evaluating(model):
        pixels = images.clone().requires_grad_()
        model(pixels)[:, k].sum().backward(inputs=[pixels])
    return pixels.grad.abs().amax(1)


def _no_sum(model, images, k):
    with _evaluating(model):
        pixels = images.clone().requires_grad_()
        model(pixels)[:, k].backward()
    return pixels.grad.abs().amax(1)


# Wrong: another map, or another way.


def _tuple(model, images, k):
    with _evaluating(model):
        pixels = images.clone().requires_grad_()
        return torch.autograd.grad(model(pixels)[:, k].sum(), pixels, materialize_grads=True)


def _returned_by_backward(model, images, k):
    with _evaluating(model):
        images.requires_grad_()
        return model(images)[:, k].sum().backward(inputs=[images])


def _image_by_image(model, images, k):
    return torch.cat([_right(model, image[None], k) for image in images])


def _second_graph(model, images, k):
    slope = _slopes(model, images, lambda s: s[:, k].sum(), create_graph=True)
    return slope.abs().amax(1)


def _differences(model, images, k, step=1e-5):
    with _evaluating(model), torch.no_grad():
        slope = torch.zeros_like(images)
        for at in range(images[0].numel()):
            ahead, behind = images.clone(), images.clone()
            ahead.flatten(1)[:, at] += step
            behind.flatten(1)[:, at] -= step
            slope.flatten(1)[:, at] = (model(ahead) - model(behind))[:, k] / (2 * step)
    return slope.abs().amax(1)


WRONG = {
    "saliency": {
        "changed_statistics": _never_eval,
        "left_in_eval": _left_in_eval,
        "switched_all_on": [_train_at_the_end, _one_flag_for_all],
        "filled_grads": _plain_backward,
        "cleared_grads": _zero_grad_afterwards,
        "flags_changed": [_frozen, _unfrozen],
        "training_mode": _twin_in_training,
        "marked_the_images": _marked,
        "input_not_tracked": _not_watched,
        "unused_input": _no_zeros,
        "grad_is_none": _no_zeros_in_grad,
        "backward_on_nonscalar": _no_sum,
        "tuple_not_unpacked": _tuple,
        "backward_returns_none": _returned_by_backward,
        "channels_kept": [
            _made_of(lambda slope: slope.abs()),
            _made_of(lambda slope: slope.abs().amax(1, keepdim=True)),
        ],
        "signed": [
            _made_of(lambda slope: slope.amax(1)),
            _made_of(lambda slope: slope.amax(1).abs()),
        ],
        "other_than_the_largest": [
            _made_of(lambda slope: slope.abs().sum(1)),
            _made_of(lambda slope: slope.abs().mean(1)),
            _made_of(lambda slope: slope.norm(dim=1)),
        ],
        "values_and_indices": _made_of(lambda slope: slope.abs().max(1)),
        "times_the_image": lambda model, images, k: (
            (_slopes(model, images, lambda s: s[:, k].sum()) * images).abs().amax(1)
        ),
        "every_output": _map_of(lambda s, k: s.sum()),
        "highest_output": _map_of(lambda s, k: s.amax(1).sum()),
        "image_for_output": _map_of(lambda s, k: s[k % len(s)].sum()),
        "one_image_only": [
            _map_of(lambda s, k: s[:, k].max()),
            _map_of(lambda s, k: s[0, k]),
        ],
        "probability_for_score": [
            _map_of(lambda s, k: s.softmax(1)[:, k].sum()),
            _map_of(lambda s, k: torch.nn.functional.cross_entropy(s, torch.full((len(s),), k))),
        ],
        "mean_for_sum": _map_of(lambda s, k: s[:, k].mean()),
        "rescaled": lambda model, images, k: (
            _right(model, images, k) / _right(model, images, k).max()
        ),
        "one_by_one": _image_by_image,
        "tracked": _second_graph,
        "by_hand": _differences,
    },
}

RIGHT = {"saliency": [_with_weights, _with_inputs, _functional]}
