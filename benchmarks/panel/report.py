"""Every method on every problem of the judging half: error, bias, loss, coverage.

    python -m benchmarks.panel.report --data-dir DIR --seeds 0:24 --n-jobs 2
    python -m benchmarks.panel.report --groups "few signals" --families l2

Truth, fits, cross-validation and bootstrap of a run are computed once and kept in
``.cache/panel``; the answers of this package are requested again when it changes.
Writes ``results/panel/panel.csv`` (by group and family) and ``panel_pooled.csv``, one
row per method, and prints the table of README. ``--half choose`` gives the half that
may choose constants (halves.py).

The statistics are those of README: ratios to 5-fold CV of the same Pipeline in the same
run, standard errors by a bootstrap over data sets.
"""

from __future__ import annotations

from itertools import chain, product
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.panel.families import FAMILIES, LINEAR
from benchmarks.panel.halves import HALVES
from benchmarks.panel.judging import POOLED_GROUPS, Z95, ratio, record
from benchmarks.panel.methods import METHODS, timed
from benchmarks.panel.problems import GROUPS
from benchmarks.panel.runs import Key, Run
from benchmarks.tools.runs import CACHE, parser, read, resume
from benchmarks.tools.table import markdown, write_table

POOLED_FAMILIES = {name: (name,) for name in FAMILIES} | {"all": LINEAR}
USUAL = [name for name in METHODS if name != "skauc, three candidates"]
FAST = ("sim Gaussian", "random labels"), ("l2",)


def records(group, family, seed, cache, data_dir, half, methods):
    """One record for each method that answers; none where there is no such run."""
    run, out = Run(Key(group, family, seed, Path(cache), data_dir, half)), []
    if run.problem is None:
        return out
    for name in methods:
        answer, seconds = timed(METHODS[name], run)
        if answer is not None:
            out.append(record(run, name, answer) | {"seconds": seconds})
    return out


def pooled(found):
    """The records of each group and family of the summary."""
    for group, groups in POOLED_GROUPS.items():
        for name, families in POOLED_FAMILIES.items():
            here = found["group"].isin(groups) & found["family"].isin(families)
            if here.any():
                yield {"group": group, "models": name}, found[here]


def by_method(head, found):
    """Ratios to 5-fold CV with standard errors, a row a method."""
    methods = found.groupby("method", sort=False)
    return [head | {"method": name} | summary(part) for name, part in methods]


def summary(found):
    """One method over some runs; those of which it knows nothing are left out."""
    good = found[found["error"].notna()].assign(one=1.0)
    row = {"runs": len(good), "clusters": good["cluster"].nunique()}
    row["MAE"] = good["error"].mean()
    for name, own, peer in (
        ("MAE/CV", "error", "cv error"),
        ("loss/CV", "loss", "cv loss"),
        ("bias", "bias", "one"),
        ("covers", "cover", "one"),
        ("covers at 80 %", "cover80", "one"),
        ("width/CV", "width", "cv width"),
    ):
        row[name], row[f"{name} SE"] = ratio(good[own], good[peer], good["cluster"])
    # root mean squares of the error and of the deviation that the interval states
    stated = np.sqrt(np.mean((good["width"] / 2 / Z95) ** 2))
    made = np.sqrt(max(good["square"].mean(), 0))
    row["error/deviation"] = made / stated if stated > 0 else np.nan
    for name in ("width", "cv width", "cv cover"):
        row[name] = good[name].mean()
    unknown, seconds = found["unknown"].mean(), found["seconds"].median()
    return row | {"unknown": unknown, "ms": 1e3 * seconds}


def for_readme(rows, method):
    """Error and loss over those of 5-fold CV, and coverage: a row for each group."""
    table = {}
    for row in rows:
        if row["method"] == method:
            numbers = (
                f"{row[name]:.2f} ({row[f'{name} SE']:.2f})"
                for name in ("MAE/CV", "loss/CV")
                if np.isfinite(row[name])  # random labels: no choice loses anything
            )
            cell = f"{' / '.join(numbers)}, {row['covers']:.3f}".replace("0.", ".")
            data = table.setdefault(row["group"], {"data": row["group"]})
            data[row["models"]] = cell
    return list(table.values())


def main(argv=None):
    """Run what is missing and write the tables; returns the records."""
    command = parser(__doc__)
    command.add_argument("--groups", nargs="+", default=GROUPS, choices=GROUPS)
    command.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    command.add_argument("--seeds", default="0:24", help="first:last + 1")
    command.add_argument("--methods", nargs="+", default=USUAL, choices=METHODS)
    command.add_argument("--half", default=HALVES[0], choices=HALVES)
    a = read(command, argv, "panel")
    seeds = range(*map(int, ("0:1" if a.fast else a.seeds).split(":")))
    chosen = FAST if a.fast else (a.groups, a.families)
    cache = a.out if a.fast else CACHE
    where = str(cache / "panel"), a.data_dir, a.half, tuple(a.methods)
    jobs = [(*cell, seed, *where) for seed in seeds for cell in product(*chosen)]
    found = pd.DataFrame(chain.from_iterable(resume("panel", records, jobs, a)))
    groups = found.groupby(["group", "family"], sort=False)
    heads = [({"group": g, "family": f}, part) for (g, f), part in groups]
    write_table("panel", [row for of in heads for row in by_method(*of)], a.out)
    rows = [row for of in pooled(found) for row in by_method(*of)]
    write_table("panel_pooled", rows, a.out)
    for method in a.methods:
        if cells_of := method.startswith("skauc") and for_readme(rows, method):
            print(f"\n{method}:\n{markdown(cells_of)}")
    for error in sorted(set(found["raised"].explode().dropna())):
        print(f"raised: {error}")
    return found


if __name__ == "__main__":
    main()
