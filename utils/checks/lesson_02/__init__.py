"""Exercises of lesson 02: what is recorded while I compute?"""

from utils.checks.lesson_02.backwards import CUT_THE_STATE, FIRST_NAN
from utils.checks.lesson_02.edges import KEEP_THE_EDGE
from utils.checks.lesson_02.engine import RUN_BACKWARD
from utils.checks.lesson_02.naming import NAME_THE_NODE
from utils.checks.lesson_02.saving import RUN_TWICE, SAVED_BYTES
from utils.checks.lesson_02.steps import LOCAL_RULE, RUN_ORDER
from utils.checks.lesson_02.walking import COUNT_GRAPH, FIND_LEAVES

EXERCISES = [
    NAME_THE_NODE,
    COUNT_GRAPH,
    FIND_LEAVES,
    SAVED_BYTES,
    RUN_TWICE,
    CUT_THE_STATE,
    FIRST_NAN,
    KEEP_THE_EDGE,
    RUN_ORDER,
    LOCAL_RULE,
    RUN_BACKWARD,
]
