"""What is asked of any estimator, linear or not: a fit with weights, scores of rows."""

from __future__ import annotations

import inspect

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_clusterer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.validation import has_fit_parameter

from .._validation import check_non_negative, check_positive, is_continuous
from ..estimators._gaussian_auc import GaussianAUCClassifier
from ..estimators._lda import LinearDiscriminantROC
from ..estimators._logistic import IRLSLogisticRegression
from ..statistics._collections import kind_of_blocks
from ..statistics._row_blocks import row_blocks

_KNOWN = "sklearn", __name__.split(".")[0]
_TAKE_BLOCKS = GaussianAUCClassifier, IRLSLogisticRegression, LinearDiscriminantROC


def decision_values(model, X):
    """Score of each row in the direction of ``classes_[1]`` (the larger label)."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    if hasattr(model, "predict") and not _predicts_labels(model):
        return model.predict(X)
    raise TypeError(
        "estimator must have decision_function or predict_proba, or be a regressor, "
        f"got {type(model).__name__}"
    )


def _predicts_labels(model):
    """Whether ``predict`` names classes or clusters, which ranks no rows."""
    try:
        return is_classifier(model) or is_clusterer(model)
    except AttributeError:  # an estimator without scikit-learn's tags
        return False


def is_known(method) -> bool:
    """Whether a method is scikit-learn's or ours, not a subclass's own.

    Parameters
    ----------
    method : callable or None
        As its class has it.
    """
    module = getattr(method, "__module__", None) or ""
    return module.split(".")[0] in _KNOWN


def has_known_fit(model) -> bool:
    """Whether what a class is known for holds: what it minimised, kept, counted.

    A subclass with a fit of its own may have fitted anything.
    """
    return is_known(getattr(type(model), "fit", None))


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


def fitted_clone(estimator, X, y, sample_weight=None, pos_label=None):
    """A clone fitted to the rows, with the weights where it takes them.

    Labels and weights are checked first: a fit may take long. Rows in blocks are left
    to the estimators that take them.
    """
    if isinstance(estimator, _TAKE_BLOCKS):
        if row_blocks(X, y, sample_weight) is not None:
            how = {} if sample_weight is None else {"sample_weight": sample_weight}
            return clone(estimator).fit(X, y, **how)
    for name, value in (("X", X), ("y", y)):
        kind = kind_of_blocks(value)
        if kind is not None:
            names = " and ".join(one.__name__ for one in _TAKE_BLOCKS)
            raise ValueError(
                f"{name} must be an array where {type(estimator).__name__} is fitted, "
                f"got {kind}; {names} are fitted to rows in blocks, and auc_posterior "
                "takes any fitted linear model and rows in blocks"
            )
    indexable(X, y)
    # The estimator itself says what it thinks of more than two classes.
    labels = column_or_1d(y)
    if pos_label is not None or not _is_multiclass(labels):
        check_positive(labels, pos_label=pos_label)
    if sample_weight is not None:
        check_non_negative(sample_weight, len(labels))
    model = clone(estimator)
    weights = {} if sample_weight is None else weight_for_fit(model, sample_weight)
    return model.fit(X, y, **weights)


def _is_multiclass(labels):
    if is_continuous(labels):
        return False
    try:
        return len(np.unique(labels)) > 2
    except TypeError:  # of several kinds
        return False
