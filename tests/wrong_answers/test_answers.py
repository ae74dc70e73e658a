"""Every exercise: the stub, the solution, other right answers, and named wrong ones."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest
import torch

import tests.wrong_answers as bank
from tests.wrong_answers.solutions import answer_cell, check_cell, solution, stub
from utils.checks.grade import grade
from utils.checks.registry import exercises

# Answers may warn: that must not matter.
pytestmark = pytest.mark.filterwarnings("ignore")
SEEDS = range(10)
MODULES = [
    importlib.import_module(f"tests.wrong_answers.{m.name}")
    for m in pkgutil.iter_modules(bank.__path__)
    if m.name.startswith("lesson_")
]
WRONG = {id: answers for module in MODULES for id, answers in module.WRONG.items()}
RIGHT = {id: answers for module in MODULES for id, answers in module.RIGHT.items()}
ALL = list(exercises().values())
each = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)


def test_every_exercise_has_its_answers() -> None:
    ids = {exercise.id for exercise in ALL}
    assert ids
    assert set(WRONG) == ids, "wrong answers without an exercise, or the other way round"
    assert set(RIGHT) == ids, "right answers without an exercise, or the other way round"
    assert {id for id in ids if len(WRONG[id]) < 3} == set()
    assert {id for id in ids if len(RIGHT[id]) < 2} == set()


@each
def test_stub_is_not_attempted(exercise) -> None:
    for seed in SEEDS:
        verdict = grade(exercise, stub(exercise), seed)
        assert (verdict.outcome, verdict.points) == ("not attempted", 0)


@each
def test_solution_is_right(exercise) -> None:
    for seed in SEEDS:
        verdict = grade(exercise, solution(exercise), seed)
        assert (verdict.outcome, verdict.points) == ("right", exercise.points), verdict.message


@each
def test_other_right_answers_are_right(exercise) -> None:
    for answer in RIGHT[exercise.id]:
        for seed in SEEDS:
            verdict = grade(exercise, answer, seed)
            assert verdict.outcome == "right", f"{answer}: {verdict.message}"


@pytest.mark.parametrize(
    ("id", "mistake"), [(id, slug) for id, answers in WRONG.items() for slug in answers]
)
def test_wrong_answer_is_named(id: str, mistake: str) -> None:
    exercise = exercises()[id]
    answers = WRONG[id][mistake]
    for answer in answers if isinstance(answers, list) else [answers]:
        messages = set()
        for seed in SEEDS:
            verdict = grade(exercise, answer, seed)
            assert verdict.outcome in ("not yet", "crashed"), f"{answer}: {verdict}"
            assert verdict.mistake == mistake, f"{answer}: {verdict.message}"
            assert verdict.points == 0
            messages.add(re.sub(r"[-\d.e]+", "#", verdict.message))
        assert len(messages) == 1, f"the message changes with the inputs: {messages}"


NONSENSE = {
    "None": lambda *args: [args, None][1],
    "a number": lambda *args: 7 + 0 * len(args),
    "a string": lambda *args: str(len(args)),
    "an empty list": lambda *args: list(args)[:0],
    "an empty dict": lambda *args: dict.fromkeys(args[:0]),
    "a scalar tensor": lambda *args: torch.tensor(float(len(args))),
    "an integer tensor": lambda *args: torch.arange(3 + len(args)),
    "what came in": lambda *args: args,
    "a list of lists": lambda *args: [[args], [None], ["x"]],
    "a dict of anything": lambda *args: {key: [args, {"x": None}] for key in "abc"},
    "a function": lambda *args: lambda: args,
    "a generator": lambda *args: (arg for arg in args),
}


@each
@pytest.mark.parametrize("nonsense", NONSENSE)
def test_nonsense_gets_a_sentence(exercise, nonsense: str) -> None:
    verdict = grade(exercise, NONSENSE[nonsense], seed=0)
    assert verdict.outcome in ("not yet", "crashed"), verdict.message
    assert verdict.message.endswith(("?", ".")) or verdict.outcome == "crashed", verdict.message


@each
def test_hints_lead_on_and_do_not_tell(exercise) -> None:
    code = {
        line.strip()
        for line in re.search(r"BEGIN SOLUTION(.*?)### END", answer_cell(exercise), re.S)
        .group(1)
        .splitlines()
        if len(line.strip()) > 12
    }
    assert len(set(exercise.hints)) == 3
    for hint in (*exercise.hints, *exercise.symptom_hints.values()):
        assert len(hint.split()) >= 5, f"too short to help: {hint!r}"
        assert not any(line in hint for line in code), f"a line of the solution: {hint!r}"


@each
def test_notebook_agrees_with_the_definition(exercise) -> None:
    cell = check_cell(exercise)
    assert "raises-exception" in cell.metadata.tags
    marks = cell.metadata.nbgrader
    assert (marks.grade, marks.locked, marks.solution) == (True, True, False)
    assert marks.points == exercise.points
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes > 0
