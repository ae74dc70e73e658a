"""Looks at what a node keeps for backward, without unpacking it.

Torch offers two doors. `node._saved_x` unpacks: it runs the hook of a checkpoint (a whole forward)
and raises when the tensor was freed or changed. `node._raw_saved_x` is a `SavedTensor`, which only
looks. **A SavedTensor that outlives its node crashes the process**, so none leaves this file.
"""

from __future__ import annotations

from typing import Any

import torch

from .data import Saved
from .values import KEEP, bytes_of, value_of

_RAW = "_raw_saved_"
_FACT = "_saved_"
_CHANGED = "modified by an inplace operation"
_PRINTABLE = (int, float, complex, bool, str, type(None))
_NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.SymInt)


class SavedReader:
    """Reads the saved tensors and other facts of nodes.

    One reader serves a whole walk, for it remembers which attributes each type of node has, and
    which memory it has seen.
    """

    def __init__(self, keep: int = KEEP) -> None:
        self.keep = keep
        self._attributes: dict[type, tuple[list[str], list[str]]] = {}
        self._memories: dict[int, int] = {}  # address -> a number that says nothing else

    def read(self, node: Any) -> tuple[tuple[Saved, ...], dict[str, object]]:
        """The tensors that a live `node` keeps, and its plain values by name. Never raises."""
        raw, plain = self._attributes_of(type(node))
        saved: list[Saved] = []
        for attribute in raw:
            saved.extend(self._saved(node, attribute))
        facts = {}
        for attribute in plain:
            try:
                facts[attribute.removeprefix(_FACT)] = _printable(getattr(node, attribute))
            except (RuntimeError, TypeError, AttributeError):
                continue  # freed, or no plain value
        if hasattr(type(node), "_forward_cls"):  # a custom Function: what it put on its ctx
            for name, value in vars(node).items():
                if not name.startswith("_"):
                    try:
                        facts[name] = _printable(value)
                    except TypeError:
                        continue
        return tuple(saved), facts

    def _attributes_of(self, kind: type) -> tuple[list[str], list[str]]:
        known = self._attributes.get(kind)
        if known is None:
            names = dir(kind)
            raw = [name for name in names if name.startswith(_RAW)]
            tensors = {_FACT + name.removeprefix(_RAW) for name in raw}
            plain = [name for name in names if name.startswith(_FACT) and name not in tensors]
            known = self._attributes[kind] = raw, plain
        return known

    def _saved(self, node: Any, attribute: str) -> list[Saved]:
        name = attribute.removeprefix(_RAW)
        # Only the words of an error are kept: its traceback would hold `raw` past its node's life.
        try:
            raw = getattr(node, attribute)
        except RuntimeError as problem:  # a freed list
            return [_broken(name, str(problem))]
        if raw is None:
            return []
        if not isinstance(raw, tuple):
            found = [self._look(name, raw)]
        else:
            found = [self._look(f"{name}[{k}]", one) for k, one in enumerate(raw)]
        states = {saved.state for saved in found}
        if "held" in states and "packed" not in states:
            # The public attribute compares versions, and so tells whether the tensor was changed
            # since. It is safe to read only where no hook would have to unpack anything.
            try:
                getattr(node, "saved_tensors" if name == "tensors" else _FACT + name)
            except RuntimeError as problem:
                words = str(problem)
                if isinstance(raw, tuple):
                    return [_blame(one, its, words) for one, its in zip(found, raw, strict=True)]
                return [_broken(name, words)]
        return found

    def _look(self, name: str, raw: Any) -> Saved:
        """One SavedTensor, by `.data` alone, which runs nothing."""
        data = raw.data
        if raw.unpack_hook is not None:
            return Saved(name, "packed", note=type(data).__name__)
        if data is None:  # freed, or never filled; unpacking nothing tells which
            try:
                raw.unpack()
            except RuntimeError as problem:
                return _broken(name, str(problem))
            return Saved(name, "none")
        return Saved(
            name, "held", value_of(data, self.keep), bytes_of(data), memory=self._memory(data)
        )

    def _memory(self, data: Any) -> int | None:
        """Which memory `data` is in. The graph holds it, so its address is its own for a walk."""
        try:
            address = data.untyped_storage().data_ptr()
        except Exception:  # no storage of its own: sparse, or a subclass with its own mind
            return None
        return self._memories.setdefault(address, len(self._memories)) if address else None


def _broken(name: str, words: str) -> Saved:
    """A saved tensor that torch refuses to give, with its words on why."""
    if "after they have already been freed" in words:
        return Saved(name, "freed")
    state = "overwritten" if _CHANGED in words else "unknown"
    return Saved(name, state, note=words.partition(" Hint:")[0].strip())


def _blame(saved: Saved, raw: Any, words: str) -> Saved:
    """Whether it is this one, of several, that `words` complain about."""
    try:
        raw.unpack()
    except RuntimeError as problem:
        # An output of the node itself cannot be unpacked alone; then the general words stand.
        own = str(problem)
        return _broken(saved.name, own if _CHANGED in own else words)
    return saved


def _printable(value: object) -> object:
    """`value` as plain data.

    Raises:
        TypeError: it is not a number, a word, a size, or a tuple of these.
    """
    if isinstance(value, tuple | list):
        return tuple([_printable(one) for one in value])
    if isinstance(value, _NAMED):
        return str(value).removeprefix("torch.")
    if not isinstance(value, _PRINTABLE):
        raise TypeError(f"no plain value: {type(value).__name__}")
    if type(value) is int and value >= 2**63:  # a negative dim comes out as unsigned
        return value - 2**64
    return value
