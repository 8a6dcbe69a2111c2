"""Speed of the AUC, its DeLong interval and test, against Python peers.

Usage: ``python benchmarks/speed_intervals.py`` (about a minute); writes
``results/speed_intervals.csv``. Needs ``pip install MLstatkit confidenceinterval`` for
the peers; what is not installed is left out.

Best of several runs on the same rows in one process. The peers are asked what they
offer for it: ``confidenceinterval.roc_auc_score`` the DeLong interval of one score,
``MLstatkit.Delong_test`` the paired test of two (its only DeLong function).
"""

from __future__ import annotations

import warnings
from importlib import import_module
from time import perf_counter

import numpy as np
from results_table import write_table
from sklearn.metrics import roc_auc_score, roc_curve

from skauc import (
    auc_estimate,
    compare_auc,
    cortes_mohri_moments,
    operating_points,
)

GRID = np.linspace(0.01, 0.99, 1000)


def best_time(function, repeats):
    """Smallest wall time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def peer(module, name):
    """A function of a peer, or None where it is not installed."""
    try:
        return getattr(import_module(module), name)
    except ImportError:
        print(f"{module} is not installed and left out")
        return None


def row(task, n, ours, name, theirs, repeats):
    """One line of the table; ratio > 1 means that skauc is faster."""
    own = best_time(ours, repeats)
    other = best_time(theirs, repeats) if theirs else float("nan")
    return {
        "task": task,
        "n": n,
        "skauc_s": own,
        "peer": name,
        "peer_s": other,
        "ratio": other / own,
    }


def main():
    """Time everything and write the table."""
    warnings.simplefilter("ignore")
    interval = peer("confidenceinterval", "roc_auc_score")
    test = peer("MLstatkit", "Delong_test")
    rows = []
    for n in (1_000, 100_000, 1_000_000):
        rng = np.random.default_rng(0)
        y = (rng.random(n) < 0.3).astype(int)
        a = 1 / (1 + np.exp(-rng.standard_normal(n) - y))
        b = 1 / (1 + np.exp(-rng.standard_normal(n) - y))
        repeats = 3 if n > 100_000 else 7
        rows += [
            row(
                "AUC",
                n,
                lambda y=y, a=a: auc_estimate(y, a).auc,
                "sklearn.metrics.roc_auc_score",
                lambda y=y, a=a: roc_auc_score(y, a),
                repeats,
            ),
            row(
                "DeLong interval",
                n,
                lambda y=y, a=a: auc_estimate(y, a).confidence_interval(
                    method="delong"
                ),
                "confidenceinterval",
                interval and (lambda y=y, a=a: interval(y, a)),
                repeats,
            ),
            row(
                "paired DeLong test",
                n,
                lambda y=y, a=a, b=b: compare_auc(y, a, b),
                "MLstatkit",
                test and (lambda y=y, a=a, b=b: test(y, a, b)),
                repeats,
            ),
            row(
                "partial AUC with its interval",
                n,
                lambda y=y, a=a: (
                    auc_estimate(y, a).partial_auc(fpr=(0, 0.1)).confidence_interval()
                ),
                "auc_estimate with its interval",
                lambda y=y, a=a: auc_estimate(y, a).confidence_interval(),
                repeats,
            ),
            row(
                "1000 operating points with an interval",
                n,
                lambda y=y, a=a: operating_points(y, a, threshold=GRID).interval(
                    "sensitivity"
                ),
                "sklearn.metrics.roc_curve",
                lambda y=y, a=a: roc_curve(y, a),
                repeats,
            ),
        ]
    for case in ((500, 500, 180), (10**7, 10**7, 5 * 10**6), (10**7, 10**7, 10**7)):
        time = best_time(lambda case=case: cortes_mohri_moments(*case), 7)
        nothing = {"peer": "", "peer_s": float("nan"), "ratio": float("nan")}
        task = "Cortes-Mohri moments, {}+{}, k = {}".format(*case)
        rows.append({"task": task, "n": sum(case[:2]), "skauc_s": time} | nothing)
    write_table("speed_intervals", rows)


if __name__ == "__main__":
    main()
