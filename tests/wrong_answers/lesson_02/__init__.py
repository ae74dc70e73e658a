"""Answers to the exercises of lesson 02, wrong and right."""

from tests.wrong_answers.lesson_02 import backwards, edges, engine, naming, saving, steps, walking

PARTS = (naming, walking, saving, backwards, edges, steps, engine)
WRONG = {id: answers for part in PARTS for id, answers in part.WRONG.items()}
RIGHT = {id: answers for part in PARTS for id, answers in part.RIGHT.items()}
