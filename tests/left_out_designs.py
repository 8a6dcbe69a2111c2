"""Rows of two classes and fits to them, for the tests of this folder."""

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from skauc.model_selection._objective_of import objective_of
from skauc.statistics._rows import Rows

EXACT = {"tol": 1e-10, "max_iter": 100_000}


def draw(n, P, seed=0, distance=1.5, share=0.4):
    """Normal rows with a difference of means of this length."""
    rng = np.random.default_rng(seed)
    positive = rng.permutation(n) < share * n
    X = rng.normal(size=(n, P)) * np.linspace(0.7, 1.4, P)
    shift = rng.normal(size=P)
    X[positive] += distance * shift / np.linalg.norm(shift)
    return X, positive


def model(loss, C):
    """The estimator that minimises C Σ loss + ½‖w‖²."""
    if loss == "logistic":
        return LogisticRegression(C=C, **EXACT)
    if loss == "squared":
        return RidgeClassifier(alpha=1 / C)
    return LinearSVC(C=C, **EXACT)


def fit_of(loss, C, X, positive, weight=None):
    """What that estimator minimised."""
    fitted = model(loss, C).fit(X, np.where(positive, 1, -1), weight)
    return objective_of(fitted, Rows.of(X, positive, weight))[0]


def rows_and_fit(loss, C, *shape, **options):
    """Rows and the fit to them."""
    X, positive = draw(*shape, **options)
    return Rows.of(X, positive), fit_of(loss, C, X, positive)


LOSSES = {
    name: fit_of(name, 1.0, *draw(20, 2)).objective.loss
    for name in ("logistic", "squared", "squared hinge")
}
LOGISTIC, SQUARED, _ = LOSSES.values()
