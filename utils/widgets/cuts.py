"""What torch makes of a small network that is cut at one place in one way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import nn

from utils.graph import walk
from utils.graph.data import Graph
from utils.graph.namespace import Namespace
from utils.graph.sources import Source
from utils.pictures.graph_picture import draw_graph
from utils.pictures.names import brief
from utils.pictures.picture import Picture

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
OVERWRITTEN = "modified by an inplace operation"  # torch, when a kept number was written to


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


@dataclass(frozen=True, slots=True)
class Seen:
    """What torch made of one cut.

    Attributes:
        program: the statements as they ran; the one that raised is marked, and those after it.
        gradients: per parameter (name, `.grad` after backward, or why it is None).
        tensors: per tensor at the cut (its name, and a fact for each of `FACTS`).
        picture: the graph behind `loss`, and the piece that was cut off, before backward.
        stopped: the statement that raised; "" when none did.
        error: torch's message then, else "".
        story: what happened and why, in a few sentences of prose.
    """

    program: str
    gradients: tuple[tuple[str, str], ...]
    tensors: tuple[tuple[str, ...], ...]
    picture: Picture
    stopped: str
    error: str
    story: str


FACTS = ("requires_grad", "is_leaf", "is_inference", "memory", "_version")


@dataclass(slots=True)
class _Run:
    """A program, and how far it came: the variables, the statements that ran, what was raised."""

    statements: list[str]
    names: dict[str, object]
    done: int = 0
    raised: Exception | None = None

    @property
    def stopped(self) -> str:
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


def experiment(cut: Cut) -> Seen:
    """Write the program, run it on torch, and look at what came of it."""
    run = _Run(write(cut), {"torch": torch, "nn": nn})
    run.go(until=len(run.statements) - 1 - cut.write)
    found = {name: run.names[name] for name in (cut.place, *TWINS) if name in run.names}
    before = {name: _version(value) for name, value in found.items()}
    run.go(until=len(run.statements) - 1)
    graph = _graph(cut, run)
    run.go(until=len(run.statements))

    harm = _harm(cut, run)
    gradients = tuple(
        (name, _gradient(grad, run, harm.get(name))) for name, grad in run.grads().items()
    )
    memory = "shared" if len({_memory(value) for value in found.values()}) < len(found) else "own"
    return Seen(
        _marked(run),
        gradients,
        tuple(_facts(name, value, before[name], memory) for name, value in found.items()),
        _drawn(graph),
        run.stopped,
        f"{type(run.raised).__name__}: {run.raised}" if run.raised else "",
        " ".join([WAYS[cut.way].says, *_outcome(cut, run, graph, harm)]),
    )


def _graph(cut: Cut, run: _Run) -> Graph:
    """The graph behind the loss; beside it the piece that the loss no longer leads to."""
    tools = ("torch", "nn", "__builtins__")
    learner = {name: value for name, value in run.names.items() if name not in tools}
    namespace = Namespace(learner, (Source("\n".join(run.statements[: run.done])),))
    last = next(name for name in ("loss", "score", "a", "z") if name in learner)
    roots = [learner[last]]
    twin = next((learner[name] for name in TWINS if name in learner), None)
    if twin is not None and not getattr(twin, "requires_grad", False):
        roots.append(learner[cut.place])
    graph = walk(roots, names=namespace)
    return replace(graph, roots=tuple(replace(root, path="") for root in graph.roots))


def _drawn(graph: Graph) -> Picture:
    """The graph, each weight in one box with the node that transposes it."""
    turned = sum(node.name == "TBackward0" for node in graph.nodes)
    return draw_graph(graph, cap=max(1, len(graph.nodes) - turned), upright=False)


def _harm(cut: Cut, run: _Run) -> dict[str, torch.Tensor]:
    """By parameter, the right gradient where the write made it wrong and nothing was raised."""
    if not cut.write or run.raised:
        return {}
    right = _Run(write(replace(cut, write=False)), {"torch": torch, "nn": nn})
    right.go(until=len(right.statements))
    got = run.grads()
    return {
        name: grad
        for name, grad in right.grads().items()
        if grad is not None and not torch.equal(grad, got[name])
    }


def _gradient(grad: torch.Tensor | None, run: _Run, right: torch.Tensor | None) -> str:
    """One `.grad` in words."""
    if grad is not None:
        wrong = f": wrong, {_norm(right)} without the write" if right is not None else ""
        return f"{_norm(grad)}{wrong}"
    if not run.raised:
        return "None: loss does not lead here"
    if OVERWRITTEN in str(run.raised):
        return "None: backward stopped before it"
    return "None: backward never began"


def _norm(grad: torch.Tensor) -> str:
    return f"norm {grad.norm().item():.4g}"


def _version(value: object) -> int | None:
    """The version counter; None where there is none."""
    if not isinstance(value, torch.Tensor) or value.is_inference():
        return None
    return value._version


def _facts(name: str, value: object, before: int | None, memory: str) -> tuple[str, ...]:
    """A tensor's name, and its `FACTS`."""
    if not isinstance(value, torch.Tensor):
        return (name, *["–"] * len(FACTS))
    after = _version(value)
    if before is None:
        version = "no counter"
    else:
        version = str(before) if before == after else f"{before} → {after}"
    flags = (value.requires_grad, value.is_leaf, value.is_inference())
    return (name, *map(str, flags), memory, version)


