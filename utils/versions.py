"""Says in words whether this machine has what the course was checked with."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
LOOKED_AT = ("torch", "ipywidgets", "jupyterlab", "matplotlib")


def environment() -> None:
    """Prints one line for Python and one for each package that a lesson leans on.

    A line begins with "Good" or with "Look"; the latter says what to do.
    """
    if tuple(sys.version_info) >= OLDEST:
        print("Good: Python is {}.{} or newer.".format(*OLDEST))
    else:
        print("Look: Python is {}.{}; the course needs a newer one.".format(*sys.version_info))
    pins = pinned()
    for name in LOOKED_AT:
        print(line(name, pins[name], installed(name)))


def line(name: str, wanted: str, found: str | None) -> str:
    """What to say about one package."""
    if found is None:
        return f"Look: {name} is missing. Run `pip install -r requirements.txt`."
    if found.partition("+")[0] != wanted:  # a build's tag, such as +cpu, makes no difference
        return (
            f"Look: {name} is {found}; the course was checked with {wanted}. "
            "Most things will work, but pictures and messages may differ."
        )
    return f"Good: {name} is {wanted}, as the course was checked with."


def installed(name: str) -> str | None:
    """The version that is installed; None if it is not."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def pinned() -> dict[str, str]:
    """Package name -> version, as requirements.txt has them."""
    text = (COURSE / "requirements.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.MULTILINE))
