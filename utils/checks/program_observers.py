"""An observer for answers that need a program around them: modes, errors, several calls.

As in `observers`: it returns plain data and never judges. Imports torch and our facts alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from utils.checks.facts import facts
from utils.checks.graph_observers import build
from utils.checks.modes import Watch


def call_in_program(answer: Callable[..., Any], case: dict[str, Any]) -> dict[str, Any]:
    """Runs `case["program"]`, source in which the answer is called `answer`.

    Its other names are those that `build` makes, `attempt` and `Allocations`. An error of the
    answer that the program does not catch passes through.

    Returns:
        for each name in `case["report"]`, the plain data that the program left under it; for each
        name in `case["facts"]`, the facts of what is there.

    Example:
        case = {"inputs": {"x": x}, "leaves": ["x"], "facts": ["result"], "report": ["problem"],
                "program": "result = answer(x)\\nproblem = attempt(lambda: result.backward())"}
    """
    scope = build(case)
    scope |= {"answer": answer, "attempt": attempt, "Allocations": Allocations}
    exec(compile(case["program"], "<given>", "exec"), scope)
    plain = {name: scope[name] for name in case.get("report", ())}
    return plain | {name: facts(scope[name]) for name in case.get("facts", ())}


def attempt(action: Callable[[], Any]) -> str:
    """Runs the action. Returns "" or, if that raised, the name of the error and its words."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


class Allocations(Watch):
    """Counts, while it is entered, the tensors with memory of their own that operations make.

    `kept` holds them all, and `runs` the numbers of the engine's runs in which operations ran.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.kept: list[torch.Tensor] = []  # so that no address is given out twice
        self.runs: set[int] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        if torch._C._current_graph_task_id() >= 0:  # -1 outside a backward
            self.runs.add(torch._C._current_graph_task_id())
        given = (*args, *kwargs.values())
        there = {part.data_ptr() for part in given if isinstance(part, torch.Tensor)}
        made = func(*args, **kwargs)
        for part in made if isinstance(made, tuple | list) else (made,):
            if isinstance(part, torch.Tensor) and not func.is_view:
                self.count += part.data_ptr() not in there
                self.kept.append(part)
        return made
