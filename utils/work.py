"""The learner's own copies of the exercise notebooks, in work/, which nothing here overwrites."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from utils.syllabus import ROOT


def fill(root: Path = ROOT) -> list[Path]:
    """Copy each file of exercises/ that is not in work/ yet; return the new ones.

    A file in work/ is the learner's: it stays as it is, whatever became of its exercise.
    """
    new = []
    for source in sorted((root / "exercises").rglob("*")):
        target = root / "work" / source.relative_to(root / "exercises")
        if source.is_file() and not source.name.startswith(".") and not target.exists():
            _copy(source, target)
            new.append(target)
    return new


def reset(name: str, root: Path = ROOT) -> tuple[Path, Path | None]:
    """Start an exercise notebook again.

    Args:
        name: a number (``"1"``, ``"01"``), a name (``"01_requires_grad"``, ``"requires_grad"``) or
            the notebook's path.

    Returns:
        the fresh notebook, and where the old one is kept beside it, or None if there was none.

    Raises:
        ValueError: no exercise notebook goes by that name; the message lists those that do.
    """
    source = _find(name, root)
    target = root / "work" / source.relative_to(root / "exercises")
    kept = None
    if target.exists():
        kept = _free_name(target)
        os.rename(target, kept)
    _copy(source, target)
    return target, kept


def _find(name: str, root: Path) -> Path:
    word = Path(name).name.removesuffix(".ipynb")
    notebooks = sorted((root / "exercises").glob("*/*.ipynb"))
    for notebook in notebooks:
        number, _, slug = notebook.stem.partition("_")
        if word in (notebook.stem, slug, number, number.lstrip("0")):
            return notebook
    known = ", ".join(notebook.stem for notebook in notebooks) or "none"
    raise ValueError(f"no exercise notebook is called {name!r}; there are: {known}")


def _free_name(path: Path) -> Path:
    number = 1
    while (kept := path.with_name(f"{path.stem}.old-{number}{path.suffix}")).exists():
        number += 1
    return kept


def _copy(source: Path, target: Path) -> None:
    """Copy a file so that ``target`` is there whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, partial)
    os.replace(partial, target)
