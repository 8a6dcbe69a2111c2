"""How long it takes: ratios to named peers of the same run, and how cost grows.

Usage: ``python benchmarks/speed.py`` (all; about ten minutes of one core), or with the
names of groups: ``scorers searches text estimators intervals imports growth``.
``--fast`` takes few and small rows, ``--out`` another directory. Writes a table
``results/speed_<group>.csv`` each and ``results/speed_growth.png``.

Times are processor seconds of one thread, the smallest of several runs in which the two
sides take turns: a busy machine troubles both alike. A ratio below 1 means that skauc
is faster. Memory is the peak of new allocations (tracemalloc).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one thread is one clock

import argparse
import warnings
from pathlib import Path

from results_table import RESULTS, write_table
from speed_growth import draw, growth_rows
from speed_ratios import GROUPS


def main(arguments=None):
    """Run the groups that are asked for and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help=", ".join([*GROUPS, "growth"]))
    parser.add_argument("--fast", action="store_true", help="few and small rows")
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory")
    arguments = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # noise is timed, which is no model to be trusted
    known = [*GROUPS, "growth"]
    for name in arguments.groups or known:
        if name not in known:
            parser.error(f"groups must be among {known}, got {name!r}")
        if name == "growth":
            rows, points = growth_rows(arguments.fast)
            draw(points, arguments.out / "speed_growth.png")
        else:
            rows = [case.row() for case in GROUPS[name](arguments.fast)]
        write_table(f"speed_{name}", rows, arguments.out)


if __name__ == "__main__":
    main()
