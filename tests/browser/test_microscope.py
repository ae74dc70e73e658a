"""Gradient microscope in a real browser: each control by mouse and by keyboard, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, expect

from tests.browser.controls import dead_controls
from tests.browser.jupyter import Server
from tests.browser.page import NotebookPage
from utils.widgets.backwards import READY

CELL = "from utils import gradient_microscope\ngradient_microscope()"


@pytest.fixture(scope="module")
def opened(server: Server, new_page: Callable[..., NotebookPage]) -> Iterator[NotebookPage]:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[new_code_cell(CELL)], metadata={"kernelspec": kernel})
    nbformat.write(notebook, server.root / "microscope.ipynb")
    page = new_page("microscope.ipynb")
    page.run_all()
    assert page.not_run() == []
    yield page
    page.close()


def title(card: Locator) -> Locator:
    return card.locator(".course-picture svg > text").first


def test_each_function_brings_its_program_and_its_picture(opened: NotebookPage):
    (card,) = opened.cards()
    for case in (*READY[1:], READY[0]):
        card.get_by_role("combobox").select_option(label=case.name)
        expect(card.locator("pre").first).to_have_text(case.program)
        expect(title(card)).to_contain_text(f"{case.name}: at x =")
    card.get_by_role("combobox").press("ArrowDown")
    expect(title(card)).to_contain_text(READY[1].name)
    assert opened.errors == []
    assert opened.strangers == []


def test_each_slider_and_each_precision_moves_the_picture(opened: NotebookPage):
    (card,) = opened.cards()
    card.get_by_role("combobox").select_option(label=READY[0].name)
    assert dead_controls(card) == []
    names = [slider.get_attribute("aria-label") for slider in card.get_by_role("slider").all()]
    assert names == ["point x", "step size h", "upstream g"]


def test_what_is_said_follows_the_controls(opened: NotebookPage):
    (card,) = opened.cards()
    card.get_by_role("combobox").select_option(label="x², wrong sign")
    status = card.get_by_role("status")
    expect(status).to_contain_text("the sign is wrong")
    card.get_by_role("combobox").select_option(label=READY[0].name)
    card.get_by_role("slider", name="upstream g").press("End")
    card.get_by_role("slider", name="step size h").press("Home")
    card.get_by_role("radio", name="float32").check()
    expect(title(card)).to_contain_text("with g = 3, in float32")
    expect(status).to_contain_text("rounds to x itself")
    expect(card.locator("pre").last).to_contain_text("UserWarning: Input #0")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(opened: NotebookPage, theme: str, album: Path):
    opened.change_theme(theme)
    opened.photograph(album, f"microscope-{theme}")
    assert set(opened.backgrounds()) == {"rgb(252, 252, 250)"}
    assert opened.violations() == []
    picture = opened.cards()[0].locator(".course-picture")
    assert picture.evaluate("box => box.scrollWidth <= box.clientWidth")
