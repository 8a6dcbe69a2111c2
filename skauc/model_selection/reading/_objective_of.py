"""The objective that a fitted linear model minimised on its rows.

A registry maps the class of a model to the function that describes it. Models with a
smooth loss and an L2 penalty are described directly, discriminants as the ridge
regression with the same direction. For every other model a reason is returned. This
module knows the parameters of scikit-learn's linear models.
"""

from inspect import signature

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
)
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from ...estimators._gaussian_auc import GaussianAUCClassifier
from ...estimators._logistic import IRLSLogisticRegression
from ...leave_pair_out._objective import (
    LOGISTIC,
    SQUARED,
    SQUARED_HINGE,
    Fit,
    Objective,
    discriminant_ridge,
)
from ...statistics._rows import Rows
from ._estimators import is_known

# class_weight="balanced" of these classes counts rows and ignores their weights
_BALANCE_ROWS = RidgeClassifier, RidgeClassifierCV
# Pairs left out at the target of all rows are too high by .4 P/n_c², n_c the smaller
# class: by .03 at P = n_c²/12 (8 to 100 rows of a class, against fits to other pairs)
_TARGET_MOVES = 12


def objective_of(linear, rows: Rows, *, flipped=False) -> tuple:
    """The fit of a linear model of two classes to its training rows.

    Parameters
    ----------
    linear : fitted linear model
    rows : Rows
        Rows in front of the model.
    flipped : bool, default=False
        Whether the positive rows are those of ``classes_[0]``.

    Returns
    -------
    fit : Fit or None
        Coefficients towards the positive rows.
    reason : str or None
        Why rows cannot be left out of it in closed form, as half a sentence.
    """
    # a class with a fit of its own may minimise something else
    if not is_known(getattr(type(linear), "fit", None)):
        return None, "its fit is not that of a class known here"
    for kind, describe in _REGISTRY.items():
        if isinstance(linear, kind):
            try:
                found = describe(linear, rows, flipped)
            except LinAlgError:
                found = "its covariance is singular"
            if isinstance(found, str):
                return None, found
            return found, "its penalty is not L2 alone" if found.objective.l1 else None
    return None, "its objective is not known here"


def _logistic(linear, rows, flipped):
    """``Σ c log(1 + e^(−tz)) + ((1 − r) ‖w‖²/2 + r Σ |w|)/C``, r the share of L1."""
    if isinstance(linear, LogisticRegressionCV) and not linear.refit:
        return "its coefficients are means over folds"
    C = float(np.ravel(linear.C_ if hasattr(linear, "C_") else linear.C)[0])
    ratio = linear.l1_ratio_ if hasattr(linear, "l1_ratio_") else linear.l1_ratio
    ratio = next((float(share) for share in np.ravel(ratio) if share), 0.0)
    # a penalty given by name takes precedence, before and after scikit-learn 1.8
    share = {"l1": 1.0, "l2": 0.0}.get(linear.penalty, ratio)
    total = 0.0 if linear.penalty in (None, "none") else 1 / C
    penalty = (1 - share) * total, share * total
    liblinear = linear.solver == "liblinear"
    return _fit(linear, rows, flipped, LOGISTIC, *penalty, scaled_intercept=liblinear)


def _irls(linear, rows, flipped):
    """As :func:`_logistic`; not for Firth's penalty, nor with an offset."""
    if linear.has_offset_:
        return "it was trained with an offset"
    if linear.penalty == "firth":
        return "its penalty is not L2 alone"
    return _fit(linear, rows, flipped, LOGISTIC, 1 / float(linear.C))


def _linear_svc(linear, rows, flipped):
    """``C Σ c max(0, 1 − tz)²`` plus ``‖w‖²/2`` or ``Σ |w|``, divided by C."""
    if linear.multi_class == "crammer_singer":
        return "multi_class='crammer_singer' minimises a hinge, which is not smooth"
    if linear.loss != "squared_hinge":
        return f"loss={linear.loss!r} with penalty={linear.penalty!r} is not smooth"
    total = 1 / float(linear.C)
    penalty = (total, 0.0) if linear.penalty == "l2" else (0.0, total)
    return _fit(linear, rows, flipped, SQUARED_HINGE, *penalty, scaled_intercept=True)


def _ridge(linear, rows, flipped):
    """``Σ c (z − t)²/2 + α‖w‖²/2``."""
    if getattr(linear, "positive", False):
        return "its coefficients are restricted to positive values"
    alpha = float(linear.alpha_ if hasattr(linear, "alpha_") else linear.alpha)
    return _fit(linear, rows, flipped, SQUARED, alpha)


