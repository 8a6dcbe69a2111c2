"""Cortes & Mohri's Table 1 from data: what scores say of the AUC, and errors alone.

Used by ``paper_auc_intervals.py``. AdaBoost with 100 rounds of stumps; the scores are
those of hold-outs as large as the paper's samples (N rows in Table 1; 50 splits, the
other rows train), and of 10-fold cross-validation over all rows.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from paper_runs import resume
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
)

from skauc import auc_estimate, cortes_mohri_moments

LEVEL = 0.95
BLUE, ORANGE = "#0072B2", "#D55E00"
# Table 1 as printed: N, share f of class n, error rate e, AUC; yeast is not at hand
PRINTED = {
    "pima": (368, 0.63, 0.24, 0.70),
    "credit_crx": (303, 0.54, 0.13, 0.87),
    "internet_ads": (1159, 0.17, 0.05, 0.85),
    "page_blocks": (2473, 0.10, 0.03, 0.84),
    "ionosphere": (201, 0.37, 0.13, 0.85),
}


def run(name, directory, rounds, splits):
    """Hold-outs of the paper's size, and 10-fold CV: rows of numbers for each."""
    with np.load(f"{directory}/{name}.npz") as data:
        X, y = data["X"], data["y"].astype(bool)
    N, f, *_ = PRINTED[name]
    # class n of the paper is the one whose share is nearer to its f
    n_is_positive = bool(abs(y.mean() - f) < abs(1 - y.mean() - f))
    model = AdaBoostClassifier(n_estimators=rounds, random_state=0)
    held_out = []
    splitter = StratifiedShuffleSplit(splits, test_size=N, random_state=0)
    for train, test in splitter.split(X, y):
        score = model.fit(X[train], y[train]).decision_function(X[test])
        held_out.append(describe(y[test], score, n_is_positive))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    score = cross_val_predict(model, X, y, cv=folds, method="decision_function")
    return {"hold-out": held_out, "10-fold CV": [describe(y, score, n_is_positive)]}


def describe(y, score, n_is_positive):
    """What the scores say of the AUC, and what the number of errors alone says."""
    k = int(((score > 0) != y).sum())
    estimate = auc_estimate(y == n_is_positive, score if n_is_positive else -score)
    m, n = int(estimate.n_neg), int(estimate.n_pos)
    mean, variance = cortes_mohri_moments(m, n, k)
    low, high = estimate.confidence_interval(LEVEL)
    delong = estimate.confidence_interval(LEVEL, method="delong")
    errors = estimate.confidence_interval(LEVEL, method="cortes_mohri", n_errors=k)
    return {
        "N": m + n,
        "n": n,
        "k": k,
        "error": k / (m + n),
        "AUC": float(estimate.auc),
        "low": low,
        "high": high,
        "DeLong low": delong.low,
        "DeLong high": delong.high,
        "AUC of labels": float(roc_auc_score(y, score > 0)),
        "E[A_k]": float(mean),
        "CM low": errors.low,
        "CM high": errors.high,
        "DeLong σ": estimate.standard_error("delong"),
        "σ(A_k)": float(np.sqrt(variance)),
        "adaptive σ": float(np.sqrt(1 - LEVEL) * (errors.high - errors.low) / 2),
        "Hanley σ": estimate.standard_error("hanley_mcneil"),
        "maximal σ": estimate.standard_error("max_variance"),
        "E[A_k] in interval": float(low <= mean <= high),
        "AUC in CM interval": float(errors.low <= estimate.auc <= errors.high),
    }


def table_from_data(arguments):
    """Means over the hold-outs, and the cross-validated scores, for each data set."""
    rounds, splits = (10, 2) if arguments.fast else (100, 50)
    directory = arguments.data_dir
    names = [name for name in PRINTED if (directory / f"{name}.npz").exists()]
    jobs = [(name, str(directory), rounds, splits) for name in names]
    results = resume("paper_auc_intervals", run, jobs, arguments)
    rows = []
    for name, result in zip(names, results, strict=True):
        _, _, error, auc = PRINTED[name]
        for design, parts in result.items():
            mean = {
                key: float(np.mean([row[key] for row in parts])) for key in parts[0]
            }
            row = {"data": name, "scores": design, "samples": len(parts)} | mean
            rows.append(row | {"error printed": error, "AUC printed": auc})
    return rows


def claims_of_data(rows):
    """Claims with what was measured, and whether it holds in each data set."""
    claims = []
    for design in ("hold-out", "10-fold CV"):
        part = [row for row in rows if row["scores"] == design]
        names, get = [row["data"] for row in part], Columns(part)
        inside = get("E[A_k] in interval")
        text = f"{design}: E[A_k] lies in the 95 % score interval of the measured AUC"
        gap = get("E[A_k]") - get("AUC")
        measured = f"share {each(names, inside)}; E[A_k] - AUC {each(names, gap)}"
        claims.append((text, measured, inside >= LEVEL))
        inside = get("AUC in CM interval")
        text = f"{design}: the interval from the errors holds the measured AUC"
        claims.append((text, f"share {each(names, inside)}", inside >= LEVEL))
        for key, what in (
            ("AUC", "of AdaBoost's scores"),
            ("AUC of labels", "of AdaBoost's labels"),
            ("E[A_k]", "expected from AdaBoost's errors"),
        ):
            gap = get("AUC printed") - get(key)
            text = f"{design}: the printed AUC is the one {what}, within .02"
            measured = f"printed - measured {each(names, gap)}"
            claims.append((text, measured, np.abs(gap) <= 0.02))
    return claims


class Columns:
    """Columns of rows as arrays."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, name):
        """One column."""
        return np.array([row[name] for row in self.rows])


def each(names, numbers):
    """A number for each data set, in words."""
    return ", ".join(f"{a} {x:.3f}" for a, x in zip(names, numbers, strict=True))


def draw_data(rows, path):
    """Measured AUC and E[A_k], each with its mean interval, over the hold-outs."""
    rows = [row for row in rows if row["scores"] == "hold-out"][::-1]
    get, y = Columns(rows), np.arange(len(rows))
    fig, ax = plt.subplots(figsize=(9.5, 0.7 * len(rows) + 1.2), layout="constrained")
    for dy, color, centre, low, high, label in (
        (0.2, BLUE, "AUC", "low", "high", "AUC of the scores, 95 % score interval"),
        (0, ORANGE, "E[A_k]", "CM low", "CM high", "from the errors: Cortes-Mohri"),
    ):
        x = get(centre)
        reach = np.abs(np.array([get(low), get(high)]) - x)
        ax.errorbar(x, y + dy, xerr=reach, fmt="o", color=color, label=label, capsize=3)
    for name, marker, label in (
        ("AUC of labels", "kd", "AUC of the predicted labels"),
        ("AUC printed", "kx", "AUC printed in the paper's Table 1"),
    ):
        ax.plot(get(name), y - 0.2, marker, mfc="none", label=label)
    ax.set_yticks(y, get("data"))
    ax.set(xlabel="AUC", title="AdaBoost, hold-outs as large as the paper's samples")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    fig.savefig(path, dpi=90)
    plt.close(fig)
