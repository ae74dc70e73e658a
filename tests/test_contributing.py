"""The README and CONTRIBUTING.md say what is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat import from_dict

from tests.notebooks import gates, samples
from utils import notebooks
from utils.__main__ import VERBS
from utils.syllabus import ROOT

PAGES = ("README.md", "CONTRIBUTING.md")


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()] + re.findall(
        r"`(python [^`]+)`", text
    )


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    targets = gates.LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    local = [target for target in targets if not target.startswith("https:")]
    assert [target for target in local if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_verbs_exist(page: str) -> None:
    found = [re.match(r"python (?:course\.py|-m utils) (\w+)", line) for line in commands(page)]
    verbs = {match.group(1) for match in found if match} - {"VERB"}
    assert verbs
    assert verbs <= set(VERBS)


def test_named_files_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:utils|tests|benchmarks|notebooks|solutions)/[\w./]*)`", text)
    real = [path for path in paths if "NN" not in path]
    assert real
    assert [path for path in real if not (ROOT / path).exists()] == []


def test_the_round_trip_by_text_keeps_ids_tags_and_outputs(tmp_path: Path) -> None:
    path = tmp_path / "notebooks" / "01_requires_grad.ipynb"
    lesson = samples.lesson()
    notebooks.normalise(lesson)
    kept = {"output_type": "stream", "name": "stdout", "text": "kept\n"}
    lesson.cells[2].outputs = [from_dict(kept)]
    notebooks.write(path, notebooks.dumps(lesson))
    trip = [line for line in commands("CONTRIBUTING.md") if line.startswith("jupytext")]
    assert len(trip) == 2

    def jupytext(line: str) -> None:
        command = [sys.executable, "-m", *line.split()]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    jupytext(trip[0])
    text = path.with_suffix(".py")
    text.write_text(text.read_text().replace("About things that change.", "About change."))
    jupytext(trip[1])
    lesson.cells[0].source = "# A lesson\n\nAbout change."
    assert path.read_text() == notebooks.dumps(lesson)
