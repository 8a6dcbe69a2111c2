"""Every method on every problem of the judging half: error, bias, loss, coverage.

    python -m benchmarks.panel.report --data-dir DIR --seeds 0:24
    python -m benchmarks.panel.report --groups "few signals" --families l2 --by family

Truth, fits, cross-validation and bootstrap of a run are computed once and kept in
``.cache/panel``; the answers of this package are requested again when it changes.
Writes ``results/panel/panel.csv`` (by ``--by``) and ``panel_pooled.csv``, one row per
method, and prints the table of README. ``--half choose`` gives the half that may choose
constants (halves.py).

Everything is relative to 5-fold CV of the same Pipeline in the same run (held-out rows:
to the empirical AUC). Standard errors are those of a bootstrap over data sets: a real
set with all its runs, or one simulated design.

Coverage. The truth of a real set is an estimate with DeLong variance v. An interval
(low, high) around the estimate e covers it if the truth lies within
``e − √((e − low)² + 1.96² v), e + √((high − e)² + 1.96² v)``: right for a normal
posterior, whose error against the hold-out AUC has variance s² + v.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from benchmarks.panel.families import FAMILIES
from benchmarks.panel.halves import HALVES
from benchmarks.panel.judging import POOLED_GROUPS, ratio, record
from benchmarks.panel.methods import METHODS, timed
from benchmarks.panel.problems import GROUPS
from benchmarks.panel.runs import Key, Run, cells
from benchmarks.tools.runs import CACHE, parser, read, resume
from benchmarks.tools.table import markdown, write_table

POOLED_FAMILIES = {name: (name,) for name in FAMILIES} | {"all": FAMILIES}
FAST = {"groups": ("sim Gaussian", "random labels"), "families": ("l2",)}


def records(group, family, seed, cache, data_dir, half, methods=tuple(METHODS)):
    """One record for each method that answers; None where there is no such run."""
    data_dir = Path(data_dir) if data_dir else None
    run, out = Run(Key(group, family, seed, Path(cache), data_dir, half)), []
    if run.problem is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence and distrust are the subject
        for name in methods:
            answer, seconds = timed(METHODS[name], run)
            if answer is not None:
                out.append(record(run, name, answer) | {"seconds": seconds})
    return out


def table(found, by):
    """One row for each group (values of the columns ``by``) and method."""
    rows = []
    for part in dict.fromkeys(tuple(r[b] for b in by) for r in found):
        here = [r for r in found if tuple(r[b] for b in by) == part]
        head = dict(zip(by, part, strict=True))
        rows += [head | row for row in by_method(here)]
    return rows


def pooled(found):
    """The same by the groups and families of the summary."""
    rows = []
    for group, groups in POOLED_GROUPS.items():
        for name, families in POOLED_FAMILIES.items():
            here = [
                r for r in found if r["group"] in groups and r["family"] in families
            ]
            rows += [{"group": group, "models": name} | row for row in by_method(here)]
    return rows


def for_readme(rows, method="skauc"):
    """Error and loss over those of 5-fold CV, and coverage: a row for each group."""
    cells = {(r["group"], r["models"]): r for r in rows if r["method"] == method}

    def text(row):
        numbers = [
            f"{row[k]:.2f} ({row[f'{k} SE']:.2f})" for k in ("MAE/CV", "loss/CV")
        ]
        return f"{' / '.join(numbers)}, {row['covers']:.3f}"

    return [
        {"data": group}
        | {m: text(cells[group, m]) for m in POOLED_FAMILIES if (group, m) in cells}
        for group in dict.fromkeys(group for group, _ in cells)
    ]


def by_method(found):
    """Ratios to 5-fold CV with standard errors, a row a method."""
    names = dict.fromkeys(r["method"] for r in found)
    return [summary(name, [r for r in found if r["method"] == name]) for name in names]


def summary(name, found):
    """One method over some runs; those of which it knows nothing are left out."""
    good = [r for r in found if np.isfinite(r["error"])]
    cluster, one = [r["cluster"] for r in good], np.ones(len(good))

    def column(what):
        return np.array([r[what] for r in good], dtype=float)

    row = {"method": name, "runs": len(good), "clusters": len(set(cluster))}
    row["MAE"] = column("error").mean() if good else np.nan
    for what, values, peer in (
        ("MAE/CV", column("error"), column("cv error")),
        ("loss/CV", column("loss"), column("cv loss")),
        ("bias", column("bias"), one),
        ("covers", column("cover"), one),
    ):
        row[what], row[f"{what} SE"] = ratio(values, peer, cluster)
    row["unknown"] = np.mean([r["unknown"] for r in found])
    row["ms"] = 1e3 * np.median([r["seconds"] for r in found])
    return row


def main(argv=None):
    """Run what is missing and write the tables."""
    command = parser(__doc__)
    command.add_argument("--groups", nargs="+", default=GROUPS, choices=GROUPS)
    command.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    command.add_argument("--seeds", default="0:24", help="first:last + 1")
    command.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    command.add_argument("--half", default=HALVES[0], choices=HALVES)
    columns = ("group", "family", "cluster")
    command.add_argument("--by", nargs="+", default=columns[:2], choices=columns)
    a = read(command, argv, "panel")
    seeds = range(*map(int, ("0:1" if a.fast else a.seeds).split(":")))
    chosen = FAST if a.fast else {"groups": a.groups, "families": a.families}
    cache = a.out if a.fast else CACHE
    where = (str(cache / "panel"), str(a.data_dir) if a.data_dir else None)
    where = (*where, a.half, tuple(a.methods))
    jobs = [(*cell, seed, *where) for cell in cells(**chosen) for seed in seeds]
    found = [r for part in resume("panel", records, jobs, a) for r in part or ()]
    write_table("panel", table(found, a.by), a.out)
    rows = pooled(found)
    write_table("panel_pooled", rows, a.out)
    print(markdown(for_readme(rows)))


if __name__ == "__main__":
    main()
