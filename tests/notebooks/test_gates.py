"""Each gate can fail: a small notebook with the fault, and the complaint."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode, from_dict

from tests.notebooks import gates, samples
from utils import notebooks
from utils.build import stale_exercises
from utils.release import release


def clean(*cells: NotebookNode) -> NotebookNode:
    """A notebook as a build would leave it."""
    notebook = samples.notebook(*cells)
    notebooks.normalise(notebook)
    for number, cell in enumerate([c for c in notebook.cells if c.cell_type == "code"], 1):
        cell.execution_count = number
    return notebook


@pytest.fixture
def good() -> NotebookNode:
    return clean(samples.text("# 01 Title", "title"), samples.code("1 + 1", "sum"))


def output(**fields: object) -> NotebookNode:
    return from_dict({"metadata": {}, **fields})


def test_a_good_notebook_passes(good: NotebookNode, tmp_path: Path) -> None:
    path = tmp_path / "good.ipynb"
    path.write_text(notebooks.dumps(good), encoding="utf-8")
    for gate in (gates.execution, gates.errors, gates.identity, gates.metadata, gates.excuses):
        assert gate(good) == []
    assert gates.normal_form(path) == []


@pytest.mark.parametrize("count", [None, 2, 7])
def test_a_cell_not_run_in_order(good: NotebookNode, count: int | None) -> None:
    good.cells[1].execution_count = count
    assert gates.execution(good) == [f"cell sum has the execution count {count}, not 1"]


def test_an_error_that_nobody_expects(good: NotebookNode) -> None:
    error = output(output_type="error", ename="KeyError", evalue="", traceback=[])
    good.cells[1].outputs = [error]
    assert gates.errors(good) == ["cell sum ends in KeyError"]
    good.cells[1].metadata.tags = ["raises-exception"]
    assert gates.errors(good) == []
    good.cells[1].metadata.nbgrader = {"grade": True}
    assert gates.errors(good) == ["cell sum ends in KeyError"]


@pytest.mark.parametrize("name", ["title", "3f0c9a1e", ""])
def test_an_id_that_repeats_or_is_no_slug(good: NotebookNode, name: str) -> None:
    good.cells[1].id = name
    assert len(gates.identity(good)) == 1


def test_metadata_of_a_run(good: NotebookNode) -> None:
    good.metadata.widgets = {}
    good.metadata.kernelspec.name = "mine"
    good.cells[1].metadata.execution = {"iopub.status.busy": "2026-01-01"}
    data = {notebooks.WIDGET_VIEW: {"model_id": "abc"}}
    good.cells[1].outputs = [output(output_type="display_data", data=data)]
    assert len(gates.metadata(good)) == 4
    del good.metadata["kernelspec"]
    assert "the kernel is not python3" in gates.metadata(good)


@pytest.mark.parametrize("excuse", ["# NBVAL_IGNORE_OUTPUT\n1", "#NBVAL_SKIP\n1"])
def test_a_cell_that_asks_to_be_spared(good: NotebookNode, excuse: str) -> None:
    good.cells[1].source = excuse
    assert len(gates.excuses(good)) == 1
    good.cells[1].source = "1"
    good.cells[1].metadata.tags = ["nbval-ignore-output"]
    assert len(gates.excuses(good)) == 1


@pytest.mark.parametrize("fault", ["address", "metadata", "newline"])
def test_a_file_that_a_build_would_write_differently(
    good: NotebookNode, tmp_path: Path, fault: str
) -> None:
    path = tmp_path / "notebook.ipynb"
    if fault == "address":
        text = "<object at 0x7f0012345678>\n"
        good.cells[1].outputs = [
            from_dict({"output_type": "stream", "name": "stdout", "text": text})
        ]
    if fault == "metadata":
        good.metadata.authors = [{"name": "somebody"}]
    stored = notebooks.dumps(good)
    path.write_text(stored if fault != "newline" else stored.rstrip(), encoding="utf-8")
    assert gates.normal_form(path)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    root = samples.course(tmp_path)
    for path, text in release(root).items():
        notebooks.write(root / path, text)
    return root


def test_exercises_that_are_what_solutions_make(course: Path) -> None:
    assert stale_exercises(course) == {}


@pytest.mark.parametrize("fault", ["edited", "missing", "stray", "solution changed"])
def test_exercises_that_are_not_what_solutions_make(course: Path, fault: str) -> None:
    exercise = course / "exercises" / "01_change" / "01_change.ipynb"
    if fault == "edited":
        exercise.write_text(exercise.read_text().replace("Return twice", "Return two times"))
    elif fault == "missing":
        exercise.unlink()
    elif fault == "stray":
        (exercise.parent / "notes.txt").write_text("by hand")
    else:
        samples.write(
            course / "solutions" / "01_change" / "01_change.ipynb",
            samples.exercises(samples.ANSWER.replace("Twice x.", "Two times x.")),
        )
    assert len(stale_exercises(course)) == 1


@pytest.fixture
def handed_out(course: Path) -> tuple[NotebookNode, NotebookNode]:
    pair = [
        notebooks.read(course / folder / "01_change" / "01_change.ipynb")
        for folder in ("exercises", "solutions")
    ]
    assert gates.leaks(*pair) == []
    return pair[0], pair[1]


def test_an_answer_that_leaks(handed_out: tuple[NotebookNode, NotebookNode]) -> None:
    student, source = handed_out
    student.cells[2].source += "\n    twice_the_number = 2 * x"
    assert gates.leaks(student, source) == [
        "cell answer-double has a line of an answer: twice_the_number = 2 * x"
    ]


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("### BEGIN SOLUTION", "BEGIN SOLUTION"),
        ("### END HIDDEN TESTS", "END HIDDEN TESTS"),
        ("count", "was run"),
        ("output", "was run"),
        ("widgets", "metadata.widgets"),
        ("tag", "stop Run All"),
        ("time", "stores execution"),
    ],
)
def test_a_student_copy_with_a_trace(
    handed_out: tuple[NotebookNode, NotebookNode], fault: str, word: str
) -> None:
    student, source = handed_out
    check = student.cells[3]
    if fault.startswith("###"):
        check.source += f"\n{fault}"
    elif fault == "count":
        check.execution_count = 3
    elif fault == "output":
        check.outputs = [output(output_type="display_data", data={"text/plain": "6"})]
    elif fault == "widgets":
        student.metadata.widgets = {}
    elif fault == "tag":
        check.metadata.tags = []
    else:
        check.metadata.execution = {"iopub.execute_input": "2026-01-01"}
    complaints = gates.leaks(student, source)
    assert len(complaints) == 1
    assert word in complaints[0]


def a_lesson() -> list[NotebookNode]:
    predict = [samples.code(f"predict({n})", f"predict-{n}") for n in "abc"]
    broken = [samples.code("1 / 0", f"break-{n}", tags=["break-it"]) for n in "abc"]
    return [samples.text("# 01 Title", "title"), *predict, *broken, samples.text("## Card", "card")]


def test_a_lesson_of_the_right_shape() -> None:
    assert gates.shape(clean(*a_lesson()), "01 Title", 3, 3) == []


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("title", "first line"),
        ("long text", "61 words"),
        ("long code", "12 lines"),
        ("predictions", "2 predictions"),
        ("failures", "2 cells"),
        ("card", "card"),
        ("open replies", "replies"),
    ],
)
def test_a_lesson_of_another_shape(fault: str, word: str) -> None:
    cells = a_lesson()
    if fault == "title":
        cells[0].source = "# Title"
    elif fault == "long text":
        cells.insert(1, samples.text("word " * 61, "text"))
    elif fault == "long code":
        cells.insert(1, samples.code("x = 1\n" * 12, "code"))
    elif fault == "predictions":
        del cells[1]
    elif fault == "failures":
        del cells[5]
    elif fault == "card":
        cells[-1].source = "## The end"
    lesson = clean(*cells)
    if fault == "open replies":
        del lesson.cells[1].metadata["jupyter"]
    complaints = gates.shape(lesson, "01 Title", 3, 3)
    assert len(complaints) == 1
    assert word in complaints[0]


def test_a_link_that_leads_nowhere(course: Path) -> None:
    path = course / "notebooks" / "01_change.ipynb"
    there = "[a](../work/01_change/01_change.ipynb) [b](01_change.ipynb#top) [c](https://x.y)"
    assert gates.links(clean(samples.text(there, "links")), path, course) == []
    nowhere = clean(samples.text("[a](../work/07/07.ipynb)", "links"))
    assert gates.links(nowhere, path, course) == [
        "cell links links to ../work/07/07.ipynb, which is not there"
    ]
