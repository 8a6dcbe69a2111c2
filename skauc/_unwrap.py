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
from scipy.special import logit
from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
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
        return replace(rule, threshold=rule.threshold + _moved_cut(estimator, rule))
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
    cut = 0.0 if classes is not None else 0.5  # a regressor on labels 0, 1
    return LinearRule(X, w, cut - intercept, classes, model)


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
        if getattr(rule.model, "loss", "log_loss") != "log_loss":
            raise TypeError(
                f"{type(wrapper).__name__} must cut decision_function, got a cut on "
                f"probabilities that are not logistic: loss={rule.model.loss!r}"
            )
        threshold = logit(threshold)
    pos_label = getattr(wrapper, "pos_label", None)
    flipped = pos_label is not None and pos_label == rule.classes[0]
    return float(-threshold if flipped else threshold)


def decision_values(model, X):
    """Score of each row in the direction of ``classes_[1]``."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def weight_for_fit(model, weight) -> dict:
    """Keyword under which ``fit`` takes the weights; empty if the model takes none.

    Without metadata routing a Pipeline wants the name of its last step in front.
    """
    if isinstance(model, Pipeline) and not get_config()["enable_metadata_routing"]:
        step, last = model.steps[-1]
        if has_fit_parameter(last, "sample_weight"):
            return {f"{step}__sample_weight": weight}
        return {}
    signature = inspect.signature(model.fit).parameters.values()
    takes_all = any(p.kind is p.VAR_KEYWORD for p in signature)
    if takes_all or has_fit_parameter(model, "sample_weight"):
        return {"sample_weight": weight}
    return {}
