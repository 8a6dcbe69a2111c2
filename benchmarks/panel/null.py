"""Random labels on real rows: which models find an AUC that is not there.

    python -m benchmarks.panel.null [--data-dir DIR] [--seeds 20] [--fast]

Rows of one class of every real set (its larger one, 60 rows at most), half of them
called positive at random: whatever the model, its true AUC is ½. Each kind of model is
fitted once, ``auc_posterior`` is asked with the default prior, and 5-fold
cross-validation of the same Pipeline beside it. Writes ``null.csv``, a row a model:
mean and mean absolute error over all sets and seeds, standard errors over sets, the
share of 95 % intervals that hold ½, and the set with the largest mean.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.panel.real import load, real_names
from benchmarks.tools.runs import parse, resume
from benchmarks.tools.table import write_table
from skauc import GaussianAUCClassifier, IRLSLogisticRegression, auc_posterior

MOST_ROWS, SEEDS = 60, 20
WIDEST_LDA = 300  # scikit-learn's discriminant solves a P×P system
COLUMNS = ["model", "set", "seed", "folder", "mean", "low", "high", "CV"]
FAST_SETS = ("wine-0-1", "wine-1-2")


def steps(P):
    """Steps of a Pipeline after the scaler, by the kind of model."""
    logistic = LogisticRegression(max_iter=5_000)
    lasso = LogisticRegression(l1_ratio=1, solver="liblinear", random_state=0)
    discriminant = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return {
        "L2 logistic": [logistic],
        "L1 logistic": [lasso],
        "squared hinge": [LinearSVC(C=0.01, max_iter=5_000, random_state=0)],
        "hinge": [SVC(kernel="linear", C=0.01)],
        "ridge": [RidgeClassifier(alpha=100.0)],
        "SGD, log-loss": [SGDClassifier(loss="log_loss", random_state=0)],
        "LDA, Ledoit-Wolf": [discriminant],
        "Gaussian AUC": [GaussianAUCClassifier(shrinkage="auto")],
        "IRLS logistic": [IRLSLogisticRegression(C=1.0)],
        "PCA, logistic": [PCA(min(P, 10), svd_solver="full"), logistic],
        "SelectKBest, logistic": [SelectKBest(k=min(P, 10)), logistic],
        "L1 selection, logistic": [SelectFromModel(lasso), logistic],
        "LDA as transformer, logistic": [LinearDiscriminantAnalysis(), logistic],
    }


KINDS = tuple(steps(1))


def random_rows(name, seed, data_dir):
    """Rows of the larger class of a set, and labels drawn without looking at them."""
    X, y = load(name, data_dir)
    rng = np.random.default_rng([2031, seed, *name.encode()])
    rows = rng.permutation(np.flatnonzero(y == (y.mean() > 0.5)))[:MOST_ROWS]
    return X[rows], rng.permutation(np.arange(len(rows)) % 2)


def ask(kind, name, seed, data_dir):
    """Estimate, its 95 % interval and 5-fold CV; None where there is no such model."""
    X, y = random_rows(name, seed, data_dir)
    P = X.shape[1]
    if P > WIDEST_LDA and "LDA" in kind:
        return None
    pipe = make_pipeline(StandardScaler(), *steps(P)[kind])
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    try:
        pipe.fit(X, y)
    except ValueError as refused:
        if "0 feature(s)" in str(refused):  # the selector keeps none
            return None
        raise
    posterior = auc_posterior(pipe, X, y)
    cv = np.nanmean(cross_val_score(pipe, X, y, scoring="roc_auc", cv=folds))
    return [posterior.mean(), *posterior.interval(0.95), float(cv)]


def summary(found):
    """One row over the answers about one kind of model."""
    by_set = found.groupby("set")[["mean", "CV"]].mean()
    mean, errors = found[["mean", "CV"]].mean(), by_set.sem()
    error = (found[["mean", "CV"]] - 0.5).abs().mean()
    worst = by_set["mean"].idxmax()
    row = {"sets": len(by_set), "mean": mean["mean"], "mean SE": errors["mean"]}
    row |= {"CV mean": mean["CV"], "CV mean SE": errors["CV"], "error": error["mean"]}
    row["error / CV"] = error["mean"] / error["CV"]
    row["covers"] = ((found["low"] <= 0.5) & (found["high"] >= 0.5)).mean()
    return row | {"largest": f"{by_set['mean'].max():.3f} ({worst})"}


def main(argv=None):
    """Ask every kind of model about every set."""
    arguments = parse(__doc__, argv, folder="null", seeds=SEEDS)
    directory = arguments.data_dir
    names = FAST_SETS if arguments.fast else real_names(directory)
    seeds = range(1 if arguments.fast else arguments.seeds)
    jobs = [(k, name, s, directory) for s in seeds for k in KINDS for name in names]
    answers = resume("null", ask, jobs, arguments)
    found = [
        [*job, *answer] for job, answer in zip(jobs, answers, strict=True) if answer
    ]
    table = pd.DataFrame(found, columns=COLUMNS).groupby("model", sort=False)
    rows = [{"model": kind} | summary(part) for kind, part in table]
    write_table("null", rows, arguments.out)


if __name__ == "__main__":
    main()
