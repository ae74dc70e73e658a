"""A notebook open in a real browser: run it, look at it, listen for what goes wrong."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Locator, TimeoutError

from tests.browser.jupyter import THEMES, Server

CARD = ".autograd-course"
STILL = ".jp-OutputArea-output img[src^='data:image/svg+xml']"

# What Notebook 7 itself says on a blank notebook; JupyterLab says nothing there.
NOISE = {
    "lab": (),
    "notebook": (
        "Cannot read properties of undefined (reading 'schema')",
        "Command 'filebrowser:open-path' not registered.",
    ),
}

_KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
# A folded cell has no text and no number on the page; it has run when there is an output.
_NOT_RUN = """() => [...document.querySelectorAll('.jp-CodeCell')]
  .map(cell => [cell, cell.querySelector('.cm-content')?.textContent.trim()])
  .filter(([cell, text]) => text === undefined
    ? !cell.querySelector('.jp-OutputArea-child')
    : text && !/[0-9]/.test(cell.querySelector('.jp-InputPrompt').textContent))
  .map(([cell, text]) => text ?? 'a folded cell')"""


def box(locator: Locator, seconds: float = 10) -> dict[str, float]:
    """Where an element is. A picture that is just being replaced is nowhere for a moment."""
    end = time.monotonic() + seconds
    while (found := locator.bounding_box()) is None and time.monotonic() < end:
        time.sleep(0.05)
    assert found is not None, f"{locator} is not on the page"
    return found


class NotebookPage:
    """One notebook in JupyterLab ("lab") or in Notebook 7 ("notebook").

    Attributes:
        page: Playwright's page.
        errors: what went to the console as an error, and exceptions that nobody caught.
        strangers: addresses asked for outside the tests' own server.
    """

    def __init__(self, browser: Browser, server: Server, path: str, app: str = "lab") -> None:
        self.app = app
        self.errors: list[str] = []
        self.strangers: list[str] = []
        self._home = urlsplit(server.url).netloc
        self.page = browser.new_page(viewport={"width": 1280, "height": 1000})
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.on("request", lambda request: self._see(request.url))
        self.page.on("websocket", lambda socket: self._see(socket.url))
        place = "notebooks" if app == "notebook" else "lab/workspaces/test/tree"
        self.page.goto(f"{server.url}/{place}/{path}{'' if app == 'notebook' else '?reset'}")
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(message.text)

    def _note(self, text: str) -> None:
        if not any(known in text for known in NOISE[self.app]):
            self.errors.append(text)

    def _see(self, url: str) -> None:
        asked = urlsplit(url)
        if asked.scheme not in ("data", "blob") and asked.netloc != self._home:
            self.strangers.append(url)

    def run_all(self, seconds: float = 60) -> None:
        """Run every cell; return when each is done and every widget stands on the page.

        A cell that Run All never comes to is left to `not_run`, after so many seconds.
        """
        self.page.wait_for_function(f"() => {_KERNEL} === 'idle'", timeout=60_000)
        self.page.evaluate(
            "async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
        )
        done = f"() => {_KERNEL} === 'idle' && !({_NOT_RUN})().length"
        with contextlib.suppress(TimeoutError):
            self.page.wait_for_function(done, timeout=1000 * seconds)
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.jupyter-widgets-view')]"
            ".every(view => view.childElementCount)"
        )

    def not_run(self) -> list[str]:
        """The code cells without a number: Run All did not come to them."""
        return self.page.evaluate(_NOT_RUN)

    def cards(self) -> list[Locator]:
        """The course's live widgets."""
        return self.page.locator(CARD).all()

    def still_pictures(self) -> list[int]:
        """The width of each stored picture in pixels of its own; 0 where it is not shown."""
        with contextlib.suppress(TimeoutError):  # a page is there before its outputs are
            self.page.locator(STILL).first.wait_for(timeout=10_000)
        for picture in self.page.locator(STILL).all():
            picture.scroll_into_view_if_needed()
        return self.page.evaluate(
            f"() => [...document.querySelectorAll(`{STILL}`)].map(picture => picture.naturalWidth)"
        )

    def change_theme(self, theme: str) -> None:
        """To "light" or "dark", while the notebook is open."""
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
            THEMES[theme],
        )
        light = "true" if theme == "light" else "false"
        self.page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached")

    def backgrounds(self) -> list[str]:
        """What each card paints behind itself, as CSS says it."""
        return [
            card.evaluate("card => getComputedStyle(card).backgroundColor") for card in self.cards()
        ]

    def violations(self) -> list[str]:
        """What axe-core calls serious or critical inside our widgets."""
        found = Axe().run(self.page, context={"include": [[CARD]]}).response["violations"]
        return [
            f"{item['id']}: {node['html'][:200]} {node['failureSummary']}"
            for item in found
            if item["impact"] in ("serious", "critical")
            for node in item["nodes"]
        ]

    def photograph(self, folder: Path, name: str) -> None:
        """Keep a picture of each card for people to look at."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, card in enumerate(self.cards()):
            card.screenshot(path=folder / f"{name}-{number}.png")

    def close(self) -> None:
        self.page.close()
