"""Cut the graph in a real browser: each choice by mouse and by keyboard, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, expect

from tests.browser.jupyter import Server
from tests.browser.page import NotebookPage

CELL = "from utils import cut_the_graph\ncut_the_graph()"
LINES = {  # what the program says once a choice is made
    "z, after first": "cut = z.detach()",
    "score, at the end": "cut = score.detach()",
    "a, after tanh": "cut = a.detach()",
    "nothing": "score = second(a)",
    "torch.no_grad()": "with torch.no_grad():",
    "torch.inference_mode()": "score = second(a)  # raises",
    ".data": "cut = a.data",
    ".clone()": "cut = a.clone()",
    ".detach().clone()": "cut = a.detach().clone()",
    ".item()": "number = a.item()  # raises",
    ".detach()": "cut = a.detach()",
}


@pytest.fixture(scope="module")
def opened(server: Server, new_page: Callable[..., NotebookPage]) -> Iterator[NotebookPage]:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[new_code_cell(CELL)], metadata={"kernelspec": kernel})
    nbformat.write(notebook, server.root / "cut.ipynb")
    page = new_page("cut.ipynb")
    page.run_all()
    assert page.not_run() == []
    yield page
    page.close()


def program(card: Locator) -> Locator:
    return card.locator("pre").first


def test_each_choice_moves_the_program(opened: NotebookPage):
    (card,) = opened.cards()
    for choice, line in LINES.items():
        card.get_by_role("radio", name=choice, exact=True).click()
        expect(program(card)).to_contain_text(line)
    assert opened.errors == []
    assert opened.strangers == []


def test_arrow_keys_move_within_a_labelled_group(opened: NotebookPage):
    (card,) = opened.cards()
    ways = card.get_by_role("radiogroup", name="With", exact=True)
    first = ways.get_by_role("radio", name="nothing", exact=True)
    first.click()
    first.focus()
    for line in ("cut = a.detach()", "with torch.no_grad():", "with torch.inference_mode():"):
        opened.page.keyboard.press("ArrowDown")
        expect(program(card)).to_contain_text(line)
    opened.page.keyboard.press("ArrowUp")
    expect(program(card)).to_contain_text("with torch.no_grad():")


def test_the_write_is_switched_by_space(opened: NotebookPage):
    (card,) = opened.cards()
    for present in (1, 0):
        card.get_by_role("checkbox").press("Space")
        expect(program(card).filter(has_text="add_(1)")).to_have_count(present)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(opened: NotebookPage, theme: str, album: Path):
    opened.change_theme(theme)
    opened.photograph(album, f"cut-the-graph-{theme}")
    assert set(opened.backgrounds()) == {"rgb(252, 252, 250)"}
    assert opened.violations() == []
