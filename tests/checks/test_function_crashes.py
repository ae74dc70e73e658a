"""Crashes of custom Functions: each error that is explained is one that torch really raises."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import Function, gradcheck

from utils.checks.crashes import explain
from utils.checks.function_messages import FUNCTION_CRASHES


def leaf() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


class Scale(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        return x * k


class Modern(Function):
    @staticmethod
    def forward(a, b):
        return a * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


class Good(Scale):
    @staticmethod
    def backward(ctx, g):
        return g, None


class NoCtx(Function):
    @staticmethod
    def forward(x, k):
        return x * k


class CtxAfterAll(Modern):
    @staticmethod
    def forward(ctx, a, b):
        return a * b


class BackwardOfNothing(Scale):
    @staticmethod
    def backward(ctx):
        return None, None


class BackwardOfTwo(Scale):
    @staticmethod
    def backward(ctx, g, h):
        return g, None


class Typo(Scale):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_for_backward[0], None


class TupleRepeated(Scale):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors, None


class TupleAsTensor(Scale):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors.exp(), None


class TupleGiven(Scale):
    @staticmethod
    def backward(ctx, g):
        return torch.mul(g, torch.exp(ctx.saved_tensors)), None


class OnlyForBackward(Modern):
    @staticmethod
    def jvp(ctx, a_tangent, b_tangent):
        a, b = ctx.saved_tensors
        return a_tangent * b + a * b_tangent


class TakenByIndex(Modern):
    @staticmethod
    def jvp(ctx, a_tangent, b_tangent):
        return a_tangent * ctx.saved_tensors[1]


class OneGradient(Scale):
    @staticmethod
    def backward(ctx, g):
        return g


class GradientOfNumber(Scale):
    @staticmethod
    def backward(ctx, g):
        return g, g.sum()


class NumberBack(Scale):
    @staticmethod
    def backward(ctx, g):
        return 1, None


class TooShort(Scale):
    @staticmethod
    def backward(ctx, g):
        return g[:1].expand(3), None


class Dirty(Scale):
    @staticmethod
    def forward(ctx, x, k):
        ctx.mark_dirty(x)
        return x.mul_(k).clone()


class SetupOfThree(Modern):
    @staticmethod
    def setup_context(ctx, a, b, output):
        ctx.save_for_backward(a, b)


class SetupOfOne(Modern):
    @staticmethod
    def setup_context(ctx, inputs):
        ctx.save_for_backward(*inputs)


class NumberSaved(Good):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x, k)
        return x * k


class TupleCalled(Scale):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors()[0], None


def back(function: type[Function]) -> None:
    function.apply(leaf() * 1, 2).sum().backward()


def push(function: type[Function]) -> None:
    torch.func.jvp(function.apply, (torch.ones(2), torch.ones(2)), (torch.ones(2), torch.ones(2)))


def gradient_of(w: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(w.sum(), w)


X = torch.ones(2, dtype=torch.float64)
RAISING = {
    "no_apply": [lambda: len.apply(leaf())],
    "module_for_function": [lambda: torch.nn.ReLU.apply(leaf(), print)],
    "forward_for_apply": [lambda: Good.forward(leaf(), 2)],
    "forward_signature": [lambda: back(NoCtx), lambda: back(CtxAfterAll)],
    "backward_signature": [lambda: back(BackwardOfNothing), lambda: back(BackwardOfTwo)],
    "setup_signature": [lambda: back(SetupOfThree), lambda: back(SetupOfOne)],
    "called_an_instance": [lambda: Good()(leaf(), 2)],
    "saved_no_tensor": [lambda: back(NumberSaved)],
    "called_a_tuple": [lambda: back(TupleCalled)],
    "missing_backward": [lambda: back(Scale)],
    "missing_jvp": [lambda: push(Modern)],
    "missing_vmap": [lambda: torch.func.vmap(Modern.apply)(torch.ones(2), torch.ones(2))],
    "no_setup_context": [lambda: torch.func.vmap(Good.apply)(torch.ones(2), torch.ones(2))],
    "saved_for_backward_typo": [lambda: back(Typo)],
    "saved_not_unpacked": [
        *(lambda: back(TupleRepeated), lambda: back(TupleAsTensor), lambda: back(TupleGiven)),
        lambda: gradient_of(leaf()).clone(),
    ],
    "not_saved_for_forward": [lambda: push(OnlyForBackward), lambda: push(TakenByIndex)],
    "number_of_gradients": [lambda: back(OneGradient)],
    "gradient_for_a_number": [lambda: back(GradientOfNumber)],
    "number_for_gradient": [lambda: back(NumberBack)],
    "gradient_of_wrong_shape": [lambda: back(TooShort)],
    "dirty_not_returned": [lambda: back(Dirty)],
    "gradcheck_unwatched": [lambda: gradcheck(torch.exp, (X,))],
    "gradcheck_raised": [
        lambda: gradcheck(lambda x: Good.apply(x, 2.0), (X.clone().requires_grad_(),))
    ],
}


@pytest.mark.parametrize("slug", dict.fromkeys(slug for slug, _, _ in FUNCTION_CRASHES))
def test_torch_raises_what_is_explained(slug: str) -> None:
    errors = []
    for action in RAISING[slug]:
        with pytest.raises(Exception) as caught:
            action()
        errors.append(caught.value)
        named, message = explain("answer", caught.value)
        assert named == slug, caught.value
        assert message.startswith("`answer` stopped at the line `")
        assert message.endswith("?")
    for part in (part for other, part, _ in FUNCTION_CRASHES if other == slug):
        assert any(part in str(error) for error in errors), f"nothing here raises {part!r}"
