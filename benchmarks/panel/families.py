"""Model families: a grid of Pipelines each, as a user would write them.

``Family(name, n, P, seed)`` knows its grid from the size of the problem, so that refits
on fewer rows use the same grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

LINEAR = ("l2", "l1", "hinge", "kbest", "pca")
CURVED = ("forest", "rbf")  # real sets and random labels only
FAMILIES = (*LINEAR, *CURVED)
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
        """Values of the parameter (of forests: two) that the candidates differ in."""
        if self.name == "l2":
            return tuple(np.logspace(-4, 3, 8))
        if self.name == "l1":
            return tuple(np.logspace(-1.25, 1.25, 6))
        if self.name == "forest":  # rows of a leaf, share of the features of a split
            return tuple(product((1, 2, 5), ("sqrt", 0.2)))
        if self.name in ("hinge", "rbf"):
            low = -4 if self.name == "hinge" else -2
            return tuple(np.logspace(low, low + 5, 6))
        most = min(self.P, MOST_FEATURES)
        if self.name == "pca":  # folds have .8 n rows, centred
            most = min(self.P, int(0.75 * self.n), MOST_COMPONENTS)
        return tuple(int(k) for k in np.unique(np.geomspace(1, most, 6).round()))

    def candidates(self):
        """Unfitted Pipelines in the order of the grid, simplest first."""
        return [make_pipeline(StandardScaler(), *self._steps(v)) for v in self.grid]

    def _steps(self, value):
        """Steps of a candidate after the scaler."""
        if self.name == "l2":
            return [LogisticRegression(C=value, max_iter=5_000)]
        if self.name == "l1":
            how = {"solver": "liblinear", "max_iter": 1_000, "random_state": 0}
            return [LogisticRegression(C=value, l1_ratio=1, **how)]
        if self.name == "rbf" or (self.name == "hinge" and self.seed % 2):
            return [SVC(C=value, kernel="rbf" if self.name == "rbf" else "linear")]
        if self.name == "hinge":
            how = {"loss": "hinge", "dual": True, "max_iter": 5_000, "random_state": 0}
            return [LinearSVC(C=value, **how)]
        if self.name == "forest":
            how = dict(zip(("min_samples_leaf", "max_features"), value, strict=True))
            return [RandomForestClassifier(100, random_state=self.seed, **how)]
        kbest = self.name == "kbest"
        reduce = SelectKBest(k=value) if kbest else PCA(value, svd_solver="full")
        return [reduce, LogisticRegression(max_iter=5_000)]


def fold_aucs(models, X, y, cv):
    """AUC on the test rows of each fold, by every model refitted: (folds, m)."""
    how = {"scoring": "roc_auc", "cv": cv, "error_score": "raise"}
    return np.array([cross_val_score(model, X, y, **how) for model in models]).T


def decisions(models, X) -> np.ndarray:
    """Scores (m, n) of rows by fitted candidates."""
    if hasattr(models[0], "decision_function"):
        return np.array([model.decision_function(X) for model in models])
    return np.array([model.predict_proba(X)[:, 1] for model in models])


def coefficients(pipeline) -> np.ndarray:
    """Coefficients of a fitted candidate on the features that entered it."""
    w = np.ravel(pipeline[-1].coef_)  # that of RidgeClassifier has one dimension
    for _, step in reversed(pipeline.steps[:-1]):
        if isinstance(step, StandardScaler):
            w = w / step.scale_
        elif isinstance(step, PCA):
            w = w @ step.components_
        else:
            w = step.inverse_transform(w[None])[0]
    return w
