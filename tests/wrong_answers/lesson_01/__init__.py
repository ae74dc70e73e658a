"""Answers to the exercises of lesson 01."""

from __future__ import annotations

from tests.wrong_answers.lesson_01 import batches, gradients, leaves, line, stale, training

PARTS = (leaves, gradients, stale, training, batches, line)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
