"""What torch makes of a small network that is cut at one place in one way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from utils.graph import walk
from utils.graph.data import Graph
from utils.graph.namespace import Namespace
from utils.graph.sources import Source
from utils.pictures.graph_picture import draw_graph
from utils.pictures.names import brief
from utils.pictures.picture import Picture
from utils.widgets.cut_program import TWINS, WAYS, Cut, Run, write

FACTS = ("requires_grad", "is_leaf", "is_inference", "memory", "_version")
OVERWRITTEN = "modified by an inplace operation"  # torch, when a kept number was written to


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


def experiment(cut: Cut) -> Seen:
    """Write the program, run it on torch, and look at what came of it."""
    run = Run(write(cut))
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


def _graph(cut: Cut, run: Run) -> Graph:
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


def _harm(cut: Cut, run: Run) -> dict[str, torch.Tensor]:
    """By parameter, the right gradient where the write made it wrong and nothing was raised."""
    if not cut.write or run.raised:
        return {}
    right = Run(write(replace(cut, write=False)))
    right.go(until=len(right.statements))
    got = run.grads()
    return {
        name: grad
        for name, grad in right.grads().items()
        if grad is not None and not torch.equal(grad, got[name])
    }


def _gradient(grad: torch.Tensor | None, run: Run, right: torch.Tensor | None) -> str:
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


def _marked(run: Run) -> str:
    """The program; what raised and what did not run is marked."""
    lines = list(run.statements)
    if run.raised:
        lines[run.done] += "  # raises"
        lines[run.done + 1 :] = [f"{line}  # not run" for line in lines[run.done + 1 :]]
    return "\n".join(lines)


def _outcome(cut: Cut, run: Run, graph: Graph, harm: dict[str, torch.Tensor]) -> list[str]:
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


def _why(cut: Cut, run: Run, graph: Graph) -> str:
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
