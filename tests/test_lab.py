"""`course.py lab` as far as a test can follow without a browser: what JupyterLab then serves."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from utils.syllabus import ROOT


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a learner has, in a folder whose name has a space."""
    clone = tmp_path_factory.mktemp("learner") / "my course"
    for name in ("utils", "notebooks", "exercises"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    return clone


def lab(clone: Path, *options: str) -> subprocess.Popen[str]:
    own = {
        f"JUPYTER_{name}_DIR": str(clone.parent / name) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "utils", "lab", *options],
        cwd=clone,
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def address(clone: Path) -> Iterator[str]:
    """Where a running JupyterLab says it is, as printed for the learner."""
    process = lab(
        clone, "--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token=t"
    )
    lines = []
    for line in process.stdout:
        lines.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+/lab\S*", line):
            break
    else:
        pytest.fail("JupyterLab did not start:\n" + "".join(lines))
    yield found.group()
    process.terminate()
    process.communicate(timeout=30)


def get(address: str, path: str) -> dict[str, object]:
    url = f"{address.partition('/lab')[0]}/{path}?token=t"
    for _ in range(100):  # the address is printed a moment before the server listens
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail(f"nothing listens at {address}")


def test_opens_on_the_first_notebook(address: str) -> None:
    assert "/lab/tree/notebooks/00_start_here.ipynb" in address


def test_shows_the_whole_course_and_the_learners_copies(address: str, clone: Path) -> None:
    shown = {entry["name"] for entry in get(address, "api/contents/")["content"]}
    assert {"notebooks", "work"} <= shown
    for exercise in (clone / "exercises").glob("*/*.ipynb"):
        copy = f"work/{exercise.parent.name}/{exercise.name}"
        assert get(address, f"api/contents/{copy}")["type"] == "notebook"


def test_asks_the_network_for_no_news(address: str) -> None:
    name = "@jupyterlab/apputils-extension:notification"
    answer = get(address, f"lab/api/settings/{name}")
    assert answer["schema"]["properties"]["fetchNews"]["default"] == "false"


def test_hands_options_on_to_jupyterlab(clone: Path) -> None:
    process = lab(clone, "--version")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert re.search(r"^\d+\.\d+\.\d+$", out, re.MULTILINE)


def test_an_unknown_verb_is_answered_with_the_known_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "utils", "labb"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "'labb'" in done.stderr
    assert all(verb in done.stderr for verb in ("lab", "reset", "test", "build"))
