"""Model families: a grid of Pipelines each, and their scores on other rows, fast.

``Family(name, n, P, seed)`` knows its grid from the size of the problem, so that refits
on fewer rows use the same grid. ``candidates()`` are the Pipelines a user would write.
``scores(X, y, Z)`` refits all of them on ``X, y`` and scores ``Z``: what the candidates
share (scaling, the Gram matrix, the F statistics) is done once, and models that do not
mind a rotation (ridge logistic, hinge, PCA) are fitted in the span of the rows where
P > n: their solution lies there. ``tests/benchmarks/test_panel.py`` compares the two.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

FAMILIES = ("l2", "l1", "hinge", "kbest", "pca")
MOST_FEATURES, MOST_COMPONENTS = 300, 100


@dataclass(frozen=True)
class Family:
    """One family at one size of problem: ``n`` training rows, ``P`` features."""

    name: str
    n: int
    P: int
    seed: int = 0

    @property
    def grid(self):
        """Values of the one parameter that the candidates differ in."""
        if self.name == "l2":
            return tuple(np.logspace(-4, 3, 8))
        if self.name == "l1":
            return tuple(np.logspace(-1.25, 1.25, 6))
        if self.name == "hinge":
            return tuple(np.logspace(-4, 1, 6))
        most = min(self.P, MOST_FEATURES)
        if self.name == "pca":  # folds have .8 n rows, centred
            most = min(self.P, int(0.75 * self.n), MOST_COMPONENTS)
        return tuple(int(k) for k in np.unique(np.geomspace(1, most, 6).round()))

    def candidates(self):
        """Unfitted Pipelines in the order of the grid, simplest first."""
        return [make_pipeline(StandardScaler(), *self._steps(v)) for v in self.grid]

    def _steps(self, value):
        if self.name == "l2":
            return [LogisticRegression(C=value, max_iter=5_000)]
        if self.name == "l1":
            return [_lasso(value)]
        if self.name == "hinge":
            return [self._hinge(value)]
        reduce = (
            SelectKBest(f_classif, k=value)
            if self.name == "kbest"
            else PCA(value, svd_solver="full")
        )
        return [reduce, LogisticRegression(max_iter=5_000)]

    def _hinge(self, C):
        if self.seed % 2:
            return SVC(C=C, kernel="linear")
        return LinearSVC(C=C, loss="hinge", dual=True, max_iter=5_000, random_state=0)

    def scores(self, X, y, Z):
        """Scores of the rows of Z by every candidate refitted on X, y: (m, rows)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scaler = StandardScaler().fit(X)
            A, B = scaler.transform(X), scaler.transform(Z)
            return np.array(list(self._refits(A, y, B)))

    def _refits(self, A, y, B):
        if self.name in ("l2", "hinge", "pca"):
            A, B = principal_scores(A, B)
        if self.name == "l2":
            # where the ridge is weak lbfgs stops early: refits must stop where it does
            # (its path turns with the axes), below that Newton finds the same scores
            strong = [C for C in self.grid if C < 1]
            models = [self._steps(C)[0].fit(A, y) for C in self.grid if C >= 1]
            stopped = [model.decision_function(B) for model in models]
            return [*ridge_logistic(A, y, B, np.divide(1, strong)), *stopped]
        if self.name == "pca":  # components beyond k are fined out of the model
            rank = np.arange(A.shape[1])
            return ridge_logistic(
                A, y, B, [np.where(rank < k, 1, 1e9) for k in self.grid]
            )
        if self.name == "kbest":
            F = f_classif(A, y)[0]
            F[np.isnan(F)] = np.finfo(float).min
            order = np.argsort(F, kind="mergesort")
            parts = [
                principal_scores(A[:, order[-k:]], B[:, order[-k:]]) for k in self.grid
            ]
            return [ridge_logistic(a, y, b, [1.0])[0] for a, b in parts]
        models = [self._steps(value)[0].fit(A, y) for value in self.grid]
        return [model.decision_function(B) for model in models]


def coefficients(pipeline) -> np.ndarray:
    """Coefficients of a fitted candidate on the features that entered it."""
    w = pipeline[-1].coef_[0]
    for _, step in reversed(pipeline.steps[:-1]):
        if isinstance(step, StandardScaler):
            w = w / step.scale_
        elif isinstance(step, PCA):
            w = w @ step.components_
        else:
            full = np.zeros(step.n_features_in_)
            full[step.get_support()] = w
            w = full
    return w


def principal_scores(A, B):
    """Centred rows A, and B with them, in the principal axes of A, largest first."""
    n, P = A.shape
    gram = A @ A.T if n < P else A.T @ A
    values, vectors = np.linalg.eigh(gram)
    keep = np.flatnonzero(values > 1e-10 * max(values[-1], 1e-300))[::-1]
    if not len(keep):
        return np.zeros((n, 1)), np.zeros((len(B), 1))
    root, vectors = np.sqrt(values[keep]), vectors[:, keep]
    if n < P:
        return vectors * root, (B @ A.T) @ (vectors / root)
    return A @ vectors, B @ vectors


def ridge_logistic(A, y, B, penalties, most=100):
    """Scores on B of logistic regressions on A, one for each penalty: (m, rows of B).

    ``Σ log(1 + exp(f)) − y f + ½ Σ λ_j w_j²`` with a free intercept, by Newton steps
    for all penalties λ at once, halved until the objective falls.
    """
    A, B = (np.column_stack([Z, np.ones(len(Z))]) for Z in (A, B))
    d = A.shape[1]
    ridge = np.zeros((len(penalties), d))
    for row, penalty in zip(ridge, penalties, strict=True):
        row[:-1] = penalty
    theta, active = np.zeros_like(ridge), np.arange(len(ridge))

    def objective(t, lam):
        f = t @ A.T
        return (np.logaddexp(0, f) - y * f).sum(axis=1) + 0.5 * (lam * t**2).sum(axis=1)

    for _ in range(most):
        t, lam = theta[active], ridge[active]
        p = expit(t @ A.T)
        gradient = (p - y) @ A + lam * t
        hessian = (A.T * (p * (1 - p))[:, None, :]) @ A
        hessian[:, np.arange(d), np.arange(d)] += lam + 1e-12
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        decrement = (gradient * step).sum(axis=1)
        size, before = np.ones(len(t)), objective(t, lam)
        for _ in range(30):
            worse = (
                objective(t - size[:, None] * step, lam)
                > before - 1e-4 * size * decrement
            )
            worse &= decrement > 1e-9
            if not worse.any():
                break
            size[worse] /= 2
        theta[active] = t - size[:, None] * step
        active = active[decrement > 1e-8]
        if not len(active):
            break
    return theta @ B.T


def _lasso(C):
    return LogisticRegression(
        C=C, l1_ratio=1, solver="liblinear", max_iter=1_000, random_state=0
    )
