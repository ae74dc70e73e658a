"""exercises/ from solutions/: nbgrader takes the answers out, then the notebooks are normalised."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from utils import notebooks
from utils.syllabus import ROOT


def release(root: Path = ROOT) -> dict[Path, str]:
    """Return what exercises/ must hold: the text of each notebook, by its path under ``root``.

    Files beside the notebooks of solutions/ are not handed out. nbgrader does the work, in a folder
    of its own and without its database; ``root`` is only read.

    Raises:
        RuntimeError: nbgrader refused a notebook; its own words follow.
    """
    sources = sorted((root / "solutions").glob("*/*.ipynb"))
    if not sources:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder).resolve()
        for source in sources:
            notebook = notebooks.read(source)
            notebooks.normalise(notebook)  # nbgrader would give random ids to cells that have none
            notebooks.write(course / source.relative_to(root), notebooks.dumps(notebook))
        _generate(course, {source.parent.name for source in sources})
        made = {}
        for path in sorted((course / "exercises").glob("*/*.ipynb")):
            notebook = notebooks.read(path)
            notebooks.normalise(notebook)
            made[path.relative_to(course)] = notebooks.dumps(notebook)
    return made


def _generate(course: Path, assignments: set[str]) -> None:
    """Run nbgrader's generate_assignment on each assignment of ``course``, without a database."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.CourseDirectory.root = str(course)
    config.SaveCells.enabled = False
    config.GenerateAssignment.no_database = True
    words = _Words()
    for assignment in sorted(assignments):
        config.CourseDirectory.assignment_id = assignment
        log = logging.Logger("nbgrader")
        log.addHandler(words)
        directory = CourseDirectory(config=config, log=log)
        converter = GenerateAssignment(coursedir=directory, config=config, log=log)
        try:
            converter.start()
        except (NbGraderException, SystemExit) as error:
            said = "\n".join(words.lines) or error
            raise RuntimeError(f"nbgrader could not make {assignment}:\n{said}") from error


class _Words(logging.Handler):
    """Keeps what nbgrader warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
