"""Any tensor becomes plain numbers that nothing can change later."""

import math

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from utils.graph import Value
from utils.graph.values import KEEP, bytes_of, value_of


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.tensor([3.0, -4.0]), Value((2,), "float32", (3.0, -4.0), 5.0)),
        (torch.tensor(2, dtype=torch.int8), Value((), "int8", (2,), 2.0)),
        (torch.tensor([[True], [False]]), Value((2, 1), "bool", (True, False), None)),
        (torch.tensor([3 + 4j]), Value((1,), "complex64", (3 + 4j,), 5.0)),
        (torch.zeros(0, 3), Value((0, 3), "float32", (), 0.0)),
        (torch.tensor([1.5], dtype=torch.bfloat16), Value((1,), "bfloat16", (1.5,), 1.5)),
        (torch.tensor([3.0], requires_grad=True), Value((1,), "float32", (3.0,), 3.0)),
        (nn.Parameter(torch.tensor([3.0])), Value((1,), "float32", (3.0,), 3.0)),
        (torch.ones(2, device="meta"), Value((2,), "float32", None, None)),
        (torch.tensor([0.0, 2.0]).to_sparse(), Value((2,), "float32", (0.0, 2.0), 2.0)),
        (torch.tensor([1.0, 2.0]).expand(2, 2).T, Value((2, 2), "float32", (1, 1, 2, 2), 10**0.5)),
        (torch.tensor([1 + 2j]).conj(), Value((1,), "complex64", (1 - 2j,), 5**0.5)),
    ],
)
def test_a_small_tensor(tensor, expected):
    value = value_of(tensor)
    assert value.norm == (None if expected.norm is None else pytest.approx(expected.norm))
    assert (value.shape, value.dtype, value.entries) == (
        expected.shape,
        expected.dtype,
        expected.entries,
    )


@pytest.mark.parametrize(
    ("tensor", "norm"),
    [
        (torch.full((KEEP + 1,), 2.0), 2 * math.sqrt(KEEP + 1)),
        (torch.full((100,), 60_000.0, dtype=torch.float16), 599_840.0),
        (torch.full((100,), 2), 20.0),
        (torch.ones(100, dtype=torch.bool), None),
        (torch.full((100,), 3 + 4j), 50.0),
        (torch.eye(100).to_sparse(), 10.0),
        (torch.ones(100, device="meta"), None),
    ],
)
def test_a_big_tensor_has_a_norm_and_no_entries(tensor, norm):
    value = value_of(tensor)
    assert value.entries is None
    assert value.shape == tuple(tensor.shape)
    assert value.norm == (None if norm is None else pytest.approx(norm, rel=1e-3))


def test_not_a_number_stays_visible():
    value = value_of(torch.tensor([1.0, math.nan, math.inf]))
    assert value.entries[2] == math.inf
    assert math.isnan(value.entries[1])


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_a_compressed_tensor():
    assert value_of(torch.eye(2).to_sparse_csr()).entries == (1.0, 0.0, 0.0, 1.0)
    assert value_of(torch.eye(100).to_sparse_csr()).norm == 10.0


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
def test_nested_tensors():
    parts = [torch.tensor([3.0]), torch.tensor([0.0, 4.0])]
    strided = torch.nested.nested_tensor(parts)
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged)
    assert value_of(strided) == Value(None, "float32", None, 5.0)
    assert value_of(jagged).norm == 5.0
    assert value_of(jagged).shape[0] == 2
    assert isinstance(value_of(jagged).shape[1], str)


def test_an_inference_tensor_and_a_fake_one():
    with torch.inference_mode():
        assert value_of(torch.ones(2)).entries == (1.0, 1.0)
    with FakeTensorMode():
        assert value_of(torch.ones(2)).shape == (2,)


def test_inside_vmap_there_are_no_numbers_to_read():
    seen = []

    def function(x):
        seen.append(value_of(x))
        return x

    torch.func.vmap(function)(torch.ones(2, 3))
    assert seen == [Value((3,), "float32", None, None)]


def test_a_subclass_that_answers_with_errors():
    class Stubborn(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise RuntimeError("ask somebody else")

    assert value_of(torch.ones(2).as_subclass(Stubborn)).entries == (1.0, 1.0)


def test_a_value_does_not_follow_its_tensor():
    """Guards against a kept `detach()`: it changed when the gradient was zeroed in place."""
    tensor = torch.ones(2)
    value = value_of(tensor)
    tensor.zero_()
    assert value.entries == (1.0, 1.0)


def test_bytes():
    assert bytes_of(torch.ones(3, 4)) == 48
    assert bytes_of(torch.ones(3, dtype=torch.float64)) == 24
    assert bytes_of(torch.eye(3).to_sparse()) == 3 * 4 + 6 * 8, "values and two indices each"
