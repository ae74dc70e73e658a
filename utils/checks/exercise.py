"""The contract of an exercise: cases, observe, judge. One definition serves every use.

A *case* is what is drawn fresh for one run: a dict of tensors, numbers, strings. Its "words", if it
has any, tell the learner on which inputs an answer crashed. The observer of the exercise runs the
answer on a case and returns what it *saw*, again a dict of plain data, with no reference in it.
`judge` turns case and seen into a `Verdict`, away from the learner's code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from utils.checks.verdict import Verdict

Case = dict[str, Any]
Seen = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise.

    Attributes:
        id: a slug that never changes; also nbgrader's grade_id of the answer cell.
        title: as the notebook's heading has it.
        lesson: slug of the lesson, such as "01_requires_grad".
        points: what a right answer earns.
        minutes: how long it usually takes.
        difficulty: 1 to 5.
        answer: name of what the learner writes: a function, a class or a value.
        observe: name of the observer in `utils.checks.observers`.
        cases: draws the inputs. They tell mistakes apart: unequal sizes, distinct values,
            upstream vectors that are not ones; double precision where numbers are compared.
        judge: reference, tolerance and mistakes; its `Verdict` needs no points.
        hints: three, from a question to nearly there.
        symptom_hints: for a named mistake, the hint that comes first after it was seen.
        names: autograd names that it drills, for the syllabus.
    """

    id: str
    title: str
    lesson: str
    points: int
    minutes: int
    difficulty: int
    answer: str
    observe: str
    cases: Callable[[torch.Generator], list[Case]]
    judge: Callable[[Case, Seen], Verdict]
    hints: tuple[str, str, str]
    symptom_hints: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
