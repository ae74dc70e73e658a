"""Answers about an evaluation that leaves no trace."""

from __future__ import annotations

import contextlib

import numpy as np
import torch


@contextlib.contextmanager
def resting(model):
    flags = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, flag in flags:
            part.training = flag


def mean_of_squares(model, batches):
    errors = [(model(x) - y).square() for x, y in batches]
    return torch.cat(errors).mean()


@torch.no_grad()
def no_grad_alone(model, batches):
    return mean_of_squares(model, batches).item()


def eval_alone(model, batches):
    with resting(model):
        return mean_of_squares(model, batches).item()


def eval_and_detach(model, batches):
    with resting(model):
        return mean_of_squares(model, batches).detach()


@torch.no_grad()
def never_back(model, batches):
    model.eval()
    return mean_of_squares(model, batches).item()


@torch.no_grad()
def train_at_the_end(model, batches):
    model.eval()
    loss = mean_of_squares(model, batches).item()
    model.train()
    return loss


@torch.no_grad()
def one_flag_for_all(model, batches):
    training = model.training
    model.eval()
    try:
        return mean_of_squares(model, batches).item()
    finally:
        model.train(training)


@torch.no_grad()
def no_finally(model, batches):
    flags = {part: part.training for part in model.modules()}
    model.eval()
    loss = mean_of_squares(model, batches).item()
    for part, flag in flags.items():
        part.training = flag
    return loss


def switched_as_a_call(model, batches):
    torch.set_grad_enabled(False)
    with resting(model):
        loss = mean_of_squares(model, batches).item()
    torch.set_grad_enabled(True)
    return loss


def switched_off_for_good(model, batches):
    torch.set_grad_enabled(False)
    with resting(model):
        return mean_of_squares(model, batches).item()


def error_kept(model, batches):
    with resting(model), torch.no_grad():
        try:
            return mean_of_squares(model, batches).item()
        except ValueError as error:
            print("skipped:", error)


def return_in_the_finally(model, batches):
    loss = float("nan")
    with resting(model), torch.no_grad():
        try:
            loss = mean_of_squares(model, batches).item()
        finally:
            return loss  # noqa: B012


def mean_of_means(model, batches):
    with resting(model), torch.no_grad():
        losses = [(model(x) - y).square().mean().item() for x, y in batches]
    return sum(losses) / len(losses)


def summed(model, batches):
    with resting(model), torch.no_grad():
        return sum((model(x) - y).square().sum().item() for x, y in batches)


def last_batch(model, batches):
    with resting(model), torch.no_grad():
        for x, y in batches:
            loss = (model(x) - y).square().mean()
    return loss.item()


def return_in_the_loop(model, batches):
    with resting(model), torch.no_grad():
        for x, y in batches:
            return (model(x) - y).square().mean().item()


def divided_by_batches(model, batches):
    with resting(model), torch.no_grad():
        total = sum((model(x) - y).square().sum() for x, y in batches)
    return total / len(batches)


def without_parentheses(model, batches):
    with resting(model), torch.no_grad:
        return mean_of_squares(model, batches).item()


def nothing_returned(model, batches):
    with resting(model), torch.no_grad():
        mean_of_squares(model, batches).item()


def flags_switched_off(model, batches):
    model.requires_grad_(False)
    with resting(model), torch.no_grad():
        return mean_of_squares(model, batches).item()


@torch.inference_mode()
def in_inference_mode(model, batches):
    with resting(model):
        return mean_of_squares(model, batches).item()


@torch.no_grad()
def as_a_tensor(model, batches):
    with resting(model):
        return mean_of_squares(model, batches)


@torch.no_grad()
def never_added(model, batches):
    total, count = 0.0, 0
    with resting(model):
        for x, y in batches:
            (model(x) - y).square().sum().item()
            count += len(y)
    return total / count


@torch.no_grad()
def as_a_number_of_numpy(model, batches):
    with resting(model):
        return np.float64(mean_of_squares(model, batches).item())


def with_a_switch(model, batches):
    print("evaluating", len(batches), "batches")
    flags = [part.training for part in model.modules()]
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        model.train(False)
        return float(mean_of_squares(model, batches))
    finally:
        torch.set_grad_enabled(before)
        for part, flag in zip(model.modules(), flags, strict=True):
            part.training = flag


WRONG = {
    "evaluate": {
        "still_training": no_grad_alone,
        "graph_built": [eval_alone, eval_and_detach],
        "left_in_eval": never_back,
        "switched_all_on": [train_at_the_end, one_flag_for_all],
        "left_in_eval_after_error": no_finally,
        "mode_left_switched": [switched_as_a_call, switched_off_for_good],
        "swallowed_error": [error_kept, return_in_the_finally],
        "mean_of_means": mean_of_means,
        "sum_for_mean": summed,
        "last_batch_only": last_batch,
        "first_batch_only": return_in_the_loop,
        "sum_over_batches": divided_by_batches,
        "no_grad_without_parentheses": without_parentheses,
        "nothing_added_up": never_added,
        "not_a_plain_number": as_a_tensor,
        "none": nothing_returned,
        "changed_model": flags_switched_off,
    },
}
RIGHT = {"evaluate": [in_inference_mode, with_a_switch, as_a_number_of_numpy]}
