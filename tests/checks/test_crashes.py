"""Crashes: each error that is explained is one that torch really raises."""

from __future__ import annotations

import pytest
import torch

from utils.checks.crashes import explain
from utils.checks.messages import CRASHES


def leaf():
    return torch.ones(2, requires_grad=True)


def integer_dtype():
    torch.tensor([1, 2], requires_grad=True)


def dtypes_differ():
    torch.ones(2, dtype=torch.float64) @ torch.ones(2)


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


def none_edge():
    return (leaf() * 2).grad_fn.next_functions[1][0].next_functions


def number_for_tensor():
    (leaf() + 1).grad_fn._saved_alpha.numel()


def number_for_tensor_2():
    leaf().sum().item().backward()


def too_many_parts():
    _a, _b = torch.ones(5).split(2)


def grad_of_wrong_shape():
    leaf().grad = torch.ones(3)


def integer_dtype_2():
    torch.tensor([1, 2]).requires_grad_()


def gradient_shape():
    (leaf() * 2).backward(torch.ones(3))


def gradient_shape_2():
    w = leaf()
    torch.autograd.grad(w * 2, w, torch.ones(3, 3), is_grads_batched=True)


def number_for_v():
    (leaf() * 2).backward(1.0)


def number_for_v_2():
    w = leaf()
    torch.autograd.grad(w * 2, w, [1.0])


def input_not_tracked():
    torch.autograd.grad(leaf().sum(), torch.ones(2))


def none_in_a_list():
    torch.stack([leaf().grad])


def product_vector_shape():
    torch.autograd.functional.vjp(torch.sum, leaf(), torch.ones(2))


def product_without_vector():
    torch.autograd.functional.vjp(torch.sin, leaf())


def tangent_shape():
    torch.func.jvp(torch.sum, (leaf(),), (torch.ones(()),))


def jvp_needs_tuples():
    torch.func.jvp(torch.sin, leaf(), leaf())


def dual_without_level():
    torch.autograd.forward_ad.make_dual(leaf(), torch.ones(2))


def not_a_scalar_function():
    torch.autograd.functional.hessian(torch.sin, leaf())


def not_a_scalar_function_2():
    torch.func.grad(torch.sin)(torch.ones(2))


def backward_in_transform():
    torch.func.grad(lambda x: (leaf() * x).sum().backward())(torch.ones(2))


def changed_captured_tensor():
    total = torch.zeros(())
    torch.func.grad(lambda x: total.add_(x.sum()))(torch.ones(2))


def escaped_tensor():
    kept = []
    torch.func.vmap(lambda x: (kept.append(x * 2), x)[1])(torch.ones(2, 3))
    kept[0] + 1


def escaped_tensor_2():
    kept = []
    torch.func.vmap(lambda x: (kept.append(x * 2), x)[1])(torch.ones(2, 3))
    torch.stack(kept)


def item_in_vmap():
    torch.func.vmap(lambda x: x * x.sum().item())(torch.ones(2, 3))


def mapped_sizes_differ():
    torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(3))


def unbatched_buffer():
    torch.func.vmap(lambda x: torch.zeros(3).copy_(x))(torch.ones(2, 3))


def random_in_vmap():
    torch.func.vmap(torch.rand_like)(torch.ones(2, 3))


def vmap_returns_tensors():
    torch.func.vmap(lambda x: 1.0)(torch.ones(2, 3))


def made_in_inference_mode():
    with torch.inference_mode():
        return torch.ones(2)


def inference_tensor():
    return leaf() * made_in_inference_mode()


def inference_tensor_2():
    made_in_inference_mode().add_(1)


def no_grad_without_parentheses():
    with torch.no_grad:
        pass


def detached_view():
    (leaf() * 2)[0].detach_()


def edited_one_of_many_views():
    for row in leaf() * 2:
        row += 1


def out_argument():
    torch.mul(leaf(), 2, out=torch.empty(2))


def averaged_whole_numbers():
    torch.tensor(3).mul_(0.5)


def joined_unlike_shapes():
    torch.cat([torch.ones(2, 3), torch.ones(2)], 1)


def joined_unlike_shapes_2():
    torch.stack([torch.ones(2, 3), torch.ones(2)])


def reshaped_for_sum():
    torch.ones(12).reshape(3)


def no_such_dimension():
    torch.ones(3).sum(1)


def raised_for(slug: str) -> list[Exception]:
    """What torch raises in the functions above that are named after this mistake."""
    errors = []
    for name in (slug, f"{slug}_2"):
        if name in globals():
            with pytest.raises(Exception) as caught:
                globals()[name]()
            errors.append(caught.value)
    assert errors, f"add a function {slug}() that raises the error"
    return errors


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("slug", dict.fromkeys(slug for slug, _, _ in CRASHES))
def test_torch_raises_what_is_explained(slug: str) -> None:
    errors = raised_for(slug)
    for error in errors:
        named, message = explain("answer", error)
        assert named == slug
        assert message.startswith("`answer` stopped at the line `")
        assert message.endswith("?")
    for part in (part for other, part, _ in CRASHES if other == slug):
        assert any(part in str(error) for error in errors), f"nothing here raises {part!r}"


def test_an_unusual_error_speaks_for_itself() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        print(1 / 0)
    slug, message = explain("answer", caught.value)
    assert slug == ""
    assert message == (
        "`answer` stopped at the line `print(1 / 0)` with ZeroDivisionError: division by zero"
    )


def test_the_case_is_told_where_it_has_words() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.ones(12).reshape(3)
    message = explain("answer", caught.value, "for a v of shape (12,)")[1]
    assert "`torch.ones(12).reshape(3)`, for a v of shape (12,), with RuntimeError: " in message


def test_code_without_a_file_has_no_line() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("1 / 0", "<answer>", "exec"))
    caught.value.__traceback__ = caught.value.__traceback__.tb_next
    assert explain("answer", caught.value)[1].startswith("`answer` stopped with ZeroDivisionError")
