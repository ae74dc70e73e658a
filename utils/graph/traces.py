"""Reads where each node was made, where torch noted it: in anomaly mode it does."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

import torch

from .sources import Source

_FRAME = re.compile(r'File "(.+)", line (\d+), in ')
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TORCH_S = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


class Frame(NamedTuple):
    """One frame of the stack under which a node was made."""

    path: str
    line: int


def traces(live_nodes: Sequence[object]) -> dict[int, list[Frame]]:
    """By node, the learner's frames, outermost first; only the nodes where torch noted them."""
    found = {}
    for index, node in enumerate(live_nodes):
        noted = node.metadata.get("traceback_") if hasattr(node, "metadata") else None
        frames = [Frame(path, int(line)) for path, line in _FRAME.findall("".join(noted or ()))]
        frames = [frame for frame in frames if not frame.path.startswith((_OURS, _TORCH_S))]
        if frames:
            found[index] = frames
    return found


def learner_s_line(frames: Sequence[Frame], sources: Sequence[Source]) -> tuple[int, str]:
    """The line and the file of the innermost frame, in known code if there is one."""
    files = {source.path: source.file for source in sources if source.path}
    for frame in reversed(frames):
        if frame.path in files:
            return frame.line, files[frame.path]
    path, line = frames[-1]
    return line, "" if path.startswith("<") else os.path.basename(path)
