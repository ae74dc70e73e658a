"""Exercises of lesson 07: how do I watch or change gradients in flight?"""

from utils.checks.lesson_07.capturing import CAPTURE
from utils.checks.lesson_07.compressing import COMPRESS_SAVED
from utils.checks.lesson_07.handles import ATTACHED
from utils.checks.lesson_07.leaves import MASK, TRAIN
from utils.checks.lesson_07.many import MULTI
from utils.checks.lesson_07.modules import FLOW, SLOW
from utils.checks.lesson_07.monitor import MONITOR
from utils.checks.lesson_07.nodes import NODE
from utils.checks.lesson_07.packing import EDITED, PACKS
from utils.checks.lesson_07.predict import PREDICT
from utils.checks.lesson_07.recomputing import CHECKPOINT
from utils.checks.lesson_07.watching import CLIP, WATCH

EXERCISES = [
    WATCH,
    CLIP,
    MASK,
    CAPTURE,
    ATTACHED,
    FLOW,
    SLOW,
    PREDICT,
    TRAIN,
    NODE,
    MULTI,
    EDITED,
    PACKS,
    COMPRESS_SAVED,
    CHECKPOINT,
    MONITOR,
]
