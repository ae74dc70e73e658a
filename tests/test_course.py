"""course.py, from outside: what a learner types, what happens, what is said when it cannot."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import course

REPOSITORY = Path(__file__).parents[1]
PYTHON = getattr(sys, "_base_executable", sys.executable)

# Stands in for the course's own command line, and says how it was called.
COMMAND_LINE = """\
import importlib.metadata, json, os, sys
versions = {d.name: d.version for d in importlib.metadata.distributions()}
facts = {"arguments": sys.argv[1:], "prefix": sys.prefix, "folder": os.getcwd()}
print(json.dumps({**facts, "torch": versions.get("torch"), "path": os.environ["PATH"]}))
sys.exit(7)
"""


class Clone:
    """A course of one file in a folder whose name has a space, with a command line that tells."""

    def __init__(self, root: Path, requirements: str = "") -> None:
        self.root = root
        (root / "utils").mkdir(parents=True)
        shutil.copy(REPOSITORY / "course.py", root)
        (root / "requirements.txt").write_text(requirements)
        (root / "pyproject.toml").write_text("")
        (root / "utils" / "__main__.py").write_text(COMMAND_LINE)
        self.offline = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
            "PIP_RETRIES": "1",
        }

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
        return subprocess.Popen(
            [PYTHON, str(self.root / "course.py"), *arguments],
            env={**environment, **self.offline, **variables},
            cwd=self.root.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **variables)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def told(self, *arguments: str, **variables: str) -> dict[str, object]:
        """Run, and return what the command line in .venv said about itself."""
        code, out, err = self.run(*arguments, **variables)
        assert code == 7, f"the exit code of the verb did not come through: {code}\n{out}\n{err}"
        return json.loads(out.splitlines()[-1])


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "my course")


def test_the_first_call_sets_up_and_the_second_starts_at_once(clone: Clone) -> None:
    code, out, _ = clone.run("lab", "--no-browser", "--port=9999")
    told = json.loads(out.splitlines()[-1])
    assert "Making .venv" in out
    assert "Installing" in out
    assert code == 7
    assert told["arguments"] == ["lab", "--no-browser", "--port=9999"]
    assert Path(told["prefix"]) == clone.root / ".venv"
    assert Path(told["folder"]) == clone.root
    assert told["path"].startswith(str(clone.root / ".venv"))

    started = time.perf_counter()
    code, out, _ = clone.run("lab", PYTHONPATH="/nowhere", PYTHONHOME="")
    assert time.perf_counter() - started < 3
    assert len(out.splitlines()) == 1, f"the second call said more than the verb:\n{out}"

    (clone.root / "requirements.txt").write_text("# changed by an update\n")
    code, out, _ = clone.run("lab")
    assert "Installing" in out
    assert "Making .venv" not in out, "an update needs no new .venv"


def test_a_broken_venv_is_made_anew(clone: Clone) -> None:
    (clone.root / ".venv" / "bin").mkdir(parents=True)
    (clone.root / ".venv" / "bin" / "python").symlink_to("/no/such/python3.9")
    (clone.root / ".venv" / "rubbish").touch()
    clone.told("lab")
    assert not (clone.root / ".venv" / "rubbish").exists()


def test_a_call_interrupted_half_way_is_taken_up_by_the_next(clone: Clone) -> None:
    (clone.root / "requirements.txt").write_text("torch==0.0.1\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        process = clone.start("lab", PIP_INDEX_URL=url)
        silent.settimeout(60)
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        connection.close()
    assert process.returncode == 130
    assert err.strip().splitlines()[-1].startswith("Stopped half-way")
    (clone.root / "requirements.txt").write_text("")
    code, out, _ = clone.run("lab")
    assert code == 7
    assert "Making .venv" in out, "what was half installed must not be trusted"


def test_without_a_network_one_sentence_says_so(clone: Clone) -> None:
    (clone.root / "requirements.txt").write_text("torch==0.0.1\n")
    code, _, err = clone.run("lab")
    assert code == 1
    assert len(err.strip().splitlines()) == 1
    assert "no network" in err


def test_a_python_without_venv_is_told_what_to_install(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError('as Debian has it')")
    code, _, err = clone.run("lab", PYTHONPATH=str(tmp_path))
    assert code == 1
    assert "python3-venv" in err
    assert len(err.strip().splitlines()) == 1


def test_cpu_takes_torch_from_the_other_index_and_is_remembered(tmp_path: Path) -> None:
    usual, other = _index(tmp_path / "usual", "0.0.1"), _index(tmp_path / "cpu", "0.0.1+cpu")
    clone = Clone(tmp_path / "my course", "torch==0.0.1\n")
    script = (clone.root / "course.py").read_text()
    (clone.root / "course.py").write_text(script.replace(course.CPU_INDEX, other))
    assert clone.told("lab", PIP_INDEX_URL=usual)["torch"] == "0.0.1"
    told = clone.told("lab", "--cpu", "--no-browser", PIP_INDEX_URL=usual)
    assert told["torch"] == "0.0.1+cpu"
    assert told["arguments"] == ["lab", "--no-browser"]
    with (clone.root / "requirements.txt").open("a") as file:
        file.write("# an update\n")
    assert clone.told("lab", PIP_INDEX_URL=usual)["torch"] == "0.0.1+cpu"


def test_an_old_python_is_told_in_one_sentence(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 10, "final", 0))
    assert course.main(["lab"]) == 1
    said = capsys.readouterr().err
    assert "3.11 or newer" in said
    assert "3.8.10" in said
    assert len(said.strip().splitlines()) == 1


def test_an_old_python_can_read_course_py() -> None:
    tree = ast.parse((REPOSITORY / "course.py").read_text(), feature_version=(3, 4))
    new = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Nonlocal, ast.YieldFrom)
    for node in ast.walk(tree):
        assert not isinstance(node, new), f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
            assert node.returns is None
            assert all(argument.annotation is None for argument in arguments)
            assert not node.args.kwonlyargs
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            assert not any(isinstance(element, ast.Starred) for element in node.elts)
        if isinstance(node, ast.Raise):
            assert node.cause is None, f"line {node.lineno}: raise ... from"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (str(OSError(28, os.strerror(28))), "disk is full"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: No matching distribution found for torch==2.13.0", "another Python"),
        ("urllib3.exceptions.ReadTimeoutError: Read timed out.", "run the same command"),
        (str(PermissionError(13, os.strerror(13))), "may not be written"),
        ("one\nERROR: something new\n", "ERROR: something new"),
    ],
)
def test_what_pip_says_becomes_one_sentence(text: str, word: str) -> None:
    said = course.explain(text)
    assert word in said
    assert "\n" not in said


def test_asking_for_help_sets_nothing_up(clone: Clone) -> None:
    for arguments in ((), ("--help",)):
        code, out, _ = clone.run(*arguments)
        assert code == 0
        assert "lab" in out
    assert not (clone.root / ".venv").exists()


def _index(folder: Path, version: str) -> str:
    """Make a package index that holds an empty torch, and return its URL."""
    wheel = folder / "torch" / f"torch-{version}-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    info = f"torch-{version}.dist-info"
    metadata = ("Metadata-Version: 2.1", "Name: torch", f"Version: {version}")
    tags = ("Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any")
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"{info}/METADATA", "\n".join(metadata))
        file.writestr(f"{info}/WHEEL", "\n".join(tags))
        file.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    link = wheel.name.replace("+", "%2B")
    (wheel.parent / "index.html").write_text(f'<a href="{link}#sha256={digest}">{wheel.name}</a>')
    return folder.as_uri()
