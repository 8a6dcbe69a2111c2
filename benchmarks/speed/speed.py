"""How long it takes: ratios to named peers of the same run.

Usage: ``python -m benchmarks.speed.speed`` (all; ten minutes of one core), or with the
names of groups: ``scorers searches text estimators intervals`` (``headline``:
the default prior's part of ``searches``). ``--fast`` takes few and small rows. Writes a
table ``results/speed/<group>.csv`` each.

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

from benchmarks.speed.ratios import GROUPS
from benchmarks.tools.table import RESULTS, write_table


def main(arguments=None):
    """Run the groups that are requested and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help=", ".join(GROUPS))
    parser.add_argument("--fast", action="store_true", help="few and small rows")
    parser.add_argument("--out", type=Path, default=RESULTS / "speed", help="directory")
    arguments = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # noise is timed, which is no model to be trusted
    for name in arguments.groups or [name for name in GROUPS if name != "headline"]:
        if name not in GROUPS:
            parser.error(f"groups must be among {[*GROUPS]}, got {name!r}")
        rows = [case.row() for case in GROUPS[name](arguments.fast)]
        write_table(name, rows, arguments.out)


if __name__ == "__main__":
    main()
