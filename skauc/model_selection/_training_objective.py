"""What a fitted scikit-learn model minimised, and its leave-pair-out estimate.

Whether the rows at hand are the ones that trained it is not taken on trust: the
gradient of that objective is close to 0 on training rows and of random-walk size on
any others. A model whose objective is not known here, or rows it was not trained on,
have no estimate.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from inspect import signature
from threading import Lock

import numpy as np
from scipy import sparse
from scipy.special import chdtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from ..leave_pair_out._estimate import LeavePairOut, leave_pair_out
from ..leave_pair_out._objective import (
    Discriminant,
    PenalisedFit,
    nearest_optimum,
    with_optimum,
)
from ..leave_pair_out._pairs import class_of_one_row
from ..statistics._block_column import BlockColumn
from ..statistics._columns import class_sums, classes_given, content, row_slope
from ..statistics._moments import class_moments, project_samples
from ._any_estimator import has_known_fit

_STATIONARY = 0.01, 0.2  # bounds on gradient / random-walk size, few and many features
_MISTAKEN = 1e-3  # how often held-out rows may pass
# Their class_weight="balanced" counts rows, whatever these weigh.
_BALANCE_ROWS = RidgeClassifier, RidgeClassifierCV, SGDClassifier, SVC
PARALLEL = 1 - 1e-6  # cosine of the scores of a discriminant solved again


def leave_pair_out_estimate(
    model, Z, positive, sample_weight=None
) -> LeavePairOut | None:
    """Leave-pair-out AUC of a fitted model on its training rows, or None.

    Parameters
    ----------
    model : fitted linear model
        The last step of a Pipeline, as
        :mod:`skauc.model_selection._linear_model` finds it.
    Z : ndarray or sparse matrix of shape (n, P)
        Rows in front of it.
    positive : ndarray of bool of shape (n,)
        True for ``model.classes_[1]``.
    sample_weight : ndarray of shape (n,) or None

    Returns
    -------
    LeavePairOut or None
        None where the objective is not known, the rows did not train the model, or a
        class has one row: without it the model could not have been trained.
    """
    if class_of_one_row(positive, sample_weight) is not None:
        return None
    Z = Z.astype(float, copy=False)  # products of float32 lose half of the digits
    discriminant = _discriminant(model, Z, positive, sample_weight)
    if discriminant is not None:
        return _leave_pair_out_of_discriminant(
            model, Z, positive, sample_weight, discriminant
        )
    fit = penalised_fit(model, Z, positive, sample_weight)
    if fit is None:
        return None
    enough = largest_gradient(Z.shape)
    fit, gradient = nearest_optimum(Z, positive, fit, enough)
    if gradient > enough:
        return None
    return leave_pair_out(Z, positive, fit, sample_weight)


def largest_gradient(shape):
    """Gradient, in units of its random walk, up to which rows count as training rows.

    Solvers reach 1e-3, a few 1e-1 on badly scaled features. On other rows the square
    is about ``χ²_k/(k + 1)``: the length of w is fitted, k = min(n, P) − 1 directions
    are left. One feature leaves none: any row might have trained it.
    """
    return _least_strange(max(min(shape) - 1, 1))


@cache
def _least_strange(k):
    # √(χ²_{k, .001}/(k + 1)), the lower quantile: held-out rows lie below it so seldom
    return float(np.clip(np.sqrt(chdtri(k, 1 - _MISTAKEN) / (k + 1)), *_STATIONARY))


def missing_objective(model, Z, positive, sample_weight=None) -> str | None:
    """Why a model has no closed-form leave-pair-out; None if its objective is known.

    Parameters
    ----------
    model, Z, positive, sample_weight
        As for :func:`leave_pair_out_estimate`.

    Returns
    -------
    str or None
        Half a sentence.
    """
    question = model, Z, positive, sample_weight
    if _discriminant(*question) is not None or penalised_fit(*question) is not None:
        return None
    if isinstance(model, LinearDiscriminantAnalysis) and sample_weight is not None:
        return "discriminant analysis takes no sample_weight"
    if hasattr(model, "shrinkage") and isinstance(model.shrinkage, str):
        return f"shrinkage={model.shrinkage!r} changes with every row that is left out"
    if getattr(model, "covariance_estimator", None) is not None:
        return "its covariance_estimator changes with every row that is left out"
    if hasattr(model, "_discriminant"):
        return "with features >= rows - 2 the standardization is not free of any row"
    if getattr(model, "has_offset_", False):
        return "it was trained with an offset"
    if is_mean_of_folds(model):
        return "its coefficients are the mean of those of folds"
    if hasattr(model, "_penalised_fit") or isinstance(model, _LOGISTIC):
        if _l2_only(model):
            return "separated classes have no optimum without a penalty"
        return "its penalty is not L2 alone"
    if isinstance(model, LinearSVC) and model.multi_class == "crammer_singer":
        return "multi_class='crammer_singer' minimises a hinge, which is not smooth"
    if isinstance(model, LinearSVC):
        return f"loss={model.loss!r} with penalty={model.penalty!r} is not smooth"
    if getattr(model, "positive", False):
        return "its coefficients are bound to be positive"
    return "its objective is not known here"


class _Rearranged:
    """Mean scores of training rows: what is left of them when columns are permuted.

    A column that is permuted keeps its mean, and so does every affine function of the
    columns; held-out rows have other means. Keeps two numbers a model, of the last 64.
    """

    _MODELS = 64
    _SAME = 1e-10  # of the largest score: the rounding of two orders of summation

    def __init__(self):
        self._means = OrderedDict()
        self._lock = Lock()

    def remember(self, model, positive, score):
        """Keep the mean score of the rows that trained the model, and their slope."""
        key = self._key(model, positive)
        with self._lock:
            self._means[key] = self._statistics(score)
            self._means.move_to_end(key)
            while len(self._means) > self._MODELS:
                self._means.popitem(last=False)

    def recall(self, model, positive, score) -> bool:
        """Whether other rows with these labels and this mean trained the model."""
        with self._lock:
            trained = self._means.get(self._key(model, positive))
        if trained is None:
            return False
        gap = np.abs(self._statistics(score) - trained)
        same_mean, same_rows = gap <= self._SAME * np.abs(score).max()
        return bool(same_mean and not same_rows)

    @staticmethod
    def _statistics(score):
        n = len(score)
        # Σ (2i − n + 1) s_i/{n(n − 1)}: another order of the scores has another slope.
        slope = row_slope(score) / n / max(n - 1, 1)
        return np.array([score.mean(), slope])

    @staticmethod
    def _key(model, positive):
        coef = model.coef_
        coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
        # of many numbers Python's own hash takes a fifth of the time of a digest
        return hash(coef.tobytes()), len(positive), hash(content(positive))


REARRANGED = _Rearranged()


def penalised_fit(model, Z, positive, sample_weight=None) -> PenalisedFit | None:
    """What a fitted model minimised; None if that is not known here."""
    if hasattr(model, "_penalised_fit"):
        return model._penalised_fit(Z, positive, sample_weight)
    for kind, describe in _OBJECTIVES.items():
        if isinstance(model, kind):
            return describe(model, Z, positive, sample_weight)
    return None


_LOGISTIC = LogisticRegression | LogisticRegressionCV


def _l2_only(model):
    """Whether a logistic regression has no L1 part in its penalty."""
    if not isinstance(model, _LOGISTIC):
        return model.penalty == "l2"
    ratio = model.l1_ratio_ if hasattr(model, "l1_ratio_") else model.l1_ratio
    ratio = np.ravel(ratio)[0] if np.size(ratio) else None
    # A penalty that is named rules, before and after scikit-learn 1.8
    return model.penalty in ("l2", None, "none") or (
        model.penalty == "deprecated" and ratio in (None, 0)
    )


def is_mean_of_folds(model) -> bool:
    """Whether the coefficients are the mean of those of folds, which minimise nothing.

    Parameters
    ----------
    model : fitted LogisticRegression or LogisticRegressionCV
    """
    return isinstance(model, LogisticRegressionCV) and not model.refit


def strength_of_logistic(model) -> float | None:
    """λ of an L2 penalty λ‖w‖²/2 beside the sum of the losses; None of another.

    Parameters
    ----------
    model : fitted LogisticRegression or LogisticRegressionCV
    """
    if not _l2_only(model) or is_mean_of_folds(model):
        return None
    C = model.C_ if hasattr(model, "C_") else model.C
    # Σ c loss + ‖w‖²/(2C): scikit-learn's C Σ c loss + ‖w‖²/2, over C
    return 0.0 if model.penalty in (None, "none") else 1 / float(np.ravel(C)[0])


def _logistic(model, Z, positive, sample_weight):
    l2 = strength_of_logistic(model)
    if l2 is None:
        return None
    case_weight = case_weight_of(model, positive, sample_weight)
    scaling = scaling_of(model, penalised=model.solver == "liblinear")
    return _described("logistic", l2, case_weight, model, scaling, Z, positive)


def _squared_hinge(model, Z, positive, sample_weight):
    smooth = model.loss == "squared_hinge" and model.penalty == "l2"
    if not smooth or model.multi_class == "crammer_singer":
        return None
    # ‖w‖²/2 + C Σ c loss
    case_weight = model.C * case_weight_of(model, positive, sample_weight)
    scaling = scaling_of(model, penalised=True)
    return _described("squared_hinge", 1.0, case_weight, model, scaling, Z, positive)


def _ridge(model, Z, positive, sample_weight):
    if getattr(model, "positive", False):
        return None
    alpha = float(model.alpha_ if hasattr(model, "alpha_") else model.alpha)
    case_weight = case_weight_of(model, positive, sample_weight)
    return _described(
        "squared", alpha, case_weight, model, scaling_of(model), Z, positive
    )


_OBJECTIVES = {
    LogisticRegression: _logistic,
    LogisticRegressionCV: _logistic,
    LinearSVC: _squared_hinge,
    RidgeClassifier: _ridge,
    RidgeClassifierCV: _ridge,
}


def _described(loss, l2, case_weight, model, scaling, Z, positive):
    w = np.ravel(model.coef_).astype(float)
    b = float(np.ravel(model.intercept_)[0])
    return with_optimum(PenalisedFit(loss, l2, case_weight, w, b, scaling), Z, positive)


def correlation(a, b, case_weight) -> float:
    """Of two scores, over the rows that weigh something; NaN if one is constant."""
    if not isinstance(a, BlockColumn):  # blocks have left out the others
        counted = case_weight > 0
        if not counted.all():
            a, b = a[counted], b[counted]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.corrcoef(a, b)[0, 1]


def scaling_of(model, penalised=False):
    """``intercept_scaling`` of :class:`PenalisedFit`."""
    if not model.fit_intercept:
        return 0.0
    return float(model.intercept_scaling) if penalised else np.inf


def case_weight_of(model, positive, sample_weight):
    """Class weight times sample weight of every row."""
    weight = sample_weight
    if weight is None:
        weight = np.ones_like(positive, dtype=float)
    if model.class_weight is None:
        return weight
    if isinstance(model.class_weight, str):  # "balanced"
        by_rows = balances_rows(model, sample_weight)
        total = classes_given(positive) if by_rows else class_sums(positive, weight)
        per_class = total.sum() / (2 * total)
    else:
        classes = model.classes_
        per_class = compute_class_weight(model.class_weight, classes=classes, y=classes)
    return weight * np.where(positive, per_class[1], per_class[0])


def balances_rows(model, sample_weight) -> bool:
    """Whether scikit-learn's ``class_weight="balanced"`` counts rows, not weights."""
    known = "sample_weight" in signature(compute_class_weight).parameters
    return sample_weight is None or isinstance(model, _BALANCE_ROWS) or not known


