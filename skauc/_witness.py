"""The second witness: leave-pair-out of a fitted scikit-learn model (MATH 8).

The door through which a fitted model says what it minimised. Whether the rows at hand
are the ones that trained it is not taken on trust: the gradient of that objective is
close to 0 on training rows and of random-walk size on any others. A model whose
objective is not known here, or rows it was not trained on, have no witness.
"""

from __future__ import annotations

from inspect import signature

import numpy as np
from scipy.special import chdtri
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
)
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from ._leave_pair_out import (
    LeavePairOut,
    PenalisedFit,
    leave_pair_out,
    on_its_ray,
    stationarity,
)
from ._moments import project_samples

_STATIONARY = 0.01, 0.2  # bounds on gradient / random-walk size, few and many features
_MISTAKEN = 1e-3  # how often held-out rows may pass
_PARALLEL = 1 - 1e-6  # cosine of the scores of a discriminant solved again


def second_witness(model, Z, positive, sample_weight=None) -> LeavePairOut | None:
    """Leave-pair-out AUC of a fitted model on its training rows, or None.

    Parameters
    ----------
    model : fitted linear model
        The last step of a Pipeline, as :mod:`skauc._unwrap` finds it.
    Z : ndarray or sparse matrix of shape (n, P)
        Rows in front of it.
    positive : ndarray of bool of shape (n,)
        True for ``model.classes_[1]``.
    sample_weight : ndarray of shape (n,) or None

    Returns
    -------
    LeavePairOut or None
        None where the objective is not known or the rows did not train the model.
    """
    Z = Z.astype(float, copy=False)  # products of float32 lose half of the digits
    if isinstance(model, LinearDiscriminantAnalysis):
        return _discriminant_witness(model, Z, positive, sample_weight)
    fit = penalised_fit(model, Z, positive, sample_weight)
    if fit is None:
        return None
    fit = on_its_ray(Z, positive, fit)
    if stationarity(Z, positive, fit) > _largest_gradient(Z.shape):
        return None
    return leave_pair_out(Z, positive, fit, sample_weight)


def _largest_gradient(shape):
    """Gradient, in units of its random walk, up to which rows count as training rows.

    Solvers reach 1e-3, a few 1e-1 on badly scaled features. On other rows the square
    is about ``χ²_k/(k + 1)``: the length of w is fitted, k = min(n, P) − 1 directions
    are left. One feature leaves none: any row might have trained it.
    """
    k = max(min(shape) - 1, 1)
    return np.clip(np.sqrt(chdtri(k, 1 - _MISTAKEN) / (k + 1)), *_STATIONARY)


def has_witness(model, Z, positive, sample_weight=None) -> bool:
    """Whether the training objective of a model is known here."""
    if isinstance(model, LinearDiscriminantAnalysis):
        return sample_weight is None and model.covariance_estimator is None
    return penalised_fit(model, Z, positive, sample_weight) is not None


def penalised_fit(model, Z, positive, sample_weight=None) -> PenalisedFit | None:
    """What a fitted model minimised; None if that is not known here."""
    if hasattr(model, "_penalised_fit"):
        return model._penalised_fit(Z, positive, sample_weight)
    for kind, describe in _OBJECTIVES.items():
        if isinstance(model, kind):
            return describe(model, Z, positive, sample_weight)
    return None


def _logistic(model, Z, positive, sample_weight):
    ratio = model.l1_ratio_ if hasattr(model, "l1_ratio_") else model.l1_ratio
    ratio = np.ravel(ratio)[0] if np.size(ratio) else None
    if model.penalty not in ("deprecated", "l2", None, "none") or ratio not in (
        None,
        0,
    ):
        return None
    C = model.C_ if hasattr(model, "C_") else model.C
    l2 = 0.0 if model.penalty in (None, "none") else 1 / float(np.ravel(C)[0])
    case_weight = _case_weight(model, positive, sample_weight)
    scaling = _scaling(model, penalised=model.solver == "liblinear")
    return _described("logistic", l2, case_weight, model, scaling, Z)


def _squared_hinge(model, Z, positive, sample_weight):
    if model.loss != "squared_hinge" or model.penalty != "l2":
        return None
    case_weight = model.C * _case_weight(model, positive, sample_weight)
    scaling = _scaling(model, penalised=True)
    return _described("squared_hinge", 1.0, case_weight, model, scaling, Z)


