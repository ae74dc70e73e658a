"""The build verb: execute the notebooks, normalise them, generate exercises/ from solutions/."""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from pathlib import Path

from utils import notebooks
from utils.cover import PATH as PICTURE
from utils.cover import cover
from utils.execute import BadCell, execute
from utils.release import release
from utils.syllabus import ROOT

MEASURED = "measured"


def build(names: list[str], check: bool = False, root: Path = ROOT) -> int:
    """Build the course, or only see whether it is built.

    Args:
        names: which notebooks to execute, by number (``01``), name (``01_requires_grad``) or path;
            none means all. exercises/ is generated from all of solutions/ in any case.
        check: write nothing, report what a build would change.

    Returns:
        the exit code: 0 when all went well and, with ``check``, nothing would change.
    """
    try:
        paths = _chosen(names, root)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    failed = []
    stale = 0
    for number, path in enumerate(paths, 1):
        print(f"[{number}/{len(paths)}] {path.relative_to(root)}", end=" ", flush=True)
        started = time.perf_counter()
        try:
            text = executed(path)
        except (BadCell, ValueError) as error:
            print(f"failed\n  {error}", flush=True)
            failed.append(path)
            continue
        word = _settle(path, text, check)
        stale += check and word != "unchanged"
        print(f"{word} ({time.perf_counter() - started:.1f} s)", flush=True)
    if any(root / "solutions" in path.parents for path in failed):
        print("exercises/ is left as it was: a notebook of solutions/ failed")
        return 1
    stale += _settle_exercises(check, root)
    word = _settle(root / PICTURE, cover(), check)
    stale += check and word != "unchanged"
    print(f"{PICTURE} {word}")
    return 1 if failed or stale else 0


def executed(path: Path) -> str:
    """Return the text of the notebook at ``path`` after a run on a fresh kernel; the file stays."""
    notebook = notebooks.read(path)
    notebooks.normalise(notebook)
    stored = {cell.id: (cell.source, cell.get("outputs")) for cell in notebook.cells}
    execute(notebook, path)
    notebooks.normalise(notebook)
    for cell in notebook.cells:
        # A picture of times differs on each run; the stored one stays for as long as its program.
        source, outputs = stored.get(cell.id, ("", None))
        if MEASURED in notebooks.tags(cell) and outputs and source == cell.source:
            cell.outputs = outputs
    return notebooks.dumps(notebook)


def stale_exercises(root: Path = ROOT) -> dict[Path, str | None]:
    """Return what a build would change in exercises/: text by path, None for a file to remove."""
    made = release(root)
    there = [path for path in (root / "exercises").rglob("*") if path.is_file()]
    changes: dict[Path, str | None] = {
        path.relative_to(root): None
        for path in there
        if path.relative_to(root) not in made and ".ipynb_checkpoints" not in path.parts
    }
    for path, text in made.items():
        if not (root / path).exists() or (root / path).read_bytes() != text.encode():
            changes[path] = text
    return changes


def _settle(path: Path, text: str, check: bool) -> str:
    """Write ``text``, or with ``check`` show how it differs; return the word for what was done."""
    if not check:
        return "written" if notebooks.write(path, text) else "unchanged"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old == text:
        return "unchanged"
    print()
    before, after = old.splitlines(), text.splitlines()
    for line in list(difflib.unified_diff(before, after, "stored", "built", n=1, lineterm=""))[:20]:
        print(f"  {line[:160]}")
    return "differs"


def _settle_exercises(check: bool, root: Path) -> int:
    """Bring exercises/ up to date, or with ``check`` count what is not; return that number."""
    try:
        changes = stale_exercises(root)
    except RuntimeError as error:
        print(error)
        return 1
    for path, text in changes.items():
        if text is not None:
            word = _settle(root / path, text, check)
        elif check:
            word = "is not made from any solution"
        else:
            (root / path).unlink()
            word = "removed"
        print(f"{path}: {word}")
    if not changes:
        print("exercises/ unchanged")
    return len(changes) if check else 0


def _chosen(names: list[str], root: Path) -> list[Path]:
    """Return the notebooks that ``names`` mean, lessons first."""
    everything = sorted((root / "notebooks").glob("*.ipynb"))
    everything += sorted((root / "solutions").glob("*/*.ipynb"))
    if not names:
        return everything
    chosen: set[Path] = set()
    for name in names:
        found = {
            path
            for path in everything
            if name in (path.stem, path.name, path.stem.partition("_")[0])
            or (root / name).resolve() == path
        }
        if not found:
            known = ", ".join(sorted({path.stem for path in everything})) or "none"
            raise ValueError(f"no notebook is called {name!r}; there are: {known}")
        chosen |= found
    return [path for path in everything if path in chosen]


def main(arguments: list[str]) -> int:
    """Run the verb with the ``arguments`` of the command line."""
    parser = argparse.ArgumentParser(prog="course.py build", description=__doc__)
    parser.add_argument("names", nargs="*", help="01, 01_requires_grad or a path; none means all")
    parser.add_argument("--check", action="store_true", help="write nothing; show changes")
    options = parser.parse_args(arguments)
    return build(options.names, options.check)