def _memory(value: object) -> int:
    """Where its numbers are; each Python number is somewhere of its own."""
    return value.data_ptr() if isinstance(value, torch.Tensor) else id(value)


def _marked(run: _Run) -> str:
    """The program; what raised and what did not run is marked."""
    lines = list(run.statements)
    if run.raised:
        lines[run.done] += "  # raises"
        lines[run.done + 1 :] = [f"{line}  # not run" for line in lines[run.done + 1 :]]
    return "\n".join(lines)


def _outcome(cut: Cut, run: _Run, graph: Graph, harm: dict[str, torch.Tensor]) -> list[str]:
    """What came of it, in sentences."""
    reached = {name.partition(".")[0] for name, grad in run.grads().items() if grad is not None}
    if run.raised:
        so_far = "".join(f" By then gradients had reached `{layer}`." for layer in sorted(reached))
        return [_why(cut, run, graph) + so_far]
    told = []
    if reached == {"first", "second"}:
        if cut.way == "nothing":
            told.append("Gradients reach both layers.")
    else:
        told.append("Gradients reach `second`, and none reaches `first`.")
    if harm:
        told.append(
            f"No error, and yet a wrong gradient for {_list(harm)}: the write changed numbers that "
            "backward multiplied with, and the counter that it looked at stood still."
        )
    elif cut.write:
        told.append("The write does no harm: backward needs no number in that memory.")
    return told


def _why(cut: Cut, run: _Run, graph: Graph) -> str:
    """Torch's error in one sentence of ours."""
    words = str(run.raised)
    if OVERWRITTEN in words:
        keepers = [
            brief(node)
            for node in graph.nodes
            if any(saved.state == "overwritten" for saved in node.saved)
        ]
        return (
            f"The write moved the counter of numbers that {_list(keepers)} had kept for backward, "
            "and torch refuses to use them."
        )
    if "does not require grad" in words:
        return "`loss` leads back to no leaf any more, so backward has nowhere to start."
    if "Inference tensors cannot be saved" in words:
        return (
            f"The gradient of `second.weight` needs `{cut.place}`, and torch keeps no tensor for "
            "backward that it cannot watch."
        )
    if "Inplace update to inference tensor" in words:
        return "Outside that mode nobody may write to such a tensor: no counter would tell."
    if "cannot be converted to Scalar" in words:
        return f"`{cut.place}` holds {run.names[cut.place].numel()} numbers, and it wants just one."
    if isinstance(run.raised, AttributeError):
        return "So `loss` is a number too: there is no graph, and nothing that has a `backward`."
    return "Here torch stopped."


def _list(names: object) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)
