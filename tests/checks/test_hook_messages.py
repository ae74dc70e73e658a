"""Errors about hooks: each one that is explained is one that torch really raises."""

from __future__ import annotations

import pytest
import torch

from utils.checks.crashes import explain
from utils.checks.hook_messages import HOOK_CRASHES

pytestmark = pytest.mark.filterwarnings("ignore")


def leaf():
    return torch.ones(2, requires_grad=True)


def hooked(hook):
    x = leaf()
    x.register_hook(hook)
    x.sum().backward()


def hooked_node(hook):
    p = leaf() * 2 + leaf() * 3
    p.grad_fn.register_hook(hook)
    p.sum().backward()


def hooked_layer(hook, kind="register_full_backward_hook", **options):
    layer = torch.nn.Linear(2, 2)
    getattr(layer, kind)(hook, **options)
    layer(torch.ones(3, 2, requires_grad=True)).sum().backward()


def accumulates(hook):
    x = leaf()
    x.register_post_accumulate_grad_hook(hook)
    x.sum().backward()


def overwritten_after_a_full_hook():
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda module, at_inputs, at_outputs: None)
    torch.nn.ReLU(inplace=True)(layer(torch.ones(3, 2)))


def old_and_new():
    layer = torch.nn.Linear(2, 2)
    layer.register_backward_hook(lambda module, at_inputs, at_outputs: None)
    layer.register_full_backward_hook(lambda module, at_inputs, at_outputs: None)


def packs_in_place():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        (leaf() * 1).exp()


PRE = "register_full_backward_pre_hook"
CASES = [
    ("hook_returned_no_tensor", lambda: hooked(lambda g: 0.0)),
    ("hook_returned_no_tensor", lambda: hooked(lambda g: (g,))),
    ("hook_changed_shape", lambda: hooked(lambda g: g.norm())),
    (
        "post_accumulate_on_inner",
        lambda: (leaf() * 2).register_post_accumulate_grad_hook(lambda t: None),
    ),
    ("post_accumulate_returned", lambda: accumulates(lambda leaf: leaf.grad * 2)),
    ("hook_on_untracked", lambda: torch.ones(2).register_hook(lambda g: None)),
    ("wrong_number_of_arguments", lambda: hooked_layer(lambda module, at_inputs: None)),
    ("wrong_number_of_arguments", lambda: hooked_layer(lambda m, i, o: None, PRE)),
    ("invalid_number_of_gradients", lambda: hooked_layer(lambda m, i, o: (i, o))),
    ("invalid_number_of_gradients", lambda: hooked_layer(lambda m, o: o[0] * 2, PRE)),
    ("invalid_number_of_gradients", lambda: hooked_node(lambda leaves, arrived: arrived)),
    ("node_hook_returned_list", lambda: hooked_node(lambda leaves, arrived: [*leaves])),
    ("multiplied_the_tuple", lambda: hooked_layer(lambda m, i, o: i * 0.5)),
    ("module_has_no_name", lambda: hooked_layer(lambda m, i, o: print(m.name))),
    ("keyword_for_removal", lambda: hooked_layer(lambda m, i, o: None, remove_hook=True)),
    ("in_place_after_full_hook", overwritten_after_a_full_hook),
    ("pack_edits_its_input", packs_in_place),
    ("mixed_hooks", old_and_new),
]


@pytest.mark.parametrize(("slug", "program"), CASES)
def test_the_error_is_explained(slug, program) -> None:
    with pytest.raises((RuntimeError, TypeError, AttributeError)) as caught:
        program()
    found, message = explain("answer", caught.value)
    assert found == slug, message
    assert message.endswith("?")


def test_every_explanation_is_met() -> None:
    words = []
    for _, program in CASES:
        with pytest.raises((RuntimeError, TypeError, AttributeError)) as caught:
            program()
        words.append(str(caught.value))
    for slug, part, _ in HOOK_CRASHES:
        assert any(part in said for said in words), f"torch does not say this any more: {slug}"
