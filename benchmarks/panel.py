"""Every method on every problem: error, bias, loss by choice, coverage.

Usage::

    python benchmarks/panel.py --data-dir DIR --seeds 0:24
    python benchmarks/panel.py --groups "few signals" --families l2 kbest --by family

Seeds below 1000 are for development; nothing is chosen on those from 1000 on, they are
for the report. Truth, cross-validation and bootstrap of a run are computed once and
kept in ``.cache/panel``; what this package answers is asked anew when the package
changes. Writes ``panel.csv`` (by ``--by``) and ``panel_pooled.csv``, a row a method.

Everything is relative to 5-fold CV of the same Pipeline in the same run (held-out rows:
to the empirical AUC). Standard errors are those of a bootstrap over clusters: a real
set with all its runs, one simulated problem.

Coverage. The truth of a real set is an estimate with DeLong variance v. An interval
(low, high) around the estimate e holds it if the truth lies within
``e − √((e − low)² + 1.96² v), e + √((high − e)² + 1.96² v)``: right for a normal
posterior, whose error against the hold-out AUC has variance s² + v.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from panel_families import FAMILIES
from panel_methods import METHODS, Z95, cv5, timed
from panel_runs import Key, build, cells, load_run
from paper_runs import CACHE, parser, read, resume
from problems import GROUPS
from results_table import write_table

BOOTSTRAPS = 1000
POOLED_GROUPS = {
    "simulated": GROUPS[:2],
    "few signals": GROUPS[2:3],
    "real P < n": GROUPS[3:5],
    "real P >= n": GROUPS[5:7],
    "random labels": GROUPS[7:8],
    "held-out rows": GROUPS[8:9],
}
POOLED_FAMILIES = {
    "l2": ("l2",),
    "l1, hinge": ("l1", "hinge"),
    "kbest": ("kbest",),
    "pca": ("pca",),
    "lda_auto": ("lda_auto",),
}
FAST = {"groups": ("sim Gaussian", "random labels"), "families": ("l2",)}


def records(group, family, seed, cache, data_dir, methods=tuple(METHODS)):
    """One record for each method that answers; None where there is no such run."""
    key = Key(group, family, seed, Path(cache), Path(data_dir) if data_dir else None)
    if not key.path.exists() and not build(key):
        return None
    run, out = load_run(key), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence and distrust are the subject
        for name in methods:
            answer, seconds = timed(METHODS[name], run)
            if answer is not None:
                out.append(record(run, name, answer) | {"seconds": seconds})
    return out


def record(run, name, answer):
    """What a method's answer to a run is worth."""
    truth, known = run.truth, np.isfinite(answer.auc)
    peer = cv5(run).auc
    score = answer.auc if answer.score is None else answer.score
    chosen = np.argmax(np.where(np.isfinite(score), score, -np.inf))
    cover = np.nan
    if answer.low is not None and known.any():
        cover = covered(truth, run.truth_variance, answer)[known].mean()
    error = np.abs(answer.auc - truth)[known]
    return {
        "group": run.group,
        "family": run.key.family,
        "regime": "P >= n" if run.meta["P"] >= run.meta["n"] else "P < n",
        "cluster": run.meta["design"].get("set", f"{run.group} {run.key.seed}"),
        "method": name,
        "error": float(error.mean()) if len(error) else np.nan,
        "bias": float((answer.auc - truth)[known].mean()) if len(error) else np.nan,
        "cv error": float(np.abs(peer - truth).mean()),
        "loss": float(truth.max() - truth[chosen]),
        "cv loss": float(truth.max() - truth[np.argmax(peer)]),
        "cover": float(cover),
        "unknown": float(1 - known.mean()),
    }


def covered(truth, variance, answer):
    """Whether each interval holds the truth, which is known up to a variance."""
    low = answer.auc - np.hypot(answer.auc - answer.low, Z95 * np.sqrt(variance))
    high = answer.auc + np.hypot(answer.high - answer.auc, Z95 * np.sqrt(variance))
    return (low <= truth) & (truth <= high)


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


def ratio(values, peer, cluster):
    """Ratio of two sums, and its standard error by a bootstrap over clusters."""
    values, peer = np.asarray(values, float), np.asarray(peer, float)
    if not len(values) or not peer.sum() > 1e-9 or not np.isfinite(values).all():
        return np.nan, np.nan
    _, which = np.unique(cluster, return_inverse=True)
    top, bottom = np.bincount(which, values), np.bincount(which, peer)
    value = top.sum() / bottom.sum()
    if len(top) < 3:
        return value, np.nan
    rng = np.random.default_rng(0)
    count = rng.multinomial(len(top), np.full(len(top), 1 / len(top)), BOOTSTRAPS)
    below = count @ bottom
    again = (count @ top)[below > 1e-9] / below[below > 1e-9]
    low, high = np.quantile(again, (0.16, 0.84))  # losses are often nought: robust
    return value, (high - low) / 2


def main(argv=None):
    """Run what is missing and write the tables."""
    command = parser(__doc__)
    command.add_argument("--groups", nargs="+", default=GROUPS, choices=GROUPS)
    command.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    command.add_argument("--seeds", default="0:24", help="first:last + 1")
    command.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    columns = ("group", "family", "regime", "cluster")
    command.add_argument("--by", nargs="+", default=columns[:2], choices=columns)
    a = read(command, argv)
    seeds = range(*map(int, ("0:1" if a.fast else a.seeds).split(":")))
    chosen = FAST if a.fast else {"groups": a.groups, "families": a.families}
    cache = a.out if a.fast else CACHE
    where = (str(cache / "panel"), str(a.data_dir) if a.data_dir else None)
    where = (*where, tuple(a.methods))
    jobs = [(*cell, seed, *where) for cell in cells(**chosen) for seed in seeds]
    found = [r for part in resume("panel", records, jobs, a) for r in part or ()]
    write_table("panel", table(found, a.by), a.out)
    write_table("panel_pooled", pooled(found), a.out)


if __name__ == "__main__":
    main()