def _ridge(model, Z, positive, sample_weight):
    if getattr(model, "positive", False):
        return None
    alpha = float(model.alpha_ if hasattr(model, "alpha_") else model.alpha)
    case_weight = _case_weight(model, positive, sample_weight)
    return _described("squared", alpha, case_weight, model, _scaling(model), Z)


_OBJECTIVES = {
    LogisticRegression: _logistic,
    LogisticRegressionCV: _logistic,
    LinearSVC: _squared_hinge,
    RidgeClassifier: _ridge,
    RidgeClassifierCV: _ridge,
}


def _described(loss, l2, case_weight, model, scaling, Z):
    w = np.ravel(model.coef_).astype(float)
    b = float(np.ravel(model.intercept_)[0])
    # No penalty is the limit of a tiny one, in units of the curvature of one column.
    square = Z.multiply(Z) if hasattr(Z, "multiply") else np.square(Z, dtype=float)
    floor = 1e-9 * float(square.sum()) / Z.shape[1] * float(case_weight.mean())
    return PenalisedFit(loss, max(l2, floor * 1e-3), case_weight, w, b, scaling)


def _scaling(model, penalised=False):
    if not model.fit_intercept:
        return 0.0
    return float(model.intercept_scaling) if penalised else np.inf


def _case_weight(model, positive, sample_weight):
    weight = np.ones(len(positive)) if sample_weight is None else sample_weight
    if model.class_weight is None:
        return weight
    labels = model.classes_[positive.astype(int)]
    if isinstance(model, RidgeClassifier | RidgeClassifierCV) or sample_weight is None:
        extra = {}  # "balanced" counts rows there
    else:
        known = "sample_weight" in signature(compute_class_weight).parameters
        extra = {"sample_weight": weight} if known else {}
    per_class = compute_class_weight(
        model.class_weight, classes=model.classes_, y=labels, **extra
    )
    return weight * per_class[positive.astype(int)]


def _discriminant_witness(model, Z, positive, sample_weight):
    """LDA's direction ``(Σ_c a_c W_c + Λ)⁻¹ d`` is that of a weighted ridge.

    Case weights are ``a_c = (1 − s_c) π_c n/n_c``, the penalty
    ``Λ = Σ_c s_c π_c (n/n_c) T_c`` with T_c the target of the shrinkage; it is solved
    in features over √Λ.
    """
    if not has_witness(model, Z, positive, sample_weight):
        return None
    n, share = len(positive), np.array([(~positive).mean(), positive.mean()])
    a, penalty = np.ones(2), np.zeros(Z.shape[1])
    ratio = np.ones(2) if model.solver == "svd" else model.priors_ / share
    parts = [np.asarray(Z[~positive], float), np.asarray(Z[positive], float)]
    for c, part in enumerate(parts):
        s, target = _shrinkage(model, part)
        a[c] = (1 - s) * ratio[c]
        penalty += s * ratio[c] * len(part) * target
    spread = np.mean([part.var(axis=0) for part in parts], axis=0)
    spread = np.where(spread > 0, spread, spread.mean() or 1.0)
    unit = 1 / np.sqrt(np.maximum(penalty, 1e-9 * n * spread))
    case_weight = np.maximum(a, 1e-9)[positive.astype(int)]
    ridge = Ridge(alpha=1.0, solver="svd")
    sign = np.where(positive, 1.0, -1.0)
    ridge.fit(Z * unit, sign, sample_weight=case_weight)
    fit = PenalisedFit(
        "squared", 1.0, case_weight, ridge.coef_, float(ridge.intercept_), np.inf
    )
    theirs = project_samples(np.asarray(Z), np.ravel(model.coef_).astype(float))
    if np.corrcoef((Z * unit) @ fit.w, theirs)[0, 1] < _PARALLEL:
        return None
    return leave_pair_out(Z * unit, positive, fit)


def _shrinkage(model, part):
    """Intensity and diagonal target of the shrinkage of one class's covariance."""
    variance = part.var(axis=0)
    if model.shrinkage == "auto":
        spread = np.sqrt(np.where(variance > 0, variance, 1.0))
        return ledoit_wolf((part - part.mean(axis=0)) / spread)[1], variance
    return float(model.shrinkage or 0.0), np.full(len(variance), variance.mean())
