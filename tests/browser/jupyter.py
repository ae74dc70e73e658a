"""A JupyterLab of the tests' own: a free port, its own settings, and a copy of the notebooks."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LAB_OPTIONS = (
    "--no-browser",
    "--ServerApp.token=",
    "--ServerApp.password=",
    "--ServerApp.allow_root=True",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
    # Nothing here may ask the network, neither for news nor for extensions or updates.
    "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)

# Windowing takes what is out of view out of the page: a test could not see it.
SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


@dataclass(frozen=True)
class Server:
    """A running JupyterLab (which serves Notebook 7 as well).

    Attributes:
        url: its address, without a slash at the end.
        root: the folder it shows: a copy, never the repository.
        settings: where its user settings are.
    """

    url: str
    root: Path
    settings: Path

    def set(self, plugin: str, values: dict[str, object]) -> None:
        """Write a plugin's user settings; the next page that opens reads them."""
        package, name = plugin.split(":")
        path = self.settings / package / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))

    def set_theme(self, theme: str) -> None:
        """`light` or `dark` for the next page."""
        self.set("@jupyterlab/apputils-extension:themes", {"theme": THEMES[theme]})


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Run JupyterLab inside `folder`, which receives everything it writes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root, settings = folder / "root", folder / "settings"
    root.mkdir(exist_ok=True)
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "AUTOGRAD_PROGRESS": "progress.json",
    }
    places = {name: str(folder / place) for name, place in own.items()}
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.port={port}", *LAB_OPTIONS]
    server = Server(f"http://127.0.0.1:{port}", root, settings)
    for plugin, values in SETTINGS.items():
        server.set(plugin, values)
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=root, env=os.environ | places, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        _wait(server.url, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(url: str, process: subprocess.Popen, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api", timeout=2):
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not answer within {seconds:.0f} s:\n{log.read_text()}")


def copy_notebooks(source: Path, root: Path) -> None:
    """Put a copy of the lessons where the server shows them."""
    shutil.copytree(source, root, dirs_exist_ok=True)