def _discriminant(model, Z, positive, sample_weight):
    if not has_known_fit(model):
        return None
    if hasattr(model, "_discriminant"):
        return model._discriminant(Z, positive, sample_weight)
    if not isinstance(model, LinearDiscriminantAnalysis) or sample_weight is not None:
        return None
    if model.covariance_estimator is not None or model.shrinkage == "auto":
        return None  # an intensity and a target that change with every row left out
    n_c = np.array([(~positive).sum(), positive.sum()])
    s = 0.0 if model.solver == "svd" else float(model.shrinkage or 0.0)
    ratio = left_out = np.ones(2)  # of prior and share
    if model.solver != "svd" and model.priors is not None:
        # nΣ = n Σ_c π_c W_c/n_c = Σ_c a_c W_c, a_c = π_c n/n_c; 1 for the shares n_c/n
        ratio = model.priors_ * len(positive) / n_c
        left_out = ratio * n_c / (n_c - 1)
    neg, pos = class_moments(Z, positive, featurewise=True)
    # Shrunk towards (tr S_c/P) I in each class: Λ = s Σ_c a_c (tr W_c/P) I
    size = ratio @ [neg.scatter.mean(), pos.scatter.mean()]
    penalty = np.full(Z.shape[1], s * size)
    return Discriminant((1 - s) * ratio, (1 - s) * left_out, penalty)


