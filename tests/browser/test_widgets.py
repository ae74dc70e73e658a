"""Each widget by itself in a real browser, on a notebook made here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.browser.controls import dead_controls
from tests.browser.jupyter import Server
from tests.browser.page import NotebookPage, box

CELLS = {
    "predict": """
import torch
from utils import leaf_lab, predict, show_graph, step_backward

def program():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (2 * x).sum().backward()
    return x.grad

predict("What is `x.grad`?", program, {
    str(torch.full((2, 2), 2.0)): "Each entry of `x` counts twice.",
    "None": "`x` is a watched leaf, so its gradient stays.",
    "RuntimeError": "The root is a scalar, so backward needs no vector.",
})""",
    "stepper": """
x = torch.ones(2, 2, requires_grad=True)
z = 3 * (x + 2) ** 2
o = z.mean()
step_backward(o)""",
    "leaf_lab": "leaf_lab()",
}
CARDS = list(CELLS)


@pytest.fixture(scope="module")
def opened(server: Server, new_page: Callable[..., NotebookPage]) -> Iterator[NotebookPage]:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_code_cell(cell.strip()) for cell in CELLS.values()]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, server.root / "widgets.ipynb")
    page = new_page("widgets.ipynb")
    page.run_all()
    assert page.not_run() == []
    yield page
    page.close()


@pytest.mark.parametrize("card", CARDS)
def test_each_control_moves_by_mouse_and_by_keyboard(opened: NotebookPage, card: str):
    assert len(opened.cards()) == len(CARDS)
    assert dead_controls(opened.cards()[CARDS.index(card)]) == []
    assert opened.errors == []


def test_a_button_keeps_the_keyboard(opened: NotebookPage):
    card = opened.cards()[CARDS.index("stepper")]
    button = card.get_by_role("button", name="To the end")
    button.press("Enter")
    button.press("Enter")
    assert button.evaluate("button => button === document.activeElement")


def test_the_picture_stays_in_place_from_step_to_step(opened: NotebookPage):
    card = opened.cards()[CARDS.index("stepper")]
    slider, picture = card.get_by_role("slider"), card.locator(".course-picture svg")
    slider.press("Home")
    card.locator("strong", has_text="Before step 1").wait_for()
    boxes = [box(picture)]
    for step in range(1, 6):
        slider.press("ArrowRight")
        card.locator("strong", has_text=f"Step {step} of 5").wait_for()
        boxes.append(box(picture))
    assert len({(place["width"], place["height"]) for place in boxes}) == 1


# The heading follows when the browser has told of the scrolling: a frame later.
HEADING_SHOWN = """async picture => {
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  const [outer, heading] = [picture, picture.querySelector('svg > text')]
    .map(one => one.getBoundingClientRect());
  return picture.scrollWidth > picture.clientWidth
    && outer.left <= heading.left && heading.right <= outer.right;
}"""


def test_the_node_whose_turn_it_is_stays_in_view_and_so_does_the_heading(opened: NotebookPage):
    card = opened.cards()[CARDS.index("stepper")]
    slider, view = card.get_by_role("slider"), card.locator(".course-picture")
    opened.page.set_viewport_size({"width": 900, "height": 1000})
    slider.press("Home")
    for step in range(1, 6):
        slider.press("ArrowRight")
        card.locator("strong", has_text=f"Step {step} of 5").wait_for()
        outer, inner = box(view), box(view.get_by_text("now"))
        assert outer["x"] <= inner["x"]
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        assert view.evaluate(HEADING_SHOWN), "the heading was left behind"
    opened.page.set_viewport_size({"width": 1280, "height": 1000})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(opened: NotebookPage, theme: str, album: Path):
    opened.change_theme(theme)
    opened.photograph(album, f"widgets-{theme}")
    assert set(opened.backgrounds()) == {"rgb(252, 252, 250)"}
    assert opened.violations() == []


def test_no_request_leaves_the_machine(opened: NotebookPage):
    assert opened.strangers == []


def test_a_control_that_moves_nothing_is_found(opened: NotebookPage):
    card = opened.cards()[CARDS.index("predict")]
    card.evaluate(
        "card => card.querySelector('button').replaceWith("
        "Object.assign(document.createElement('button'), {textContent: 'dead'}))"
    )
    assert "a click on the button 'dead'" in dead_controls(card, patience=500)
