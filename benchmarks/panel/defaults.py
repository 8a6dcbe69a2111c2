"""The commonest Pipelines at their default settings, on few rows of many features.

    python -m benchmarks.panel.defaults [--rows 40 60] [--features 2000] [--fast]

Normal rows with independent features, half of them positive. "Noise": no feature
differs between the classes. "Signal": 100 features differ, so much that the difference
of the class means has the AUC .8 on new rows. In odd seeds the columns have deviations
from 1e-3 to 1e5. The true AUC of a fitted model is exact. Writes ``defaults.csv``, a
row a Pipeline, and ``sizes.csv``, a row a size: means of the truth and of the report,
mean absolute error, share of the 95 % intervals that hold the truth, share of reports
with a warning, processor seconds of fit and report, and the cell that is farthest off.
"""

from __future__ import annotations

from time import process_time

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.panel.families import coefficients
from benchmarks.tools.runs import parser, read, resume
from benchmarks.tools.table import write_table
from skauc import auc_posterior, clear_cache

ROWS, FEATURES, SEEDS = (20, 40, 60, 100), (200, 2_000, 20_000, 50_000), 6
PROBLEMS, DIFFERENT, MEANS_AUC = ("noise", "signal"), 100, 0.8
# most features of models whose fit or refits are slow
SLOW = dict.fromkeys(("SGDClassifier", "sag", "saga", "L1, saga"), 2_000)
SLOW["LDA, Ledoit-Wolf"] = 200
SOLVERS, STRENGTHS = ("liblinear", "newton-cg", "sag", "saga"), (1e-4, 1e-2, 1e2, 1e4)
JOB, ANSWER = "Pipeline problem rows features seed", "true mean low high warned"
KIND, MEANS = (
    ["Pipeline"],
    ["true", "mean", "error", "covers", "warned", "fit", "report"],
)


def pipelines():
    """Steps of the Pipelines by name: defaults first, then solvers, then C."""
    scaler, logistic = StandardScaler(), LogisticRegression()
    shrunken = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    steps = {
        "scaler, LogisticRegression": [scaler, logistic],
        "LogisticRegression": [logistic],
        "scaler, LinearSVC": [scaler, LinearSVC(random_state=0)],
        "scaler, SVC, linear": [scaler, SVC(kernel="linear")],
        "RidgeClassifier": [RidgeClassifier()],
        "LDA": [LinearDiscriminantAnalysis()],
        "LDA, Ledoit-Wolf": [shrunken],
        "scaler, SGDClassifier": [scaler, SGDClassifier(random_state=0)],
        "scaler, SelectKBest, logistic": [scaler, SelectKBest(), logistic],
        "scaler, PCA, logistic": [scaler, PCA(), logistic],
        "scaler, LogisticRegressionCV": [scaler, LogisticRegressionCV()],
    }
    for solver in SOLVERS:
        steps[solver] = [LogisticRegression(solver=solver, random_state=0)]
        steps[f"scaler, {solver}"] = [scaler, *steps[solver]]
    for solver in ("liblinear", "saga"):
        lasso = LogisticRegression(l1_ratio=1, solver=solver, random_state=0)
        steps[f"scaler, L1, {solver}"] = [scaler, lasso]
    steps |= {f"scaler, C={C:g}": [scaler, LogisticRegression(C=C)] for C in STRENGTHS}
    return {name: make_pipeline(*some) for name, some in steps.items()}


def draw(problem, n, P, seed):
    """Rows, labels, and differences of the means and deviations of the features."""
    rng = np.random.default_rng([2042, seed, n, P])
    X, y, shift = rng.standard_normal((n, P)), np.arange(n) % 2, np.zeros(P)
    if problem == "signal":
        # w = μ + noise of size 4P/n:  z = δ²/√(2(δ² + 4P/n)), solved for δ² = |μ|²
        z2 = ndtri(MEANS_AUC) ** 2
        size = np.sqrt(z2 + np.sqrt(z2**2 + 8 * z2 * P / n))
        few = rng.permutation(P)[:DIFFERENT]
        shift[few] = size / np.sqrt(len(few)) * rng.choice([-1, 1], len(few))
    scale = 10 ** rng.uniform(-3, 5, P) if seed % 2 else np.ones(P)
    X += np.outer(y - 0.5, shift) + (seed % 2) * rng.uniform(-3, 3, P)
    return X * scale, y, shift * scale, scale


def ask(kind, problem, n, P, seed):
    """True AUC, report, warning and times of one fitted Pipeline."""
    X, y, shift, scale = draw(problem, n, P, seed)
    start = process_time()
    pipe = pipelines()[kind].fit(X, y)
    fitted, w = process_time(), coefficients(pipe)
    size = np.linalg.norm(w * scale)
    true = float(ndtr(w @ shift / size / np.sqrt(2))) if size else 0.5
    clear_cache()
    begun, found = process_time(), auc_posterior(pipe, X, y)
    seconds = fitted - start, process_time() - begun
    said = found.mean(), *found.interval(0.95), bool(found.warnings)
    return [true, *said, *seconds]


def summary(runs, cells):
    """Means over runs, and the cell with the largest mean difference from the truth."""
    off = (runs["mean"] - runs["true"]).groupby([runs[name] for name in cells]).mean()
    cell = off.abs().idxmax()
    name = " × ".join(map(str, cell)) if isinstance(cell, tuple) else cell
    return runs[MEANS].mean().to_dict() | {"farthest": f"{off[cell]:+.3f} ({name})"}


def main(argv=None):
    """Fit and ask every Pipeline on every size."""
    command, kinds = parser(__doc__), [*pipelines()]
    command.add_argument("--rows", type=int, nargs="+")
    command.add_argument("--features", type=int, nargs="+")
    command.add_argument("--seeds", type=int)
    command.add_argument("--pipelines", nargs="+", choices=kinds, default=kinds)
    given = read(command, argv, "defaults")
    rows = given.rows or ((40,) if given.fast else ROWS)
    features = given.features or ((200, 20_000) if given.fast else FEATURES)
    seeds = range(given.seeds or (2 if given.fast else SEEDS))
    sizes = [(n, P, seed) for seed in seeds for P in features for n in rows]
    jobs = [(k, p, *size) for size in sizes for k in given.pipelines for p in PROBLEMS]
    jobs = [j for j in jobs if j[3] <= SLOW.get(j[0].removeprefix("scaler, "), j[3])]
    answers = resume("defaults", ask, jobs, given)
    found = [[*job, *answer] for job, answer in zip(jobs, answers, strict=True)]
    runs = pd.DataFrame(found, columns=[*JOB.split(), *ANSWER.split(), *MEANS[-2:]])
    runs["columns"] = np.where(runs["seed"] % 2, "unscaled", "scaled")
    runs["error"] = (runs["mean"] - runs["true"]).abs()
    runs["covers"] = (runs["low"] <= runs["true"]) & (runs["true"] <= runs["high"])
    kind, size = ["Pipeline"], ["rows", "features", "columns"]
    for name, keys, cells in (("defaults", kind, size), ("sizes", size, kind)):
        parts = runs.groupby(["problem", *keys], sort=False)
        table = parts[[*runs]].apply(summary, cells).apply(pd.Series)
        write_table(name, table.reset_index(), given.out)


if __name__ == "__main__":
    main()
