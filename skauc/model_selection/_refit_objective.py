"""What scikit-learn models minimised beyond smooth losses with an L2 penalty.

L1 and elastic net, the hinge, the objectives of stochastic gradient descent, and the
covariances of discriminants. The coefficients of such models are where their solver
stopped; refits start from the optimum.
"""

from __future__ import annotations

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC

from ..estimators._gaussian_auc import GaussianAUCClassifier
from ..estimators._lda_moments import parent_divides_by_n
from ..leave_pair_out._discriminant_refits import DiscriminantRule
from ..leave_pair_out._losses import RoundedHinge
from ..leave_pair_out._objective import ElasticNetFit, PenalisedFit
from ..statistics._columns import n_given
from ._any_estimator import has_known_fit
from ._training_objective import (
    case_weight_of,
    is_mean_of_folds,
    penalised_fit,
    scaling_of,
)


def training_objective(model, Z, positive, sample_weight=None):
    """Objective of a fitted linear model, or None if it is not known here.

    Parameters
    ----------
    model : fitted linear model
    Z : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    sample_weight : ndarray of shape (n,), default=None

    Returns
    -------
    PenalisedFit, ElasticNetFit or None
        The loss may also be ``"hinge"`` or a ``RoundedHinge``.
    """
    fit = penalised_fit(model, Z, positive, sample_weight)
    if fit is not None:
        return fit
    for kind, describe in _NOT_SMOOTH_L2.items():
        if isinstance(model, kind):
            return describe(model, positive, sample_weight)
    return None


def discriminant_objective(model, shape, sample_weight=None) -> DiscriminantRule | None:
    """How a fitted discriminant makes its covariance; None if that is not known here.

    ``shrinkage="bayes"`` is not: every refit would need its own adaptive prior. Nor is
    LDA by least squares without shrinkage unless P is small against the n rows: its
    cut-off lies in the rounding of a singular covariance.
    """
    if not has_known_fit(model):
        return None
    if isinstance(model, GaussianAUCClassifier):
        if model.shrinkage == "bayes":
            return None
        return DiscriminantRule(True, model.shrinkage or 0.0, model.standardize)
    if not isinstance(model, LinearDiscriminantAnalysis) or sample_weight is not None:
        return None
    if model.covariance_estimator is not None:
        return None
    if model.solver != "svd" and not model.shrinkage and 2 * shape[1] > shape[0]:
        return None
    priors = None
    if model.priors is not None:
        priors = np.asarray(model.priors) / np.sum(model.priors)
    tol = model.tol if model.solver == "svd" else None
    df = 0 if parent_divides_by_n("svd") else 2  # n less the classes before 1.9
    return DiscriminantRule(False, model.shrinkage or 0.0, False, priors, tol, df)


def _l1_logistic(model, positive, sample_weight):
    ratio = model.l1_ratio_ if hasattr(model, "l1_ratio_") else model.l1_ratio
    ratio = {"l1": 1.0, "l2": 0.0}.get(model.penalty, np.ravel(ratio)[0])
    C = float(np.ravel(model.C_ if hasattr(model, "C_") else model.C)[0])
    if model.penalty in (None, "none") or np.isinf(C) or not ratio:
        return None  # no optimum, or known as an L2 penalty
    if is_mean_of_folds(model):
        return None
    scaling = scaling_of(model, penalised=model.solver == "liblinear")
    weight = case_weight_of(model, positive, sample_weight)
    # C Σ c loss + penalty, over C
    return _stopped(model, "logistic", 1 / C, float(ratio), weight, scaling)


def _linear_svc(model, positive, sample_weight):
    weight = model.C * case_weight_of(model, positive, sample_weight)
    scaling = scaling_of(model, penalised=True)
    if model.multi_class == "crammer_singer":  # whatever its loss and penalty say
        # w = w₁ − w₀ = 2w₁: (‖w₀‖² + ‖w₁‖²)/2 + C Σ c hinge = ‖w‖²/4 + C Σ c hinge
        return _stopped(model, "hinge", 0.5, 0.0, weight, scaling)
    ratio = float(model.penalty == "l1")
    return _stopped(model, model.loss, 1.0, ratio, weight, scaling)


def _svc(model, positive, sample_weight):
    if model.kernel != "linear":
        return None
    weight = model.C * case_weight_of(model, positive, sample_weight)
    return _stopped(model, "hinge", 1.0, 0.0, weight, np.inf)


def _sgd(model, positive, sample_weight):
    """``Σ c loss/n + α·penalty``, times n."""
    known = {
        "hinge": "hinge",
        "log_loss": "logistic",
        "squared_hinge": "squared_hinge",
        "squared_error": "squared",
        "modified_huber": RoundedHinge(2.0),
    }
    if model.loss not in known or model.penalty is None or model.alpha == 0:
        return None  # the perceptron's optimum is w = 0: it lives by stopping early
    ratio = {"l2": 0.0, "l1": 1.0}.get(model.penalty, model.l1_ratio)
    weight = case_weight_of(model, positive, sample_weight)
    if model.loss == "modified_huber":
        # Modified Huber is four times the rounded hinge of width 2.
        weight = 4.0 * weight
    return _stopped(
        model,
        known[model.loss],
        # α‖w‖²/2 + Σ c loss/n, times n
        model.alpha * n_given(positive),
        ratio,
        weight,
        scaling_of(model),
    )


_NOT_SMOOTH_L2 = {
    LogisticRegression: _l1_logistic,
    LogisticRegressionCV: _l1_logistic,
    LinearSVC: _linear_svc,
    SVC: _svc,
    SGDClassifier: _sgd,
}


def _stopped(model, loss, strength, ratio, weight, scaling):
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    w, b = np.ravel(coef).astype(float), float(np.ravel(model.intercept_)[0])
    # strength {(1 − ρ)‖w‖²/2 + ρ‖w‖₁}
    l2 = strength * (1 - ratio)
    if ratio == 0:
        return PenalisedFit(loss, l2, weight, w, b, scaling)
    return ElasticNetFit(loss, l2, weight, w, b, scaling, strength * ratio)
