"""The programs of Cut the graph: a small network, cut at one place in one way, run on torch."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn

SETUP = (
    "torch.manual_seed(0)",
    "first = nn.Linear(2, 3)",
    "second = nn.Linear(3, 1)",
    "x = torch.tensor([[1.0, 2.0]])",
)
# The network, a value a line; what stands in braces is what the line computes with.
STEPS = {"z": "first(x)", "a": "torch.tanh({z})", "score": "second({a})", "loss": "{score} ** 2"}
PLACES = {"z, after first": "z", "a, after tanh": "a", "score, at the end": "score"}
TWINS = ("cut", "number")  # what the second tensor is called; a number where it is none
BACKWARD = "loss.backward()"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to keep autograd out, or in.

    Attributes:
        says: what it does, in one sentence.
        after: what is written after the tensor's name to make the second tensor, such as
            ".detach()"; "" when there is no second tensor.
        block: the block that everything up to the place is computed in; "" for none.
    """

    says: str
    after: str = ""
    block: str = ""


WAYS = {
    "nothing": Way("This is the network as it is."),
    ".detach()": Way(
        "`detach()` gives a twin without a history: same memory, same counter.", ".detach()"
    ),
    "torch.no_grad()": Way("Under `no_grad` torch records nothing.", block="torch.no_grad()"),
    "torch.inference_mode()": Way(
        "Under `inference_mode` torch records nothing, and its tensors have no counter.",
        block="torch.inference_mode()",
    ),
    ".data": Way(
        "`.data` gives a twin without a history: same memory, but a counter of its own.", ".data"
    ),
    ".clone()": Way(
        "`clone()` copies the numbers and goes on with the history: it cuts nothing.", ".clone()"
    ),
    ".detach().clone()": Way(
        "A detached clone has no history, and its memory is its own.", ".detach().clone()"
    ),
    ".item()": Way("`item()` gives a Python number, which no graph knows.", ".item()"),
}


@dataclass(frozen=True, slots=True)
class Cut:
    """What the learner has chosen.

    Attributes:
        place: the value at which the network is cut: "z", "a" or "score".
        way: a key of `WAYS`.
        write: whether that value is written to in place before backward.
    """

    place: str = "a"
    way: str = ".detach()"
    write: bool = False


@dataclass(slots=True)
class Run:
    """A program, and how far it came: the variables, the statements that ran, what was raised."""

    statements: list[str]
    names: dict[str, object] = field(default_factory=lambda: {"torch": torch, "nn": nn})
    done: int = 0
    raised: Exception | None = None

    @property
    def stopped(self) -> str:
        """The statement that raised; "" when none did."""
        return self.statements[self.done] if self.raised else ""

    def go(self, until: int) -> None:
        """Run the statements before number `until`, unless one raises."""
        try:
            # Whatever mode the learner's notebook is in, the network starts with recording on.
            with torch.random.fork_rng(devices=[]), torch.enable_grad():
                while self.done < until and not self.raised:
                    exec(compile(self.statements[self.done], "<cut>", "exec"), self.names)
                    self.done += 1
        except Exception as error:  # whatever it raises is what the learner is to see
            self.raised = error

    def grads(self) -> dict[str, torch.Tensor | None]:
        """The `.grad` of each parameter, by name."""
        return {
            f"{layer}.{name}": parameter.grad
            for layer in ("first", "second")
            for name, parameter in self.names[layer].named_parameters()
        }


def write(cut: Cut) -> list[str]:
    """The program for this cut: its statements, the last of which is backward."""
    way = WAYS[cut.way]
    twin = TWINS[cut.way == ".item()"]
    inner, outer = [], []
    called = {name: name for name in STEPS}
    statements = inner
    for name, formula in STEPS.items():
        statements.append(f"{name} = {formula.format(**called)}")
        if name == cut.place:
            statements = outer
            if way.after:
                called[name] = twin
                statements.append(f"{twin} = {name}{way.after}")
    if way.block:
        inner = [f"with {way.block}:\n" + "\n".join(f"    {line}" for line in inner)]
    change = [f"{cut.place}.add_(1)"] * cut.write
    return [*SETUP, *inner, *outer, *change, BACKWARD]
