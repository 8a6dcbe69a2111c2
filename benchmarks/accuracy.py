"""How far is each estimate from the truth? Error, bias, coverage, seconds by group.

Usage: ``python benchmarks/accuracy.py --data-dir DIR``: reads (or runs) the panel of
``panel.py``; writes ``results/accuracy.csv``, ``results/coverage_by_cell.csv`` and
``results/accuracy.png``. The truth of a simulated Gaussian problem is exact; that of a
real set is the AUC on its held-out rows.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from panel import ADAPTIVE, CHOICE, load, parse_args, ratio_to
from problems import GROUPS
from results_table import RESULTS, write_picture, write_table

PEER = "5-fold CV"
BARS = {
    "sim Gaussian": 0.70,
    "sim other": 0.75,
    "real P < n": 0.80,
    "real P >= n": 0.90,
}


def groups(results):
    """Runs by group, with the two groups of P ≥ n also together."""
    out = {group: [r for r in results if r["group"] == group] for group in GROUPS}
    out["real P >= n"] = out["real P ~ n"] + out["real P >> n"]
    return {name: runs for name, runs in out.items() if runs}


def estimators(results):
    """Names of the estimates, ours first."""
    return [name for name in results[0]["auc"] if name != CHOICE]


def errors(runs, name):
    """Mean absolute error and bias over the candidates, one value a run."""
    gaps = [run["auc"][name] - run["truth"] for run in runs]
    known = [gap[np.isfinite(gap)] for gap in gaps]
    absolute = [np.abs(gap).mean() if len(gap) else np.nan for gap in known]
    return np.array(absolute), np.array(
        [gap.mean() if len(gap) else np.nan for gap in known]
    )


def coverage(runs):
    """Share of candidates whose 95 % interval holds the truth, one value a run."""
    shares = []
    for run in runs:
        low, high = np.transpose(run["interval"])
        shares.append(np.mean((low <= run["truth"]) & (run["truth"] <= high)))
    return np.array(shares)


def table(results):
    """One row for each group and estimator."""
    rows = []
    for group, runs in groups(results).items():
        peer, _ = errors(runs, PEER)
        for name in estimators(results):
            absolute, bias = errors(runs, name)
            ok = np.isfinite(absolute)
            ratio, se = ratio_to(absolute[ok], peer[ok])
            row = {
                "group": group,
                "estimator": name,
                "runs": int(ok.sum()),
                "MAE": absolute[ok].mean(),
                "MAE SE": absolute[ok].std(ddof=1) / np.sqrt(ok.sum()),
                "MAE / 5-fold CV": ratio,
                "ratio SE": se,
                "bias": bias[ok].mean(),
                "coverage": coverage(runs).mean() if name == ADAPTIVE else "",
                "seconds": np.median([run["seconds"][name] for run in runs]),
            }
            rows.append(row)
    return rows


def coverage_table(results):
    """Coverage of the 95 % interval in every simulated cell, one factor at a time."""
    rows = []
    simulated = [run for run in results if run["group"].startswith("sim")]
    for factor in simulated[0]["design"] if simulated else ():
        for level in sorted({run["design"][factor] for run in simulated}):
            for group in GROUPS[:2]:
                runs = [
                    run
                    for run in simulated
                    if run["design"][factor] == level and run["group"] == group
                ]
                if len(runs) > 1:
                    share = coverage(runs)
                    rows.append(
                        {
                            "group": group,
                            "factor": factor,
                            "level": level,
                            "runs": len(runs),
                            "coverage": share.mean(),
                            "SE": share.std(ddof=1) / np.sqrt(len(runs)),
                        }
                    )
    return rows


def draw(rows, name, value, bars, path):
    """Bars of a ratio to 5-fold CV, a panel a group, with the group's target."""
    names = list(dict.fromkeys(row["group"] for row in rows))
    figure, axes = plt.subplots(
        1,
        len(names),
        figsize=(3.1 * len(names), 4.2),
        sharey=True,
        layout="constrained",
    )
    for ax, group in zip(np.atleast_1d(axes), names, strict=True):
        part = [row for row in rows if row["group"] == group][::-1]
        ours = [row[name].startswith("adaptive") for row in part]
        ax.barh(
            [row[name] for row in part],
            [row[value] for row in part],
            xerr=[row["ratio SE"] for row in part],
            color=["#0072B2" if flag else "#999999" for flag in ours],
        )
        ax.axvline(1, color="k", lw=1)
        if group in bars:
            ax.axvline(bars[group], color="#D55E00", ls="--", lw=1)
        ax.set(title=group, xlabel=value, xlim=(0, 2.5))
    write_picture(figure, path, dpi=110)


if __name__ == "__main__":
    panel = load(parse_args(__doc__))
    accuracy = table(panel)
    write_table("accuracy", accuracy)
    write_table("coverage_by_cell", coverage_table(panel))
    draw(accuracy, "estimator", "MAE / 5-fold CV", BARS, RESULTS / "accuracy.png")
