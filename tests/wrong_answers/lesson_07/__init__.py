"""Answers to the exercises of lesson 07."""

from __future__ import annotations

from tests.wrong_answers.lesson_07 import (
    capturing,
    compressing,
    handles,
    leaves,
    many,
    modules,
    monitor,
    nodes,
    packing,
    predict,
    recomputing,
    watching,
)

PARTS = (
    *(watching, leaves, capturing, handles, modules, predict, nodes, many, compressing),
    *(packing, recomputing, monitor),
)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
