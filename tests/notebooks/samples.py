"""Small notebooks and a small course for the tests of building and of the gates."""

from __future__ import annotations

import json
from pathlib import Path

from nbformat import NotebookNode, from_dict

ANSWER = """\
def double(x: float) -> float:
    \"\"\"Twice x.\"\"\"
    ### BEGIN SOLUTION
    twice_the_number = 2 * x
    return twice_the_number
    ### END SOLUTION"""


def code(source: str, id: str = "", **metadata: object) -> NotebookNode:
    """A code cell that was never run."""
    return from_dict(
        {
            "cell_type": "code",
            "execution_count": None,
            "id": id,
            "metadata": metadata,
            "outputs": [],
            "source": source,
        }
    )


def text(source: str, id: str = "") -> NotebookNode:
    """A markdown cell."""
    return from_dict({"cell_type": "markdown", "id": id, "metadata": {}, "source": source})


def notebook(*cells: NotebookNode) -> NotebookNode:
    """A notebook of these cells, with metadata that a build must clean."""
    return from_dict(
        {
            "cells": list(cells),
            "metadata": {
                "kernelspec": {"name": "mine", "display_name": "mine", "language": "python"},
                "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def exercises(answer: str = ANSWER) -> NotebookNode:
    """A notebook of solutions with one exercise."""
    graded = {"locked": False, "schema_version": 3, "task": False}
    return notebook(
        text("# Exercises", "title"),
        text("## 1. Double\n\nReturn twice the number.", "task-double"),
        code(
            answer,
            "answer-double",
            nbgrader={"grade": False, "grade_id": "double", "solution": True, **graded},
        ),
        code(
            "assert double(3) == 6\n### BEGIN HIDDEN TESTS\nassert double(5) == 10\n"
            "### END HIDDEN TESTS",
            "check-double",
            nbgrader={
                **graded,
                "grade": True,
                "grade_id": "check_double",
                "solution": False,
                "locked": True,
                "points": 2,
            },
        ),
    )


def lesson() -> NotebookNode:
    """A lesson with everything that differs from run to run."""
    return notebook(
        text("# A lesson\n\nAbout things that change.", "3f0c9a1e"),
        code("import warnings\n\nimport ipywidgets", "setup"),
        code("object()", "setup"),
        code("ipywidgets.IntSlider(description='k')", "slider"),
        code("warnings.warn('careful', stacklevel=1)\nprint(sorted({'b', 'a'}))", "warning"),
        code("print(hash('a') == hash('a'))\nfor k in range(3):\n    print(k, flush=True)"),
        code("print(len(In) - 1, 'cells so far')\n1 + 1;", "history"),
        code("1 / 0", "division", tags=["raises-exception", "break-it"], collapsed=True),
    )


def course(root: Path) -> Path:
    """Write a course of one lesson and one exercise under ``root``; nothing in it is built."""
    for path, content in {
        root / "notebooks" / "01_change.ipynb": lesson(),
        root / "solutions" / "01_change" / "01_change.ipynb": exercises(),
    }.items():
        write(path, content)
    (root / "exercises").mkdir()
    return root


def write(path: Path, content: NotebookNode) -> None:
    """Write a notebook as it is, valid or not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
