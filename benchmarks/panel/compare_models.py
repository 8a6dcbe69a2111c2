"""Two models with one AUC over shared folds: the size of each test between them.

    python -m benchmarks.panel.compare_models [--fast]

Two blocks of features are exchangeable, and each model sees one of them (and, where
they share some, the same third block): trained on rows drawn anew, both have the same
AUC on average. A model is the difference of the class means, so that no fit costs
anything. Writes ``compare_models.csv``, a row a problem and a design of folds: the
share of data sets on which each test says p < .05 (its size; .04 to .06 is right), of
the t of the folds as it is, of the corrected one, and of the rows' influence; the
spread of the difference over data sets, and the root mean square of each error over
it (1 is right); the standard error of a size is that of a share.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import stdtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from benchmarks.tools.runs import parse, resume
from benchmarks.tools.table import write_table
from skauc import compare_cross_val_auc

BLOCK = 10  # features of a block
LEVEL = 0.05
PROBLEMS = {  # rows, distance of the class means in an own and in a shared block
    "noise": (100, 0.0, None),
    "signal": (100, 1.2, None),
    "signal, half of the features shared": (100, 0.85, 0.85),
    "signal, 400 rows": (400, 1.2, None),
}
DESIGNS = {  # splitter, data sets
    "5-fold": (partial(StratifiedKFold, 5, shuffle=True), 4000),
    "10-fold": (partial(StratifiedKFold, 10, shuffle=True), 4000),
    "15 random splits, a tenth tested": (
        partial(StratifiedShuffleSplit, 15, test_size=0.1),
        4000,
    ),
    "10 x 10-fold": (partial(RepeatedStratifiedKFold, n_splits=10, n_repeats=10), 1000),
}
FAST = 20  # data sets of a small run
BATCH = 100


class MeanDifference(ClassifierMixin, BaseEstimator):
    """Direction of the difference of the class means of some columns."""

    def __init__(self, columns=slice(None)):
        self.columns = columns

    def fit(self, X, y):
        """Keep the difference of the two means."""
        self.classes_ = np.unique(y)
        X = X[:, self.columns]
        low, high = (X[y == label].mean(axis=0) for label in self.classes_)
        self.coef_ = high - low
        return self

    def decision_function(self, X):
        """Projection of the rows."""
        return X[:, self.columns] @ self.coef_


def rows(problem, seed):
    """Rows, labels and the columns of the two models."""
    n, own, shared = PROBLEMS[problem]
    rng = np.random.default_rng([1414, seed, *problem.encode()])
    y = np.arange(n) % 2
    distances = [own, own] + ([] if shared is None else [shared])
    blocks = [
        rng.standard_normal((n, BLOCK)) + np.outer(y, np.eye(BLOCK)[0] * distance)
        for distance in distances
    ]
    first, second, third = (list(range(k, k + BLOCK)) for k in (0, BLOCK, 2 * BLOCK))
    third = [] if shared is None else third
    columns = [first + third, second + third]
    return np.hstack(blocks), y, columns


def compare(problem, design, seed):
    """Both models over the folds of one data set."""
    X, y, columns = rows(problem, seed)
    models = {name: MeanDifference(c) for name, c in zip("ab", columns, strict=True)}
    splitter = DESIGNS[design][0](random_state=seed)
    return compare_cross_val_auc(models, X, y, splitter)


def answers(result):
    """P-values of the three tests, the difference and their three errors."""
    plain = result.differences.std(ddof=1) / np.sqrt(result.df + 1)
    errors = plain, result.standard_error, result.influence.standard_error
    plain_p = 2 * stdtr(result.df, -abs(result.difference) / plain)
    p = plain_p, result.pvalue, result.influence.pvalue
    return [*map(float, p), result.difference, *map(float, errors)]


def batch(problem, design, first, n_sets):
    """Answers of some data sets."""
    return [answers(compare(problem, design, first + i)) for i in range(n_sets)]


def main(argv=None):
    """Run every problem under every design."""
    arguments = parse(__doc__, argv, folder="compare_models")
    jobs = []
    for problem in PROBLEMS:
        for design, (_, n_sets) in DESIGNS.items():
            n_sets = FAST if arguments.fast else n_sets
            size = min(BATCH, n_sets)
            jobs += [(problem, design, i, size) for i in range(0, n_sets, size)]
    found = {}
    results = resume("compare_models", batch, jobs, arguments)
    for (problem, design, *_), part in zip(jobs, results, strict=True):
        found.setdefault((problem, design), []).extend(part)
    write_table("compare_models", [summary(*of) for of in found.items()], arguments.out)


def summary(cell, found):
    """One row: sizes, and the errors over the spread of the difference."""
    found = np.array(found)
    p, gap, errors = found[:, :3], found[:, 3], found[:, 4:]
    row = {"problem": cell[0], "design": cell[1], "data sets": len(found)}
    spread = np.sqrt(np.mean(gap**2))  # the truth is 0
    names = "uncorrected t", "corrected t", "influence"
    for name, size in zip(names, (p < LEVEL).mean(axis=0), strict=True):
        error = np.sqrt(size * (1 - size) / len(found))
        row[name] = f"{size:.3f} ({error:.3f})"
    row["spread of the difference"] = spread
    for name, error in zip(names, np.sqrt((errors**2).mean(axis=0)), strict=True):
        row[f"error / spread, {name}"] = error / spread
    return row


if __name__ == "__main__":
    main()
