"""What `record` cannot run is refused in words that say what to give instead."""

import pytest
import torch
from torch.autograd.graph import get_gradient_edge

from tests.graph.programs import leaf
from utils.graph import record


def refused(kind: type[Exception], *arguments: object, **others: object) -> str:
    """The words of the refusal."""
    with pytest.raises(kind) as caught:
        record(*arguments, **others)
    return str(caught.value)


def test_a_vector_needs_a_vector():
    y = leaf() * 2
    words = refused(ValueError, y, names={"y": y})
    assert "y has shape (3,)" in words
    assert "give a vector of y's shape (3,), such as torch.ones_like(y)" in words
    assert "torch.ones(3,)" in refused(ValueError, y, names={})


def test_a_vector_of_the_wrong_shape():
    y = leaf() * 2
    words = refused(ValueError, y, torch.ones(2), names={"y": y})
    assert words.startswith("gradient has shape (2,), but y has shape (3,)")


@pytest.mark.parametrize("root", [lambda y: y, get_gradient_edge, lambda y: y.grad_fn])
def test_every_way_to_name_a_root_is_checked(root):
    y = leaf() * 2
    assert "(3,)" in refused(ValueError, root(y))
    assert "(3,)" in refused(ValueError, root(y), torch.ones(2))
    assert record(root(y), torch.ones(3)).error == ""


def test_one_entry_needs_no_vector_whatever_its_shape():
    assert record(leaf(2.0).reshape(1, 1) * 3).seeds[0].shape == (1, 1)


def test_a_complex_root_needs_a_vector():
    z = torch.tensor(1 + 2j, requires_grad=True) * 2
    assert "complex64" in refused(ValueError, z)
    assert record(z, torch.tensor(1 + 0j)).error == ""


@pytest.mark.parametrize("gradient", [1.0, [1.0, 2.0, 3.0], "ones"])
def test_a_gradient_that_is_no_tensor(gradient):
    words = refused(TypeError, leaf() * 2, gradient)
    assert type(gradient if not isinstance(gradient, list) else 1.0).__name__ in words
    assert "torch.tensor" in words


def test_gradients_that_match_no_root():
    x = leaf()
    assert "gradient[2]" in refused(
        ValueError, [x.sum(), x * 2], [None, torch.ones(3), torch.ones(3)]
    )
    assert "['y']" in refused(ValueError, {"y": x.sum(), "z": x.sum()}, torch.tensor(1.0))


def test_one_vector_may_stand_in_a_list_of_one_as_for_torch():
    y = leaf() * 2
    assert record([y], torch.ones(3)).steps == record(y, [torch.ones(3)]).steps


@pytest.mark.parametrize("thing", [torch.ones(3), leaf().detach(), 3, None, [], {}])
def test_nothing_to_run_over(thing):
    words = refused(ValueError, thing)
    assert words.startswith("There is no graph to run backward over. ")
    assert len(words) > 50, "and it says why"


def test_inputs_that_cannot_be_asked_for():
    x = leaf()
    y = x.sum()
    assert "empty" in refused(ValueError, y, inputs=[])
    assert "requires_grad_()" in refused(ValueError, y, inputs=torch.ones(3))
    assert "str" in refused(TypeError, y, inputs="x")


def test_an_input_that_was_not_used_gets_nothing():
    x, unused = leaf(), leaf()
    tape = record(x.sum(), inputs=[unused])
    assert tape.error == ""
    assert unused.grad is None
    assert all(step.change is None for step in tape.steps)


def test_a_refusal_changes_nothing():
    x = leaf()
    x.grad = torch.ones(3)
    old = x.grad
    refused(ValueError, x * 2)
    assert x.grad is old


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda x: used(x.exp().sum()), "second time"),
        (lambda x: spoilt(x.exp()), "modified by an inplace operation"),
    ],
)
def test_what_only_backward_finds_out_is_on_the_tape(program, words):
    tape = record(program(leaf()))
    assert words in tape.error
    assert len(tape.steps) == 1, "the sum ran, what came after it could not"


def used(y: torch.Tensor) -> torch.Tensor:
    y.backward()
    return y


def spoilt(h: torch.Tensor) -> torch.Tensor:
    y = h.sum()
    h.add_(1)
    return y
