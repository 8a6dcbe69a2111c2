"""Speed of the main job, as ratios to a named peer measured in the same run.

Usage: ``python benchmarks/speed.py`` (about two minutes); writes ``results/speed.csv``.

1. Scoring one candidate against one ``X @ w`` of the same rows, n = 10⁵, P = 200, and
   the growth of its time with nP up to P = 20 000.
2. A whole ``GridSearchCV`` with ``cbauc_scorer`` against ``cv=5, scoring="roc_auc"``
   over the same grid, with the same ``n_jobs``.
3. EBAUC over the training scores against ``sklearn.metrics.roc_auc_score``, n to 10⁶.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from results_table import write_table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import (
    ResubstitutionSplit,
    clear_cache,
    ebauc_score,
    make_cbauc_scorer,
)

SCORERS = (
    ("paper", "common"),
    ("paper", "separate"),
    ("paper", "spherical"),
    ("adaptive", "common"),
)


def best_time(function, repeats=7):
    """Smallest wall time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def linear_model(P, rng):
    """A fitted logistic regression with random coefficients (no fit is timed)."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = rng.standard_normal((1, P)), np.zeros(1)
    model.classes_, model.n_features_in_ = np.array([0, 1]), P
    return model


def scoring_rows():
    """Time of a score in units of ``X @ w``, and its growth with nP."""
    rng = np.random.default_rng(0)
    rows = []
    for n, P in ((100_000, 200), (20_000, 200), (20_000, 2_000), (20_000, 20_000)):
        X = rng.standard_normal((n, P), dtype=np.float64)
        y = rng.integers(0, 2, n)
        model = linear_model(P, rng)
        w = model.coef_[0]
        product = best_time(lambda X=X, w=w: X @ w)
        for prior, covariance in SCORERS:
            if prior == "adaptive" and P > 2_000:
                continue  # its n×n decomposition is a cost of the data set
            scorer = make_cbauc_scorer(prior=prior, covariance=covariance)
            scorer(model, X, y)  # what is computed once a data set is not a candidate's
            score = best_time(lambda m=model, X=X, y=y, s=scorer: s(m, X, y))
            rows.append(
                {
                    "what": f"cbauc_scorer, {prior} prior, {covariance}",
                    "peer": "X @ w",
                    "n": n,
                    "P": P,
                    "seconds": score,
                    "peer_seconds": product,
                    "ratio": score / product,
                }
            )
    return rows


def search_rows():
    """A whole search against 5-fold CV over the same grid."""
    rng = np.random.default_rng(1)
    rows = []
    for n, P, n_jobs in ((400, 30, 1), (5_000, 50, 1), (400, 30, 2), (20_000, 50, 2)):
        X = rng.standard_normal((n, P))
        y = (X[:, :5].sum(axis=1) + 2 * rng.standard_normal(n) > 0).astype(int)
        pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5_000))
        grid = {"logisticregression__C": np.logspace(-4, 4, 25)}
        peer = GridSearchCV(pipe, grid, scoring="roc_auc", cv=5, n_jobs=n_jobs)
        peer_seconds = best_time(lambda s=peer, X=X, y=y: s.fit(X, y), repeats=3)
        for prior in ("adaptive", "paper"):
            scorer = make_cbauc_scorer(prior=prior)
            ours = GridSearchCV(
                pipe, grid, scoring=scorer, cv=ResubstitutionSplit(), n_jobs=n_jobs
            )

            def fit(search=ours, X=X, y=y):
                clear_cache()  # every search pays for its own data set
                search.fit(X, y)

            seconds = best_time(fit, repeats=3)
            rows.append(
                {
                    "what": f"GridSearchCV, 25 C, {prior} prior, n_jobs={n_jobs}",
                    "peer": "GridSearchCV cv=5",
                    "n": n,
                    "P": P,
                    "seconds": seconds,
                    "peer_seconds": peer_seconds,
                    "ratio": seconds / peer_seconds,
                }
            )
    return rows


def ebauc_rows():
    """EBAUC with all scores as thresholds: O(n log n)."""
    rng = np.random.default_rng(2)
    rows = []
    for n in (10_000, 100_000, 1_000_000):
        y = rng.integers(0, 2, n)
        score = y + rng.standard_normal(n)
        seconds = best_time(
            lambda y=y, s=score: ebauc_score(y, s, prior="paper"), repeats=3
        )
        peer_seconds = best_time(lambda y=y, s=score: roc_auc_score(y, s), repeats=3)
        rows.append(
            {
                "what": "ebauc_score, thresholds=scores",
                "peer": "roc_auc_score",
                "n": n,
                "P": 1,
                "seconds": seconds,
                "peer_seconds": peer_seconds,
                "ratio": seconds / peer_seconds,
            }
        )
    return rows


if __name__ == "__main__":
    write_table("speed", scoring_rows() + search_rows() + ebauc_rows())
