"""`import utils`, as a notebook does it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import utils


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", utils.__all__)
def test_each_name_is_there_and_can_be_called(name: str) -> None:
    assert callable(getattr(utils, name))
    assert name in dir(utils)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"show_grahp.*show_graph"):
        utils.show_grahp  # noqa: B018


def test_pictures_can_be_imported_without_torch() -> None:
    program = "import sys, utils, utils.pictures; print('torch' in sys.modules)"
    assert python(program).strip() == "False"


def test_costs_little_over_torch() -> None:
    program = """
import time, torch
started = time.perf_counter()
import utils
print(time.perf_counter() - started)
"""
    assert min(float(python(program)) for _ in range(3)) < 0.3
