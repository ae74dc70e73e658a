"""A browser and a JupyterLab for the session; a reason when there is no browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.jupyter import Server, copy_notebooks, serve
from tests.browser.page import NotebookPage

REPOSITORY = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HOW = (
    "needs a browser: install Chromium so that `chromium` is on the PATH "
    "(Debian, Ubuntu: apt-get install chromium; macOS: brew install chromium)"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is in this folder, and skip it where there is no browser and none is demanded."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None and os.environ.get("COURSE_BROWSER") != "required":
                item.add_marker(pytest.mark.skip(reason=HOW))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail(f"COURSE_BROWSER=required, but the test {HOW}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("jupyter")
    copy_notebooks(REPOSITORY / "notebooks", folder / "root")
    with serve(folder) as running:
        yield running


@pytest.fixture(scope="session")
def new_page(browser: Browser, server: Server) -> Callable[..., NotebookPage]:
    """`new_page(path, theme="light", app="lab")`: a NotebookPage that the caller closes."""

    def open_(path: str, theme: str = "light", app: str = "lab") -> NotebookPage:
        server.set_theme(theme)
        return NotebookPage(browser, server, path, app)

    return open_


@pytest.fixture
def open_notebook(new_page: Callable[..., NotebookPage]) -> Iterator[Callable[..., NotebookPage]]:
    """The same, closed after the test."""
    pages: list[NotebookPage] = []

    def open_(path: str, theme: str = "light", app: str = "lab") -> NotebookPage:
        pages.append(new_page(path, theme, app))
        return pages[-1]

    yield open_
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where photographs are kept for people to look at: the folder COURSE_ALBUM, if it is set."""
    chosen = os.environ.get("COURSE_ALBUM")
    return Path(chosen) if chosen else tmp_path_factory.mktemp("album")
