"""Answers about a target that stands still, and rounding that lets gradients through."""

from __future__ import annotations

import torch
from torch.nn.functional import mse_loss


def nothing_detached(net, state, reward, next_state, gamma):
    target = reward + gamma * net(next_state)
    return (target - net(state)).square().mean()


def returned_from_no_grad(net, state, reward, next_state, gamma):
    value = net(next_state)
    with torch.no_grad():  # no operation runs in here
        later = value
    return mse_loss(net(state), reward + gamma * later)


def value_detached(net, state, reward, next_state, gamma):
    target = reward + gamma * net(next_state)
    return (target - net(state).detach()).square().mean()


def both_detached(net, state, reward, next_state, gamma):
    return mse_loss(net(state).detach(), reward + gamma * net(next_state).detach())


@torch.no_grad()
def all_under_no_grad(net, state, reward, next_state, gamma):
    return mse_loss(net(state), reward + gamma * net(next_state))


def without_gamma(net, state, reward, next_state, gamma):
    return (reward + net(next_state).detach() - net(state)).square().mean()


def summed(net, state, reward, next_state, gamma):
    return (reward + gamma * net(next_state).detach() - net(state)).square().sum()


def column_for_row(net, state, reward, next_state, gamma):
    target = reward + gamma * net(next_state).detach()
    return (target - net(state).unsqueeze(1)).square().mean()


def in_inference_mode(net, state, reward, next_state, gamma):
    with torch.inference_mode():
        target = reward + gamma * net(next_state)
    return mse_loss(net(state), target)


def backward_inside(net, state, reward, next_state, gamma):
    loss = (reward + gamma * net(next_state).detach() - net(state)).square().mean()
    loss.backward()
    return loss


def net_frozen(net, state, reward, next_state, gamma):
    value = net(state)
    net.requires_grad_(False)
    return (reward + gamma * net(next_state) - value).square().mean()


def as_a_number(net, state, reward, next_state, gamma):
    target = reward + gamma * net(next_state).detach()
    return (target - net(state)).square().mean().item()


def with_no_grad(net, state, reward, next_state, gamma):
    with torch.no_grad():
        target = reward + gamma * net(next_state)
    return mse_loss(net(state), target)


def through_data(net, state, reward, next_state, gamma):
    print("the target is a number")
    return ((net(state) - gamma * net(next_state).data - reward) ** 2).mean()


def a_clone_of_inference(net, state, reward, next_state, gamma):
    with torch.inference_mode():
        target = reward + gamma * net(next_state)
    return mse_loss(net(state), target.clone())


def plainly_rounded(x):
    return torch.round(x)


def rounded_and_detached(x):
    return x.round().detach()


def rounded_data(x):
    return x.data.round()


@torch.no_grad()
def sum_under_no_grad(x):
    return x + (x.round() - x)


def wrong_part_detached(x):
    return x.detach() + (x.round() - x)


def only_one_detached(x):
    return x.round() + x - x.detach() + (x - x.detach())


def sum_of_all(x):
    return x + (x.round() - x)


def only_the_correction(x):
    return (x.round() - x).detach()


def truncated(x):
    return x + (x.int() - x).detach()


def floored(x):
    return x + (x.floor() - x).detach()


def as_it_was(x):
    return x + (x - x.round()).detach() * 0


def in_place(x):
    return x.round_()


def through_the_callers_data(x):
    x.data.round_()
    return x * 1


def numbers_put_into_a_watched_buffer(x):
    out = torch.zeros_like(x, requires_grad=True)
    for i in range(len(x)):
        out[i] = x[i] + (x[i].round() - x[i]).detach()
    return out


def other_order(x):
    return x.round().detach() + x - x.detach()


def a_clone_with_other_data(x):
    y = x.clone()
    y.data.round_()
    return y


class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


def by_a_function(x):
    return Through.apply(x)


def made_a_leaf(x):
    return x.round().detach().requires_grad_()


def switched_off_for_good(net, state, reward, next_state, gamma):
    value = net(state)
    torch.set_grad_enabled(False)
    target = reward + gamma * net(next_state)
    with torch.enable_grad():
        return (target - value).square().mean()


WRONG = {
    "td_loss": {
        "mode_left_switched": switched_off_for_good,
        "target_not_detached": [nothing_detached, returned_from_no_grad],
        "detached_the_value": value_detached,
        "detached": [both_detached, all_under_no_grad],
        "forgot_gamma": without_gamma,
        "sum_for_mean": summed,
        "broadcast_loss": column_for_row,
        "inference_tensor": in_inference_mode,
        "flags_changed": net_frozen,
        "graph_freed": backward_inside,
        "not_a_tensor": as_a_number,
    },
    "round_through": {
        "new_leaf": made_a_leaf,
        "zero_slope": [plainly_rounded, sum_of_all],
        "detached": [rounded_and_detached, rounded_data, sum_under_no_grad],
        "sign_of_the_correction": wrong_part_detached,
        "slope_twice": only_one_detached,
        "not_rounded_back": only_the_correction,
        "other_rounding": [truncated, floored],
        "not_rounded": as_it_was,
        "in_place_on_leaf": [in_place, numbers_put_into_a_watched_buffer],
        "changed_input": through_the_callers_data,
    },
}
RIGHT = {
    "td_loss": [with_no_grad, through_data, a_clone_of_inference],
    "round_through": [other_order, a_clone_with_other_data, by_a_function],
}
