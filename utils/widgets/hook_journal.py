"""The kinds of hook, and a journal in which each writes what it saw and did."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from utils.graph.values import value_of
from utils.pictures.numbers import short
from utils.pictures.timeline import LIMIT, Event


@dataclass(frozen=True, slots=True)
class Hook:
    """A kind of hook.

    Attributes:
        name: what torch's manual calls it.
        on: what it hangs on here.
        may: what it may change; "" for nothing.
        call: how it is registered.
    """

    name: str
    on: str
    may: str
    call: str


HOOKS = {
    "forward_pre": Hook("forward pre hook", "act", "the input", "act.register_forward_pre_hook"),
    "forward": Hook("forward hook", "act", "the output", "act.register_forward_hook"),
    "full_backward_pre": Hook(
        "full backward pre hook", "act", "grad_output", "act.register_full_backward_pre_hook"
    ),
    "full_backward": Hook(
        "full backward hook", "act", "grad_input", "act.register_full_backward_hook"
    ),
    "tensor": Hook("tensor hook", "a", "the gradient", "a.register_hook"),
    "retain_grad": Hook("retain_grad", "a", "", "a.retain_grad"),
    "node_pre": Hook("node prehook", "a.grad_fn", "grad_outputs", "a.grad_fn.register_prehook"),
    "node": Hook("node hook", "a.grad_fn", "grad_inputs", "a.grad_fn.register_hook"),
    "weight": Hook("tensor hook", "first.weight", "the gradient", "first.weight.register_hook"),
    "post_accumulate": Hook(
        "post-accumulate hook",
        "first.weight",
        ".grad, in place",
        "first.weight.register_post_accumulate_grad_hook",
    ),
    "multi_grad": Hook(
        "multi-grad hook", "both weights", "", "torch.autograd.graph.register_multi_grad_hook"
    ),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook returns: `factor` times the gradient it saw, or None; and the word for it."""

    factor: float | None
    word: str


ANSWERS = {
    "nothing": Answer(None, "looked"),
    "half of it": Answer(0.5, "halved"),
    "zeros": Answer(0.0, "zeroed"),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What is switched on, by keys of `HOOKS`, and a key of `ANSWERS`."""

    on: frozenset[str] = frozenset({"forward", "tensor", "retain_grad", "post_accumulate"})
    answer: str = "half of it"


class Journal:
    """What happened so far, first to last.

    Attributes:
        part: "forward" or "backward", as it is now.
        events: plain data, which keeps no graph alive.
        watch: the tensors whose `.grad` nobody has seen yet, by name.
    """

    def __init__(self, setting: Setting) -> None:
        self.answer = ANSWERS[setting.answer]
        self.part = "forward"
        self.events: list[Event] = []
        self.watch: dict[str, Tensor] = {}

    def look(self) -> None:
        """Note each `.grad` that was written since the last look: torch calls nobody for that."""
        for name in [name for name, tensor in self.watch.items() if tensor.grad is not None]:
            seen = value_of(self.watch.pop(name).grad)
            if name == "a":
                self._told("retain_grad", (("gradient", seen),), "kept", "it in a.grad")
            else:
                saw = (("is now", seen),)
                self.events.append(Event(self.part, "write", f"{name}.grad", "", saw))

    def step(self, name: str, where: str, **saw: Tensor) -> None:
        """Torch computes."""
        self.look()
        self.events.append(Event(self.part, "step", name, where, _values(saw)))

    def hook(
        self, key: str, saw: dict[str, Tensor], gradient: Tensor | None = None
    ) -> Tensor | None:
        """A hook is called: what it is to return, which is None unless it may change `gradient`."""
        self.look()
        hook, new = HOOKS[key], None
        if gradient is not None and self.answer.factor is not None:
            new = gradient * self.answer.factor
            did, more = self.answer.word, f"to {short(value_of(new), LIMIT)}"
        else:
            did = "looked"
            more = f"(may change {hook.may})" if hook.may else "(cannot change them)"
        self._told(key, _values(saw), did, more, changed=new is not None)
        return new

    def _told(self, key: str, saw: tuple, did: str, more: str, changed: bool = False) -> None:
        hook = HOOKS[key]
        event = Event(self.part, "hook", hook.name, hook.on, saw, did, more, changed, hook.call)
        self.events.append(event)


def _values(saw: dict[str, Tensor]) -> tuple:
    return tuple((name, value_of(tensor)) for name, tensor in saw.items())
