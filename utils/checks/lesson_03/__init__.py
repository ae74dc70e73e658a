"""Exercises of lesson 03: what does the argument of backward mean?"""

from utils.checks.lesson_03.batches import PULL_BACK_MANY, SAMPLE_NORMS
from utils.checks.lesson_03.broadcast import UNDO_BROADCAST
from utils.checks.lesson_03.classic import DOUBLED
from utils.checks.lesson_03.inputs import ONLY_THESE, UNUSED_INPUTS
from utils.checks.lesson_03.roots import TWO_ROOTS
from utils.checks.lesson_03.saliency import SALIENCY
from utils.checks.lesson_03.scale import MEAN_FROM_SUM
from utils.checks.lesson_03.weights import ROW_OF_J, WEIGHTED_SUM

EXERCISES = [
    ROW_OF_J,
    DOUBLED,
    WEIGHTED_SUM,
    MEAN_FROM_SUM,
    UNDO_BROADCAST,
    TWO_ROOTS,
    ONLY_THESE,
    UNUSED_INPUTS,
    PULL_BACK_MANY,
    SAMPLE_NORMS,
    SALIENCY,
]
