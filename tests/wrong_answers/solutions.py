"""Takes answers out of the solution notebooks: as they are, and as the untouched stub."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import nbformat

from utils.checks.exercise import Exercise

COURSE = Path(__file__).resolve().parents[2]
REGION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION.*?^[ \t]*### END SOLUTION", re.DOTALL | re.MULTILINE
)


@functools.cache
def _cells(lesson: str) -> list[Any]:
    file = COURSE / "solutions" / lesson / f"{lesson}.ipynb"
    return [c for c in nbformat.read(file, as_version=4).cells if c.cell_type == "code"]


def answer_cell(exercise: Exercise) -> str:
    """Source of the answer cell of an exercise."""
    found = [
        cell.source
        for cell in _cells(exercise.lesson)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise.id
    ]
    assert len(found) == 1, f"{exercise.lesson} has {len(found)} answer cells for {exercise.id}"
    return found[0]


def check_cell(exercise: Exercise) -> Any:
    """The check cell of an exercise."""
    wanted = f'check("{exercise.id}", {exercise.answer})'
    found = [cell for cell in _cells(exercise.lesson) if wanted in cell.source]
    assert len(found) == 1, f"{exercise.lesson} has {len(found)} cells with {wanted}"
    return found[0]


def _answer(exercise: Exercise, stub: bool) -> Any:
    scope: dict[str, Any] = {"__name__": "solution"}
    for cell in _cells(exercise.lesson):
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if "setup" in cell.metadata.get("tags", []) or grade_id == exercise.id:
            source = cell.source
            if stub and grade_id == exercise.id:
                source, count = REGION.subn(r"\1raise NotImplementedError", source)
                assert count, f"the answer cell of {exercise.id} has no solution region"
            exec(compile(source, f"<{exercise.id}>", "exec"), scope)
    return scope[exercise.answer]


def solution(exercise: Exercise) -> Any:
    """The reference answer, as solutions/ has it."""
    return _answer(exercise, stub=False)


def stub(exercise: Exercise) -> Any:
    """What the learner starts from."""
    return _answer(exercise, stub=True)
