"""Exercises of lesson 06: how do I teach autograd a new operation?"""

from utils.checks.lesson_06.basics import ADD, RELU
from utils.checks.lesson_06.convolution import CONV
from utils.checks.lesson_06.fused import FUSED
from utils.checks.lesson_06.inner_step import STEP
from utils.checks.lesson_06.proving import PROVE
from utils.checks.lesson_06.saving import LEAKY, SIGMOID
from utils.checks.lesson_06.surrogates import QUANTISE, REVERSE
from utils.checks.lesson_06.transforms import PRODUCT
from utils.checks.lesson_06.twice import CBRT, LOG_COSH
from utils.checks.lesson_06.work import MATMUL, SINCOS

EXERCISES = [
    ADD,
    RELU,
    REVERSE,
    SIGMOID,
    MATMUL,
    QUANTISE,
    SINCOS,
    LEAKY,
    PROVE,
    LOG_COSH,
    STEP,
    CBRT,
    CONV,
    PRODUCT,
    FUSED,
]
