"""What is saved, and two passes over it."""

from __future__ import annotations

import torch
from torch.autograd import grad

from tests.wrong_answers.lesson_02.walking import walk

# --- saved_bytes


def saved_of(node):
    values = (getattr(node, name) for name in dir(node) if name.startswith("_saved_"))
    return [value for value in values if isinstance(value, torch.Tensor)]


def bytes_per_node(root):
    return sum(t.nbytes for node in walk(root) for t in saved_of(node))


def bytes_by_id(root):
    kept = [t for node in walk(root) for t in saved_of(node)]
    return sum({id(t): t.nbytes for t in kept}.values())


def bytes_of_a_set(root):
    return sum(t.nbytes for t in {t for node in walk(root) for t in saved_of(node)})


def bytes_of_numbers_too(root):
    kept = {}
    for node in walk(root):
        for name in dir(node):
            if name.startswith("_saved_"):
                tensor = getattr(node, name)
                kept[name] = tensor.numel() * tensor.element_size()
    return sum(kept.values())


def bytes_as_elements(root):
    return sum({t.data_ptr(): t.numel() for n in walk(root) for t in saved_of(n)}.values())


def bytes_of_float32(root):
    return 4 * bytes_as_elements(root)


def bytes_of_root(root):
    return sum({t.data_ptr(): t.nbytes for t in saved_of(root.grad_fn)}.values())


def bytes_without_leaves(root):
    kept = {t.data_ptr(): t for n in walk(root) for t in saved_of(n) if not t.is_leaf}
    leaves = {p.variable.data_ptr() for p in walk(root) if hasattr(p, "variable")}
    return sum(t.nbytes for pointer, t in kept.items() if pointer not in leaves)


def bytes_of_results(root):
    total = 0
    for node in walk(root):
        for meta in node._input_metadata:
            total += torch.Size(meta.shape).numel() * meta.dtype.itemsize
    return total


def bytes_in_words(root):
    return f"{bytes_by_storage(root)} bytes"


def bytes_by_storage(root):
    storages = {}
    for node in walk(root):
        for tensor in saved_of(node):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def bytes_by_raw(root):
    kept = {}
    for node in walk(root):
        for name in dir(node):
            if name.startswith("_raw_saved_") and getattr(node, name).data is not None:
                tensor = getattr(node, name).data
                kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
    return torch.tensor(sum(kept.values()))


# --- run_twice


def twice_without_keeping(y, x, u, v):
    return grad(y, x, u)[0], grad(y, x, v)[0]


def twice_keeping_both(y, x, u, v):
    return grad(y, x, u, retain_graph=True)[0], grad(y, x, v, retain_graph=True)[0]


def twice_never_cleared(y, x, u, v):
    y.backward(u, retain_graph=True)
    first = x.grad.clone()
    y.backward(v)
    return first, x.grad


def twice_cleared_between(y, x, u, v):
    y.backward(u, retain_graph=True)
    first, x.grad = x.grad, None
    y.backward(v)
    return first, x.grad


def twice_in_one_pass(y, x, u, v):
    ones = grad(y.sum(), x)[0]
    return ones * u, ones * v


def twice_adding_up(y, x, u, v):
    x.grad = None
    y.backward(u, retain_graph=True)
    first = x.grad.clone()
    y.backward(v)
    return first, x.grad


def twice_one_tensor(y, x, u, v):
    y.backward(u, retain_graph=True)
    first = x.grad
    y.backward(v)
    return first, x.grad


def twice_zeroed_in_place(y, x, u, v):
    y.backward(u, retain_graph=True)
    first = x.grad
    x.grad.zero_()
    y.backward(v)
    return first, x.grad


def twice_in_wrong_order(y, x, u, v):
    for_v = grad(y, x, v, retain_graph=True)[0]
    return for_v, grad(y, x, u)[0]


def twice_with_ones(y, x, u, v):
    return grad(y.sum(), x, retain_graph=True)[0], grad(y, x, v)[0]


def twice_summed(y, x, u, v):
    return grad([y, y], x, [u, v])[0]


def twice_returning_backward(y, x, u, v):
    return y.backward(u, retain_graph=True), y.backward(v)


def twice_by_backward(y, x, u, v):
    x.grad = None
    y.backward(gradient=u, retain_graph=True)
    first, x.grad = x.grad, None
    y.backward(gradient=v)
    return [first, x.grad]


def twice_in_a_batch(y, x, u, v):
    return grad(y, x, torch.stack([u, v]), is_grads_batched=True)[0]


def twice_by_difference(y, x, u, v):
    x.grad.zero_()
    (y * u).sum().backward(retain_graph=True)
    first = x.grad.clone()
    (y * v).sum().backward()
    return first, x.grad - first


WRONG = {
    "saved_bytes": {
        "counted_twice": bytes_per_node,
        "told_apart_by_id": [bytes_by_id, bytes_of_a_set],
        "number_for_tensor": bytes_of_numbers_too,
        "elements_not_bytes": bytes_as_elements,
        "fixed_element_size": bytes_of_float32,
        "root_only": bytes_of_root,
        "inputs_left_out": bytes_without_leaves,
        "every_result": bytes_of_results,
        "not_a_number": bytes_in_words,
    },
    "run_twice": {
        "graph_freed": twice_without_keeping,
        "never_freed": twice_keeping_both,
        "added_up": twice_adding_up,
        "stale_start": [twice_never_cleared, twice_cleared_between],
        "ones_times_v": twice_in_one_pass,
        "same_tensor": twice_one_tensor,
        "swapped": twice_in_wrong_order,
        "ones_instead_of_v": twice_with_ones,
        "not_a_pair": twice_summed,
        "none": twice_returning_backward,
    },
}

RIGHT = {
    "saved_bytes": [bytes_by_storage, bytes_by_raw],
    "run_twice": [twice_by_backward, twice_in_a_batch, twice_by_difference],
}
