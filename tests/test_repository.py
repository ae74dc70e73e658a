"""What holds for every file of the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks import samples
from utils.syllabus import ROOT

NOT_OURS = {".git", ".venv", "work", "__pycache__", ".pytest_cache", ".ruff_cache", "submitted"}
NOT_OURS |= {"autograded", "feedback", ".ipynb_checkpoints", "autograd_course.egg-info"}
TEXT = {".py", ".md", ".txt", ".toml", ".cfg", ".ipynb", ".json", ".svg", ""}

# Spelt in pieces, so that this file does not hold what it looks for.
INDEX_HOSTS = re.compile("py" + r"pi\.org|python" + r"hosted\.org|download\.py" + r"torch\.org")
OWN_BUSINESS = {
    "a folder of one machine": re.compile(
        r"(?<![\w.}])/" + r"(work/(main|shared)|home/\w|Users/\w)"
    ),
    "the number of an issue": re.compile(r"(?i)\bissue" + r"s? #?\d"),
}


def files(root: Path) -> list[Path]:
    return [
        path
        for path in root.rglob("*")
        if path.is_file()
        and path.suffix in TEXT
        and not NOT_OURS & {part for part in path.relative_to(root).parts}
    ]


def mentions(pattern: re.Pattern[str], root: Path) -> list[str]:
    """Return file, line and text of each mention of ``pattern`` under ``root``."""
    found = []
    for path in files(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := pattern.search(line):
                found.append(f"{path.relative_to(root)}:{number}: {match.group()}")
    return found


@pytest.mark.parametrize("what", OWN_BUSINESS)
def test_speaks_of_the_course_alone(what: str) -> None:
    assert mentions(OWN_BUSINESS[what], ROOT) == []


def test_no_package_index_but_the_one_for_small_torch_is_named() -> None:
    found = mentions(INDEX_HOSTS, ROOT)
    assert [mention.split(":")[0] for mention in found] == ["course.py"]


def test_ci_takes_the_usual_torch() -> None:
    assert "--cpu" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("see /work" + "/main/utils", OWN_BUSINESS["a folder of one machine"]),
        ("see /ho" + "me/ann/course", OWN_BUSINESS["a folder of one machine"]),
        ("as Issue" + " 2 says", OWN_BUSINESS["the number of an issue"]),
        ("https://py" + "pi.org/simple", INDEX_HOSTS),
    ],
)
def test_these_gates_can_fail(tmp_path: Path, text: str, pattern: re.Pattern[str]) -> None:
    (tmp_path / "page.md").write_text(f"one\n{text}\n")
    (tmp_path / "fine.md").write_text("../work/main is fine, and so is an issue with 2 tensors")
    assert [mention.split(": ")[0] for mention in mentions(pattern, tmp_path)] == ["page.md:2"]


@pytest.mark.parametrize("command", [("check",), ("format", "--check")])
def test_ruff_finds_nothing(command: tuple[str, ...]) -> None:
    ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "."]
    done = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_looks_at_notebooks(tmp_path: Path) -> None:
    path = tmp_path / "untidy.ipynb"
    samples.write(
        path, samples.notebook(samples.code("import os", "a"), samples.code("x  = 1", "b"))
    )
    config = ["--no-cache", "--config", str(ROOT / "pyproject.toml"), str(path)]
    for command, word in ((["check"], "F401"), (["format", "--check"], "would be reformatted")):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *config], capture_output=True, text=True
        )
        assert done.returncode == 1
        assert word in done.stdout
