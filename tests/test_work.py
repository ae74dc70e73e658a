"""A learner's answers are never lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from utils import work

NAME = "01_requires_grad"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (NAME, "02_grad_fn"):
        folder = tmp_path / "exercises" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.ipynb").write_text(f"new {name}")
    return tmp_path


def test_copies_what_is_not_there_in_the_same_layout(root: Path) -> None:
    copied = root / "work" / NAME / f"{NAME}.ipynb"
    assert copied in work.fill(root)
    assert copied.read_text() == f"new {NAME}"
    assert work.fill(root) == []


def test_never_overwrites_an_answer(root: Path) -> None:
    work.fill(root)
    answer = root / "work" / NAME / f"{NAME}.ipynb"
    answer.write_text("mine")
    (root / "exercises" / NAME / f"{NAME}.ipynb").write_text("an update")
    (root / "exercises" / "03_new").mkdir()
    (root / "exercises" / "03_new" / "03_new.ipynb").write_text("new lesson")
    assert [path.stem for path in work.fill(root)] == ["03_new"]
    assert answer.read_text() == "mine"


def test_leaves_no_half_copy_behind(root: Path, monkeypatch) -> None:
    def full(source: Path, target: Path) -> None:
        Path(target).write_text("ne")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="space"):
        patch.setattr("shutil.copyfile", full)
        work.fill(root)
    assert not (root / "work" / NAME / f"{NAME}.ipynb").exists()
    work.fill(root)
    assert (root / "work" / NAME / f"{NAME}.ipynb").read_text() == f"new {NAME}"
    assert not list((root / "work").rglob("*.partial"))


@pytest.mark.parametrize("name", ["1", "01", NAME, "requires_grad", f"work/{NAME}/{NAME}.ipynb"])
def test_reset_keeps_each_old_one_beside_the_new(root: Path, name: str) -> None:
    work.fill(root)
    answer = root / "work" / NAME / f"{NAME}.ipynb"
    kept = []
    for text in ("first try", "second try"):
        answer.write_text(text)
        fresh, old = work.reset(name, root)
        assert fresh == answer
        kept.append(old)
        assert answer.read_text() == f"new {NAME}"
    assert [path.read_text() for path in kept] == ["first try", "second try"]
    assert {path.parent for path in kept} == {answer.parent}


def test_reset_makes_a_missing_copy(root: Path) -> None:
    fresh, old = work.reset("2", root)
    assert old is None
    assert fresh.read_text() == "new 02_grad_fn"


def test_reset_of_something_unknown_lists_what_there_is(root: Path) -> None:
    with pytest.raises(ValueError, match=f"'07'.*{NAME}, 02_grad_fn"):
        work.reset("07", root)
