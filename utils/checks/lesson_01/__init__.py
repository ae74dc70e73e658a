"""Lesson 01, requires_grad: which tensors autograd watches, and where gradients land."""

from __future__ import annotations

from utils.checks.lesson_01.gradients import HAND, INNER
from utils.checks.lesson_01.leaves import MAKE, RECEIVERS
from utils.checks.lesson_01.line import FIT_LINE
from utils.checks.lesson_01.predict import PREDICT
from utils.checks.lesson_01.stale import SEPARATE, STEP
from utils.checks.lesson_01.training import ACCUMULATE, FREEZE

EXERCISES = [PREDICT, RECEIVERS, MAKE, HAND, INNER, SEPARATE, STEP, FREEZE, ACCUMULATE, FIT_LINE]
