"""Crashes: each error that is explained is one that torch really raises."""

from __future__ import annotations

import pytest
import torch

from utils.checks.crashes import CRASHES, explain


def leaf():
    return torch.ones(2, requires_grad=True)


def integer_dtype():
    torch.tensor([1, 2], requires_grad=True)


def in_place_on_leaf():
    w = leaf()
    w -= 1


def changed_saved():
    y = leaf().exp()
    y += 1
    y.sum().backward()


def no_graph():
    torch.ones(2).sum().backward()


def optimising_a_nonleaf():
    torch.optim.SGD([leaf() * 2], lr=0.1)


def nothing_to_optimise():
    torch.optim.SGD([], lr=0.1)


def parameters_not_iterable():
    torch.optim.SGD(leaf(), lr=0.1)


def retained_untracked():
    torch.ones(2).retain_grad()


def switched_off_an_inner_tensor():
    (leaf() * 2).requires_grad = False


def backward_on_nonscalar():
    (leaf() * 2).backward()


def graph_freed():
    loss = (leaf() ** 2).sum()
    loss.backward()
    loss.backward()


def compared_tensors():
    return leaf() in [torch.zeros(2)]


def recursion():
    return recursion()


def anomaly_raised():
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.detect_anomaly(check_nan=True):
        (x.sqrt() * x).sum().backward()


def unused_input():
    torch.autograd.grad(leaf().sum(), leaf())


def number_for_grad():
    leaf().grad = 0


def numpy_on_tracked():
    leaf().numpy()


def grad_is_none():
    return 0.1 * leaf().grad


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("slug", [slug for slug, _, _ in CRASHES])
def test_torch_raises_what_is_explained(slug: str) -> None:
    with pytest.raises(Exception) as caught:
        globals()[slug]()
    named, message = explain("answer", caught.value)
    assert named == slug
    assert message.startswith("`answer` stopped at the line `")
    assert message.endswith("?")


def test_integers_are_explained_both_ways() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.tensor([1, 2]).requires_grad_()
    assert explain("answer", caught.value)[0] == "integer_dtype"


def test_an_unusual_error_speaks_for_itself() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        print(1 / 0)
    slug, message = explain("answer", caught.value)
    assert slug == ""
    assert message == (
        "`answer` stopped at the line `print(1 / 0)` with ZeroDivisionError: division by zero"
    )


def test_code_without_a_file_has_no_line() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("1 / 0", "<answer>", "exec"))
    caught.value.__traceback__ = caught.value.__traceback__.tb_next
    assert explain("answer", caught.value)[1].startswith("`answer` stopped with ZeroDivisionError")
