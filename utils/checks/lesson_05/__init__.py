"""Exercises of lesson 05: how do I keep autograd out, and what does that cost me?"""

from utils.checks.lesson_05.adversary import GENERATOR
from utils.checks.lesson_05.arrays import TO_NUMPY
from utils.checks.lesson_05.audit import AUDIT
from utils.checks.lesson_05.averaging import EMA
from utils.checks.lesson_05.edits import TWO_EDITS
from utils.checks.lesson_05.evaluating import EVALUATE
from utils.checks.lesson_05.freezing import FROZEN
from utils.checks.lesson_05.graph_free import GRAPH_FREE
from utils.checks.lesson_05.modes import MODES
from utils.checks.lesson_05.overwriting import IN_PLACE
from utils.checks.lesson_05.recording import SCORES
from utils.checks.lesson_05.slope import SLOPE
from utils.checks.lesson_05.targets import ROUND, TD

EXERCISES = [
    MODES,
    TD,
    TO_NUMPY,
    TWO_EDITS,
    ROUND,
    SCORES,
    EVALUATE,
    EMA,
    AUDIT,
    FROZEN,
    GENERATOR,
    IN_PLACE,
    SLOPE,
    GRAPH_FREE,
]
