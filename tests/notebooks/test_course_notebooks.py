"""The gates, on the course's own notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks import gates
from utils import notebooks
from utils.build import stale_exercises
from utils.cover import PATH, cover
from utils.syllabus import ROOT, Lesson, lessons, plan

LESSONS = [pytest.param(lesson, id=lesson.name) for lesson in lessons()]
EXERCISES = [pytest.param(lesson, id=lesson.name) for lesson in plan() if lesson.solution.exists()]
SHOWN = [
    pytest.param(path, id=f"{path.relative_to(ROOT).parts[0]}-{path.stem}")
    for lesson in plan()
    for path in (lesson.notebook, lesson.solution)
    if path.exists()
]


@pytest.mark.parametrize("path", SHOWN)
@pytest.mark.parametrize(
    "gate", [gates.execution, gates.errors, gates.identity, gates.metadata, gates.excuses]
)
def test_what_is_shown_was_run_and_is_stored_clean(gate, path: Path) -> None:
    assert gate(notebooks.read(path)) == []


@pytest.mark.parametrize("path", SHOWN)
def test_is_stored_as_a_build_writes_it(path: Path) -> None:
    assert "".join(gates.normal_form(path)) == ""


@pytest.mark.parametrize("path", SHOWN)
def test_links_lead_somewhere(path: Path) -> None:
    assert gates.links(notebooks.read(path), path, ROOT) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_the_form_of_a_lesson(lesson: Lesson) -> None:
    title = f"{lesson.number:02d} {lesson.title}"
    least = (gates.PREDICTIONS, gates.FAILURES) if lesson.number else (1, 1)
    assert gates.shape(notebooks.read(lesson.notebook), title, *least) == []


@pytest.mark.parametrize("lesson", EXERCISES)
def test_the_student_copy_leaks_nothing(lesson: Lesson) -> None:
    student, source = notebooks.read(lesson.exercise), notebooks.read(lesson.solution)
    assert gates.leaks(student, source) == []
    assert any(gates.BEGIN in cell.source for cell in source.cells), "the source has no answer"
    assert any(notebooks.is_check(cell) for cell in student.cells), "the copy has no check"


def test_the_picture_of_the_readme_is_a_step_of_a_real_backward() -> None:
    stored = (ROOT / PATH).read_text(encoding="utf-8")
    assert stored == cover(), "run `python course.py build`"
    assert "AccumulateGrad" in stored


def test_exercises_are_exactly_what_solutions_make() -> None:
    stale = {str(path) for path in stale_exercises()}
    assert stale == set(), "run `python course.py build`, and commit exercises/"
