"""The real graph behind a tensor, as one still picture."""

from __future__ import annotations

from collections.abc import Mapping

from utils.graph import walk
from utils.pictures.graph_picture import draw_graph
from utils.pictures.picture import Picture


def show_graph(root: object, names: Mapping[str, object] | None = None) -> Picture:
    """Draw the graph that torch recorded behind `root`.

    Nothing is spent: backward can still be run, and nothing is kept alive. What has no graph gets a
    sentence that says why.

    Args:
        root: a tensor, or a tuple, list or dict of tensors, as for `utils.walk`.
        names: what to call the tensors; by default what they are called where this is called.

    Returns:
        The picture; left as the last line of a cell, it is shown.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> show_graph((x * x).sum())
    """
    return draw_graph(walk(root, names=names))
