"""What an exception of an answer says: the learner's own line, and what autograd meant by it."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import torch

from utils.checks.function_messages import FUNCTION_CRASHES
from utils.checks.hook_messages import HOOK_CRASHES
from utils.checks.messages import CRASHES

# Code in these places is not the learner's.
LIBRARIES = tuple(
    str(Path(place).resolve())
    for place in (
        Path(__file__).parent,
        *torch.__path__,
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        sysconfig.get_path("stdlib"),
    )
)


def own_line(error: BaseException) -> str | None:
    """The last line of the learner's own code that the error went through.

    Returns:
        its text, "" where it is not known (code without a file), None when the error came from a
        library that the learner's code called, or from ours, without a line of the learner's.
    """
    own = [f for f in traceback.extract_tb(error.__traceback__) if not _is_library(f.filename)]
    return (own[-1].line or "") if own else None


def is_stub_line(error: BaseException) -> bool:
    """Whether the error is the stub's own `raise NotImplementedError`."""
    frames = traceback.extract_tb(error.__traceback__)
    if not isinstance(error, NotImplementedError) or _is_library(frames[-1].filename):
        return False
    return not frames[-1].line or "raise NotImplementedError" in frames[-1].line


def explain(answer: str, error: BaseException, case: str = "") -> tuple[str, str]:
    """What stopped the answer called `answer`; `case` says on which inputs, where that matters.

    Returns:
        the slug of the mistake that the error comes from, "" if it is none of the usual ones, and
        a message: the learner's line, the first line of the error, and what it means.
    """
    line = own_line(error)
    where = f" at the line `{line}`" if line else ""
    where += f", {case}," if case else ""
    words = str(error).strip().splitlines()
    said = f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
    for slug, part, meaning in (*FUNCTION_CRASHES, *HOOK_CRASHES, *CRASHES):  # special ones first
        if part in str(error):
            return slug, f"`{answer}` stopped{where} with {said.rstrip('.')}. {meaning}"
    return "", f"`{answer}` stopped{where} with {said}"


def _is_library(filename: str) -> bool:
    if filename.startswith("<frozen") or filename == "<given>":
        return True
    return str(Path(filename).resolve()).startswith(LIBRARIES)
