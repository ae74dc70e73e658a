"""What it costs to compare every stored output, beside running the same notebooks only."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

from utils.execute import execute, steady_environment
from utils.notebooks import read
from utils.syllabus import ROOT, lessons

from .measure import Row

REPEATS = 3


def rows() -> list[Row]:
    """nbval, strict, over the first three lessons, against nbclient over the same."""
    paths = [lesson.notebook for lesson in lessons()[:3]]
    with tempfile.TemporaryDirectory() as private:
        environment = steady_environment(private)
        command = [sys.executable, "-m", "pytest", "-q", "--nbval", "-p", "no:cacheprovider"]
        command += ["--nbval-sanitize-with", str(ROOT / "utils" / "sanitize.cfg"), *map(str, paths)]
        checked, plain = [], []
        for _ in range(REPEATS):  # they take turns, so that a slow moment falls on both
            start = time.perf_counter()
            subprocess.run(
                command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL
            )
            middle = time.perf_counter()
            for path in paths:
                execute(read(path), path)
            checked.append(middle - start)
            plain.append(time.perf_counter() - middle)
    return [
        Row(
            f"nbval, strict, {len(paths)} lessons",
            statistics.median(checked),
            "plain execution",
            statistics.median(plain),
            unit="s",
        )
    ]