def _leave_pair_out_of_discriminant(model, Z, positive, sample_weight, discriminant):
    """The direction is that of a ridge on labels ±1 with case weights a_c."""
    neg, pos = class_moments(Z, positive, sample_weight, featurewise=True)
    spread = (neg.scatter + pos.scatter) / (neg.n + pos.n)
    spread = np.where(spread > 0, spread, spread.mean() or 1.0)
    total = neg.n * discriminant.a[0] + pos.n * discriminant.a[1]
    # No penalty is one of 1e-9 of a feature's scatter: half of the digits are left.
    floor = 1e-9 * max(total, 1e-9) * spread
    # Features over √Λ: (Σ a_c W_c + Λ)⁻¹d is a ridge of strength 1 on them.
    unit = 1 / np.sqrt(np.maximum(discriminant.penalty, floor))
    Z = Z.multiply(unit).tocsr() if sparse.issparse(Z) else Z * unit
    trained = _ridge_fit(Z, positive, discriminant.a, sample_weight)
    score = project_samples(Z, trained.w)
    theirs = project_samples(Z, np.ravel(model.coef_) / unit)
    if np.corrcoef(score, theirs)[0, 1] < PARALLEL:
        return None
    # The check above needs the fit as it was, the pairs those of one row less a class.
    fit = _ridge_fit(Z, positive, discriminant.left_out, sample_weight)
    return leave_pair_out(Z, positive, fit, sample_weight)


def _ridge_fit(Z, positive, a, sample_weight):
    weight = np.ones(len(positive)) if sample_weight is None else sample_weight
    # a = 1 − s is 0 at shrinkage 1, where the labels must keep a weight.
    case_weight = weight * np.maximum(a, 1e-9)[positive.astype(int)]
    ridge = Ridge(alpha=1.0, solver="sparse_cg" if sparse.issparse(Z) else "svd")
    # Of the iterative solver for sparse rows: far below 1 − PARALLEL.
    ridge.set_params(tol=1e-12)
    ridge.fit(Z, np.where(positive, 1.0, -1.0), sample_weight=case_weight)
    return PenalisedFit(
        "squared",
        ridge.alpha,
        case_weight,
        ridge.coef_,
        float(ridge.intercept_),
        np.inf,
    )
