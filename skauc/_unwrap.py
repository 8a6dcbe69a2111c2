"""The door for estimators: a fitted estimator becomes ``(Z, w, b)``.

``Z`` are the rows as the linear model sees them (the Pipeline's earlier steps
applied), ``w, b`` its coefficients: ``decision = Z @ w + b``. Searches, pipelines,
frozen and threshold classifiers are opened until a linear model is found.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter


@dataclass(frozen=True)
class LinearRule:
    """A fitted linear classifier and the rows it sees.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n, P)
        Rows in front of the linear model, not yet checked.
    w : ndarray of shape (P,)
        Coefficients, in the direction of ``classes[1]``.
    threshold : float
        ``Z @ w > threshold`` is what the classifier calls ``classes[1]``.
    classes : ndarray of shape (2,) or None
        Labels; None for a regressor on two labels.
    model : estimator
        The linear model itself.
    """

    Z: object
    w: np.ndarray
    threshold: float
    classes: np.ndarray | None
    model: object


def linear_rule(estimator, X) -> LinearRule:
    """Open a fitted estimator down to its linear model of two classes.

    Parameters
    ----------
    estimator : fitted estimator
        A linear model, or a (nested) Pipeline, search, frozen or threshold
        classifier that ends in one.
    X : array-like or sparse matrix of shape (n, n_features)

    Returns
    -------
    LinearRule

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If there is no linear model inside.
    ValueError
        If it separates more than two classes.
    """
    rule = any_linear_rule(estimator, X)
    if rule.w.ndim == 2:
        raise ValueError(
            f"{type(rule.model).__name__} must separate two classes, got coef_ of "
            f"shape {rule.w.shape} for {len(rule.w)} classes; a scorer with "
            'multi_class="ovo" takes each pair of classes on its own'
        )
    return rule


def pair_rules(rule: LinearRule) -> list[LinearRule]:
    """Rules of each pair of classes: ``s = (w_j − w_i)ᵀz`` says j rather than i.

    Parameters
    ----------
    rule : LinearRule
        Of more than two classes, from :func:`any_linear_rule`.

    Returns
    -------
    list of LinearRule
        Their ``Z`` are still all rows.
    """
    return [
        replace(
            rule,
            w=rule.w[j] - rule.w[i],
            threshold=rule.threshold[j] - rule.threshold[i],
            classes=rule.classes[[i, j]],
        )
        for i, j in combinations(range(len(rule.w)), 2)
    ]


def any_linear_rule(estimator, X) -> LinearRule:
    """Open a fitted estimator down to its linear model of two classes or more.

    Parameters
    ----------
    estimator, X
        As for :func:`linear_rule`.

    Returns
    -------
    LinearRule
        For K > 2 classes w has shape (K, P) and the threshold shape (K,).

    Raises
    ------
    sklearn.exceptions.NotFittedError, TypeError
        As for :func:`linear_rule`.
    """
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        before = estimator[:-1]
        Z = before.transform(X) if len(before) else X
        return any_linear_rule(estimator[-1], Z)
    if isinstance(estimator, FrozenEstimator):
        return any_linear_rule(estimator.estimator, X)
    if isinstance(estimator, FixedThresholdClassifier | TunedThresholdClassifierCV):
        inner = getattr(estimator, "estimator_", None)
        if inner is None:  # fitted before it was wrapped, or not at all
            check_is_fitted(estimator.estimator)
            inner = estimator.estimator
        rule = linear_rule(inner, X)
        natural = -float(np.ravel(getattr(rule.model, "intercept_", 0.0))[0])
        return replace(rule, threshold=natural + _moved_cut(estimator, rule))
    if hasattr(estimator, "best_estimator_"):
        return any_linear_rule(estimator.best_estimator_, X)
    return _leaf(estimator, X)


def _leaf(model, X):
    name = type(model).__name__
    if not hasattr(model, "fit"):
        raise TypeError(f"{name} is not linear: no model with coef_ to score")
    if not hasattr(model, "coef_"):
        check_is_fitted(model)
        if hasattr(model, "cv_results_"):
            raise TypeError(f"{name} must be fitted with refit to be scored, got none")
        raise TypeError(
            f"{name} is not linear (it has no coef_): score held-out "
            "decision_function values with skauc.cbauc_score instead"
        )
    check_is_fitted(model)
    coef = model.coef_
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    classes = getattr(model, "classes_", None)
    n_classes = 2 if classes is None else len(classes)
    if n_classes > 2 and coef.shape[:1] == (n_classes,):
        intercept = np.broadcast_to(getattr(model, "intercept_", 0.0), n_classes)
        return LinearRule(
            X, coef.astype(float), -intercept.astype(float), classes, model
        )
    if n_classes > 2 or (coef.ndim == 2 and coef.shape[0] != 1):
        raise ValueError(
            f"{name} must separate two classes, got coef_ of shape {coef.shape} for "
            f"{n_classes} classes"
        )
    w = np.ravel(coef).astype(float)
    intercept = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    return LinearRule(X, w, -intercept, classes, model)


def _moved_cut(wrapper, rule):
    """Threshold of the wrapper in units of the linear model's decision."""
    if isinstance(wrapper, TunedThresholdClassifierCV):
        threshold = wrapper.best_threshold_
    else:
        threshold = wrapper.threshold
    if threshold == "auto":
        return 0.0
    method = wrapper.response_method
    if method == "auto":
        has_proba = hasattr(rule.model, "predict_proba")
        method = "predict_proba" if has_proba else "decision_function"
    if method == "predict_proba":
        rows = _safe_indexing(rule.Z, np.arange(min(5, _n_rows(rule.Z))))
        logistic = expit(decision_values(rule.model, rows))
        if not np.allclose(logistic, rule.model.predict_proba(rows)[:, 1]):
            raise TypeError(
                f"{type(wrapper).__name__} must cut decision_function, got a cut on "
                f"probabilities of {type(rule.model).__name__} that are not logistic"
            )
        threshold = logit(threshold)
    pos_label = getattr(wrapper, "pos_label", None)
    flipped = pos_label is not None and pos_label == rule.classes[0]
    return float(-threshold if flipped else threshold)


def _n_rows(Z):
    return Z.shape[0] if hasattr(Z, "shape") else len(Z)


def decision_values(model, X):
    """Score of each row in the direction of ``classes_[1]`` (the larger label)."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    return model.predict(X)


def weight_for_fit(model, weight) -> dict:
    """Keyword under which ``fit`` takes the weights; empty if the model takes none.

    Without metadata routing a Pipeline wants the name of its last step in front, at
    every level.
    """
    if get_config()["enable_metadata_routing"]:
        return {"sample_weight": weight}
    name = _weight_name(model)
    return {} if name is None else {name: weight}


def _weight_name(model):
    if isinstance(model, Pipeline):
        step, last = model.steps[-1]
        inner = _weight_name(last)
        return None if inner is None else f"{step}__{inner}"
    if isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        inner = _weight_name(model.estimator)
        if inner not in (None, "sample_weight") or not _takes_weight(model):
            raise ValueError(
                f"{type(model).__name__} must be used with metadata routing to pass "
                "sample_weight on, got sklearn's enable_metadata_routing=False"
            )
        return inner
    if hasattr(model, "estimator") and hasattr(model, "cv"):  # a search
        return _weight_name(model.estimator)
    return "sample_weight" if _takes_weight(model) else None


def _takes_weight(model):
    parameters = inspect.signature(model.fit).parameters.values()
    keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return keywords or has_fit_parameter(model, "sample_weight")
