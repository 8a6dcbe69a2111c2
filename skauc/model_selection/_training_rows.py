"""Which rows are at hand: those that trained the model, or held-out ones.

Of the rows that trained it a model is judged with a prior on all features; of held-out
rows its score is one feature. They are told apart by what the model carries:

1. its support vectors, or the class means it keeps, are those of the rows, or not;
2. the gradient of what it minimised is 0 on training rows and of random-walk size on
   others;
3. a solver that stopped early: going on to the optimum of these rows hardly changes
   the scores on training rows, and changes them altogether on others;
4. the column means, or ranges, that a step in front of it keeps.

Where nothing tells, training rows are assumed, and said so.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from ..leave_pair_out._objective import PenalisedFit, on_its_ray, stationarity
from ..leave_pair_out._second_source import at_optimum
from ..statistics._moments import class_moments, project_samples
from ._any_rows import numeric
from ._refit_objective import training_objective
from ._scored_model import ScoredModel
from ._training_objective import largest_gradient

ROWS = ("auto", "training", "held-out")
# Correlation of the scores with those of the optimum. A solver that says it has
# converged leaves 1 % of their spread, one that was stopped some percent; on other rows
# of the same source the share is √(2P/n) or more.
_CONVERGED, _STOPPED = 0.9995, 0.99
_SAME = 1e-6  # relative: rounding of float32
_SAME_MEAN = 0.01  # standard errors; another sample's mean is off by √2 of them


def told_rows(scored: ScoredModel) -> str | None:
    """Tell training rows from held-out rows.

    Parameters
    ----------
    scored : ScoredModel

    Returns
    -------
    {"training", "held-out"} or None
        None where nothing tells them apart.
    """
    if scored.model is None:
        return _by_steps(scored)
    return (
        _by_support_vectors(scored)
        or _by_class_means(scored)
        or _by_objective(scored)
        or _by_steps(scored)
    )


def fit_at_optimum(scored: ScoredModel) -> PenalisedFit | None:
    """What the model minimised, at its optimum on these rows; None if not known."""
    Z, positive = scored.front, scored.second_class
    Z = Z.astype(float, copy=False)
    fit = training_objective(scored.model, Z, positive, scored.weight)
    return None if fit is None else at_optimum(fit, Z, positive)


def _said(training) -> str:
    return "training" if training else "held-out"


def _by_support_vectors(scored):
    model, Z = scored.model, scored.front
    if not hasattr(model, "support_vectors_"):
        return None
    rows, vectors = model.support_, model.support_vectors_
    if len(rows) == 0 or rows.max() >= Z.shape[0]:
        return "held-out"
    gap = abs(Z[rows] - vectors).max()
    return _said(gap <= _SAME * abs(vectors).max())


def _by_class_means(scored):
    means = np.asarray(getattr(scored.model, "means_", None), dtype=float)
    if means.shape != (2, scored.front.shape[1]):
        return None
    rows = scored.second_class
    neg, pos = class_moments(scored.front, rows, scored.weight, featurewise=True)
    gap = np.abs(means - [neg.mean, pos.mean]).max()
    if gap <= _SAME * np.abs(means).max():
        return "training"
    return "held-out" if scored.weight is None else None


def _by_objective(scored):
    Z, rows = scored.front.astype(float, copy=False), scored.second_class
    fit = training_objective(scored.model, Z, rows, scored.weight)
    if fit is None or not fit.w.any():
        return None
    smooth = type(fit) is PenalisedFit and fit.loss != "hinge"
    if smooth:
        near = on_its_ray(Z, rows, fit)
        if stationarity(Z, rows, near) <= largest_gradient(Z.shape):
            return "training"
    stopped = _was_stopped(scored.model)
    if (smooth and stopped is False) or _by_steps(scored) == "held-out":
        return "held-out"
    optimum = at_optimum(fit, Z, rows)
    if optimum is None or not optimum.w.any():
        return None
    same = np.corrcoef(project_samples(Z, fit.w), project_samples(Z, optimum.w))[0, 1]
    return _said(same > (_CONVERGED if stopped is False else _STOPPED))


def _was_stopped(model):
    """Whether the solver used up its iterations; None if it does not say."""
    n_iter, most = getattr(model, "n_iter_", None), getattr(model, "max_iter", None)
    if n_iter is None or most is None or hasattr(model, "t_"):
        return None  # a stochastic solver stops anywhere
    return bool(np.max(n_iter) >= most)


def _by_steps(scored):
    """The first step in front that keeps means or ranges of its training rows."""
    if scored.weight is not None:
        return None
    for step, rows, _ in scored.stages:
        if isinstance(step, FrozenEstimator):  # fitted to rows of its own
            return None
        mean = getattr(step, "mean_", None)
        lowest = getattr(step, "data_min_", None)
        if mean is None and lowest is None:
            continue
        X = numeric(rows)
        if sparse.issparse(X) or X.dtype.kind not in "fiub" or not np.all(X == X):
            continue
        if mean is not None:
            return _said(_same_means(X, np.asarray(mean)))
        return _said(np.allclose(X.min(axis=0), lowest, rtol=_SAME, atol=0))
    return None


def _same_means(X, mean):
    spread = X.std(axis=0)
    some = spread > 0
    if not some.any():
        return True
    gap = (X.mean(axis=0) - mean)[some] / spread[some] * np.sqrt(len(X))
    return np.sqrt(np.mean(gap**2)) < _SAME_MEAN
