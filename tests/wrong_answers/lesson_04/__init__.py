"""Answers to the exercises of lesson 04, wrong and right."""

from tests.wrong_answers.lesson_04 import (
    batches,
    dot_test,
    hessian,
    matrices,
    modules,
    products,
    samples,
    singular,
)

PARTS = (products, matrices, batches, hessian, modules, samples, dot_test, singular)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
