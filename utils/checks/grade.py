"""Runs one answer through its exercise and gives the verdict. Used by every front end."""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import io
import random
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from utils.checks.exercise import Exercise
from utils.checks.mistakes import MISTAKES
from utils.checks.observers import OBSERVERS
from utils.checks.verdict import CRASHED, NOT_ATTEMPTED, NOT_YET, RIGHT, Verdict


def grade(exercise: Exercise, answer: Any, seed: int | None = None) -> Verdict:
    """Judges `answer` on fresh cases.

    Args:
        exercise: what was asked.
        answer: what the learner made: a function, a class or a value.
        seed: reproduces the cases; drawn at random when None.

    Returns:
        a Verdict with points. An exception of the answer is a verdict too ("crashed").
        Printing and warning cost nothing: they are let through to standard output.
    """

    def verdict(outcome: str, message: str, mistake: str = "") -> Verdict:
        points = exercise.points if outcome == RIGHT else 0
        return Verdict(outcome, message, mistake, points, exercise.points)

    if is_placeholder(answer) or is_empty_stub(answer):
        return verdict(
            NOT_ATTEMPTED,
            f"`{exercise.answer}` is still the stub. Write your answer, run its cell, check again.",
        )
    generator = torch.Generator().manual_seed(random.getrandbits(32) if seed is None else seed)
    for case in exercise.cases(generator):
        try:
            with _on_stdout():
                seen = OBSERVERS[exercise.observe](answer, case)
        except NotImplementedError as error:
            if _line_of(error, "raise NotImplementedError"):
                words = MISTAKES["left_the_stub_line"].format(what=f"`{exercise.answer}`")
                return verdict(NOT_YET, words, "left_the_stub_line")
            return verdict(CRASHED, crash_message(exercise, error))
        except (Exception, SystemExit) as error:
            return verdict(CRASHED, crash_message(exercise, error))
        judged = exercise.judge(case, seen)
        if judged.outcome != RIGHT:
            return dataclasses.replace(judged, points=0, of=exercise.points)
    return verdict(RIGHT, judged.message or f"`{exercise.answer}` does what was asked.")


def is_placeholder(answer: Any) -> bool:
    """Whether a value still holds the stub's `...` (anywhere in it) or is None."""
    if answer is None or answer is ...:
        return True
    if isinstance(answer, dict):
        return any(is_placeholder(item) for item in answer.values()) if answer else False
    if isinstance(answer, list | tuple):
        return any(item is ... for item in answer)
    return False


def is_empty_stub(answer: Any) -> bool:
    """Whether a function can do nothing but return None or raise NotImplementedError."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return False
    harmless = {"RESUME", "NOP", "PUSH_NULL", "LOAD_GLOBAL", "PRECALL", "CALL", "COPY_FREE_VARS"}
    harmless.add("LOAD_COMMON_CONSTANT")  # Python 3.14 loads NotImplementedError so
    raises = False
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL" and step.argval != "NotImplementedError":
            return False
        if step.opname == "RAISE_VARARGS":
            raises = True
        elif step.opname in ("RETURN_CONST", "LOAD_CONST"):
            # A message given to NotImplementedError is a constant too.
            if step.argval is not None and not isinstance(step.argval, str):
                return False
            if isinstance(step.argval, str) and step.opname == "RETURN_CONST":
                return False
        elif step.opname == "RETURN_VALUE":
            continue
        elif step.opname not in harmless:
            return False
    return raises or not any(isinstance(c, str) for c in code.co_consts[1:])


def crash_message(exercise: Exercise, error: BaseException) -> str:
    """What the answer stumbled over: its own line, and the error in one sentence."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/utils/checks/" not in frame.filename.replace("\\", "/")
        and "/torch/" not in frame.filename.replace("\\", "/")
    ]
    where = f" at the line `{own[-1].line}`" if own and own[-1].line else ""
    words = str(error).strip().splitlines()
    said = f"{type(error).__name__}: {words[0]}" if words else type(error).__name__
    return f"`{exercise.answer}` stopped{where} with {said}"


def _line_of(error: BaseException, text: str) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and (not frames[-1].line or text in frames[-1].line)


@contextlib.contextmanager
def _on_stdout() -> Iterator[None]:
    """Sends warnings and standard error to standard output.

    nbgrader takes any output on standard error for a failure and gives no points.
    """
    complaints = io.StringIO()
    try:
        with (
            contextlib.redirect_stderr(complaints),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")
            yield
    finally:
        if complaints.getvalue():
            print(complaints.getvalue(), end="")
