"""Rows of two classes and fits to them, for the tests of this folder."""

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from skauc.leave_pair_out._newton import LOGISTIC, SQUARED, SQUARED_HINGE
from skauc.leave_pair_out._objective import Fit, Objective
from skauc.statistics._rows import Rows

LOSSES = {"logistic": LOGISTIC, "squared": SQUARED, "squared hinge": SQUARED_HINGE}
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
    fitted = model(loss, C).fit(X, np.where(positive, 1, -1), weight)
    intercept = 1.0 if loss == "squared hinge" else "free"
    objective = Objective(LOSSES[loss], 1 / C, intercept)
    return Fit(objective, np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0]))


def rows_and_fit(loss, C, *shape, **options):
    """Rows and the fit to them."""
    X, positive = draw(*shape, **options)
    return Rows.of(X, positive), fit_of(loss, C, X, positive)
