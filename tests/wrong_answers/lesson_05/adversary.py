"""Answers about a gradient that goes through the discriminator and not into it."""

from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, softplus


def flags_of(module):
    return [(p, p.requires_grad) for p in module.parameters()]


def put_back(flags):
    for p, flag in flags:
        p.requires_grad_(flag)


def plain(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise))).mean().backward()
    optimiser.step()


def discriminator_cleared_before(generator, discriminator, noise, optimiser):
    discriminator.zero_grad()
    plain(generator, discriminator, noise, optimiser)


def discriminator_cleared(generator, discriminator, noise, optimiser):
    plain(generator, discriminator, noise, optimiser)
    discriminator.zero_grad()


def fakes_detached(generator, discriminator, noise, optimiser):
    flags = flags_of(discriminator)
    optimiser.zero_grad()
    fakes = generator(noise).detach().requires_grad_()
    discriminator.requires_grad_(False)
    softplus(-discriminator(fakes)).mean().backward()
    put_back(flags)
    optimiser.step()


def discriminator_under_no_grad(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    fakes = generator(noise)
    with torch.no_grad():
        scores = discriminator(fakes)
    softplus(-scores).mean().backward()
    optimiser.step()


@torch.no_grad()
def all_under_no_grad(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise))).mean().backward()
    optimiser.step()


def scores_detached(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise)).detach()).mean().backward()
    optimiser.step()


def all_on_afterwards(generator, discriminator, noise, optimiser):
    discriminator.requires_grad_(False)
    plain(generator, discriminator, noise, optimiser)
    discriminator.requires_grad_(True)


def frozen_for_good(generator, discriminator, noise, optimiser):
    discriminator.requires_grad_(False)
    plain(generator, discriminator, noise, optimiser)


def frozen(step):
    """The step, with the discriminator frozen while it lasts."""

    def train_generator(generator, discriminator, noise, optimiser):
        flags = flags_of(discriminator)
        discriminator.requires_grad_(False)
        step(generator, discriminator, noise, optimiser)
        put_back(flags)

    return train_generator


@frozen
def not_cleared(generator, discriminator, noise, optimiser):
    softplus(-discriminator(generator(noise))).mean().backward()
    optimiser.step()


@frozen
def never_steps(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise))).mean().backward()


@frozen
def cleared_before_the_step(generator, discriminator, noise, optimiser):
    softplus(-discriminator(generator(noise))).mean().backward()
    optimiser.zero_grad()
    optimiser.step()


@frozen
def steps_before_backward(generator, discriminator, noise, optimiser):
    loss = softplus(-discriminator(generator(noise))).mean()
    optimiser.step()
    optimiser.zero_grad()
    loss.backward()


@frozen
def gives_itself_away(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(discriminator(generator(noise))).mean().backward()
    optimiser.step()


@frozen
def label_of_a_fake(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    scores = discriminator(generator(noise))
    binary_cross_entropy_with_logits(scores, torch.zeros_like(scores)).backward()
    optimiser.step()


@frozen
def summed(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise))).sum().backward()
    optimiser.step()


@frozen
def raw_scores(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    (-discriminator(generator(noise))).mean().backward()
    optimiser.step()


def fakes_without_history(generator, discriminator, noise, optimiser):
    flags = flags_of(discriminator)
    with torch.no_grad():
        fakes = generator(noise)
    fakes.requires_grad_()
    discriminator.requires_grad_(False)
    softplus(-discriminator(fakes)).mean().backward()
    put_back(flags)
    optimiser.step()


def detached_and_not_frozen(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise).detach())).mean().backward()
    optimiser.step()


@frozen
def detached_and_frozen(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise).detach())).mean().backward()
    optimiser.step()


@frozen
def in_eval(generator, discriminator, noise, optimiser):
    discriminator.eval()
    plain(generator, discriminator, noise, optimiser)


@frozen
def stepped_by_hand(generator, discriminator, noise, optimiser):
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise))).mean().backward()
    with torch.no_grad():
        for p in generator.parameters():
            p -= optimiser.param_groups[0]["lr"] * p.grad


@frozen
def cleared_to_zero_before_the_step(generator, discriminator, noise, optimiser):
    softplus(-discriminator(generator(noise))).mean().backward()
    optimiser.zero_grad(set_to_none=False)
    optimiser.step()


def both_step(generator, discriminator, noise, optimiser):
    theirs = torch.optim.SGD(discriminator.parameters(), lr=0.1)
    optimiser.zero_grad()
    softplus(-discriminator(generator(noise))).mean().backward()
    optimiser.step()
    theirs.step()


@frozen
def as_a_loss_with_labels(generator, discriminator, noise, optimiser):
    optimiser.zero_grad(set_to_none=False)
    scores = discriminator(generator(noise))
    binary_cross_entropy_with_logits(scores, torch.ones_like(scores)).backward()
    optimiser.step()


def gradients_asked_for(generator, discriminator, noise, optimiser):
    loss = softplus(-discriminator(generator(noise))).mean()
    parameters = list(generator.parameters())
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        p.grad = g
    optimiser.step()


def only_these_inputs(generator, discriminator, noise, optimiser):
    print("step")
    optimiser.zero_grad()
    loss = softplus(-discriminator(generator(noise))).mean()
    loss.backward(inputs=list(generator.parameters()))
    optimiser.step()
    return loss.item()


WRONG = {
    "train_generator": {
        "filled_grads": [plain, discriminator_cleared_before],
        "cleared_grads": discriminator_cleared,
        "generator_not_moved": [fakes_detached, never_steps, cleared_before_the_step],
        "only_stale_gradient": fakes_without_history,
        "no_graph": [
            discriminator_under_no_grad,
            all_under_no_grad,
            scores_detached,
            detached_and_frozen,
        ],
        "only_discriminator_reached": detached_and_not_frozen,
        "training_flags_changed": in_eval,
        "stepped_by_hand": stepped_by_hand,
        "no_new_gradient": cleared_to_zero_before_the_step,
        "switched_all_on": all_on_afterwards,
        "left_frozen": frozen_for_good,
        "stale_gradient": not_cleared,
        "changed_saved": steps_before_backward,
        "wrong_side": [gives_itself_away, label_of_a_fake],
        "sum_for_mean": summed,
        "raw_scores": raw_scores,
        "discriminator_moved": both_step,
    },
}
RIGHT = {"train_generator": [as_a_loss_with_labels, gradients_asked_for, only_these_inputs]}
