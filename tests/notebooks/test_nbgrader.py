"""The exercises under nbgrader itself: points from `nbgrader autograde`, as a teacher runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks import samples
from utils import notebooks
from utils.release import release
from utils.syllabus import ROOT, Lesson, plan

EXERCISES = [pytest.param(lesson, id=lesson.name) for lesson in plan() if lesson.solution.exists()]
Points = dict[str, dict[str, float]]


def nbgrader(course: Path, *arguments: str) -> None:
    """Run nbgrader in ``course``; fail with its words where it fails."""
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it calls alembic
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env={**os.environ, "AUTOGRAD_PROGRESS": "off", "PATH": scripts},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def graded(course: Path, name: str, submissions: dict[str, Path]) -> tuple[Points, float]:
    """Grade notebooks by student, as a teacher does.

    Returns:
        points by student and check, and the points that can be had.
    """
    from nbgrader.api import Gradebook

    shutil.copy(ROOT / "nbgrader_config.py", course)
    for student, notebook in submissions.items():
        copy = course / "submitted" / student / name / f"{name}.ipynb"
        copy.parent.mkdir(parents=True)
        shutil.copyfile(notebook, copy)
    nbgrader(course, "generate_assignment", name, "--force")
    nbgrader(course, "autograde", name)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        points = {
            student: {
                grade.name: grade.score
                for grade in book.find_submission_notebook(name, name, student).grades
            }
            for student in submissions
        }
        return points, book.find_assignment(name).max_score


@pytest.mark.parametrize("lesson", EXERCISES)
def test_a_stub_gets_nothing_and_a_solution_everything(lesson: Lesson, tmp_path: Path) -> None:
    shutil.copytree(lesson.solution.parent, tmp_path / "solutions" / lesson.name)
    stub = tmp_path / "stub.ipynb"
    stub.write_text(release(tmp_path)[lesson.exercise.relative_to(ROOT)], encoding="utf-8")
    submissions = {"stub": stub, "solution": lesson.solution}
    points, most = graded(tmp_path, lesson.name, submissions)
    checks = [cell for cell in notebooks.read(lesson.solution).cells if notebooks.is_check(cell)]
    full = {check.metadata.nbgrader.grade_id: check.metadata.nbgrader.points for check in checks}
    assert points["solution"] == full
    assert points["stub"] == dict.fromkeys(full, 0)
    assert most == sum(full.values()) > 0
    handed_out = tmp_path / "exercises" / lesson.name / f"{lesson.name}.ipynb"
    assert handed_out.read_text() == stub.read_text(), "nbgrader and build hand out the same"


def test_tricks_and_accidents_cost_their_own_points_only(tmp_path: Path) -> None:
    root = samples.course(tmp_path / "course")
    source = samples.exercises()
    notebooks.normalise(source)
    samples.write(root / "solutions" / "01_change" / "01_change.ipynb", source)
    stub = next(iter(release(root).values()))
    files = {}
    for student in ("right", "skips", "deletes"):
        files[student] = tmp_path / f"{student}.ipynb"
        files[student].write_text(stub, encoding="utf-8")
        copy = notebooks.read(files[student])
        if student == "right":
            copy.cells[2].source = "double = lambda x: x + x"
        elif student == "skips":
            copy.cells[3].metadata.tags.append("skip-execution")
        else:
            del copy.cells[3]
        files[student].write_text(notebooks.dumps(copy), encoding="utf-8")
    points, most = graded(root, "01_change", files)
    assert most == 2
    assert {student: given["check_double"] for student, given in points.items()} == {
        "right": 2,
        "skips": 0,
        "deletes": 0,
    }
