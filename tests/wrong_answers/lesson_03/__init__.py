"""Answers to the exercises of lesson 03."""

from __future__ import annotations

from tests.wrong_answers.lesson_03 import batches, classic, inputs, roots, saliency, weights

PARTS = (weights, classic, roots, inputs, batches, saliency)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
