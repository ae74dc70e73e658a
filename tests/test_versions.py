"""What 00 says about the machine."""

from utils.versions import environment, installed, line, pinned


def test_says_what_is_installed(capsys) -> None:
    environment()
    lines = capsys.readouterr().out.splitlines()
    assert [row.split(":")[0] in ("Good", "Look") for row in lines] == [True] * 5
    assert any(pinned()["torch"] in row for row in lines)


def test_a_build_tag_makes_no_difference() -> None:
    assert line("torch", "2.13.0", "2.13.0+cpu").startswith("Good")


def test_another_version_is_named_with_what_to_expect() -> None:
    said = line("torch", "2.13.0", "2.14.1")
    assert said.startswith("Look")
    assert "2.14.1" in said
    assert "2.13.0" in said


def test_a_missing_package_comes_with_the_repair() -> None:
    assert installed("no-such-package-of-ours") is None
    assert "pip install" in line("torch", "2.13.0", None)
