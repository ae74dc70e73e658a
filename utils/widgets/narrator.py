"""Says in words what each step of a recorded backward does."""

from __future__ import annotations

from collections import Counter

from utils.graph.data import Saved, Step, Tape
from utils.pictures.names import brief, spoken
from utils.pictures.numbers import bytes_words, short
from utils.pictures.rules import rule

FACTS = ("came in, g", "kept by forward", "rule", "in numbers", "sent on", ".grad", "still waiting")
MANY = 5  # how many waiting nodes are still named


class Narrator:
    """The words for one tape. Everything it returns is plain text."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._senders = Counter((edge.target, edge.slot) for edge in tape.graph.edges)

    def name(self, index: int) -> str:
        """The shortest name that the learner would know a node by."""
        return brief(self.tape.graph.nodes[index])

    def title(self, index: int) -> str:
        """A node with all its names, such as "q = y * y (MulBackward0)"."""
        return spoken(self.tape.graph.nodes[index])

    def came_in(self, step: Step) -> str:
        """The gradient at each slot, and of how many it is the sum."""
        parts = []
        for slot, value in enumerate(step.arrived):
            place = f"output {slot}: " if len(step.arrived) > 1 else ""
            terms = self._senders[step.node, slot]
            total = f", the sum of {terms}" if terms > 1 and value is not None else ""
            parts.append(f"{place}{short(value)}{total}")
        return "; ".join(parts)

    def sent(self, step: Step) -> str:
        """The gradient on each edge."""
        edges = self.tape.graph.edges_from(step.node)
        parts = [
            f"{short(value)} to {self.name(edge.target)}"
            for edge, value in zip(edges, step.sent, strict=False)
            if edge.target is not None
        ]
        return "; ".join(parts) or "nothing: the way ends here"

    def saved(self, step: Step) -> str:
        """The tensors that forward kept for this node."""
        node = self.tape.graph.nodes[step.node]
        return "; ".join(_kept(saved) for saved in node.saved if saved.state != "none") or "nothing"

    def waiting(self, done: int) -> str:
        """Who still waits after `done` steps, and for how many gradients."""
        parts = [
            f"{self.name(index)} ({self._missing(index, count)})"
            for index, count in self.tape.waiting(done).items()
        ]
        more = [f"{len(parts) - MANY} other nodes"] if len(parts) > MANY else []
        return ", ".join(parts[:MANY] + more) or "nobody"

    def _missing(self, index: int, count: int) -> str:
        if not count:
            return "ready"
        every = sum(total for (node, _), total in self._senders.items() if node == index)
        return f"for {count} more" if count < every else f"for {count}"

    def changed(self, step: Step) -> str:
        """What became of a `.grad`."""
        change = step.change
        if change is None:
            return "no .grad changes here"
        before = "None" if change.before is None else short(change.before)
        name = f"{change.variable}.grad" if change.variable else "its .grad"
        return f"{name} goes from {before} to {short(change.after)}"

    def start(self) -> str:
        """Where backward begins, and with what."""
        roots = zip(self.tape.graph.roots, self.tape.seeds, strict=True)
        return "; ".join(
            f"{short(seed)} at {self.name(root.node)}"
            for root, seed in roots
            if root.node is not None
        )

    def end(self) -> str:
        """How it ended."""
        if self.tape.error:
            return f"Here backward stopped with an error: {self.tape.error}"
        freed = " What forward had saved is freed now." if self.tape.freed else ""
        return f"That was the last step.{freed}"

    def words(self, k: int) -> str:
        """What happens at step k, in a sentence or two."""
        step = self.tape.steps[k - 1]
        return rule(self.tape.graph.nodes[step.node], step, self.tape.graph).words

    def facts(self, k: int) -> tuple[tuple[str, str], ...]:
        """What is to be known after k steps: labels and texts, the same labels at each step."""
        if k == 0:
            texts = ("", "", "", "", "", "", self.waiting(0))
        else:
            step = self.tape.steps[k - 1]
            found = rule(self.tape.graph.nodes[step.node], step, self.tape.graph)
            texts = (
                self.came_in(step),
                self.saved(step),
                found.formula,
                found.numbers,
                self.sent(step),
                self.changed(step),
                self.waiting(k),
            )
        return tuple(zip(FACTS, texts, strict=True))

    def line(self, k: int) -> str:
        """Step k, from 1, in one line."""
        step = self.tape.steps[k - 1]
        out = self.changed(step) if step.change else f"out {self.sent(step)}"
        return f"{self.title(step.node)}: in {self.came_in(step)}; {out}"


def _kept(saved: Saved) -> str:
    if saved.value is None:
        return f"{saved.name}: {saved.state}"
    return f"{saved.name} = {short(saved.value)} ({saved.state}, {bytes_words(saved.nbytes)})"
