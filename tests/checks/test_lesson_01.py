"""Lesson 01: its notebook shows what its exercises judge, and predictions are torch's own."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import torch

from utils.checks import lesson_01
from utils.checks.lesson_01.predict import BELIEFS, LETTERS, TRACKED, TWELVE, _truth
from utils.checks.lesson_01.training import NET

FILE = Path(__file__).parents[2] / "solutions" / "01_requires_grad" / "01_requires_grad.ipynb"
CELLS = {cell.id: cell for cell in nbformat.read(FILE, as_version=4).cells}


def test_given_cells_show_what_is_judged() -> None:
    assert CELLS["given-predict-leaves"].source.strip() == TWELVE.strip()
    assert CELLS["given-freeze-backbone"].source.strip() == NET.strip()


def test_exercises_stand_in_the_order_of_their_definitions() -> None:
    ids = [cell.metadata.nbgrader.grade_id for cell in CELLS.values() if _is_answer(cell)]
    assert ids == [exercise.id for exercise in lesson_01.EXERCISES]


def _is_answer(cell) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


@pytest.mark.parametrize("exercise", lesson_01.EXERCISES, ids=lambda e: e.id)
def test_headings_agree_with_the_definitions(exercise) -> None:
    heading, facts, task = CELLS[f"task-{exercise.id.replace('_', '-')}"].source.split("\n\n")
    assert heading.endswith(f". {exercise.title}")
    assert facts.startswith(f"{exercise.points} point")
    assert f"· {exercise.minutes} minutes ·" in facts
    assert facts.endswith(f"({exercise.difficulty} of 5)")
    assert facts.count("★") == exercise.difficulty
    assert 15 <= len(task.split()) <= 40


def test_difficulty_climbs() -> None:
    steps = [exercise.difficulty for exercise in lesson_01.EXERCISES]
    assert steps == sorted(steps)


def test_the_twelve_differ_and_each_belief_is_wrong_in_one_way() -> None:
    truth = _truth()
    assert set(truth) == set(LETTERS)
    assert {pair for pair in truth.values()} == {(False, True), (True, True), (True, False)}
    for slug, flag, letters, _ in BELIEFS:
        flags = {truth[letter][0 if flag == TRACKED else 1] for letter in letters}
        assert len(flags) == 1, f"{slug} would be right about some of its letters"


def test_every_case_is_drawn_afresh_by_its_seed() -> None:
    for exercise in lesson_01.EXERCISES:
        if exercise.id == "predict_leaves":
            continue
        drawn = [str(exercise.cases(torch.Generator().manual_seed(seed))) for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1] != drawn[2], exercise.id
        assert len(exercise.cases(torch.Generator().manual_seed(0))) >= 2
