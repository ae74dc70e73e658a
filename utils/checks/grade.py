"""Runs one answer through its exercise and gives the verdict. Used by every front end."""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import inspect
import io
import random
import types
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from utils.checks.crashes import explain, is_stub_line
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
        Printing and warning cost nothing: they are let through to standard output. A grad mode
        that the answer switches and forgets to switch back is put right.
    """

    def verdict(outcome: str, message: str, mistake: str = "") -> Verdict:
        points = exercise.points if outcome == RIGHT else 0
        return Verdict(outcome, message, mistake, points, exercise.points)

    def usual(mistake: str, **words: object) -> Verdict:
        said = MISTAKES[mistake].format(what=f"`{exercise.answer}`", **words)
        return verdict(NOT_YET, said, mistake)

    if is_empty_stub(answer) and not _raises(answer):
        return verdict(
            NOT_ATTEMPTED,
            f"`{exercise.answer}` does nothing yet: it gives None, whatever comes in. Write what "
            "was asked, run its cell, check again.",
        )
    if is_placeholder(answer) or is_empty_stub(answer):
        return verdict(
            NOT_ATTEMPTED,
            f"`{exercise.answer}` is still the stub. Write your answer in place of "
            "`raise NotImplementedError`, run its cell, check again.",
        )
    if hides_code(answer):
        return usual("left_the_stub_line")
    if exercise.observe != "value" and not callable(answer):
        return usual("not_callable", kind=type(answer).__name__)
    generator = torch.Generator().manual_seed(random.getrandbits(32) if seed is None else seed)
    for case in exercise.cases(generator):
        try:
            with torch.enable_grad(), _on_stdout():
                seen = OBSERVERS[exercise.observe](answer, case)
        except (Exception, SystemExit) as error:
            if is_stub_line(error):
                return usual("left_the_stub_line")
            mistake, message = explain(exercise.answer, error, case.get("words", ""))
            return verdict(CRASHED, message, mistake)
        with torch.enable_grad():
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
    """Whether a function can do nothing but return None or raise NotImplementedError.

    A class is a stub when each of its own methods is one. Decorators that keep `__wrapped__` are
    looked through.
    """
    if isinstance(answer, type):
        parts = [getattr(part, "__func__", part) for part in vars(answer).values()]  # static too
        methods = [part for part in parts if isinstance(part, types.FunctionType)]
        return bool(methods) and all(map(is_empty_stub, methods))
    code = _code(answer)
    return code is not None and _does_nothing(code) and not _unreached_names(code)


def _raises(answer: Any) -> bool:
    """Whether a stub is the one that we hand out, and not `pass`, `...` or `return None`."""
    code = _code(answer)
    return code is None or any(s.opname == "RAISE_VARARGS" for s in dis.get_instructions(code))


def hides_code(answer: Any) -> bool:
    """Whether a function has code, but below the stub's `raise`, where it never runs."""
    code = _code(answer)
    return code is not None and _does_nothing(code) and _unreached_names(code)


def _code(answer: Any) -> types.CodeType | None:
    return getattr(inspect.unwrap(answer) if callable(answer) else answer, "__code__", None)


def _does_nothing(code: types.CodeType) -> bool:
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


def _unreached_names(code: types.CodeType) -> bool:
    """Whether code that does nothing mentions more: Python drops lines that can never run, but
    keeps the names in them."""
    starred = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    inputs = code.co_argcount + code.co_kwonlyargcount
    inputs += sum(bool(code.co_flags & flag) for flag in starred)
    return bool({*code.co_names, *code.co_varnames[inputs:]} - {"NotImplementedError"})


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
            # Torch warns of its own inner workings, with a path of this machine.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        if complaints.getvalue():
            print(complaints.getvalue(), end="")
