"""Curves that a ROC display draws: curves of folds, their average, credible bands."""

from collections.abc import Mapping

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from .._validation import check_column, check_score
from ..intervals._empirical_roc import EmpiricalROC, empirical_roc
from ..model_selection.reading._estimators import n_rows, take_rows
from ..statistics._checks import check_option
from ..statistics._collections import refuse_collection

_INNER = ndtr(np.linspace(-4, 4, 201))  # false positive rates, dense near 0 and 1
GRID = np.concatenate([[0.0], _INNER, [1.0]])
_METHODS = "auto", "decision_function", "predict_proba"
_DRAWS = 4000  # the error of the limits is about 1/100 of the width of the band


def fold_curves(
    cv_results, X, y, weight, response_method, pos_label
) -> list[EmpiricalROC]:
    """ROC curve of the test rows of each fold."""
    estimators, tests = _folds(cv_results)
    y = check_column("y", y)
    if n_rows(X) != len(y):
        raise ValueError(f"X must have the {len(y)} rows of y, got {n_rows(X)} rows")
    if weight is not None:
        weight = check_score(weight, len(y), name="sample_weight")
    last = np.max(np.concatenate(tests))
    if last >= len(y):
        raise ValueError(
            f"X must hold all rows of cv_results, got {len(y)} rows and the row "
            f"number {last}"
        )
    curves = []
    for estimator, rows in zip(estimators, tests, strict=True):
        X_test = take_rows(X, rows)
        score, label = responses(estimator, X_test, response_method, pos_label)
        options = {"sample_weight": None if weight is None else weight[rows]}
        curves.append(empirical_roc(y[rows], score, pos_label=label, **options))
    return curves


def credible_band(neg, pos, confidence_level):
    """Pointwise credible band ``(fpr, low, high)``; None if a class does not vary."""
    if min(neg.scatter, pos.scatter) <= 0 or min(neg.n, pos.n) <= 1:
        return None
    # σ_c² = W_c/χ²_{n_c−1}, μ_c ~ N(x̄_c, σ_c²/n_c)
    rng = np.random.default_rng(0)  # fixed seed: equal data have equal bands
    means, deviations = [], []
    for part in (neg, pos):
        sigma = np.sqrt(part.scatter / rng.chisquare(part.n - 1, (_DRAWS, 1)))
        normal = rng.standard_normal((_DRAWS, 1))
        means.append(part.mean + sigma * normal / np.sqrt(part.n))
        deviations.append(sigma)
    # Φ⁻¹(ROC(u)) = (μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁
    z = (means[1] - means[0] + deviations[0] * ndtri(_INNER)) / deviations[1]
    tail = (1 - confidence_level) / 2
    limits = ndtr(np.quantile(z, [tail, 1 - tail], axis=0))
    low, high = np.pad(limits, [(0, 0), (1, 1)], constant_values=[(0, 0), (0, 1)])
    return GRID, low, high


def responses(estimator, X, method, pos_label):
    """Scores in favour of the positive label, and that label."""
    check_option("response_method", method, _METHODS)
    check_is_fitted(estimator)
    refuse_collection("X", X)
    classes = list(getattr(estimator, "classes_", []))
    if len(classes) != 2:
        raise ValueError(
            f"estimator must separate two classes for a ROC curve, got {len(classes)}"
        )
    pos_label = classes[1] if pos_label is None else pos_label
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of {classes}, got {pos_label!r}")
    if method == "auto":
        has_decision = hasattr(estimator, "decision_function")
        method = "decision_function" if has_decision else "predict_proba"
    score = getattr(estimator, method)(X)
    if method == "predict_proba":
        return score[:, classes.index(pos_label)], pos_label
    return (score if pos_label == classes[1] else -score), pos_label


def _folds(cv_results):
    """Fitted estimators and test rows of ``cross_validate``."""
    known = cv_results if isinstance(cv_results, Mapping) else {}
    missing = [name for name in ("estimator", "indices") if name not in known]
    if missing:
        raise ValueError(
            "cv_results must be the dictionary of cross_validate with "
            f"return_estimator=True and return_indices=True, but it lacks {missing}"
        )
    return cv_results["estimator"], cv_results["indices"]["test"]
