"""Gaussian AUC: the direction with the largest AUC of normal classes.

H. Ghanbari & K. Scheinberg (2018), *Directly and efficiently optimizing prediction
error and AUC of linear classifiers*, https://arxiv.org/abs/1802.02535, and a post on it
in R, E. Drysdale (2019), *Linear time AUC optimization*,
https://www.erikdrysdale.com/auc_optim: maximise Φ(θᵀμ/√(θᵀΣθ)), μ = x̄₁ − x̄₀,
Σ = Σ̂₀ + Σ̂₁, by BFGS. The maximiser is known, θ ∝ Σ⁻¹μ. Three parts:

- ``iris``: the post's numbers on versicolor against virginica, sepal length and width;
- ``time``: seconds against n up to 10⁷ rows of 20 features, streamed in blocks through
  ``partial_fit``, beside logistic regression and LDA in memory (one process; for a
  quiet machine; 1 GB);
- ``panel``: hold-out AUC on real sets against logistic regression, LDA and a pairwise
  loss (:mod:`linear_models`); without ``--data-dir`` only scikit-learn's own sets.

    python -m benchmarks.papers.gaussian_auc --data-dir DIR [--fast]

Writes ``results/gaussian_auc/{iris,time,panel,summary,claims}.csv`` and ``time.png``.
"""

from __future__ import annotations

import argparse
from functools import partial
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.papers import linear_models
from benchmarks.papers.bayesian_designs import Gaussian
from benchmarks.tools.picture import Panel, draw
from benchmarks.tools.runs import claim, parse, resume
from benchmarks.tools.table import write_table
from skauc import GaussianAUCClassifier

STOPPED, UNIT, CENTRED = "as BFGS stopped", "deviation 1", "deviation 1, centred"
FEATURES, ATTAINABLE, BLOCK = 20, 0.9, 100_000
SIZES = (*(c * 10**k for k in range(3, 7) for c in (1, 3)), 10**7)
IN_MEMORY, REPEATS = 1_000_000, 3
STREAMED, PEERS = "Gaussian AUC, streamed", ("logistic regression", "LDA")
FITS = {
    STREAMED: None,
    "Gaussian AUC, in memory": GaussianAUCClassifier(),
    PEERS[0]: LogisticRegression(),
    PEERS[1]: LinearDiscriminantAnalysis(solver="lsqr"),
}

# Iris ---------------------------------------------------------------------------------


def iris():
    """Sepal length and width; versicolor is the positive class, as in the post."""
    X, y = load_iris(return_X_y=True)
    return X[50:, :2], (y[50:] == 1).astype(int)


def unpenalised(X, y):
    """Logistic regression by maximum likelihood, as R's ``glm``."""
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8)
    return model.fit(X, y)


def gaussian(X, y):
    """The Gaussian-AUC direction in closed form."""
    return GaussianAUCClassifier().fit(X, y)


def strict_auc(y, score):
    """The post's AUC: share of pairs in the right order, ties counted as errors."""
    return float(np.mean(score[y == 1][:, None] - score[y == 0] > 1e-10))


def published_fit(X, y, start=None):
    """The post's ``auc.optim``: BFGS on −Φ(r) of scaled features, from μ.

    Returns θ for the features as they are, and the optimiser's result. The length of θ
    is where BFGS happened to stop: Φ(r) does not see it.
    """
    sd = X.std(axis=0, ddof=1)
    neg, pos = X[y == 0] / sd, X[y == 1] / sd
    mu, sigma = pos.mean(axis=0) - neg.mean(axis=0), np.cov(neg.T) + np.cov(pos.T)

    def loss(theta):
        s = np.sqrt(theta @ sigma @ theta)
        r = theta @ mu / s
        density = np.exp(-(r**2) / 2) / np.sqrt(2 * np.pi)
        return -ndtr(r), -density * (mu * s - r * sigma @ theta) / s**2

    start = mu if start is None else start * sd
    result = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6})
    return result.x / sd, result


def left_out_scores(X, y):
    """Score of every row by models of the other rows, for several lengths of θ."""
    scores = []
    for i in range(len(y)):
        rest, row = (np.delete(X, i, axis=0), np.delete(y, i)), X[[i]]
        ours, logistic = GaussianAUCClassifier().fit(*rest), unpenalised(*rest)
        stopped, unit = X[i] @ published_fit(*rest)[0], X[i] @ ours.coef_[0]
        others = (model.decision_function(row)[0] for model in (ours, logistic))
        scores.append((stopped, unit, *others))
    names = (STOPPED, UNIT, CENTRED, "logistic")
    return dict(zip(names, np.transpose(scores), strict=True))


def pairs_left_out(fit, X, y):
    """Share of pairs in the right order by the fit to all other rows, ties ½."""
    right = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            model = fit(np.delete(X, [i, j], axis=0), np.delete(y, [i, j]))
            gap = model.coef_[0] @ (X[i] - X[j])
            right += 0.5 if abs(gap) < 1e-10 else float(gap > 0)
    return right / np.sum(y == 1) / np.sum(y == 0)


