"""One real forward and backward of a small network with hooks on it, written down as it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node, register_multi_grad_hook
from torch.utils.hooks import RemovableHandle

from utils.pictures.timeline import Event
from utils.widgets.hook_journal import Journal, Setting

FULL = "BackwardHookFunctionBackward"  # the node that full backward hooks put into the graph


class Network(nn.Module):
    """Two layers with a tanh between them, the same weights each time."""

    def __init__(self) -> None:
        super().__init__()
        with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.first, self.act, self.second = nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)


@dataclass(frozen=True, slots=True)
class Run:
    """One forward and backward: what happened in which order, and the gradients it left."""

    events: tuple[Event, ...]
    grads: dict[str, Tensor]


def run(network: Network, setting: Setting) -> Run:
    """Compute, go backward, and write down what the hooks that are switched on saw and did.

    The network is left without hooks and without gradients.
    """
    journal = Journal(setting)
    handles: list[RemovableHandle | None] = []

    def attach(hooks: dict[str, Callable[[], RemovableHandle | None]]) -> None:
        handles.extend(register() for key, register in hooks.items() if key in setting.on)

    first, act, second = network.first, network.act, network.second
    network.zero_grad()
    try:
        # Whatever mode the learner's notebook is in, here torch records.
        with torch.inference_mode(False), torch.enable_grad():
            x = torch.tensor([[1.0, 2.0]])
            attach(_module_hooks(act, journal))
            handles.append(act.register_forward_hook(_computed(journal), prepend=True))
            h = first(x)
            journal.step("h = first(x)", "", h=h)
            a = act(h)
            score = second(a)
            journal.step("score = second(a)", "", score=score)
            loss = score**2
            journal.step("loss = score ** 2", "", loss=loss)
            attach(_tensor_hooks(a, first.weight, second.weight, journal))
            if "retain_grad" in setting.on:
                journal.watch["a"] = a
            journal.watch |= {"first.weight": first.weight, "second.weight": second.weight}
            for node, statement in _path(h, a, score, loss):
                _announce(node, statement, journal)  # last, so that it runs after the prehooks
            journal.part = "backward"
            loss.backward()
        journal.look()
        return Run(
            tuple(journal.events),
            {name: parameter.grad for name, parameter in network.named_parameters()},
        )
    finally:
        for handle in handles:
            if handle is not None:
                handle.remove()
        network.zero_grad()


def _tuple(new: Tensor | None) -> tuple[Tensor] | None:
    return None if new is None else (new,)


def _module_hooks(act: nn.Module, journal: Journal) -> dict[str, Callable[[], RemovableHandle]]:
    """How each hook on the module is registered."""

    def forward_pre(_: nn.Module, args: tuple) -> None:
        journal.hook("forward_pre", {"input": args[0]})

    def forward(_: nn.Module, args: tuple, output: Tensor) -> None:
        journal.hook("forward", {"input": args[0], "output": output})

    def full_backward_pre(_: nn.Module, grad_output: tuple) -> tuple | None:
        saw = {"grad_output": grad_output[0]}
        return _tuple(journal.hook("full_backward_pre", saw, grad_output[0]))

    def full_backward(_: nn.Module, grad_input: tuple, grad_output: tuple) -> tuple | None:
        saw = {"grad_input": grad_input[0], "grad_output": grad_output[0]}
        return _tuple(journal.hook("full_backward", saw, grad_input[0]))

    return {
        "forward_pre": lambda: act.register_forward_pre_hook(forward_pre),
        "forward": lambda: act.register_forward_hook(forward),
        "full_backward_pre": lambda: act.register_full_backward_pre_hook(full_backward_pre),
        "full_backward": lambda: act.register_full_backward_hook(full_backward),
    }


def _tensor_hooks(
    a: Tensor, first: Tensor, second: Tensor, journal: Journal
) -> dict[str, Callable[[], RemovableHandle | None]]:
    """How each hook on the activation, its node and the weights is registered."""

    def tensor(grad: Tensor) -> Tensor | None:
        return journal.hook("tensor", {"gradient": grad}, grad)

    def node_pre(grad_outputs: tuple) -> tuple | None:
        saw = {"grad_outputs": grad_outputs[0]}
        return _tuple(journal.hook("node_pre", saw, grad_outputs[0]))

    def node(grad_inputs: tuple, grad_outputs: tuple) -> tuple | None:
        saw = {"grad_inputs": grad_inputs[0], "grad_outputs": grad_outputs[0]}
        return _tuple(journal.hook("node", saw, grad_inputs[0]))

    def weight(grad: Tensor) -> Tensor | None:
        return journal.hook("weight", {"gradient": grad}, grad)

    def post_accumulate(parameter: Tensor) -> None:
        journal.hook("post_accumulate", {".grad": parameter.grad})

    def multi_grad(grads: tuple) -> None:
        journal.hook("multi_grad", dict(zip(("first", "second"), grads, strict=True)))

    return {
        "tensor": lambda: a.register_hook(tensor),
        "retain_grad": lambda: a.retain_grad(),
        "node_pre": lambda: a.grad_fn.register_prehook(node_pre),
        "node": lambda: a.grad_fn.register_hook(node),
        "weight": lambda: first.register_hook(weight),
        "post_accumulate": lambda: first.register_post_accumulate_grad_hook(post_accumulate),
        "multi_grad": lambda: register_multi_grad_hook((first, second), multi_grad),
    }


def _computed(journal: Journal) -> Callable[..., None]:
    """A forward hook that says what the module computed; put first, it comes before any other."""
    return lambda _, args, output: journal.step("a = act(h)", "", a=output)


def _path(h: Tensor, a: Tensor, score: Tensor, loss: Tensor) -> list[tuple[Node, str]]:
    """The nodes from the loss to the first layer, each with what it belongs to."""
    last, node = h.grad_fn, a.grad_fn
    path = [(loss.grad_fn, "loss = score ** 2"), (score.grad_fn, "score = second(a)")]
    where = "act's output"
    while node is not last:
        if node.name() == FULL:
            path.append((node, where))
        else:
            path.append((node, "a = act(h)"))
            where = "act's input"
        node = node.next_functions[0][0]
    return [*path, (last, "h = first(x)")]


def _announce(node: Node, statement: str, journal: Journal) -> None:
    """Have a node say when it runs, with what it is given then."""
    name = node.name()  # the hook must not hold the node itself: it would keep the graph alive
    node.register_prehook(lambda grads: journal.step(name, statement, gradient=grads[0]))
