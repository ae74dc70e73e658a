"""Finds an exercise by its id."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil

from utils import checks
from utils.checks.exercise import Exercise


@functools.cache
def exercises() -> dict[str, Exercise]:
    """All exercises by id, in the order of the lessons: each `lesson_NN` module has `EXERCISES`."""
    found: dict[str, Exercise] = {}
    names = sorted(m.name for m in pkgutil.iter_modules(checks.__path__))
    for name in names:
        if name.startswith("lesson_"):
            for exercise in importlib.import_module(f"utils.checks.{name}").EXERCISES:
                if exercise.id in found:
                    raise ValueError(f"two exercises have the id {exercise.id!r}; rename one")
                found[exercise.id] = exercise
    return found


def find(id: str) -> Exercise:
    """The exercise with this id.

    Raises:
        KeyError: there is none; the message names the nearest ids.
    """
    known = exercises()
    if id not in known:
        near = difflib.get_close_matches(str(id), known, n=3, cutoff=0.3) or list(known)
        raise KeyError(f"no exercise is called {id!r}; did you mean {', '.join(near)}?")
    return known[id]
