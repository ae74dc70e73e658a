"""Comparing: what is close, and which mistake the rest looks like."""

from __future__ import annotations

import pytest
import torch

from utils.checks.compare import close, compare, items
from utils.checks.facts import facts

WANT = torch.tensor([[1.0, -2.0], [3.0, 5.0]], dtype=torch.float64)


def judged(seen, want=WANT, **more):
    return compare(facts(seen), want, "`x.grad`", **more)


@pytest.mark.parametrize(
    "seen",
    [WANT, WANT.float(), WANT + 1e-12, WANT.clone().requires_grad_(), WANT.T.contiguous().T],
    ids=["same", "float32", "rounded", "tracked", "another layout"],
)
def test_right_in_many_shapes(seen) -> None:
    assert judged(seen).outcome == "right"


@pytest.mark.parametrize("seen", [2.5, torch.tensor(2.5), torch.tensor(2.5).double()])
def test_a_number_will_do_for_a_scalar(seen) -> None:
    assert judged(seen, torch.tensor(2.5, dtype=torch.float64)).outcome == "right"


@pytest.mark.parametrize(
    ("seen", "mistake"),
    [
        (None, "none"),
        ("text", "not_a_tensor"),
        ([1.0, -2.0], "not_a_tensor"),
        (object(), "not_a_tensor"),
        (WANT[0], "wrong_shape"),
        (WANT.T, "transposed"),
        (-WANT, "wrong_sign"),
        (2 * WANT, "accumulated_twice"),
        (0 * WANT, "all_zero"),
        (WANT * float("nan"), "nan"),
        (WANT + torch.tensor([[0.0, 0.0], [0.0, 1.0]]), "wrong_values"),
        (WANT + 1e-6, "wrong_values"),
    ],
)
def test_each_general_mistake_is_named(seen, mistake: str) -> None:
    verdict = judged(seen)
    assert (verdict.outcome, verdict.mistake) == ("not yet", mistake)
    assert "`x.grad`" in verdict.message
    assert verdict.message.endswith("?")


def test_a_transposed_answer_of_another_shape_is_named() -> None:
    want = torch.tensor([[1.0, 2.0, 4.0], [5.0, 7.0, 9.0]])
    assert judged(want.T, want).mistake == "transposed"


def test_kinds_are_called_by_their_names() -> None:
    assert "`str`" in judged("text").message
    assert "`list`" in judged([1]).message
    assert "`object`" in judged(object()).message


def test_wrong_values_are_counted_and_never_told() -> None:
    message = judged(WANT + torch.tensor([[0.0, 0.0], [0.0, 1.0]])).message
    assert "1 of 4" in message
    assert not any(number in message for number in ("5.0", "6.0", "-2", "3.0"))


def test_simulated_mistakes_come_before_general_ones() -> None:
    verdict = judged(
        2 * WANT, simulated={"own": 2 * WANT}, says={"own": "{what} went wrong in my way. How?"}
    )
    assert verdict.mistake == "own"
    assert verdict.message == "`x.grad` went wrong in my way. How?"


def test_one_mistake_may_come_in_several_shapes() -> None:
    simulated = {"overwritten": (WANT[0], WANT[1], WANT + 3)}
    assert [judged(s, simulated=simulated).mistake for s in (WANT[1], WANT + 3)] == [
        "overwritten",
        "overwritten",
    ]


def test_a_mistake_that_gives_the_right_values_is_not_named() -> None:
    assert judged(WANT, simulated={"overwritten": WANT}).outcome == "right"


def test_tolerance_replaces_rounding() -> None:
    near = WANT * 1.001
    assert judged(near).outcome == "not yet"
    assert judged(near, tolerance=0.01).outcome == "right"


def test_shapes_must_agree_even_where_values_would_broadcast() -> None:
    assert not close(torch.ones(3), torch.ones(1, 3))
    assert not close(torch.ones(()), torch.ones(1))
    assert close(torch.tensor([True, False]), torch.tensor([1, 0]))


def test_items_of_lists_and_rows_of_tensors() -> None:
    assert [i["value"] for i in items(facts([1, "a"]))] == [1, "a"]
    assert [i["value"].tolist() for i in items(facts(WANT))] == WANT.tolist()
    assert items(facts(torch.tensor(1.0))) is None
    assert items(facts({"a": 1})) is None
