"""The values that flow through the course: `Graph` and `Tape`, frozen plain data.

Nothing here holds a tensor or a torch node, so a `Graph` keeps nothing alive and can be drawn,
compared, printed and sent elsewhere. This file imports neither torch nor anything of ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Number = float | int | bool | complex


@dataclass(frozen=True, slots=True)
class Value:
    """What one tensor held at one moment.

    Attributes:
        shape: the sizes; None where torch cannot tell (a strided nested tensor).
        dtype: torch's name without the prefix, such as "float32".
        entries: all entries in row-major order, or None when there are too many to keep.
        norm: the 2-norm of all entries; None where it has no meaning.
    """

    shape: tuple[int | str, ...] | None
    dtype: str
    entries: tuple[Number, ...] | None = None
    norm: float | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """A tensor that a node keeps for backward.

    Attributes:
        name: torch's name for it without the prefix, such as "self" or "tensors[0]".
        state: "held", "packed" (a saved-tensor hook holds it), "overwritten" (changed in place
            since it was saved), "freed" (by a backward), "none" (nothing was kept) or "unknown".
        value: its facts when it is held; None otherwise.
        nbytes: bytes of its entries when it is held, else 0.
        memory: a number for the memory it is in, the same for all that share it in one graph.
        note: torch's own words on what is wrong, or what the hook packed it into.
    """

    name: str
    state: str
    value: Value | None = None
    nbytes: int = 0
    note: str = ""
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the graph: an operation, or a leaf's AccumulateGrad.

    Attributes:
        index: its place in `Graph.nodes`.
        name: torch's name, such as "MulBackward0" or "AccumulateGrad".
        kind: "op", "leaf", "custom" (an autograd.Function) or "hook" (a module's full backward
            hook).
        outputs: one Value per forward output (= per gradient slot). Shape and dtype only, except
            where the entries are known: a leaf, or an output that the learner has a name for.
        saved: the tensors it keeps for backward.
        facts: what else it keeps (`_saved_exponent`, `_saved_dim`, ...), printable, by name.
        variable: the learner's name for its (first) output, or a parameter's; "" if unknown.
        expression: what was written, such as "y * y"; "" unless it was found and fits the graph.
        line: the source line of that expression, 1-based; None if unknown.
        file: where that line is: a file, or "cell 3" in a notebook; "" if unknown.
    """

    index: int
    name: str
    kind: str
    outputs: tuple[Value, ...]
    saved: tuple[Saved, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)
    variable: str = ""
    expression: str = ""
    line: int | None = None
    file: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A way for a gradient: from a node, by its k-th forward input, to a slot of that input's node.

    Attributes:
        source: index of the node that sends (nearer the root).
        input: k, which forward input of `source` this is.
        target: index of the node that receives; None when that input needs no gradient.
        slot: j, which forward output of `target` that input was.
    """

    source: int
    input: int
    target: int | None
    slot: int


@dataclass(frozen=True, slots=True)
class Root:
    """One tensor (or non-tensor) that `walk` was given.

    Attributes:
        path: where it stood in the argument, such as "['loss']" or "[0]"; "" for a lone tensor.
        variable: the learner's name for it; "" if unknown.
        node: index of its node; None when it has no graph.
        slot: which output of that node it is.
        reason: why it has no graph, or is a leaf: "leaf", "detached", "no_grad", "inference_mode",
            "dtype", "untracked" (made from tensors that no one asked to track), "number",
            "method", "module", "not_a_tensor", "forbidden_view" (a view changed in place in a way
            that autograd does not follow: torch refuses to give its grad_fn); "" for a tensor
            with a grad_fn.
        sentence: the same for a reader, with the learner's names and what to do; "" with reason "".
    """

    path: str
    variable: str
    node: int | None
    slot: int
    reason: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """The autograd graph behind some roots, always whole.

    Attributes:
        nodes: breadth-first from the roots.
        edges: by source, then by input.
        roots: in reading order.
        described: so many nodes, from the front, tell what they keep and what their leaves hold;
            None for all. The others have name, shapes and edges only.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    roots: tuple[Root, ...]
    described: int | None = None

    def edges_from(self, node: int) -> tuple[Edge, ...]:
        """The edges on which `node` sends, in the order of its forward inputs."""
        return tuple(edge for edge in self.edges if edge.source == node)

    @property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes where gradients land."""
        return tuple(node for node in self.nodes if node.kind == "leaf")

    @property
    def saved_bytes(self) -> int:
        """Bytes that the held saved tensors keep; memory that several of them share counts once."""
        alone, shared = 0, dict[int, int]()
        for saved in (saved for node in self.nodes for saved in node.saved):
            if saved.memory is None:
                alone += saved.nbytes
            else:
                shared[saved.memory] = max(saved.nbytes, shared.get(saved.memory, 0))
        return alone + sum(shared.values())


@dataclass(frozen=True, slots=True)
class GradChange:
    """What one step did to the `.grad` of one tensor; None stands for `.grad is None`."""

    node: int
    variable: str
    before: Value | None
    after: Value | None


@dataclass(frozen=True, slots=True)
class Step:
    """One node's turn in a real backward.

    Attributes:
        node: whose turn it is.
        arrived: per gradient slot, the finished sum; None when nothing arrived there.
        sent: per forward input, the gradient sent on; None when none was. Aligned with
            `Graph.edges_from(node)`. Empty for a leaf.
        change: what happened to `.grad`, when this is a leaf, or makes a tensor that retains its
            gradient, or one of the `inputs` that backward was asked for.
    """

    node: int
    arrived: tuple[Value | None, ...]
    sent: tuple[Value | None, ...]
    change: GradChange | None = None


@dataclass(frozen=True, slots=True)
class Tape:
    """One real backward, recorded.

    Attributes:
        graph: the graph it ran over, as it was before.
        seeds: per root, the vector that backward started from (ones for a scalar by default).
        steps: in the order in which torch ran them.
        error: torch's words when backward raised, with `steps` up to there; "" otherwise.
        freed: whether this backward freed the saved tensors.
    """

    graph: Graph
    seeds: tuple[Value | None, ...]
    steps: tuple[Step, ...]
    error: str = ""
    freed: bool = False

    def waiting(self, done: int) -> dict[int, int]:
        """After the first `done` steps, how many gradients each node still waits for.

        Returns:
            {node: count} for every node that has not run; a count of 0 means "ready to run".
        """
        ran = {step.node for step in self.steps[:done]}
        counts = {node.index: 0 for node in self.graph.nodes if node.index not in ran}
        for edge in self.graph.edges:
            if edge.target in counts and edge.source not in ran:
                counts[edge.target] += 1
        return counts
