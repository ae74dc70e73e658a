"""Building: the same bytes each time, nothing that differs between two runs, no half work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks import samples
from utils import notebooks
from utils.build import build
from utils.syllabus import ROOT

LESSON = Path("notebooks/01_change.ipynb")
SOLUTION = Path("solutions/01_change/01_change.ipynb")
EXERCISE = Path("exercises/01_change/01_change.ipynb")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = samples.course(tmp_path_factory.mktemp("a course"))
    assert build([], root=root) == 0
    return root


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def cells(path: Path) -> dict[str, notebooks.NotebookNode]:
    return {cell.id: cell for cell in notebooks.read(path).cells}


def test_a_second_build_and_a_check_change_no_byte(built: Path, capsys) -> None:
    before = contents(built)
    assert build([], check=True, root=built) == 0
    assert build([], root=built) == 0
    assert contents(built) == before
    assert "written" not in capsys.readouterr().out
    assert not list(built.rglob("gradebook.db"))


def test_ids_are_slugs_that_people_can_read_and_good_ones_stay(built: Path) -> None:
    assert list(cells(built / LESSON)) == [
        "a-lesson",
        "setup",
        "object",
        "slider",
        "warning",
        "print-hash-a-hash-a",
        "history",
        "division",
    ]


def test_outputs_hold_nothing_that_differs_between_runs(built: Path) -> None:
    text = (built / LESSON).read_text()
    for noise in ("widget-view", "ipykernel_", "widget-state", '"mine"', str(built), "collapsed"):
        assert noise not in text
    lesson = cells(built / LESSON)
    assert lesson["object"].outputs[0].data["text/plain"] == "<object at 0x...>"
    assert lesson["slider"].outputs[0].data["text/plain"].startswith("IntSlider")
    assert lesson["warning"].outputs[-1].text.startswith("<cell>:1: UserWarning: careful")
    assert lesson["print-hash-a-hash-a"].outputs[0].text == "True\n0\n1\n2\n"
    assert lesson["division"].outputs[0].ename == "ZeroDivisionError"
    assert [c.execution_count for c in lesson.values() if c.cell_type == "code"] == [*range(1, 8)]


def test_nbval_strict_agrees_with_what_was_stored(built: Path) -> None:
    sanitize = Path(notebooks.__file__).with_name("sanitize.cfg")
    options = ["-p", "conftest", "--nbval", "--nbval-sanitize-with", str(sanitize)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, "notebooks", "solutions"],
        cwd=built,
        env={**os.environ, "PYTHONHASHSEED": "3", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout


def test_the_student_copy_has_the_question_and_not_the_answer(built: Path) -> None:
    exercise = cells(built / EXERCISE)
    answer, check = exercise["answer-double"], exercise["check-double"]
    assert "Twice x." in answer.source
    assert answer.source.endswith("raise NotImplementedError()")
    assert "twice_the_number" not in (built / EXERCISE).read_text()
    assert check.source == "assert double(3) == 6"
    assert check.metadata.tags == ["raises-exception"]
    assert check.metadata.nbgrader.points == 2
    assert (check.metadata.editable, check.metadata.deletable) == (False, False)
    assert all(not c.get("outputs") and not c.get("execution_count") for c in exercise.values())


def test_check_shows_what_would_change_and_touches_nothing(tmp_path: Path, capsys) -> None:
    root = samples.course(tmp_path)
    before = contents(root)
    assert build(["01_change"], check=True, root=root) == 1
    assert contents(root) == before
    said = capsys.readouterr().out
    assert f"{EXERCISE}: differs" in said
    assert "+++ built" in said


def test_a_stray_exercise_is_removed(tmp_path: Path) -> None:
    root = samples.course(tmp_path)
    stray = root / "exercises" / "09_old" / "09_old.ipynb"
    stray.parent.mkdir()
    stray.write_text("{}")
    assert build([str(SOLUTION)], root=root) == 0
    assert not stray.exists()
    assert (root / EXERCISE).exists()


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (samples.code("int('seven')", "parse"), ["01_change.ipynb", "cell parse", "ValueError"]),
        (
            samples.code("1 + 1", "harmless", tags=["break-it", "raises-exception"]),
            ["cell harmless", "raised none"],
        ),
    ],
)
def test_a_lesson_that_goes_wrong_is_named_and_left_alone(
    tmp_path: Path, capsys, cell: notebooks.NotebookNode, words: list[str]
) -> None:
    root = samples.course(tmp_path)
    samples.write(root / LESSON, samples.notebook(cell))
    before = (root / LESSON).read_bytes()
    assert build([str(LESSON)], root=root) == 1
    assert (root / LESSON).read_bytes() == before
    said = capsys.readouterr().out
    assert all(word in said for word in words), said


def test_a_solution_that_does_not_pass_its_check_stops_the_release(tmp_path: Path, capsys) -> None:
    root = samples.course(tmp_path)
    wrong = samples.exercises(samples.ANSWER.replace("2 * x", "3 * x"))
    samples.write(root / SOLUTION, wrong)
    assert build([str(SOLUTION)], root=root) == 1
    assert not (root / EXERCISE).exists()
    assert "cell check-double: the answer does not pass: AssertionError" in capsys.readouterr().out


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path, capsys) -> None:
    assert build(["07"], root=samples.course(tmp_path)) == 2
    assert "'07'; there are: 01_change" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("leaf-lab", True),
        ("check_double", True),
        ("a1", True),
        ("3f0c9a1e", False),
        ("deadbeef", False),
        ("cell-3f0c9a1e5d", False),
        ("Leaf", False),
        ("", False),
        ("x" * 65, False),
    ],
)
def test_what_counts_as_a_slug(name: str, good: bool) -> None:
    assert notebooks.is_slug(name) == good


def test_tracebacks_lose_the_folders_of_this_machine() -> None:
    said = "\x1b[32m/home/ann/course/.venv/lib/python3.11/site-packages/torch/_tensor.py:648\x1b[0m"
    assert notebooks.without_paths(said) == "\x1b[32msite-packages/torch/_tensor.py:648\x1b[0m"
    ours = f"File {Path(notebooks.__file__)}:12, in read"
    assert notebooks.without_paths(ours) == "File utils/notebooks.py:12, in read"


def test_a_picture_of_times_stays_for_as_long_as_its_program(tmp_path: Path) -> None:
    root = samples.course(tmp_path)
    path = root / LESSON
    draw = (
        "import base64\nimport os\n\n"
        "noise = base64.b64encode(os.urandom(8)).decode()\n"
        "display({'image/png': noise, 'text/plain': 'times'}, raw=True)"
    )

    def built_with(source: str) -> bytes:
        lesson = notebooks.read(path)
        cell = next((cell for cell in lesson.cells if cell.id == "picture"), None)
        if cell is None:
            cell = samples.code("", "picture", tags=["measured"])
            lesson.cells.append(cell)
        cell.source = source
        samples.write(path, lesson)
        assert build([LESSON.stem], root=root) == 0
        return path.read_bytes()

    first = built_with(draw)
    assert built_with(draw) == first
    changed = built_with(draw + "\n")
    assert changed == first, "a line's end is no change"
    assert built_with(draw.replace("(8)", "(9)")) != first
