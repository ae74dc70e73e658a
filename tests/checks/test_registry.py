"""The registry: every exercise once, in the lessons' order, found by its id."""

from __future__ import annotations

import dataclasses

import pytest

from utils.checks import lesson_01
from utils.checks.observers import OBSERVERS
from utils.checks.registry import exercises, find


def test_exercises_come_in_the_order_of_the_lessons() -> None:
    lessons = [exercise.lesson for exercise in exercises().values()]
    assert lessons == sorted(lessons)
    ours = [e.id for e in exercises().values() if e.lesson == "01_requires_grad"]
    assert ours == [exercise.id for exercise in lesson_01.EXERCISES]


def test_every_exercise_has_an_observer_and_points() -> None:
    for exercise in exercises().values():
        assert exercise.observe in OBSERVERS
        assert exercise.points >= 1


def test_find_gives_the_exercise_or_the_nearest_names() -> None:
    assert find("sgd_step").title == "A step that keeps the leaf a leaf"
    with pytest.raises(KeyError, match="did you mean sgd_step"):
        find("sgd_steps")


def test_an_id_that_is_taken_is_refused(monkeypatch) -> None:
    twin = dataclasses.replace(lesson_01.EXERCISES[0], title="Twin")
    monkeypatch.setattr(lesson_01, "EXERCISES", [*lesson_01.EXERCISES, twin])
    with pytest.raises(ValueError, match="predict_leaves"):
        exercises.__wrapped__()
