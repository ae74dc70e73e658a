"""Leaf lab: switch `requires_grad` of each input, and see what torch makes of it."""

from __future__ import annotations

import html
import warnings
from dataclasses import dataclass

import ipywidgets
import torch

from utils.graph import walk
from utils.graph.namespace import Namespace
from utils.graph.sources import Source
from utils.pictures.graph_picture import draw_graph
from utils.pictures.picture import Picture
from utils.widgets.base import CourseWidget, code, prose, row, table

INPUTS = {"a": "[2.0, 3.0]", "b": "[4.0, 5.0]", "c": "[1.0, 1.0]"}
COMPUTED = {"h": "a * b", "loss": "(h + c).sum()"}
HEAD = ("tensor", "requires_grad", "is_leaf", "grad_fn", ".grad after backward")


@dataclass(frozen=True, slots=True)
class Switches:
    """What the learner has switched on: the inputs that are watched, and two habits."""

    watched: frozenset[str] = frozenset({"a", "c"})
    retain: bool = False
    no_grad: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """What torch made of one setting.

    Attributes:
        forward: the program up to the result, as it ran.
        backward: the rest of it.
        facts: a row per tensor, under `HEAD`.
        picture: the graph behind `loss`, before backward.
        error: torch's message when the program stopped, else "".
        story: what happened and why, in a few sentences of prose.
    """

    forward: str
    backward: str
    facts: tuple[tuple[str, ...], ...]
    picture: Picture
    error: str
    story: str


def write(switches: Switches) -> tuple[str, str]:
    """The program for these switches: the forward part and the backward part."""
    lines = [
        f"{name} = torch.tensor({entries}{', requires_grad=True' * (name in switches.watched)})"
        for name, entries in INPUTS.items()
    ]
    indent = ""
    if switches.no_grad:
        lines.append("with torch.no_grad():")
        indent = "    "
    lines += [f"{indent}{name} = {formula}" for name, formula in COMPUTED.items()]
    backward = ["h.retain_grad()"] * switches.retain + ["loss.backward()"]
    return "\n".join(lines), "\n".join(backward)


def experiment(switches: Switches) -> Experiment:
    """Write the program, run it on torch, and look at every tensor."""
    forward, backward = write(switches)
    names: dict[str, object] = {"torch": torch}
    exec(compile(forward, "<leaf lab>", "exec"), names)
    tensors = {name: names[name] for name in (*INPUTS, *COMPUTED)}
    picture = draw_graph(walk(tensors["loss"], names=Namespace(tensors, (Source(forward),))))
    error = ""
    try:
        exec(compile(backward, "<leaf lab>", "exec"), names)
    except RuntimeError as raised:
        error = f"{type(raised).__name__}: {raised}"
    facts = tuple(
        (
            name,
            str(tensor.requires_grad),
            str(tensor.is_leaf),
            "None" if tensor.grad_fn is None else tensor.grad_fn.name(),
            _gradient(tensor, bool(error)),
        )
        for name, tensor in tensors.items()
    )
    return Experiment(
        forward, backward, facts, picture, error, _story(switches, tensors, bool(error))
    )


def _grad(tensor: torch.Tensor) -> torch.Tensor | None:
    with warnings.catch_warnings():  # torch warns whoever reads the .grad of an inner tensor
        warnings.simplefilter("ignore", UserWarning)
        return tensor.grad


def _gradient(tensor: torch.Tensor, stopped: bool) -> str:
    """The `.grad` of one tensor; where it is None, the reason."""
    grad = _grad(tensor)
    if grad is not None:
        return str(grad.tolist())
    if not tensor.requires_grad:
        return "None: it is not watched"
    if stopped:
        return "None: backward never came by"
    return "None: not a leaf; handed on, not kept"


def _story(switches: Switches, tensors: dict[str, torch.Tensor], stopped: bool) -> str:
    """What happened, and why."""
    if not stopped:
        landed = [name for name, tensor in tensors.items() if _grad(tensor) is not None]
        leaves = [name for name in landed if tensors[name].is_leaf]
        kept = [name for name in landed if name not in leaves]
        return (
            f"Gradients land on {_list(leaves)}: watched, and "
            + ("a leaf." if len(leaves) == 1 else "leaves.")
            + "".join(f" `{name}` is no leaf; it keeps its own because you asked." for name in kept)
        )
    if switches.no_grad:
        why = "Under `no_grad` torch records nothing, whatever the inputs ask for."
    elif switches.watched:
        why = "`h` is not watched, for neither `a` nor `b` is."
    else:
        why = "No input is watched, so torch recorded nothing."
    if switches.retain:
        return f"{why} `h` has no gradient to keep, and the program stopped before backward."
    return f"{why} `loss` has no `grad_fn`, so backward has nowhere to start."


def _list(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)


class LeafLab(CourseWidget):
    """The widget behind `leaf_lab`; see there."""

    def __init__(self) -> None:
        start = Switches()
        self.watch = {
            name: _switch(f"{name}: requires_grad", name in start.watched) for name in INPUTS
        }
        self.retain = _switch("h.retain_grad()", start.retain)
        self.no_grad = _switch("compute under no_grad", start.no_grad)
        self.program = ipywidgets.HTML()
        switches = [*self.watch.values(), self.retain, self.no_grad]
        for switch in switches:
            switch.observe(self._run, "value")
        column = ipywidgets.VBox(switches)
        super().__init__(
            "Leaf lab: who is watched, and where do gradients land?",
            [row(column, self.program, align="flex-start")],
        )
        # The picture, whose height varies most, comes last: so the rest stays in place.
        self.children = (*self.children[:-3], self.words, self.facts, self.picture)
        self._run()

    @property
    def switches(self) -> Switches:
        """What is switched on now."""
        watched = frozenset(name for name, switch in self.watch.items() if switch.value)
        return Switches(watched, self.retain.value, self.no_grad.value)

    def _run(self, _: object = None) -> None:
        seen = experiment(self.switches)
        self.program.value = f"<pre>{html.escape(seen.forward)}\n{seen.backward}</pre>"
        self.show(seen.picture, _told(seen), _table(seen))

    def still(self) -> str:
        seen = experiment(Switches())
        return (
            f"<p><strong>{prose(self.heading)}</strong></p><pre>{html.escape(seen.forward)}\n"
            f"{seen.backward}</pre>{_told(seen)}{_table(seen)}{seen.picture.img}"
            "<p>Run this cell to switch requires_grad yourself.</p>"
        )

    def text(self) -> str:
        seen = experiment(Switches())
        rows = [
            f"{name}: "
            + ", ".join(f"{title} {fact}" for title, fact in zip(HEAD[1:], facts, strict=True))
            for name, *facts in seen.facts
        ]
        return "\n".join([self.heading, seen.forward, seen.backward, "", seen.story, *rows])


def _switch(words: str, on: bool) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(on, description=words, indent=False)


def _told(seen: Experiment) -> str:
    error = f"<p>torch says:</p><pre>{html.escape(seen.error)}</pre>" if seen.error else ""
    return f"{error}<p>{prose(seen.story)}</p>"


def _table(seen: Experiment) -> str:
    rows = [[code(name), *(html.escape(fact) for fact in facts)] for name, *facts in seen.facts]
    return table(HEAD, rows)


def leaf_lab() -> LeafLab:
    """Show three inputs with a switch each, the graph behind their loss, and every tensor's facts.

    Each move of a switch writes the program anew, runs it on torch and reads the results back:
    nothing is worked out beforehand.
    """
    return LeafLab()
