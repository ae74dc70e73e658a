"""Answers about a step that is a part of the graph."""

from __future__ import annotations

import torch


def not_recorded(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w)
    return loss(w - lr * g)


def retained(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, retain_graph=True)
    return loss(w - lr * g)


def gradient_detached(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    return loss(w - lr * g.detach())


def step_under_no_grad(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    with torch.no_grad():
        fast = w - lr * g
    return loss(fast)


def by_optimiser(loss, w, lr):
    fast = w.detach().clone().requires_grad_()
    optimiser = torch.optim.SGD([fast], lr=lr.item())
    loss(fast).backward()
    optimiser.step()
    return loss(fast.detach())


def optimiser_on_w(loss, w, lr):
    optimiser = torch.optim.SGD([w], lr=lr.item())
    loss(w).backward()
    optimiser.step()
    return loss(w)


def data_moved(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    w.data -= lr * g
    return loss(w)


def in_place(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    w -= lr * g
    return loss(w)


def from_dot_grad(loss, w, lr):
    loss(w).backward()
    return loss(w - lr * w.grad)


def backward_recorded(loss, w, lr):
    loss(w).backward(create_graph=True)
    return loss(w - lr * w.grad)


def backward_and_emptied(loss, w, lr):
    loss(w).backward(create_graph=True)
    g, w.grad = w.grad, None
    return loss(w - lr * g)


def backward_and_restored(loss, w, lr):
    old, w.grad = w.grad, None
    loss(w).backward(create_graph=True)
    g, w.grad = w.grad, old
    return loss(w - lr * g)


def uphill(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    return loss(w + lr * g)


def before_the_step(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    w - lr * g
    return loss(w)


def number_for_lr(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    return loss(w - lr.item() * g)


def as_a_number(loss, w, lr):
    return recorded(loss, w, lr).item()


def weights(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    return (w - lr * g).sum() * 0 + (w - lr * g)


def second_gradient_of_a_constant(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w)
    (h,) = torch.autograd.grad(g.sum(), w)
    return loss(w - lr * g) + 0 * h.sum()


def recorded(loss, w, lr):
    (g,) = torch.autograd.grad(loss(w), w, create_graph=True)
    return loss(w - lr * g)


def by_func(loss, w, lr):
    return loss(w - lr * torch.func.grad(loss)(w))


def step_with_sub(loss, w, lr):
    value = loss(w)
    g = torch.autograd.grad(value, [w], create_graph=True)[0]
    print(value)
    return loss(torch.sub(w, g.mul(lr)))


WRONG = {
    "step_in_the_graph": {
        "first_order": [not_recorded, retained, gradient_detached],
        "detached": [step_under_no_grad, by_optimiser],
        "changed_input": [optimiser_on_w, data_moved],
        "in_place_on_leaf": in_place,
        "filled_grads": [
            *(from_dot_grad, backward_recorded),
            *(backward_and_emptied, backward_and_restored),
        ],
        "not_a_tensor": as_a_number,
        "uphill": uphill,
        "no_step": before_the_step,
        "none": number_for_lr,
        "gradient_returned": weights,
        "no_graph": second_gradient_of_a_constant,
    }
}
RIGHT = {"step_in_the_graph": [by_func, step_with_sub]}
