"""Grading: four outcomes, whatever the learner's code does."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.checks.answers import DOUBLE, double, halve, stub
from utils.checks.grade import grade
from utils.checks.verdict import CRASHED, NOT_ATTEMPTED, NOT_YET, RIGHT

COURSE = Path(__file__).parents[2]


def test_right_earns_all_points() -> None:
    verdict = grade(DOUBLE, double)
    assert (verdict.outcome, verdict.points, verdict.of) == (RIGHT, 3, 3)


def test_wrong_earns_none_and_names_the_mistake() -> None:
    verdict = grade(DOUBLE, halve)
    assert (verdict.outcome, verdict.mistake) == (NOT_YET, "halved")
    assert (verdict.points, verdict.of) == (0, 3)


def test_the_same_seed_draws_the_same_cases() -> None:
    drawn = []

    def spy(x):
        drawn.append(x.clone())
        return 2 * x

    for seed in (7, 7, 8):
        grade(DOUBLE, spy, seed)
    first, again, other = drawn[0:2], drawn[2:4], drawn[4:6]
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[0], other[0])


def only_returns(x):
    """Doc."""
    return None


def with_a_message(x):
    """Doc."""
    raise NotImplementedError("your turn")


def dots(x): ...


def with_parentheses(*args, **kwargs):
    # as nbgrader writes it
    raise NotImplementedError()


@torch.no_grad()
def decorated(x):
    raise NotImplementedError


class AllStubs:
    """Doc."""

    def __init__(self):
        raise NotImplementedError

    def __call__(self, x):
        raise NotImplementedError


class StaticStub(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError


@pytest.mark.parametrize(
    "answer",
    [
        stub,
        only_returns,
        with_a_message,
        dots,
        with_parentheses,
        decorated,
        AllStubs,
        StaticStub,
        None,
        ...,
        {"a": 1, "b": ...},
        [1, ...],
        lambda x: None,
    ],
)
def test_a_stub_is_not_attempted(answer) -> None:
    verdict = grade(DOUBLE, answer)
    assert (verdict.outcome, verdict.points) == (NOT_ATTEMPTED, 0)
    assert "`double`" in verdict.message


def test_a_body_that_gives_none_is_not_called_the_stub() -> None:
    assert "gives None" in grade(DOUBLE, only_returns).message
    assert "still the stub" in grade(DOUBLE, with_a_message).message


def code_above(x):
    result = 2 * x
    print(result)
    raise NotImplementedError


def code_below(x):
    raise NotImplementedError
    result = 2 * x
    return result


def code_below_with_a_message(x):
    """Doc."""
    raise NotImplementedError("your turn")
    return torch.add(x, x)


@pytest.mark.parametrize("answer", [code_above, code_below, code_below_with_a_message])
def test_code_beside_the_stubs_line_is_told(answer) -> None:
    verdict = grade(DOUBLE, answer)
    assert (verdict.outcome, verdict.mistake) == (NOT_YET, "left_the_stub_line")
    assert "Delete that line" in verdict.message


def test_not_implemented_by_torch_is_a_crash_not_a_stub() -> None:
    verdict = grade(DOUBLE, lambda x: torch.nn.Module()(x))
    assert verdict.outcome == CRASHED
    assert "forward" in verdict.message


@pytest.mark.parametrize(
    "answer", [double, functools.partial(torch.mul, 2), lambda x: x + x, torch.nn.Identity()]
)
def test_any_callable_is_called(answer) -> None:
    assert grade(DOUBLE, answer).outcome == (
        NOT_YET if isinstance(answer, torch.nn.Module) else RIGHT
    )


def test_a_value_for_a_function_is_told() -> None:
    verdict = grade(DOUBLE, torch.ones(2))
    assert (verdict.outcome, verdict.mistake) == (NOT_YET, "not_callable")
    assert "Tensor" in verdict.message


NOISY = """
import sys, warnings
from tests.checks.answers import DOUBLE
from utils.checks.grade import grade

def noisy(x):
    print("thinking")
    print("aloud", file=sys.stderr)
    warnings.warn("careful")
    (x * x).requires_grad_().exp().grad  # torch warns
    return 2 * x

print(grade(DOUBLE, noisy).outcome)
"""


def test_printing_and_warnings_cost_nothing_and_leave_stderr_empty() -> None:
    run = subprocess.run(
        [sys.executable, "-c", NOISY], cwd=COURSE, capture_output=True, text=True, timeout=120
    )
    assert run.stderr == ""
    assert run.stdout.splitlines()[-1] == RIGHT
    for words in ("thinking", "aloud", "careful", "not a leaf Tensor"):
        assert words in run.stdout


def test_a_crash_shows_the_learners_own_line_and_none_of_ours() -> None:
    def helper(x):
        return x @ torch.ones(7)

    def broken(x):
        return helper(x)

    verdict = grade(DOUBLE, broken)
    assert (verdict.outcome, verdict.points) == (CRASHED, 0)
    assert "`double` stopped at the line `return x @ torch.ones(7)`" in verdict.message
    assert "RuntimeError" in verdict.message
    assert "Traceback" not in verdict.message
    assert "\n" not in verdict.message


def test_wrong_number_of_arguments_is_a_crash_without_a_line() -> None:
    verdict = grade(DOUBLE, lambda: 2)
    assert verdict.outcome == CRASHED
    assert "TypeError" in verdict.message
    assert "at the line" not in verdict.message


@pytest.mark.parametrize("leave", [sys.exit, functools.partial(sys.exit, 3)])
def test_leaving_python_is_a_crash(leave) -> None:
    verdict = grade(DOUBLE, lambda x: leave())
    assert verdict.outcome == CRASHED
    assert "SystemExit" in verdict.message


def test_endless_recursion_is_a_crash() -> None:
    def again(x):
        return again(x)

    verdict = grade(DOUBLE, again)
    assert verdict.outcome == CRASHED
    assert "RecursionError" in verdict.message


def test_an_interrupt_reaches_whoever_pressed_the_key() -> None:
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(DOUBLE, interrupted)


def test_a_forgotten_grad_mode_is_put_right() -> None:
    def switches_off(x):
        torch.set_grad_enabled(False)
        return 2 * x

    assert torch.is_grad_enabled()
    assert grade(DOUBLE, switches_off).outcome == RIGHT
    assert torch.is_grad_enabled()


def test_the_second_case_counts_too() -> None:
    sizes = []

    def right_once(x):
        sizes.append(len(x))
        return 2 * x if len(sizes) == 1 else x / 2

    assert grade(DOUBLE, right_once).mistake == "halved"
    assert sizes == [3, 2]
