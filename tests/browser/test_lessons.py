"""Every lesson in a real browser, as a learner meets it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.controls import dead_controls
from tests.browser.jupyter import Server
from tests.browser.page import NotebookPage
from utils.syllabus import Lesson, lessons

LESSONS = [pytest.param(lesson, id=lesson.name) for lesson in lessons()]


@pytest.fixture(scope="module", params=LESSONS)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return request.param


@pytest.fixture(scope="module")
def opened(lesson: Lesson, new_page: Callable[..., NotebookPage]) -> Iterator[NotebookPage]:
    """The lesson in JupyterLab, every cell run."""
    page = new_page(lesson.notebook.name)
    page.run_all()
    yield page
    page.close()


def test_run_all_reaches_the_last_cell_without_an_error_in_the_browser(opened: NotebookPage):
    assert opened.not_run() == []
    assert opened.errors == []


def test_each_control_moves_by_mouse_and_by_keyboard(opened: NotebookPage):
    cards = opened.cards()
    assert cards, "the lesson shows no widget"
    assert [dead for card in cards for dead in dead_controls(card)] == []
    assert opened.errors == []


def test_no_request_leaves_the_machine(opened: NotebookPage):
    assert opened.strangers == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_the_widgets(
    opened: NotebookPage, lesson: Lesson, theme: str, album: Path
):
    opened.change_theme(theme)
    opened.photograph(album, f"{lesson.name}-{theme}")
    assert set(opened.backgrounds()) == {"rgb(252, 252, 250)"}
    assert opened.violations() == []


def test_a_downloaded_copy_shows_its_pictures_before_anything_runs(
    lesson: Lesson, server: Server, open_notebook: Callable[..., NotebookPage], album: Path
):
    copy = server.root / f"untrusted-{lesson.name}.ipynb"
    shutil.copy(lesson.notebook, copy)
    page = open_notebook(copy.name)
    for theme in ("light", "dark"):
        page.change_theme(theme)
        widths = page.still_pictures()
        assert widths, "no picture is stored in the notebook"
        assert 0 not in widths
        page.page.screenshot(path=album / f"{copy.stem}-{theme}.png")
    assert page.cards() == []  # nothing has run: what is seen are the still copies
    assert page.strangers == []


@pytest.mark.parametrize("lesson", LESSONS[:1], indirect=True)
def test_a_lesson_runs_in_notebook_7_too(
    lesson: Lesson, open_notebook: Callable[..., NotebookPage]
):
    page = open_notebook(lesson.notebook.name, app="notebook")
    page.run_all()
    assert page.not_run() == []
    cards = page.cards()
    assert cards, "the lesson shows no widget"
    assert [dead for card in cards for dead in dead_controls(card)] == []
    assert page.errors == []
    assert page.strangers == []
