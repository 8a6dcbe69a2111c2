"""What does a choice by each score cost? Loss of true AUC by choosing with it.

Usage: ``python benchmarks/selection.py --data-dir DIR``: reads (or runs) the panel of
``panel.py``; writes ``results/selection.csv`` and ``results/selection.png``. The loss
of a run is the best true AUC among its nine candidates minus that of the chosen one,
averaged over ties.
"""

from __future__ import annotations

import numpy as np
from accuracy import PEER, draw, estimators, groups
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


if __name__ == "__main__":
    selection = table(load(parse_args(__doc__)))
    write_table("selection", selection)
    draw(selection, "score", "loss / 5-fold CV", BARS, RESULTS / "selection.png")
