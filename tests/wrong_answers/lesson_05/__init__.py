"""Answers to the exercises of lesson 05."""

from __future__ import annotations

from tests.wrong_answers.lesson_05 import (
    adversary,
    arrays,
    averaging,
    edits,
    evaluating,
    freezing,
    graph_free,
    modes,
    overwriting,
    recording,
    targets,
)

PARTS = (
    *(modes, targets, arrays, edits, recording, evaluating, averaging, freezing, adversary),
    *(overwriting, graph_free),
)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
