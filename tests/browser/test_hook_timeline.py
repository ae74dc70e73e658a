"""Hook timeline in a real browser: each control by mouse and by keyboard, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.browser.controls import dead_controls
from tests.browser.jupyter import Server
from tests.browser.page import NotebookPage

CELL = "from utils import hook_timeline\nhook_timeline()"


@pytest.fixture(scope="module")
def opened(server: Server, new_page: Callable[..., NotebookPage]) -> Iterator[NotebookPage]:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[new_code_cell(CELL)], metadata={"kernelspec": kernel})
    nbformat.write(notebook, server.root / "hooks.ipynb")
    page = new_page("hooks.ipynb")
    page.run_all()
    assert page.not_run() == []
    yield page
    page.close()


def test_each_control_moves_the_card(opened: NotebookPage):
    (card,) = opened.cards()
    assert dead_controls(card) == []
    assert opened.errors == []
    assert opened.strangers == []


def test_a_switch_puts_its_hook_on_the_time_line(opened: NotebookPage):
    (card,) = opened.cards()
    boxes = card.get_by_role("checkbox").all()
    numbers = card.locator(".course-picture svg rect[rx='5']")  # a card a hook
    for box in boxes:
        box.uncheck()
    expect(numbers).to_have_count(0)
    for count, box in enumerate(boxes, 1):
        box.press("Space")
        expect(numbers).to_have_count(count)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(opened: NotebookPage, theme: str, album: Path):
    opened.change_theme(theme)
    opened.photograph(album, f"hook-timeline-{theme}")
    assert set(opened.backgrounds()) == {"rgb(252, 252, 250)"}
    assert opened.violations() == []
