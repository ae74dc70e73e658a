"""What a stored notebook must be. Each gate returns its complaints; none means it is passed.

They are functions of a notebook so that the same gate is run on the course's notebooks and, to
prove that it can fail, on broken ones.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from pathlib import Path

from nbformat import NotebookNode

from utils import notebooks

WORDS_IN_A_CELL = 60
LINES_IN_A_CELL = 11
PREDICTIONS = FAILURES = 3

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
HIDDEN = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)")
EXCUSES = re.compile(r"NBVAL_|nbval-|PYTEST_VALIDATE|skip-execution|# ruff: noqa", re.IGNORECASE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def execution(notebook: NotebookNode) -> list[str]:
    """Every code cell was run, in order, on a fresh kernel."""
    # nbval passes a cell without a count and compares nothing: this gate is what makes it look.
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        f"cell {cell.get('id')} has the execution count {cell.execution_count}, not {number}"
        for number, cell in enumerate(code, 1)
        if cell.execution_count != number
    ]


def errors(notebook: NotebookNode) -> list[str]:
    """An error is stored only where it is expected, and never in a check that gives points."""
    return [
        f"cell {cell.id} ends in {output.ename}"
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
        and (notebooks.RAISES not in notebooks.tags(cell) or notebooks.is_check(cell))
    ]


def identity(notebook: NotebookNode) -> list[str]:
    """Each cell has an id of its own that a person chose."""
    ids = Counter(cell.get("id", "") for cell in notebook.cells)
    return [f"{n} cells have the id {name!r}" for name, n in ids.items() if n > 1] + [
        f"the id {name!r} is no readable slug" for name in ids if not notebooks.is_slug(name)
    ]


def metadata(notebook: NotebookNode) -> list[str]:
    """One kernel, no widget state, no times, no random model ids."""
    complaints = []
    if "widgets" in notebook.metadata:
        complaints.append("metadata.widgets is stored")
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        complaints.append("the kernel is not python3")
    for cell in notebook.cells:
        for key in ("execution", "ExecuteTime", "collapsed", "trusted", "widgets"):
            if key in cell.metadata:
                complaints.append(f"cell {cell.get('id')} stores {key}")
        for output in cell.get("outputs", []):
            if any("widget-view" in kind for kind in output.get("data", {})):
                complaints.append(f"cell {cell.get('id')} stores a widget's model id")
    return complaints


def excuses(notebook: NotebookNode) -> list[str]:
    """No cell asks to be spared a check."""
    return [
        f"cell {cell.get('id')} asks to be spared: {found.group()}"
        for cell in notebook.cells
        if (found := EXCUSES.search(" ".join([cell.source, *notebooks.tags(cell)])))
    ]


def normal_form(path: Path) -> list[str]:
    """The file is byte for byte what a build would write for what it holds."""
    notebook = notebooks.read(path)
    notebooks.normalise(notebook)
    stored, built = path.read_text(encoding="utf-8"), notebooks.dumps(notebook)
    before, after = stored.splitlines(True), built.splitlines(True)
    return [] if stored == built else [*difflib.unified_diff(before, after, "stored", "built", n=1)]


def leaks(student: NotebookNode, source: NotebookNode) -> list[str]:
    """A student's copy holds no answer, no hidden test, no output, no trace of a run."""
    complaints = metadata(student)
    answers, rest = _lines_of_answers(source)
    for cell in student.cells:
        name = f"cell {cell.get('id')}"
        if found := HIDDEN.search(cell.source):
            complaints.append(f"{name} has the mark {found.group()}")
        if cell.get("outputs") or cell.get("execution_count"):
            complaints.append(f"{name} was run")
        for line in cell.source.splitlines():
            if line.strip() in answers - rest:
                complaints.append(f"{name} has a line of an answer: {line.strip()}")
        if notebooks.is_check(cell) and notebooks.RAISES not in notebooks.tags(cell):
            complaints.append(f"{name} would stop Run All: it lacks the tag {notebooks.RAISES}")
    return complaints


def shape(notebook: NotebookNode, title: str, predictions: int, failures: int) -> list[str]:
    """A lesson has the lesson's form: short cells, predictions, deliberate failures, a card."""
    complaints = []
    if notebook.cells[0].source.splitlines()[0] != f"# {title}":
        complaints.append(f"the first line is not '# {title}'")
    text = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in text:
        words = re.findall(r"[A-Za-z]\S*", LINK.sub("]", cell.source))
        if len(words) > WORDS_IN_A_CELL:
            complaints.append(f"cell {cell.id} has {len(words)} words; {WORDS_IN_A_CELL} at most")
    for cell in code:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if len(lines) > LINES_IN_A_CELL:
            complaints.append(f"cell {cell.id} has {len(lines)} lines; {LINES_IN_A_CELL} at most")
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        if "predict(" in cell.source and not folded:
            complaints.append(f"cell {cell.id} shows its replies before the learner has chosen")
    predicted = sum("predict(" in cell.source for cell in code)
    broken = sum("break-it" in notebooks.tags(cell) for cell in code)
    if predicted < predictions:
        complaints.append(f"{predicted} predictions; at least {predictions}")
    if broken < failures:
        complaints.append(f"{broken} cells with the tag break-it; at least {failures}")
    if not any(re.search(r"^#+ Card$", cell.source, re.MULTILINE) for cell in text[-2:]):
        complaints.append("it does not end with a card (a heading 'Card')")
    return complaints


def links(notebook: NotebookNode, path: Path, root: Path) -> list[str]:
    """Every link to a file leads somewhere; one into work/ to an exercise that will be there."""
    complaints = []
    for cell in notebook.cells:
        for target in LINK.findall(cell.source) if cell.cell_type == "markdown" else ():
            if re.match(r"[a-z]+:|#", target):
                continue
            place = (path.parent / target.partition("#")[0]).resolve()
            if place.is_relative_to(root / "work"):
                place = root / "exercises" / place.relative_to(root / "work")
            if not place.exists():
                complaints.append(f"cell {cell.id} links to {target}, which is not there")
    return complaints


def _lines_of_answers(source: NotebookNode) -> tuple[set[str], set[str]]:
    """Return the lines inside solution regions of a notebook, and those outside."""
    inside, outside, within = set(), set(), False
    for cell in source.cells:
        for line in cell.source.splitlines():
            if BEGIN in line or END in line:
                within = BEGIN in line
            elif line.strip():
                (inside if within else outside).add(line.strip())
    return inside, outside