def starts(X, y, best):
    """Share of 200 random starts from which the post's BFGS reaches the maximum."""
    rng = np.random.default_rng(0)
    ends = [-published_fit(X, y, rng.normal(size=2))[1].fun for _ in range(200)]
    return float(np.mean(np.array(ends) > best - 1e-6))


def iris_rows():
    """The post's numbers, printed beside computed, and what stands behind them."""
    X, y = iris()
    closed, logistic = gaussian(X, y), unpenalised(X, y)
    theta, post = published_fit(X, y)
    _, stuck = published_fit(X, y, start=-closed.coef_[0])
    out = left_out_scores(X, y)
    score, theirs = closed.decision_function(X), logistic.decision_function(X)
    best = closed.coef_[0] / np.linalg.norm(closed.coef_[0])
    angle = float(np.linalg.norm(theta / np.linalg.norm(theta) - best))
    reach = starts(X, y, closed.auc_)
    pairs = [pairs_left_out(fit, X, y) for fit in (unpenalised, gaussian)]
    table = [
        ("training, logistic", 0.789, strict_auc(y, theirs), "ties are errors"),
        ("training, Gaussian", 0.789, strict_auc(y, score), "ties are errors"),
        ("training, logistic, ties ½", "", roc_auc_score(y, theirs), "the usual AUC"),
        ("training, Gaussian, ties ½", "", roc_auc_score(y, score), "the usual AUC"),
        ("Φ(r), post's BFGS", "", -post.fun, "what it maximises"),
        ("Φ(r), closed form", "", closed.auc_, "Φ(√(μᵀΣ⁻¹μ)), the maximum"),
        ("angle, post's BFGS to Σ⁻¹μ", "", angle, "where its gradient is 1e-6"),
        ("Φ(r), post's BFGS from −θ*", "", -stuck.fun, "says: " + stuck.message),
        ("random starts at maximum", "", reach, "share of 200, scipy's BFGS"),
        ("left out, logistic", 0.768, strict_auc(y, out["logistic"]), "100 fits"),
        ("left out, Gaussian", 0.772, strict_auc(y, out[STOPPED]), "length as stopped"),
        ("left out, deviation 1", "", strict_auc(y, out[UNIT]), "length changes it"),
        ("left out, centred", "", strict_auc(y, out[CENTRED]), "so does the origin"),
        ("pairs left out, logistic", "", pairs[0], "2500 fits"),
        ("pairs left out, Gaussian", "", pairs[1], "no length"),
    ]
    names = ("quantity", "printed", "computed", "note")
    return [dict(zip(names, row, strict=True)) for row in table]


def iris_claims(rows):
    """What the post says about iris."""
    value = {row["quantity"]: row["computed"] for row in rows}
    fit = abs(value["training, logistic"] - value["training, Gaussian"])
    printed = [row for row in rows if row["printed"]]
    names = ("left out, Gaussian", "left out, deviation 1", "left out, centred")
    gains = [value[name] - value["left out, logistic"] for name in names]
    pairs = value["pairs left out, Gaussian"] - value["pairs left out, logistic"]
    best, share = value["Φ(r), closed form"], value["random starts at maximum"]
    worst = value["Φ(r), post's BFGS from −θ*"]
    rows = (
        (
            "the four printed AUCs: .789, .789, .772, .768",
            ", ".join(f"{row['computed']:.4f}" for row in printed),
            [abs(row["computed"] - row["printed"]) <= 5e-4 for row in printed],
            "equal when rounded to three digits",
        ),
        (
            "on the training rows virtually the same as logistic regression",
            f"they differ by {fit:.4f}",
            [fit <= 0.005],
            "|difference| <= 0.005",
        ),
        (
            "slightly better than logistic regression when rows are left out",
            f"by {gains[0]:+.4f}, {gains[1]:+.4f}, {gains[2]:+.4f} for three lengths "
            f"and origins of θ; by {pairs:+.4f} when pairs are left out",
            [gain > 0 for gain in (*gains, pairs)],
            "better each way",
        ),
        (
            "every start ends with the same loss",
            f"{share:.0%} of 200 random starts (scipy's BFGS, the post has R's); from "
            f"−θ* it stays at {worst:.3f}, the least that a direction can have",
            [share == 1, worst > best - 1e-6],
            "Φ(r) within 1e-6 of the maximum from random starts, and from −θ*",
        ),
    )
    return [claim("iris", *row) for row in rows]


# Time ---------------------------------------------------------------------------------


def truth():
    """Mean difference and roots of two covariances: attainable AUC .9, 20 features."""
    rng = np.random.default_rng(0)
    lag = np.abs(np.subtract.outer(np.arange(FEATURES), np.arange(FEATURES)))
    sigma = 0.8**lag, np.diag(rng.uniform(0.3, 3, FEATURES))
    d = rng.standard_normal(FEATURES)
    d *= ndtri(ATTAINABLE) / np.sqrt(d @ np.linalg.solve(sigma[0] + sigma[1], d))
    return d, sigma


