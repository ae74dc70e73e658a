"""Runs one real backward and writes down what flowed: a `Tape`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch

from .arguments import Call, backward_call
from .data import GradChange, Graph, Step, Tape, Value
from .grads import grad_owners, hidden_leaves, untouched
from .names import Namespace, caller_namespace
from .roots import edge_of
from .structure import Live, follow
from .unseen import grad_of, unseen
from .values import value_of
from .walk import describe


def record(
    root: object,
    gradient: object = None,
    inputs: object = None,
    *,
    commit: bool = False,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    names: Namespace | Mapping[str, object] | None = None,
) -> Tape:
    """Run one real backward from `root` and record every gradient on its way.

    It looks without touching: afterwards every `.grad`, the graph and its hooks are as before. Your
    own hooks do run, once, as in any backward. With `commit` it is `torch.autograd.backward`,
    recorded.

    Args:
        root: a tensor with a graph, or a tuple, list, dict of them.
        gradient: the vector v of v^T J, of the root's shape; for several roots a container like
            theirs. None for a root of one entry, where it is 1.
        inputs: the tensors to find gradients for; None for every leaf.
        commit: leave the gradients in `.grad` and free the graph, as `backward` would.
        retain_graph: with `commit`, keep the graph; None for the value of `create_graph`.
        create_graph: record the gradients' own computation, as `backward` would.
        names: variables to name tensors by; None for the caller's own, an empty dict for none.

    Returns:
        The tape. If backward raised, `error` has its words and `steps` ends where it stopped.

    Raises:
        TypeError: `gradient` or `inputs` holds something that is no tensor.
        ValueError: no root has a graph, a vector is missing or of another shape, or an input needs
            no gradient.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> tape = record(x * x, torch.tensor([1.0, 10.0]))
        >>> tape.steps[-1].change.after.entries, x.grad
        ((2.0, 40.0), None)
    """
    if names is None:
        names = caller_namespace()
    return Backwards(root, names).run(
        gradient, inputs, commit=commit, retain_graph=retain_graph, create_graph=create_graph
    )


class Backwards:
    """Real backwards over one graph, each recorded: `record` for one vector after another.

    Names and the owners of each `.grad` are looked up once, which takes longer than a small
    backward does. For as long as it lives, so does the graph.

    Args:
        root: as for `record`.
        names: as for `record`, but for None.

    Attributes:
        graph: what each tape is of.
    """

    def __init__(self, root: object, names: Namespace | Mapping[str, object]) -> None:
        self._live = follow(root)
        self.graph = describe(self._live, names)
        self._owners = grad_owners(self.graph, self._live.nodes)

    def run(
        self,
        gradient: object = None,
        inputs: object = None,
        *,
        commit: bool = False,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> Tape:
        """One backward; arguments, result and errors are those of `record`."""
        graph = self.graph
        call = backward_call(self._live, graph, gradient, inputs)
        seeds: list[Value | None] = [None] * len(graph.roots)
        for place, seed in zip(call.places, call.seeds, strict=True):
            seeds[place] = value_of(seed)

        keep = True
        guard = nullcontext()
        if commit:
            keep = create_graph if retain_graph is None else retain_graph
        else:
            guard = untouched([*(owner for _, owner in self._owners), *hidden_leaves(graph)])
        error = ""
        with guard, _Recorder(graph, self._live, call, self._owners) as recorder:
            try:
                torch.autograd.backward(
                    call.roots,
                    call.seeds,
                    retain_graph=keep,
                    create_graph=create_graph,
                    inputs=_targets(call, commit),
                )
            except Exception as problem:  # of torch, of a custom backward, of somebody's hook
                error = _words(problem)
        steps = tuple(recorder.steps)
        return Tape(graph, tuple(seeds), steps, error, freed=bool(steps) and not keep)


def _targets(call: Call, commit: bool) -> list[Any] | None:
    """`inputs` for torch. Asked by tensor, it would make an inner one retain its gradient for good;
    asked by the tensor's place in the graph, it leaves the tensor alone."""
    if call.inputs is None or commit:
        return call.inputs
    return [edge_of(item) for item in call.inputs]


def _words(problem: Exception) -> str:
    kind = "" if type(problem) is RuntimeError else type(problem).__name__
    return ": ".join(part for part in (kind, str(problem).strip()) if part)


class _Recorder:
    """Hooks on every node that write the tape, for as long as the `with` lasts.

    Each hook knows its node by number only: one that held the node itself would be a cycle, and
    keep the graph alive until the collector comes.
    """

    def __init__(
        self, graph: Graph, live: Live, call: Call, owners: Iterable[tuple[int, torch.Tensor]]
    ) -> None:
        self.steps: list[Step] = []
        self._graph = graph
        self._live = live
        self._inputs = call.inputs or []
        self._owners: dict[int, torch.Tensor] = {}
        for index, owner in owners:
            self._owners.setdefault(index, owner)
        self._before = {index: _grad(owner) for index, owner in self._owners.items()}
        self._captured: dict[int, int] = {}  # node -> the step in which a gradient was only taken
        self._handles: list[Any] = []

    def __enter__(self) -> _Recorder:
        for index, node in enumerate(self._live.nodes):
            self._handles.append(node.register_hook(self._node_hook(index)))
        # Of an inner tensor that is asked for, the node need not run: its gradient is just taken.
        place = {node: index for index, node in enumerate(self._live.nodes)}
        with unseen():
            for item in self._inputs:
                if isinstance(item, torch.Tensor) and not item.is_leaf and item.grad_fn in place:
                    before = item.grad if item.retains_grad else None
                    hook = self._tensor_hook(place[item.grad_fn], item.output_nr, before)
                    self._handles.append(item.register_hook(hook))
        return self

    def __exit__(self, *problem: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles, self._owners, self._inputs, self._live = [], {}, [], None

    def _node_hook(self, index: int) -> Callable[[tuple, tuple], None]:
        def hook(grad_inputs: tuple, grad_outputs: tuple) -> None:
            place = self._captured.pop(index, None)
            change = self._change(index) if place is None else self.steps[place].change
            step = Step(index, _values(grad_outputs), _values(grad_inputs), change)
            if place is None:
                self.steps.append(step)
            else:
                self.steps[place] = step

        return hook

    def _change(self, index: int) -> GradChange | None:
        owner = self._owners.get(index)
        if owner is None:
            return None
        variable = self._graph.nodes[index].variable
        return GradChange(index, variable, self._before[index], _grad(owner))

    def _tensor_hook(
        self, index: int, slot: int, before: torch.Tensor | None
    ) -> Callable[[torch.Tensor], None]:
        def hook(grad: torch.Tensor) -> None:
            node = self._graph.nodes[index]
            with unseen():
                taken = value_of(grad)
                old = None if before is None else value_of(before)
                new = taken if before is None else value_of(before + grad)
            if index not in self._captured:
                self._captured[index] = len(self.steps)
                sent = (None,) * len(self._graph.edges_from(index))
                self.steps.append(Step(index, (None,) * len(node.outputs), sent))
            place = self._captured[index]
            arrived = list(self.steps[place].arrived)
            arrived[slot] = taken
            self.steps[place] = replace(
                self.steps[place],
                arrived=tuple(arrived),
                change=GradChange(index, node.variable, old, new),
            )

        return hook


def _grad(owner: torch.Tensor) -> Value | None:
    grad = grad_of(owner)
    return None if grad is None else value_of(grad)


def _values(grads: tuple[torch.Tensor | None, ...]) -> tuple[Value | None, ...]:
    return tuple([None if grad is None else value_of(grad) for grad in grads])
