"""Progress: a small file that survives crashes, damage and folders that cannot be written."""

from __future__ import annotations

import json
import os

import pytest

from utils.checks import progress


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(progress, "_kernel", {})
    file = tmp_path / "progress.json"
    monkeypatch.setenv("AUTOGRAD_PROGRESS", str(file))
    return file


def test_nothing_is_known_at_first(file) -> None:
    assert progress.load() == {}
    assert not file.exists()


def test_notes_add_up_in_the_file(file) -> None:
    progress.note("one", outcome="not yet", mistake="none", tries=1)
    progress.note("two", hints=2)
    progress.note("one", tries=2)
    assert json.loads(file.read_text())["one"] == {
        "outcome": "not yet",
        "mistake": "none",
        "tries": 2,
        "hints": 0,
        "told": [],
    }
    assert progress.load()["two"]["hints"] == 2
    assert [p.name for p in file.parent.iterdir()] == [file.name]


def test_right_stays_right(file) -> None:
    progress.note("one", outcome="right", tries=1)
    progress.note("one", outcome="not yet", mistake="none", tries=2)
    assert progress.load()["one"]["outcome"] == "right"
    assert progress.load()["one"]["tries"] == 2


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"one": 3}', "\udcff"])
def test_a_damaged_file_is_set_aside(file, damage: str) -> None:
    content = damage.encode("utf-8", "surrogateescape")
    file.write_bytes(content)
    assert progress.load() == {}
    assert file.with_suffix(".damaged.json").read_bytes() == content
    progress.note("one", tries=1)
    assert progress.load()["one"]["tries"] == 1


def test_an_entry_with_missing_keys_is_filled_up(file) -> None:
    file.write_text('{"one": {"tries": 4}}')
    progress.note("one", hints=1)
    assert progress.load()["one"] == {
        "outcome": "",
        "mistake": "",
        "tries": 4,
        "hints": 1,
        "told": [],
    }


def test_a_crash_while_writing_leaves_the_old_file_whole(file, monkeypatch) -> None:
    progress.note("one", tries=1)
    old = file.read_bytes()

    def fails(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        progress.note("one", tries=2)
    assert file.read_bytes() == old


def test_a_folder_that_cannot_be_written_costs_only_the_memory(file, monkeypatch) -> None:
    monkeypatch.setenv("AUTOGRAD_PROGRESS", str(file.parent / "missing" / "progress.json"))
    progress.note("one", outcome="right", tries=1)
    assert progress.load()["one"]["outcome"] == "right"


@pytest.mark.parametrize(
    ("name", "value"), [("AUTOGRAD_PROGRESS", "off"), ("NBGRADER_EXECUTION", "autograde")]
)
def test_off_means_no_file_but_the_kernel_remembers(file, monkeypatch, name, value) -> None:
    monkeypatch.setenv(name, value)
    assert progress.path() is None
    progress.note("one", tries=3)
    assert progress.load()["one"]["tries"] == 3
    assert not file.exists()


def test_the_file_lies_beside_the_course_by_default(monkeypatch) -> None:
    monkeypatch.delenv("AUTOGRAD_PROGRESS", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert progress.path() == progress.COURSE / ".progress.json"
    assert (progress.COURSE / "utils" / "checks").is_dir()
