"""Exercises of lesson 04: why does torch never build J, and how do I get it when I want it?"""

from utils.checks.lesson_04.batches import BATCH
from utils.checks.lesson_04.dot_test import DOT_TEST
from utils.checks.lesson_04.hessian import HVP, LAPLACIAN
from utils.checks.lesson_04.matrices import COLUMNS, MODE, ROWS
from utils.checks.lesson_04.modules import PARAMETER_JACOBIAN, SAMPLE_GRADIENTS
from utils.checks.lesson_04.penalty import PENALTY
from utils.checks.lesson_04.products import PULL_BACK, PUSH_FORWARD
from utils.checks.lesson_04.singular import SINGULAR

EXERCISES = [
    PULL_BACK,
    ROWS,
    COLUMNS,
    MODE,
    BATCH,
    PENALTY,
    HVP,
    LAPLACIAN,
    PARAMETER_JACOBIAN,
    PUSH_FORWARD,
    SAMPLE_GRADIENTS,
    DOT_TEST,
    SINGULAR,
]
