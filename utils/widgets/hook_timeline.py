"""Hook timeline: switch hooks on, and see in which order they fire, what they see and change."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import ipywidgets
import torch

from utils.graph.values import value_of
from utils.pictures.numbers import short
from utils.pictures.picture import Picture
from utils.pictures.timeline import LIMIT, Event, draw_timeline
from utils.widgets.base import CourseWidget, code, prose, row, table
from utils.widgets.hook_journal import ANSWERS, HOOKS, Setting
from utils.widgets.hook_run import FULL, Network, run

GROUPS = {
    "on the module act": ("forward_pre", "forward", "full_backward_pre", "full_backward"),
    "on the activation a": ("tensor", "retain_grad", "node_pre", "node"),
    "on the weights": ("weight", "post_accumulate", "multi_grad"),
}
CAPTION = "first = Linear(2, 3), act = Tanh(), second = Linear(3, 1), x = [[1, 2]]"
HEAD = ("parameter", ".grad without hooks", ".grad with hooks", "so it is")
OFF = Setting(frozenset())


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one setting.

    Attributes:
        picture: the time line.
        gradients: per parameter a row under `HEAD`.
        story: what happened, in a few sentences of prose.
    """

    picture: Picture
    gradients: tuple[tuple[str, str, str, str], ...]
    story: str


def experiment(network: Network, setting: Setting) -> Seen:
    """Run the network without hooks and with these; compare."""
    plain, hooked = run(network, OFF), run(network, setting)
    gradients = tuple(
        (name, _written(before), _written(hooked.grads[name]), effect(before, hooked.grads[name]))
        for name, before in plain.grads.items()
    )
    picture = draw_timeline(hooked.events, "One step of the network, with its hooks", CAPTION)
    return Seen(picture, gradients, _story(hooked.events, gradients))


def effect(before: torch.Tensor, after: torch.Tensor) -> str:
    """What became of a gradient, in words: "the same", "halved", "zero", "1/4 of it"."""
    if torch.equal(before, after):
        return "the same"
    if not after.any():
        return "zero"
    largest = before.abs().argmax()
    factor = (after.flatten()[largest] / before.flatten()[largest]).item()
    if not torch.allclose(after, before * factor):
        return "changed, each entry in its own way"
    return "halved" if factor == 0.5 else f"{Fraction(factor).limit_denominator(4096)} of it"


def _written(grad: torch.Tensor) -> str:
    return short(value_of(grad), LIMIT)


def _story(events: Sequence[Event], gradients: Sequence[tuple[str, ...]]) -> str:
    """What the hooks did to the gradients, and what is worth noticing."""
    hooks = [event for event in events if event.kind == "hook"]
    if not hooks:
        return "No hook is on: this is the step as torch takes it."
    told = [_outcome(gradients)]
    names = {event.name for event in events}
    changed = {(hook.name, hook.where) for hook in hooks if hook.changed}
    if ("tensor hook", "a") in changed and "retain_grad" in names:
        told.append("`retain_grad` kept what the tensor hook returned, for it comes last.")
    if ("tensor hook", "first.weight") in changed:
        told.append("The hook on `first.weight` changed the gradient of that weight alone.")
    if FULL in names and {"node prehook", "node hook"} & names:
        told.append(
            f"`a.grad_fn` is `{FULL}` now: the full backward hooks put it after tanh, "
            "and node hooks on it run before tanh's own backward."
        )
    return " ".join(told)


def _outcome(gradients: Sequence[tuple[str, ...]]) -> str:
    """The parameters by what became of their gradients."""
    fates: dict[str, list[str]] = {}
    for name, _, _, fate in gradients:
        fates.setdefault(fate, []).append(f"`{name}`")
    if list(fates) == ["the same"]:
        return "The hooks changed nothing: every gradient is the same."
    return "; ".join(f"{' and '.join(names)}: {fate}" for fate, names in fates.items()) + "."


class HookTimeline(CourseWidget):
    """The widget behind `hook_timeline`; see there."""

    def __init__(self) -> None:
        self.network = Network()
        start = Setting()
        self.switches = {
            key: ipywidgets.Checkbox(
                key in start.on, description=_name(key), indent=False, tooltip=hook.call
            )
            for key, hook in HOOKS.items()
        }
        self.answer = ipywidgets.RadioButtons(
            options=list(ANSWERS),
            value=start.answer,
            description="A hook that may change a gradient returns",
            orientation="horizontal",
            style={"description_width": "auto"},
            layout={"width": "auto", "height": "auto"},
        )
        for control in (*self.switches.values(), self.answer):
            control.observe(self._run, "value")
        groups = [
            ipywidgets.VBox(
                [ipywidgets.HTML(prose(title)), *(self.switches[key] for key in keys)],
                layout={"width": "auto"},
            )
            for title, keys in GROUPS.items()
        ]
        super().__init__(
            "Hook timeline: when does each hook fire, what does it see, what may it change?",
            [row(*groups, align="flex-start"), self.answer],
        )
        # The picture, whose height varies most, comes last: so the rest stays in place.
        self.children = (*self.children[:-3], self.words, self.facts, self.picture)
        self._run()

    @property
    def setting(self) -> Setting:
        """What is switched on now."""
        on = frozenset(key for key, switch in self.switches.items() if switch.value)
        return Setting(on, self.answer.value)

    def _run(self, _: object = None) -> None:
        seen = experiment(self.network, self.setting)
        self.show(seen.picture, f"<p>{prose(seen.story)}</p>", _table(seen))

    def still(self) -> str:
        seen = experiment(self.network, Setting())
        return (
            f"<p><strong>{prose(self.heading)}</strong></p><p>{prose(seen.story)}</p>"
            f"{_table(seen)}{seen.picture.img}<p>Run this cell to switch the hooks yourself.</p>"
        )

    def text(self) -> str:
        seen = experiment(self.network, Setting())
        gradients = [
            f"{name}: {before} without hooks, {after} with them: {fate}"
            for name, before, after, fate in seen.gradients
        ]
        return "\n".join([self.heading, seen.story, *gradients, "", seen.picture.text])


def _name(key: str) -> str:
    """A hook's name on its switch, with what it hangs on where the group does not say that."""
    hook = HOOKS[key]
    return hook.name if hook.on in ("act", "a") else f"{hook.name}, {hook.on}"


def _table(seen: Seen) -> str:
    rows = [[code(name), *map(html.escape, rest)] for name, *rest in seen.gradients]
    return table(HEAD, rows)


def hook_timeline() -> HookTimeline:
    """Switch hooks of every kind on and off around one forward and backward of a small network.

    Each move runs the step on torch, without hooks and with them: the time line shows in which
    order they fired, what each saw and whether it changed it; the table what became of the
    gradients.
    """
    return HookTimeline()
