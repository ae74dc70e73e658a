"""Answers about the way to NumPy."""

from __future__ import annotations

import numpy as np
import torch


def straight(t):
    return t.numpy()


@torch.no_grad()
def straight_under_no_grad(t):
    return t.numpy()


def only_detached(t):
    return t.detach().numpy()


def data(t):
    return t.data.numpy()


def as_array(t):
    return np.asarray(t.detach())


def cut_in_place(t):
    return t.detach_().numpy().copy()


def switched_off(t):
    if t.is_leaf:
        t.requires_grad_(False)
    return t.detach().numpy().copy()


def as_a_list(t):
    return t.tolist()


def still_a_tensor(t):
    return t.detach().clone()


def by_way_of_a_list(t):
    return np.array(t.tolist())


def in_double(t):
    return np.array(t.detach(), dtype=np.float64)


def flattened(t):
    return np.array([x.item() for x in t.flatten()], dtype=t.detach().numpy().dtype)


def list_of_its_dtype(t):
    return np.array(t.tolist(), dtype=t.detach().numpy().dtype)


def a_scalar_of_numpy(t):
    return t.detach().numpy()[()].copy()


def cloned_first(t):
    return t.detach().cpu().clone().numpy()


def array_copies(t):
    print(t)
    return np.array(t.detach())


def forced(t):
    return t.numpy(force=True).copy()


@torch.no_grad()
def copied_under_no_grad(t):
    return t.numpy().copy()


WRONG = {
    "to_numpy": {
        "numpy_on_tracked": straight,
        "shared_memory": [only_detached, data, as_array, straight_under_no_grad],
        "cut_the_caller": [cut_in_place, switched_off],
        "not_an_array": [as_a_list, still_a_tensor],
        "wrong_dtype": [by_way_of_a_list, in_double],
        "wrong_shape": [flattened, list_of_its_dtype],
        "scalar_for_array": a_scalar_of_numpy,
    },
}
RIGHT = {"to_numpy": [cloned_first, array_copies, forced, copied_under_no_grad]}
