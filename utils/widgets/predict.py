"""A question asked before the code runs: choose an outcome, then see what torch does."""

from __future__ import annotations

import contextlib
import html
import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import ipywidgets
import torch

from utils.pictures.picture import Picture
from utils.widgets.base import CourseWidget, code, prose


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program did.

    Attributes:
        key: `str` of what it returned, or the class name of what it raised.
        report: what the learner would have seen: output, warnings, then the result or the error.
        is_value: whether the key is a value or a class name, rather than a sentence.
    """

    key: str
    report: str
    is_value: bool


def run(program: Callable[[], object]) -> Outcome:
    """Run `program` quietly and say what it did.

    Its output and warnings are caught; the random state and grad mode are as before afterwards.
    """
    output = io.StringIO()
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        warnings.catch_warnings(record=True) as caught,
        torch.random.fork_rng(devices=[]),
        torch.enable_grad(),
    ):
        warnings.simplefilter("always")
        try:
            result = program()
            key, last, is_value = str(result), str(result), not isinstance(result, str)
        except Exception as error:
            key, is_value = type(error).__name__, True
            last = f"{key}: {error}"
    told = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    printed = output.getvalue().strip()
    return Outcome(key, "\n".join([*([printed] if printed else []), *told, last]), is_value)


class Prediction(CourseWidget):
    """The widget behind `predict`; see there."""

    def __init__(
        self,
        question: str,
        program: Callable[[], object],
        choices: Mapping[str, str],
        show: Picture | None = None,
    ) -> None:
        if len(choices) < 2:
            raise ValueError(f"predict needs at least two choices, not {len(choices)}.")
        self.question = question
        self.choices = dict(choices)
        self.reward = show
        self.outcome = run(program)
        if self.outcome.key not in self.choices:
            offered = "\n".join(f"  {key!r}" for key in self.choices)
            raise ValueError(
                f"None of the choices is what the program does here.\nIt gave\n"
                f"  {self.outcome.key!r}\nand the choices are\n{offered}\n"
                f"Correct the choice: its key must be str(result), or the exception's class name."
            )
        self.buttons = {key: ipywidgets.Button(description=key) for key in self.choices}
        for key, button in self.buttons.items():
            button.on_click(lambda _, key=key: self.choose(key))
        layout = ipywidgets.Layout(align_items="flex-start", grid_gap="4px")
        offer = ipywidgets.VBox(list(self.buttons.values()), layout=layout)
        if self.outcome.is_value:
            offer.add_class("course-values")
        super().__init__(f"Predict: {question}", [offer])
        self.show(None, "<p>Choose before you run it.</p>")

    def choose(self, key: str) -> None:
        """Take `key` as the learner's prediction, and reply."""
        right = key == self.outcome.key
        verdict = "✓ Right." if right else "✗ Not yet."
        again = "" if right else " Which one fits? Choose again."
        # What torch printed would give the answer away to somebody who is still choosing.
        report = f"<p>What torch does:</p><pre>{html.escape(self.outcome.report)}</pre>"
        self.show(
            self.reward if right else None,
            f"<p><strong>{verdict}</strong> You chose {code(key)}. "
            f"{prose(self.choices[key])}{again}</p>",
            report if right else "",
        )

    def still(self) -> str:
        items = "".join(
            f"<li>{code(key) if self.outcome.is_value else prose(key)}</li>" for key in self.choices
        )
        return (
            f"<p><strong>{prose(self.heading)}</strong></p><ul>{items}</ul>"
            "<p>Run this cell to choose.</p>"
        )

    def text(self) -> str:
        items = [f"  ( ) {key.replace(chr(10), chr(10) + ' ' * 6)}" for key in self.choices]
        return "\n".join([self.heading, *items, "Run this cell to choose."])


def predict(
    question: str,
    program: Callable[[], object],
    choices: Mapping[str, str],
    show: Picture | None = None,
) -> Prediction:
    """Ask for an outcome before the learner runs the code; reply to whichever is chosen.

    The right outcome is what `program()` does here and now: `str` of what it returns, or the class
    name of the exception it raises.

    Args:
        question: what will happen, in one sentence; `backticks` set code, here and in the replies.
        program: the code in question, without arguments; the learner reads it in the cell above.
        choices: the outcomes on offer, in order, each with the reply to whoever chooses it.
        show: a picture that comes with the right reply.

    Returns:
        The widget; left as the last line of a cell, it is shown.

    Raises:
        ValueError: when no choice is what the program does, or there are fewer than two.

    Example:
        >>> predict("What is 1 + 1?", lambda: torch.tensor(1) + 1, {
        ...     "tensor(2)": "A sum of tensors is a tensor.",
        ...     "2": "That would be a Python number.",
        ... })
    """
    return Prediction(question, program, choices, show)
