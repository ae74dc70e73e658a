"""The command line of the course: ``python -m utils VERB``; ``course.py`` makes .venv first."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from utils import work
from utils.syllabus import ROOT


def lab(arguments: list[str]) -> int:
    """Lay out the learner's copies of the exercises and open the course in JupyterLab."""
    new = work.fill()
    if new:
        print(f"Your copies of the exercises are in work{os.sep}: {len(new)} new.", flush=True)
    from jupyterlab.labapp import main as jupyterlab

    jupyterlab(
        [
            f"--ServerApp.root_dir={ROOT}",
            "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
            f"--LabApp.app_settings_dir={ROOT / 'utils' / 'lab_settings'}",
            *arguments,
        ]
    )
    return 0


def reset(arguments: list[str]) -> int:
    """Start an exercise notebook again; the old one is kept beside it."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: course.py reset NAME   (for example 01)", file=sys.stderr)
        return 2
    try:
        fresh, kept = work.reset(arguments[0])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{fresh.relative_to(ROOT)} is new again.")
    if kept:
        print(f"What you had is in {kept.relative_to(ROOT)}.")
    return 0


def test(arguments: list[str]) -> int:
    """Run what CI runs: every test, and every stored output against a fresh run of its cell."""
    from utils.execute import steady_environment

    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "--nbval"]
    # In the order of collection, so that the browser, the longest, starts first.
    command += ["--no-loadscope-reorder"]
    command += ["--nbval-sanitize-with", str(ROOT / "utils" / "sanitize.cfg")]
    with tempfile.TemporaryDirectory() as private:
        return subprocess.call(
            [*command, "tests", "notebooks", "solutions", *arguments],
            cwd=ROOT,
            env=steady_environment(private),
        )


def build(arguments: list[str]) -> int:
    """Execute the notebooks and generate exercises/ from solutions/."""
    from utils.build import main as build_main

    return build_main(arguments)


def bench(arguments: list[str]) -> int:
    """Measure the course beside its peers; the names of benchmarks choose some of them."""
    return subprocess.call([sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT)


VERBS: dict[str, Callable[[list[str]], int]] = {
    "lab": lab,
    "reset": reset,
    "test": test,
    "build": build,
    "bench": bench,
}


def main(arguments: list[str]) -> int:
    """Run the verb that comes first in ``arguments`` and return the exit code."""
    if not arguments or arguments[0] not in VERBS:
        asked = f"{arguments[0]!r} is not a verb of the course. " if arguments else ""
        print(f"{asked}There are:", file=sys.stderr)
        for name, verb in VERBS.items():
            print(f"  {name:6} {verb.__doc__}", file=sys.stderr)
        return 2
    return VERBS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
