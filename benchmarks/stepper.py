"""One move of a stepper on 100 nodes, against `interact` that redraws with matplotlib.

In the kernel: from the slider's message to the kernel's last answer. To paint: from the key press
to the frame with the new picture, in Chromium and JupyterLab.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET
from tests.browser.jupyter import serve
from tests.browser.page import NotebookPage

from .kernel import Kernel
from .measure import Row

MOVES = 15

# Twenty layers make 100 nodes. The peers draw the same graph, and one line, as people do.
NET = """
import torch
from utils import record, step_backward
torch.manual_seed(0)
layers = [m for _ in range(20) for m in (torch.nn.Linear(3, 3), torch.nn.Tanh())][:-1]
out = torch.nn.Sequential(*layers)(torch.ones(2, 3)).mean()
"""
STEPPER = """
stepper = step_backward(out)
slider = stepper.slider
assert len(stepper.tape.graph.nodes) == 100
stepper"""
PLOTS = """
%matplotlib inline
import ipywidgets
import matplotlib.pyplot as plt
tape = record(out)
turn = {step.node: k for k, step in enumerate(tape.steps, 1)}
where = {node.index: (-(node.index // 5), node.index % 5) for node in tape.graph.nodes}

def draw_graph(k):
    plt.figure(figsize=(12, 4))
    for edge in tape.graph.edges:
        if edge.target is not None:
            plt.plot(*zip(where[edge.source], where[edge.target]), color="grey", zorder=0)
    for node in tape.graph.nodes:
        colour = "orange" if turn[node.index] <= k else "lightgrey"
        plt.text(*where[node.index], node.name, fontsize=6, bbox={"facecolor": colour})
    plt.axis("off")
    plt.show()

def draw_line(k):
    plt.plot([0, 1, 2, 3], [k, 1, 2, 3])
    plt.show()
"""
INTERACT = """
slider = ipywidgets.IntSlider(0, min=0, max=len(tape.steps))
_ = ipywidgets.interact(draw_{what}, k=slider)"""

# A move is painted once the picture differs from the one before and a frame has passed.
PAINTED = """([cell, picture]) => new Promise(resolve => {
  const output = document.querySelectorAll('.jp-CodeCell')[cell].querySelector('.jp-OutputArea');
  const look = () => output.querySelector(picture)?.outerHTML;
  const before = look();
  let start;
  addEventListener('keydown', () => { start = performance.now(); }, {capture: true, once: true});
  const observer = new MutationObserver(async () => {
    const now = look();
    if (!now || now === before) return;
    observer.disconnect();
    await output.querySelector(picture).decode?.();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  });
  observer.observe(output, {childList: true, subtree: true, attributes: true});
})"""


def rows() -> list[Row]:
    """The rows of the table."""
    ours, graph, line = in_the_kernel()
    peer = "interact, matplotlib"
    found = [
        Row("stepper move in the kernel, 100 nodes", ours, f"{peer}, same graph", graph, most=10),
        Row("stepper move in the kernel, 100 nodes", ours, f"{peer}, one line", line),
    ]
    key = "key press to paint, 100 nodes"
    if CHROMIUM is None:
        return [*found, Row(key, None, f"{peer}, same graph", bar=4, note="no Chromium here")]
    ours, graph, line = to_paint()
    return [
        *found,
        Row(key, ours, f"{peer}, same graph", graph, bar=4),
        Row(key, ours, f"{peer}, one line", line),
    ]


def in_the_kernel() -> list[float]:
    """Median milliseconds of a move: ours, `interact` with the graph, `interact` with a line."""
    with Kernel() as kernel:
        kernel.run(NET)
        kernel.run(STEPPER)
        medians = [median_move(kernel)]
        kernel.run(PLOTS)
        for what in ("graph", "line"):
            kernel.run(INTERACT.format(what=what))
            medians.append(median_move(kernel))
        return medians


def median_move(kernel: Kernel) -> float:
    """The median move of the kernel's `slider`, in milliseconds."""
    model = kernel.model("slider")
    times = [kernel.move(model, value=k) for k in range(1, MOVES + 2)]
    return statistics.median(times[1:])


def to_paint() -> list[float]:
    """Median milliseconds from key press to paint, in the same order."""
    cells = [NET, STEPPER, PLOTS, *(INTERACT.format(what=what) for what in ("graph", "line"))]
    with _opened(cells) as page:
        return [
            _presses(page, 1, ".course-picture svg"),
            _presses(page, 3, ".jp-RenderedImage img"),
            _presses(page, 4, ".jp-RenderedImage img"),
        ]


def _presses(page: Page, cell: int, picture: str) -> float:
    """The median key press on the slider of the cell, in milliseconds."""
    slider = page.locator(".jp-CodeCell").nth(cell).get_by_role("slider")
    slider.focus()
    times = []
    for _ in range(MOVES + 1):
        page.evaluate(f"(args) => {{ window.painted = ({PAINTED})(args); }}", [cell, picture])
        page.keyboard.press("ArrowRight")
        times.append(page.evaluate("() => window.painted"))
    return statistics.median(times[1:])


@contextmanager
def _opened(cells: list[str]) -> Iterator[Page]:
    """A notebook with these cells, run, in a browser."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(
        cells=[new_code_cell(cell.strip()) for cell in cells], metadata={"kernelspec": kernel}
    )
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "root").mkdir()
        nbformat.write(notebook, folder / "root" / "bench.ipynb")
        with serve(folder) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
            page = NotebookPage(browser, server, "bench.ipynb")
            page.run_all()
            page.page.locator(".jp-RenderedImage img").nth(1).wait_for()
            yield page.page
            browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
