"""The plan of the course and what is here of it."""

from __future__ import annotations

from pathlib import Path

from utils import syllabus

REPOSITORY = Path(__file__).parents[1]


def test_every_notebook_belongs_to_the_plan_and_the_other_way_round() -> None:
    there = sorted(path.stem for path in (REPOSITORY / "notebooks").glob("*.ipynb"))
    assert [lesson.name for lesson in syllabus.lessons()] == there
    assert there[:3] == ["00_start_here", "01_requires_grad", "02_grad_fn"]


def test_every_lesson_has_its_exercises_and_every_exercise_its_place_in_the_plan() -> None:
    for lesson in syllabus.lessons():
        assert lesson.solution.exists(), lesson.solution
        assert lesson.exercise.exists(), lesson.exercise
    planned = {lesson.solution for lesson in syllabus.plan()}
    assert set((REPOSITORY / "solutions").glob("*/*.ipynb")) <= planned


def test_lessons_are_numbered_in_order_and_lead_on() -> None:
    plan = syllabus.plan()
    assert [lesson.number for lesson in plan] == list(range(len(plan)))
    here = syllabus.lessons()
    assert [syllabus.following(lesson) for lesson in here] == [*here[1:], None]


def test_the_readme_lists_every_lesson_and_says_which_are_here() -> None:
    rows = [
        line
        for line in (REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    for lesson in syllabus.plan():
        row = next(row for row in rows if lesson.question in row)
        linked = f"notebooks/{lesson.name}.ipynb" in row
        assert linked == lesson.here, (
            f"the README's row of {lesson.name} must link it if it is here"
        )
        assert ("planned" in row) != lesson.here
