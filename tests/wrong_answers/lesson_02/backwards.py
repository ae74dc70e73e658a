"""Cut a history, find the node that made NaN."""

from __future__ import annotations

import torch
from torch.autograd import grad

# --- cut_the_state


def steps(W, chunk, h):
    for x in chunk:
        h = torch.tanh(h @ W + x)
    return h


def state_detach_thrown_away(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        h.square().sum().backward()
        h.detach()
    return h


def state_kept(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        h.square().sum().backward(retain_graph=True)
    return h.detach()


def state_one_backward(W, xs, h, size):
    loss = 0
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        loss = loss + h.square().sum()
    loss.backward()
    return h.detach()


def state_cut_every_step(W, xs, h, size):
    for k, x in enumerate(xs):
        h = torch.tanh(h.detach() @ W + x)
        if (k + 1) % size == 0:
            h.square().sum().backward()
    return h.detach()


def state_reset(W, xs, h, size):
    for chunk in xs.split(size):
        last = steps(W, chunk, h)
        last.square().sum().backward()
    return last.detach()


def state_zeros(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        h.square().sum().backward()
        h = torch.zeros_like(h)
    return h


def state_counted_from_zero(W, xs, h, size):
    for t, x in enumerate(xs):
        h = torch.tanh(h @ W + x)
        if t % size == 0:
            h.square().sum().backward()
            h = h.detach()
    return h.detach()


def state_loss_every_step(W, xs, h, size):
    for chunk in xs.split(size):
        loss = 0
        for x in chunk:
            h = torch.tanh(h @ W + x)
            loss = loss + h.square().sum()
        loss.backward()
        h = h.detach()
    return h


def state_mean(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        h.square().mean().backward()
        h = h.detach()
    return h


def state_without_squares(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        h.sum().backward()
        h = h.detach()
    return h


def state_last_chunk(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h)
        W.grad = None
        h.square().sum().backward()
        h = h.detach()
    return h


def state_cut_before_next(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h.detach())
        h.square().sum().backward()
    return h


def state_without_backward(W, xs, h, size):
    with torch.no_grad():
        return steps(W, xs, h)


def state_cut_before_loss(W, xs, h, size):
    for chunk in xs.split(size):
        h = steps(W, chunk, h).detach()
        h.square().sum().backward()
    return h


def state_cut_in_place(W, xs, h, size):
    for start in range(0, len(xs), size):
        h = steps(W, xs[start : start + size], h)
        (h**2).sum().backward()
        h.detach_()
    return h


def state_by_grad(W, xs, h, size):
    W.grad = torch.zeros_like(W)
    for k, x in enumerate(xs, start=1):
        h = (h @ W + x).tanh()
        if k % size == 0:
            W.grad += grad(h.pow(2).sum(), W)[0]
            h = h.data.clone()
    return h


# --- first_nan


def nodes_of(loss):
    seen = {loss.grad_fn: None}
    for node in (queue := [loss.grad_fn]):
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen[parent] = None
                queue.append(parent)
    return list(seen)


def watch(loss, test):
    """Names of the nodes for which `test(sent, came)` holds, in the order in which they ran."""
    found = []
    for node in nodes_of(loss):
        name = type(node).__name__

        def look(sent, came, name=name):
            if test(sent, came):
                found.append(name)

        node.register_hook(look)
    loss.backward()
    return found


def has_nan(tensors):
    return any(t is not None and t.isnan().any() for t in tensors)


def nan_not_caught(loss):
    with torch.autograd.detect_anomaly():
        loss.backward()


def nan_last(loss):
    return [None, *watch(loss, lambda sent, came: has_nan(sent))][-1]


def nan_received(loss):
    return next(iter(watch(loss, lambda sent, came: has_nan(came))), None)


def nan_or_inf(loss):
    def not_finite(sent, came):
        return any(t is not None and not t.isfinite().all() for t in sent)

    return next(iter(watch(loss, not_finite)), None)


def nan_root(loss):
    loss.backward()
    leaves = [n.variable for n in nodes_of(loss) if hasattr(n, "variable")]
    return type(loss.grad_fn).__name__ if any(x.grad.isnan().any() for x in leaves) else None


def nan_in_value(loss):
    return type(loss.grad_fn).__name__ if loss.isnan() else None


def nan_somewhere(loss):
    return "WhereBackward0" if nan_by_hooks(loss) == "LogBackward0" else None


def nan_always_named(loss):
    return (watch(loss, lambda sent, came: has_nan(sent)) or [type(loss.grad_fn).__name__])[0]


def nan_as_node(loss):
    name = nan_by_hooks(loss)
    return next((n for n in nodes_of(loss) if type(n).__name__ == name), None)


def nan_by_hooks(loss):
    return next(iter(watch(loss, lambda sent, came: has_nan(sent))), None)


def nan_by_message(loss):
    try:
        with torch.autograd.set_detect_anomaly(True):
            loss.backward()
    except RuntimeError as error:
        return next(w.strip("'") for w in str(error).split() if "Backward" in w)


class Found(Exception):
    pass


def nan_by_stopping(loss):
    def stop(name):
        def look(sent, came):
            if has_nan(sent):
                raise Found(name)

        return look

    for node in nodes_of(loss):
        node.register_hook(stop(node.name()))
    try:
        loss.backward()
    except Found as found:
        return str(found)
    return ""


WRONG = {
    "cut_the_state": {
        "graph_freed": state_detach_thrown_away,
        "history_kept": state_kept,
        "cut_every_step": state_cut_every_step,
        "state_reset": [state_reset, state_zeros],
        "border_early": state_counted_from_zero,
        "loss_every_step": state_loss_every_step,
        "mean_for_sum": state_mean,
        "wrong_values": state_without_squares,
        "last_chunk_only": state_last_chunk,
        "tracked": state_cut_before_next,
        "no_graph": state_cut_before_loss,
        "none": state_without_backward,
    },
    "first_nan": {
        "anomaly_raised": nan_not_caught,
        "last_not_first": nan_last,
        "received_not_made": nan_received,
        "inf_is_not_nan": nan_or_inf,
        "named_the_root": nan_root,
        "found_nothing": nan_in_value,
        "named_without_nan": nan_always_named,
        "not_a_name": nan_as_node,
        "wrong_node": nan_somewhere,
    },
}

RIGHT = {
    "cut_the_state": [state_cut_in_place, state_by_grad],
    "first_nan": [nan_by_hooks, nan_by_message, nan_by_stopping],
}
