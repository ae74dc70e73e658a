"""Answers to the exercises of lesson 06."""

from __future__ import annotations

from tests.wrong_answers.lesson_06 import (
    basics,
    convolution,
    fused,
    in_place,
    inner_step,
    proving,
    quantise,
    relu,
    reversal,
    saving,
    transforms,
    twice,
    work,
)

PARTS = (
    *(basics, relu, reversal, saving, work, quantise, in_place, proving),
    *(twice, inner_step, convolution, transforms, fused),
)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