def _discriminant(linear, rows, flipped):
    """``Σ⁻¹d``, Σ the mean of the class covariances weighted by the priors."""
    if rows.weighted:
        return "discriminant analysis takes no sample_weight"
    if linear.covariance_estimator is not None:
        return "its covariance_estimator changes with every row that is left out"
    n, P = rows.shape
    if linear.solver == "svd" and P >= n - 2:
        return "with features >= rows - 2 its solver 'svd' drops directions"
    least = min(rows.n_neg, rows.n_pos) ** 2 / _TARGET_MOVES
    if isinstance(linear.shrinkage, str) and P >= min(n - 2, least):
        return "with so few rows its automatic shrinkage depends on every row"
    return solved(linear, rows, flipped)


def solved(linear, rows, flipped=False) -> Fit:
    """A linear discriminant fitted to rows as a ridge, which needs n³ for n < P."""
    automatic, priors = isinstance(linear.shrinkage, str), None
    shrinkage = _ledoit_wolf(rows) if automatic else float(linear.shrinkage or 0.0)
    if linear.solver == "svd":
        shrinkage = 0.0
    elif linear.priors is not None:
        priors = tuple(linear.priors_[::-1] if flipped else linear.priors_)
    # an automatic target is that of the standardised features of each class
    return discriminant_ridge(rows, shrinkage, priors=priors, diagonal=automatic)


def is_solved(model) -> bool:
    """Whether :func:`solved` replaces fits to two classes: of automatic shrinkage."""
    plain = type(model) is LinearDiscriminantAnalysis and len(model.classes_) == 2
    return plain and isinstance(model.shrinkage, str)


def _ledoit_wolf(rows):
    """Intensity of each class's shrinkage, as in scikit-learn's discriminant."""
    classes = (rows.X[mask] for mask in (~rows.positive, rows.positive))
    return tuple(
        ledoit_wolf_shrinkage(StandardScaler().fit_transform(X)) for X in classes
    )


def _gaussian_auc(linear, rows, flipped):
    """``Σ⁻¹d``, Σ the sum of the unbiased class covariances."""
    if linear.standardize and rows.shape[1] >= rows.shape[0] - 2:
        return "with features >= rows - 2 its standardization depends on every row"
    alpha, scaled = float(linear.shrinkage_), bool(linear.standardize)
    return discriminant_ridge(rows, alpha, unbiased=True, diagonal=scaled)


_REGISTRY: dict = {
    IRLSLogisticRegression: _irls,
    GaussianAUCClassifier: _gaussian_auc,
    LogisticRegression: _logistic,
    LogisticRegressionCV: _logistic,
    LinearSVC: _linear_svc,
    RidgeClassifier: _ridge,
    RidgeClassifierCV: _ridge,
    LinearDiscriminantAnalysis: _discriminant,
}


def _fit(linear, rows, flipped, loss, l2, l1=0.0, *, scaled_intercept=False):
    """The fit of a smooth loss with an L2 penalty, an L1 penalty, or both."""
    sign = -1.0 if flipped else 1.0
    w = sign * np.ravel(linear.coef_).astype(float)
    b = sign * float(np.ravel(linear.intercept_)[0])
    free, column = bool(linear.fit_intercept), float(linear.fit_intercept)
    if scaled_intercept:
        free, column = False, column * linear.intercept_scaling
    # c_i = weight of the row times that of its class
    class_weight = class_weight_of(linear, rows, flipped)
    return Fit(Objective(loss, l2, column, free, class_weight, l1), w, b)


def class_weight_of(linear, rows: Rows, flipped=False) -> tuple:
    """Factors by which a model weighs negative and positive rows in its fit.

    They multiply the weights of rows, which may have been raised since the fit.

    Parameters
    ----------
    linear : fitted linear model
    rows : Rows
    flipped : bool, default=False
    """
    given, raised = linear.class_weight, np.array(rows.raised)
    if isinstance(given, str):  # "balanced": n/(2 n_c), of rows or of weights
        total = np.array([rows.n_neg, rows.n_pos]) / raised
        if _balances_rows(linear):
            total = np.bincount(rows.positive)
        factors = total.sum() / (2 * total)
    else:
        given = given or {}  # not by scikit-learn, whose checks take half of a score
        factors = np.array([given.get(label, 1.0) for label in linear.classes_])
        factors = factors[::-1] if flipped else factors
    neg, pos = (factors / raised).tolist()
    return neg, pos


def _balances_rows(linear) -> bool:
    """Whether ``class_weight="balanced"`` counts rows and not their weights."""
    if isinstance(linear, IRLSLogisticRegression):
        return False
    known = "sample_weight" in signature(compute_class_weight).parameters
    return isinstance(linear, _BALANCE_ROWS) or not known
