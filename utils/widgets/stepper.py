"""Backward stepper: move over one recorded backward, node by node, forwards and back."""

from __future__ import annotations

import html
from collections.abc import Mapping

import ipywidgets

from utils.graph import record
from utils.graph.data import Tape
from utils.pictures.names import counted
from utils.pictures.picture import Picture
from utils.pictures.tape_picture import TapePicture
from utils.widgets.base import CourseWidget, code, row
from utils.widgets.narrator import Narrator


class Stepper(CourseWidget):
    """The widget behind `step_backward`: one tape, and where the learner is on it.

    Attributes:
        tape: the recorded backward.
        slider: its value is the number of steps done, 0 to `len(tape.steps)`.
        buttons: by the words on them.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.last = len(tape.steps)
        self.narrator = Narrator(tape)
        self._drawing = TapePicture(tape)
        self._drawn: dict[int, Picture] = {}
        self.slider = ipywidgets.IntSlider(
            0,
            min=0,
            max=self.last,
            description="Step",
            style={"description_width": "initial"},
            layout={"width": "300px"},
        )
        self.slider.observe(self._turn, "value")
        goals = {
            "To the start": lambda here: 0,
            "Back": lambda here: here - 1,
            "Next": lambda here: here + 1,
            "To the end": lambda here: self.last,
        }
        # No button is ever disabled: one that is loses the keyboard's place.
        self.buttons = {words: ipywidgets.Button(description=words) for words in goals}
        for words, goal in goals.items():
            self.buttons[words].on_click(lambda _, goal=goal: self.go(goal(self.slider.value)))
        super().__init__("Backward stepper", [row(*self.buttons.values(), self.slider)])
        self._turn()

    def go(self, step: int) -> None:
        """Show the state after `step` steps; beyond either end, the end."""
        self.slider.value = min(max(step, 0), self.last)

    def draw(self, step: int) -> Picture:
        """The picture after `step` steps, drawn once."""
        if step not in self._drawn:
            self._drawn[step] = self._drawing.draw(step)
        return self._drawn[step]

    def _turn(self, _: object = None) -> None:
        here = self.slider.value
        self.show(self.draw(here), self.say(here), _facts(self.narrator.facts(here)))

    def say(self, here: int) -> str:
        """The state after `here` steps in a sentence or two, as HTML."""
        if here == 0:
            start = f"Backward starts with {html.escape(self.narrator.start())}."
            return f"<p><strong>Before step 1 of {self.last}.</strong> {start}</p>"
        title = code(self.narrator.title(self.tape.steps[here - 1].node))
        words = html.escape(self.narrator.words(here))
        end = f" {html.escape(self._end())}" if here == self.last else ""
        return f"<p><strong>Step {here} of {self.last}: {title}.</strong> {words}{end}</p>"

    def still(self) -> str:
        start = html.escape(self.narrator.start())
        steps = "".join(f"<li>{html.escape(line)}</li>" for line in self._lines())
        count = counted(self.last, "step")
        return (
            f"<p><strong>{self.heading}</strong>, after the last of {count}</p>"
            f"{self.draw(self.last).img}<p>It starts with {start}.</p>"
            f"<ol>{steps}</ol><p>{html.escape(self._end())} Run this cell to step.</p>"
        )

    def text(self) -> str:
        steps = [f"{k}. {line}" for k, line in enumerate(self._lines(), 1)]
        start = (
            f"{self.heading}: {counted(self.last, 'step')}, starting with {self.narrator.start()}"
        )
        return "\n".join([start, *steps, self._end()])

    def _end(self) -> str:
        # What the steps say of `.grad` happened, and the recorder took it back.
        return f"{self.narrator.end()} Your own .grad is as it was before."

    def _lines(self) -> list[str]:
        return [self.narrator.line(k) for k in range(1, self.last + 1)]


def _facts(facts: tuple[tuple[str, str], ...]) -> str:
    """Facts as a table with two columns; an empty one keeps its place."""
    rows = "".join(
        f'<tr><th scope="row">{label}</th><td>{html.escape(text) or "–"}</td></tr>'
        for label, text in facts
    )
    return f'<table class="course-facts">{rows}</table>'


def step_backward(
    root: object,
    gradient: object = None,
    inputs: object = None,
    *,
    names: Mapping[str, object] | None = None,
) -> Stepper:
    """Run one real backward, record it, and step through it.

    Nothing is spent: `.grad` fields and the graph are afterwards as they were before.

    Args:
        root: a tensor, or a tuple, list or dict of tensors, as for `utils.walk`.
        gradient: the vector that backward starts from, shaped like `root`; a scalar needs none.
        inputs: only these tensors get a gradient, as in `Tensor.backward`.
        names: what to call the tensors; by default what they are called where this is called.

    Returns:
        The widget; left as the last line of a cell, it is shown.

    Example:
        >>> x = torch.ones(2, 2, requires_grad=True)
        >>> step_backward((3 * (x + 2) ** 2).mean())
    """
    return Stepper(record(root, gradient, inputs, names=names))
