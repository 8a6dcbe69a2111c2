"""What does a choice by each score cost? Loss of true AUC by choosing with it.

Usage: ``python benchmarks/selection.py --data-dir DIR``: reads (or runs) the panel of
``panel.py``; writes ``results/selection.csv`` and ``results/selection.png``. The loss
of a run is the best true AUC among its nine candidates minus that of the chosen one,
averaged over ties.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from accuracy import PEER, estimators, groups
from panel import ADAPTIVE, CHOICE, load, parse_args, ratio_to
from results_table import RESULTS, write_table

BARS = {
    "sim Gaussian": 0.60,
    "sim other": 0.75,
    "real P < n": 0.72,
    "real P >= n": 0.82,
}


def losses(runs, name):
    """Loss of every run; NaN where the estimator knows none of the candidates."""
    key = CHOICE if name == ADAPTIVE else name
    out = []
    for run in runs:
        score, truth = run["auc"][key], run["truth"]
        if np.isnan(score).all():
            out.append(np.nan)
            continue
        best = np.nan_to_num(score, nan=-np.inf)
        out.append(truth.max() - truth[best >= best.max() - 1e-12].mean())
    return np.array(out)


def table(results):
    """One row for each group and score."""
    rows = []
    for group, runs in groups(results).items():
        peer = losses(runs, PEER)
        for name in estimators(results):
            loss = losses(runs, name)
            ok = np.isfinite(loss)
            ratio, se = ratio_to(loss[ok], peer[ok])
            rows.append(
                {
                    "group": group,
                    "score": name,
                    "runs": int(ok.sum()),
                    "loss": loss[ok].mean(),
                    "loss SE": loss[ok].std(ddof=1) / np.sqrt(ok.sum()),
                    "loss / 5-fold CV": ratio,
                    "ratio SE": se,
                    "seconds": np.median([run["seconds"][name] for run in runs]),
                }
            )
    return rows


def draw(rows):
    """Bars of the loss ratio, a panel a group."""
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
        ours = [row["score"].startswith("adaptive") for row in part]
        ax.barh(
            [row["score"] for row in part],
            [row["loss / 5-fold CV"] for row in part],
            xerr=[row["ratio SE"] for row in part],
            color=["#0072B2" if flag else "#999999" for flag in ours],
        )
        ax.axvline(1, color="k", lw=1)
        if group in BARS:
            ax.axvline(BARS[group], color="#D55E00", ls="--", lw=1)
        ax.set(title=group, xlabel="loss / loss of 5-fold CV", xlim=(0, 2.5))
    figure.savefig(RESULTS / "selection.png", dpi=110)


if __name__ == "__main__":
    selection = table(load(parse_args(__doc__)))
    write_table("selection", selection)
    draw(selection)
