"""Answers about lines that overwrite what backward needs."""

from __future__ import annotations

import torch
from torch.nn.functional import relu, softplus


def as_it_was(x, w):
    h = x @ w
    h += 0.5
    e = h.exp()
    e += 1
    g = e.log()
    g *= 3
    q = g.square()
    g -= 8
    q += g
    q.relu_()
    return q


def only_the_first(x, w):
    e = (x @ w + 0.5).exp() + 1
    g = e.log()
    g *= 3
    q = g.square()
    g -= 8
    q += g
    return q.relu_()


def only_the_second(x, w):
    e = (x @ w + 0.5).exp()
    e += 1
    g = e.log() * 3
    return (g.square() + (g - 8)).relu()


def under_no_grad(x, w):
    e = (x @ w + 0.5).exp()
    with torch.no_grad():
        e += 1
    g = e.log() * 3
    return (g.square() + (g - 8)).relu()


def on_the_detached(x, w):
    e = (x @ w + 0.5).exp()
    e.detach().add_(1)
    g = e.log() * 3
    return (g.square() + (g - 8)).relu()


def through_data(x, w):
    h = x @ w
    h += 0.5
    e = h.exp()
    e.data += 1
    g = e.log()
    g *= 3
    q = g.square()
    g.data -= 8
    q += g
    q.relu_()
    return q


def one_through_data(x, w):
    h = x @ w
    h += 0.5
    e = h.exp()
    e.data += 1
    g = e.log()
    g *= 3
    q = g.square()
    q += g - 8
    return q.relu_()


def all_new(x, w):
    h = x @ w
    h = h + 0.5
    e = h.exp()
    e = e + 1
    g = e.log()
    g = g * 3
    q = g.square()
    g = g - 8
    q = q + g
    q = q.relu()
    return q


def cloned_everywhere(x, w):
    h = (x @ w).clone()
    h += 0.5
    e = h.exp().clone()
    e += 1
    g = e.log().clone()
    g *= 3
    q = g.square().clone()
    g = g.clone()
    g -= 8
    q += g
    return q.relu_()


def result_thrown_away(x, w):
    h = x @ w
    h += 0.5
    e = h.exp()
    e + 1
    g = e.log()
    g *= 3
    q = g.square()
    g = g - 8
    q += g
    return q.relu_()


def shift_thrown_away(x, w):
    e = (x @ w + 0.5).exp() + 1
    g = e.log()
    g *= 3
    q = g.square()
    g.sub(8)
    q += g
    return q.relu_()


def lines_moved(x, w):
    e = (x @ w + 0.5).exp() + 1
    g = e.log()
    g *= 3
    g -= 8
    q = g.square()
    q += g
    return q.relu_()


@torch.no_grad()
def nothing_recorded(x, w):
    return as_it_was(x, w)


def detached_in_the_middle(x, w):
    e = (x @ w + 0.5).exp().detach()
    e += 1
    g = e.log() * 3
    return (g.square() + g - 8).relu()


def row_by_row(x, w):
    h = x @ w
    for row in h:
        row += 0.5
    g = 3 * (h.exp() + 1).log()
    return (g.square() + (g - 8)).relu()


def written_out(x, w):
    h = x @ w
    h += 0.5
    e = h.exp()
    torch.add(e, 1, out=e)
    g = 3 * e.log()
    return (g.square() + (g - 8)).relu()


def clones_before_the_edit(x, w):
    h = x @ w
    h += 0.5
    e = h.exp().clone()
    e += 1
    g = e.log()
    g *= 3
    q = g.clone().square()
    g -= 8
    q += g
    return relu(q, inplace=True)


def fewer_steps(x, w):
    h = x @ w
    h += 0.5
    print(x, h.abs())
    g = softplus(h)
    g *= 3
    q = g.square()
    q += g
    q -= 8
    return q.relu()


def shift_left_out(x, w):
    g = 3 * ((x @ w + 0.5).exp() + 1).log()
    return (g.square() + g).relu()


def nothing_in_it(x, w):
    return (x @ w) * 0


WRONG = {
    "in_place_or_not": {
        "changed_saved": [
            *(as_it_was, only_the_first, only_the_second),
            *(under_no_grad, on_the_detached),
        ],
        "hidden_from_autograd": [through_data, one_through_data],
        "all_out_of_place": [all_new, cloned_everywhere],
        "lost_update": [result_thrown_away, shift_thrown_away, shift_left_out],
        "all_zero": nothing_in_it,
        "shifted_before_square": lines_moved,
        "detached": [nothing_recorded, detached_in_the_middle],
        "edited_one_of_many_views": row_by_row,
        "out_argument": written_out,
    },
}
RIGHT = {"in_place_or_not": [clones_before_the_edit, fewer_steps]}
