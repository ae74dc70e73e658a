"""Weights on the outputs, and Pull back, push forward, in a real browser and in both themes."""

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
from utils.widgets.pull_push import READY as MAPS
from utils.widgets.weights import READY as FUNCTIONS

CELLS = [
    "from utils import weights_on_outputs\nweights_on_outputs()",
    "from utils import pull_back_push_forward\npull_back_push_forward()",
]


@pytest.fixture(scope="module")
def opened(server: Server, new_page: Callable[..., NotebookPage]) -> Iterator[NotebookPage]:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_code_cell(cell) for cell in CELLS]
    nbformat.write(
        new_notebook(cells=cells, metadata={"kernelspec": kernel}), server.root / "maps.ipynb"
    )
    page = new_page("maps.ipynb")
    page.run_all()
    assert page.not_run() == []
    yield page
    page.close()


def choose(card: Locator, name: str) -> None:
    card.get_by_role("combobox").select_option(label=name)


@pytest.mark.parametrize(("place", "ready"), [(0, FUNCTIONS), (1, MAPS)], ids=["weights", "arrows"])
def test_each_choice_brings_its_program_and_working_controls(
    opened: NotebookPage, place: int, ready: tuple
):
    card = opened.cards()[place]
    for function in (*ready[1:], ready[0]):
        choose(card, function.name)
        expect(card.locator("pre")).to_contain_text(function.program)
        if function in (ready[0], ready[-1]):
            assert dead_controls(card) == []
    assert opened.errors == []
    assert opened.strangers == []


def test_the_choice_moves_by_keyboard(opened: NotebookPage):
    for card, ready in zip(opened.cards(), (FUNCTIONS, MAPS), strict=True):
        choose(card, ready[0].name)
        card.get_by_role("combobox").press("ArrowDown")
        expect(card.locator("pre")).to_contain_text(ready[1].program)


def test_a_slider_per_output_and_a_tilt_in_space_only(opened: NotebookPage):
    weights, arrows = opened.cards()
    choose(weights, "softmax of three")
    expect(weights.get_by_role("slider")).to_have_count(3)
    expect(weights.get_by_role("slider", name="weight on y₂")).to_have_count(1)
    choose(arrows, MAPS[-1].name)
    expect(arrows.get_by_role("slider", name="v tilt")).to_have_count(1)
    choose(arrows, MAPS[0].name)
    expect(arrows.get_by_role("slider", name="v tilt")).to_have_count(0)


def test_a_picture_wider_than_its_box_stays_where_the_reader_puts_it(opened: NotebookPage):
    card = opened.cards()[0]
    choose(card, FUNCTIONS[0].name)
    view, slider = card.locator(".course-picture"), card.get_by_role("slider").first
    opened.page.set_viewport_size({"width": 900, "height": 1000})
    expect(view).to_have_attribute("role", "group")
    view.evaluate("view => { view.scrollLeft = 0; }")
    slider.press("Home")
    expect(view.locator("svg > text").first).to_contain_text("with v = [-10,")
    assert view.evaluate("view => view.scrollLeft") == 0
    opened.page.set_viewport_size({"width": 1280, "height": 1000})


def test_a_button_moves_the_sliders(opened: NotebookPage):
    card = opened.cards()[0]
    choose(card, FUNCTIONS[0].name)
    card.get_by_role("button", name="what a loss would send").press("Enter")
    for name, value in (("weight on y₀", "4"), ("weight on y₁", "10")):
        slider = card.get_by_role("slider", name=name)
        expect(slider).to_have_attribute("aria-valuenow", f"{value}.0")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(opened: NotebookPage, theme: str, album: Path):
    opened.change_theme(theme)
    opened.photograph(album, f"maps-{theme}")
    assert set(opened.backgrounds()) == {"rgb(252, 252, 250)"}
    assert opened.violations() == []
    for card in opened.cards():
        select = card.get_by_role("combobox")
        painted = select.evaluate("e => [getComputedStyle(e).backgroundColor, e.offsetHeight]")
        assert painted == ["rgb(255, 255, 255)", 32]
