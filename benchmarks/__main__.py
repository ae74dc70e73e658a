"""Runs every benchmark and prints one table.

    python -m benchmarks            all of them
    python -m benchmarks graph      some of them

Exits with 1 when a bar is missed. A benchmark whose peer is not installed is skipped with a word:
`pip install -r benchmarks/requirements.txt` brings the peers.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys

import torch

from .measure import Row, table

MODULES = (
    "graph",
    "layout",
    "stepper",
    "cut",
    "hooks",
    "microscope",
    "widgets",
    "imports",
    "notebooks",
)
OURS = ("benchmarks", "tests", "utils")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named in `arguments` (all when there are none); the exit code."""
    present = [name for name in MODULES if importlib.util.find_spec(f"{__package__}.{name}")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(present)}")
    names = parser.parse_args(arguments).names or present
    unknown = [name for name in names if name not in present]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}: choose from {', '.join(present)}")

    torch.set_num_threads(1)  # a second thread helps neither side, and adds noise
    rows: list[Row] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            rows += importlib.import_module(f"{__package__}.{name}").rows()
        except ModuleNotFoundError as missing:
            if missing.name and missing.name.partition(".")[0] in OURS:
                raise  # no peer, but a mistake of ours
            print(f"{name}: skipped, for {missing.name} is not installed; see --help.")
    print(table(rows))
    missed = [row.what for row in rows if row.ok is False]
    if missed:
        print(f"\n{len(missed)} of {len(rows)} missed their bar: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