def blocks(n, seed):
    """``X, y`` of n rows in blocks, made as they are asked for."""
    d, sigma = truth()
    roots = [np.linalg.cholesky(S).T for S in sigma]
    for k, start in enumerate(range(0, n, BLOCK)):
        rng = np.random.default_rng([seed, k])
        y = rng.random(min(BLOCK, n - start)) < 0.4
        X = rng.standard_normal((len(y), FEATURES))
        X[y], X[~y] = X[y] @ roots[1] + d, X[~y] @ roots[0]
        yield X, y.astype(int)


def lost_auc(coef):
    """Attainable less true AUC of a direction."""
    d, sigma = truth()
    return ATTAINABLE - Gaussian(d, *sigma).auc(coef.ravel())


def timed(method, n, seed):
    """Seconds (wall, processor) of one fit without the making of rows; AUC lost."""
    if method == STREAMED:
        model, parts = GaussianAUCClassifier(), blocks(n, seed)
        fit = partial(model.partial_fit, classes=[0, 1])
    else:
        parts = [[np.concatenate(p) for p in zip(*blocks(n, seed), strict=True)]]
        fit = (model := FITS[method]).fit
    wall = cpu = 0.0
    for X, y in parts:
        start = perf_counter(), process_time()
        fit(X, y)
        wall, cpu = wall + perf_counter() - start[0], cpu + process_time() - start[1]
    return {"wall": wall, "cpu": cpu, "lost": lost_auc(model.coef_[0])}


def time_rows(arguments):
    """Smallest times of several runs, one at a time, whatever ``--n-jobs`` says."""
    sizes = (1_000, 10_000, 100_000) if arguments.fast else SIZES
    jobs = [
        (method, n, seed)
        for method in FITS
        for n in sizes
        if n <= (max(sizes) if method == STREAMED else IN_MEMORY)
        for seed in range(1 if arguments.fast else REPEATS)
    ]
    alone = argparse.Namespace(**vars(arguments) | {"n_jobs": 1})
    runs = pd.DataFrame(resume("gaussian_auc_time", timed, jobs, alone))
    runs[["method", "n"]] = [job[:2] for job in jobs]
    table = runs.groupby(["method", "n"], sort=False).agg(
        **{"seconds": ("wall", "min"), "processor seconds": ("cpu", "min")},
        **{"true AUC lost": ("lost", "mean")},
    )
    table = table.reset_index()
    table.insert(4, "seconds a million rows", table["seconds"] / table["n"] * 1e6)
    return table


def slope(table, method):
    """Slope of log time on log n over the upper half of the sizes."""
    log = np.log(table.loc[table["method"] == method, ["n", "seconds"]])
    log = log[len(log) // 2 :] if len(log) > 3 else log
    return float(np.polyfit(log["n"], log["seconds"], 1)[0])


def time_claims(table):
    """Linear in n; against the others at the largest n that all were fitted on."""
    slopes = {method: slope(table, method) for method in FITS}
    largest = table.loc[table["method"] == PEERS[0], "n"].max()
    at = table[table["n"] == largest].set_index("method")
    seconds = at["seconds"]
    ratio = [seconds[STREAMED] / seconds[peer] for peer in PEERS]
    lost = at["true AUC lost"][[STREAMED, *PEERS]].tolist()
    rows = (
        (
            "time is linear in n",
            f"slope of log time on log n {slopes[STREAMED]:.2f} (streamed), "
            + ", ".join(f"{slopes[peer]:.2f} ({peer})" for peer in PEERS),
            [0.9 <= slopes[STREAMED] <= 1.1],
            "slope in [.9, 1.1], upper half of the sizes",
        ),
        (
            "cheaper than logistic regression (and LDA)",
            f"{ratio[0]:.2f} and {ratio[1]:.2f} of their times at n = {largest:,}",
            [r < 1 for r in ratio],
            "ratio of seconds < 1",
        ),
        (
            "largest AUC of all linear models on normal classes, covariances unequal",
            f"true AUC lost at n = {largest:,}: {lost[0]:.1e}, "
            f"logistic {lost[1]:.1e}, LDA {lost[2]:.1e}",
            [lost[0] < other for other in lost[1:]],
            "loses less than the others",
        ),
    )
    return [claim("time", *row) for row in rows]


def panel(table):
    """Seconds against n."""
    lines = {
        f"{method}: slope {slope(table, method):.2f}": (part["n"], part["seconds"])
        for method, part in table.groupby("method", sort=False)
    }
    return Panel("one fit", "rows of 20 features", "seconds", lines, "xy")


def main(argv=None):
    """Run the three parts; returns their tables."""
    arguments = parse(__doc__, argv, folder="gaussian_auc")
    tables = {"iris": iris_rows(), "time": time_rows(arguments)}
    tables["panel"], tables["summary"] = linear_models.run(arguments)
    claims = iris_claims(tables["iris"]) + time_claims(tables["time"])
    tables["claims"] = claims + linear_models.claims(tables["summary"])
    draw(arguments.out / "time.png", [panel(tables["time"])])
    for name, rows in tables.items():
        write_table(name, rows, arguments.out)
    return tables


if __name__ == "__main__":
    main()
