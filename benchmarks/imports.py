"""What `import utils` costs beside the `import torch` that every lesson needs anyway."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from .measure import Row

REPEATS = 5
MOST_MS = 300
ALL = "from utils import check, leaf_lab, predict, record, show_graph, step_backward, walk"


def rows() -> list[Row]:
    """Start-up of a fresh interpreter, with torch alone and with the course on top."""
    torch, bare, whole = _starts("import torch", "import torch, utils", f"import torch; {ALL}")
    return [
        Row("import utils, over torch", bare - torch, "import torch", torch, most=MOST_MS),
        Row("all that a lesson imports, over torch", whole - torch, "import torch", torch),
    ]


def _starts(*programs: str) -> list[float]:
    """Median time of each program in an interpreter of its own, in ms; they take turns."""
    times: list[list[float]] = [[] for _ in programs]
    for _ in range(REPEATS + 1):
        for program, noted in zip(programs, times, strict=True):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            noted.append(1000 * (time.perf_counter() - start))
    return [statistics.median(noted[1:]) for noted in times]  # the first reads from a cold disk
