"""What a learner sees of a check, a hint, a solution and the progress in a notebook."""

from __future__ import annotations

import nbformat
import pytest

from tests.checks.answers import DOUBLE, double, halve, stub
from utils.checks import notebook, progress, registry
from utils.checks.notebook import NotRight, check, hint, solution


@pytest.fixture(autouse=True)
def only_double(tmp_path, monkeypatch):
    """A course with one exercise, and progress in a fresh file."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setenv("AUTOGRAD_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(progress, "_kernel", {})
    monkeypatch.setattr(notebook, "COURSE", tmp_path)
    for module in (registry, notebook):
        monkeypatch.setattr(module, "exercises", lambda: {"double": DOUBLE})


def shown(note) -> str:
    return note._repr_mimebundle_()["text/plain"]


def test_right_is_shown_with_sign_word_and_points() -> None:
    note = check("double", double)
    assert shown(note) == "✓ Right. `double` does what was asked. (3 of 3 points)"
    assert "Right" in note._repr_mimebundle_()["text/html"]


def test_wrong_raises_one_line() -> None:
    with pytest.raises(NotRight) as caught:
        check("double", halve)
    assert caught.value._render_traceback_() == [
        "○ Not yet. What `double` returned is half of `x`. Which way round? (0 of 3 points)"
    ]
    assert caught.value.verdict.mistake == "halved"


def test_stub_and_crash_raise_one_line_each() -> None:
    for answer, words in ((stub, "– Not attempted. "), (lambda x: x.no, "! Crashed. ")):
        with pytest.raises(NotRight) as caught:
            check("double", answer)
        (line,) = caught.value._render_traceback_()
        assert line.startswith(words)
        assert "\n" not in line


def test_checks_are_remembered_but_not_for_a_stub() -> None:
    with pytest.raises(NotRight):
        check("double", stub)
    assert progress.load() == {}
    with pytest.raises(NotRight):
        check("double", halve)
    check("double", double)
    assert progress.load()["double"]["tries"] == 2
    assert progress.load()["double"]["outcome"] == "right"


def test_hints_come_in_order_and_the_last_one_stays() -> None:
    texts = [shown(hint("double")) for _ in range(4)]
    for number in (1, 2, 3):
        assert texts[number - 1].startswith(f"Hint {number} of 3: {DOUBLE.hints[number - 1]}")
    assert texts[3] == texts[2]
    assert 'solution("double")' in texts[2]


def test_the_hint_on_what_was_seen_comes_first_and_once() -> None:
    hint("double")
    with pytest.raises(NotRight):
        check("double", halve)
    assert DOUBLE.symptom_hints["halved"] in shown(hint("double"))
    assert shown(hint("double")).startswith("Hint 2 of 3")


def test_html_is_escaped_and_code_is_marked() -> None:
    assert notebook._inline("`a < b` & c") == "<code>a &lt; b</code> &amp; c"


def test_solution_says_when_there_is_none() -> None:
    with pytest.raises(FileNotFoundError, match="not on this machine"):
        solution("double")


def test_solution_shows_the_answer_without_the_marks() -> None:
    source = (
        "def double(x):\n    ### BEGIN SOLUTION\n    # why\n    return x < 2\n    ### END SOLUTION"
    )
    cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": "double"}})
    file = notebook.COURSE / "solutions" / DOUBLE.lesson / f"{DOUBLE.lesson}.ipynb"
    file.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), file)
    note = solution("double")
    assert shown(note) == "def double(x):\n    # why\n    return x < 2"
    assert "x &lt; 2" in note.body


def test_progress_counts_and_names_what_is_next() -> None:
    assert shown(notebook.progress()) == (
        "01_requires_grad: 0 of 1 exercises right, 0 of 3 points; next: Twice"
    )
    check("double", double)
    assert shown(notebook.progress()) == "01_requires_grad: 1 of 1 exercises right, 3 of 3 points"


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(KeyError, match="double"):
        check("duoble", double)
