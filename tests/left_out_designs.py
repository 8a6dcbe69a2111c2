"""Rows of two classes and fits to them, for the tests of this folder."""

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import LinearSVC

from skauc.model_selection.reading._fitted_model import fitted_models
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
        return Ridge(alpha=1 / C)
    return LinearSVC(C=C, **EXACT)


def fit_of(loss, C, X, positive, weight=None):
    """What that estimator minimised."""
    y = np.where(positive, 1, -1)
    # the classifier fits the same labels -1 and 1, and its objective is known
    one = RidgeClassifier(alpha=1 / C) if loss == "squared" else model(loss, C)
    [opened] = fitted_models(one.fit(X, y, weight), X, y, weight)
    return opened.fit


def rows_and_fit(loss, C, *shape, **options):
    """Rows and the fit to them."""
    X, positive = draw(*shape, **options)
    return Rows.of(X, positive), fit_of(loss, C, X, positive)


def refitted_auc(make, X, positive, weight=None):
    """Share of pairs that the positive wins under the fit without one copy of both."""
    t, won, pairs = np.where(positive, 1, -1), 0.0, 0.0
    weight = np.ones(len(t)) if weight is None else weight
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            left = weight.copy()
            left[[i, j]] -= 1
            keep, mass = left > 0, weight[i] * weight[j]
            w = np.ravel(make().fit(X[keep], t[keep], left[keep]).coef_)
            won += mass * np.heaviside(X[i] @ w - X[j] @ w, 0.5)
            pairs += mass
    return won / pairs


LOSSES = {
    name: fit_of(name, 1.0, *draw(20, 2)).objective.loss
    for name in ("logistic", "squared", "squared hinge")
}
LOGISTIC, SQUARED, _ = LOSSES.values()
