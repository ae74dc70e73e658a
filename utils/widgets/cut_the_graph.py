"""Cut the graph: keep autograd out of a part of a network, and see what that costs."""

from __future__ import annotations

import html

import ipywidgets

from utils.widgets.base import CourseWidget, code, prose, row, table
from utils.widgets.cut_program import PLACES, WAYS, Cut
from utils.widgets.cuts import FACTS, Seen, experiment

GRADIENT_HEAD = ("parameter", ".grad after backward")


class CutTheGraph(CourseWidget):
    """The widget behind `cut_the_graph`; see there."""

    def __init__(self) -> None:
        start = Cut()
        self.place = _choice("Cut at", PLACES, start.place)
        self.way = _choice("With", {way: way for way in WAYS}, start.way)
        self.write = ipywidgets.Checkbox(start.write, indent=False)
        self.program = ipywidgets.HTML(layout={"min_height": "216px"})
        for control in (self.place, self.way, self.write):
            control.observe(self._run, "value")
        first = ipywidgets.VBox([self.place, self.write], layout={"width": "246px"})
        super().__init__(
            "Cut the graph: what gets a gradient, what shares memory, what raises?",
            [row(first, self.way, self.program, align="flex-start")],
        )
        # The picture, whose height varies most, comes last: so the rest stays in place.
        self.children = (*self.children[:-3], self.words, self.facts, self.picture)
        self._run()

    @property
    def cut(self) -> Cut:
        """What is chosen now."""
        return Cut(self.place.value, self.way.value, self.write.value)

    def _run(self, _: object = None) -> None:
        seen = experiment(self.cut)
        self.write.description = f"{self.place.value}.add_(1) before backward"
        self.program.value = f"<pre>{html.escape(seen.program)}</pre>"
        self.show(seen.picture, _told(seen), _tables(seen))

    def still(self) -> str:
        seen = experiment(Cut())
        return (
            f"<p><strong>{prose(self.heading)}</strong></p><pre>{html.escape(seen.program)}</pre>"
            f"{_told(seen)}{_tables(seen)}{seen.picture.img}"
            "<p>Run this cell to choose where to cut, and with what.</p>"
        )

    def text(self) -> str:
        seen = experiment(Cut())
        gradients = [f"{name}: .grad {fact}" for name, fact in seen.gradients]
        tensors = [
            f"{name}: "
            + ", ".join(f"{title} {fact}" for title, fact in zip(FACTS, facts, strict=True))
            for name, *facts in seen.tensors
        ]
        return "\n".join([self.heading, seen.program, "", seen.story, *gradients, *tensors])


def _choice(words: str, options: dict[str, str], chosen: str) -> ipywidgets.RadioButtons:
    """Radio buttons with their label above them."""
    return ipywidgets.RadioButtons(
        options=list(options.items()),
        value=chosen,
        description=words,
        style={"description_width": "auto"},
        layout={"flex_flow": "column", "width": "auto", "margin": "0 12px 0 0"},
    )


def _told(seen: Seen) -> str:
    """What torch said, and what it means."""
    error = ""
    if seen.error:
        error = f"<p>{code(seen.stopped)} raises:</p><pre>{html.escape(seen.error)}</pre>"
    return f"{error}<p>{prose(seen.story)}</p>"


def _tables(seen: Seen) -> str:
    """Both tables, side by side where there is room."""
    gradients = [[code(name), html.escape(fact)] for name, fact in seen.gradients]
    names, *facts = zip(*seen.tensors, strict=True)
    tensors = [
        [code(title), *map(html.escape, each)] for title, each in zip(FACTS, facts, strict=True)
    ]
    both = table(GRADIENT_HEAD, gradients), table(("at the cut", *map(code, names)), tensors)
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0 32px;align-items:flex-start">'
        f"{''.join(f'<div>{one}</div>' for one in both)}</div>"
    )


def cut_the_graph() -> CutTheGraph:
    """Choose where to keep autograd out of a small network, and with what.

    Each choice writes the program anew, runs it on torch and reads the results back: the graph, the
    gradients, the memory and its version counters, and what raises, in torch's own words.
    """
    return CutTheGraph()
