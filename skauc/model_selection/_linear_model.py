"""A fitted estimator is opened, once, down to its linear model.

``front`` are the rows as the linear model sees them (the Pipeline's earlier steps
applied), ``w`` its coefficients: ``decision = front @ w − threshold``. Searches,
pipelines, frozen and threshold classifiers are opened until a linear model is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimators._class_sums import record_features
from ..statistics._block_matrix import BlockMatrix
from ._any_estimator import decision_values, is_known
from ._any_rows import n_rows, take_rows, transformed
from ._standardised_rows import StandardisedRows, standardised


class NotLinearError(TypeError):
    """There is no linear model inside an estimator."""

    @classmethod
    def of(cls, name) -> NotLinearError:
        """What there is instead, by the name of its class, and what to do."""
        return cls(
            f"{name} is not linear (it has no coef_): score held-out decision_function "
            "values with skauc.cbauc_score, or let refits speak with "
            "prior=AdaptivePrior(refits=5)"
        )


@dataclass(frozen=True)
class LinearModel:
    """A fitted linear classifier and the rows it sees.

    Parameters
    ----------
    front : array-like or sparse matrix of shape (n, P)
        Rows in front of the linear model, not yet checked.
    w : ndarray of shape (P,), or (K, P), or (K(K − 1)/2, P)
        Coefficients, in the direction of ``classes[1]``; of K > 2 classes one row a
        class, or one row a pair.
    threshold : float or ndarray
        ``front @ w > threshold`` is what the classifier calls ``classes[1]``.
    classes : ndarray of shape (K,) or None
        Labels; None for a regressor on two labels.
    model : estimator
        The linear model itself.
    one_vs_one : bool, default=False
        Whether the rows of w belong to the pairs of classes, each in the direction of
        the second class of its pair.
    X : array-like, sparse matrix or frame
        Rows that entered the estimator.
    stages : tuple of (fitted transformer, rows in front, rows behind)
        The way from X to ``front``, nested Pipelines taken apart.
    searched : bool, default=False
        Whether a search chose that way among many, by y.
    """

    front: Any
    w: np.ndarray
    threshold: Any  # a number, or one a class or pair
    classes: Any
    model: object
    one_vs_one: bool = False
    X: object = None
    stages: tuple = ()
    searched: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes; 2 for a regressor."""
        return 2 if self.classes is None else len(self.classes)


def open_two_classes(estimator, X) -> LinearModel:
    """Open a fitted estimator down to its linear model of two classes.

    Parameters
    ----------
    estimator : fitted estimator
        A linear model, or a (nested) Pipeline, search, frozen or threshold
        classifier that ends in one.
    X : array-like or sparse matrix of shape (n, n_features)

    Returns
    -------
    LinearModel

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If there is no linear model inside.
    ValueError
        If it separates more than two classes.
    """
    opened = open_estimator(estimator, X)
    if opened.n_classes > 2:
        raise ValueError(
            f"{type(opened.model).__name__} must separate two classes, got coef_ of "
            f"shape {opened.w.shape} for {opened.n_classes} classes; a scorer with "
            'multi_class="ovo" takes each pair of classes on its own'
        )
    return opened


def pair_models(opened: LinearModel) -> Iterator[LinearModel]:
    """Linear models of each pair of classes i < j, in the direction of j.

    One row a pair is that pair's own; of one row a class, the decision between
    two of them is ``s = (w_j − w_i)ᵀz``.

    Parameters
    ----------
    opened : LinearModel
        Of more than two classes, from :func:`open_estimator`.

    Yields
    ------
    LinearModel
        Their ``front`` are still all rows.
    """
    for k, (i, j) in enumerate(combinations(range(opened.n_classes), 2)):
        if opened.one_vs_one:
            w, threshold = opened.w[k], opened.threshold[k]
        else:
            w = opened.w[j] - opened.w[i]
            threshold = opened.threshold[j] - opened.threshold[i]
        classes = opened.classes[[i, j]]
        yield replace(
            opened, w=w, threshold=threshold, classes=classes, one_vs_one=False
        )


def open_estimator(estimator, X) -> LinearModel:
    """Open a fitted estimator down to its linear model of two classes or more.

    Parameters
    ----------
    estimator, X
        As for :func:`open_two_classes`.

    Returns
    -------
    LinearModel
        For K > 2 classes w and threshold have one row a class or one a pair.

    Raises
    ------
    sklearn.exceptions.NotFittedError, TypeError
        As for :func:`open_two_classes`.
    ValueError
        If the columns of X are not those that a model was fitted on (scikit-learn's
        error), or ``coef_`` is not what ``decision_function`` computes with.
    """
    if isinstance(estimator, Pipeline):
        if not hasattr(estimator[-1], "coef_"):  # what has coefficients is fitted
            check_is_fitted(estimator)
        stages = tuple(stages_of(estimator.steps[:-1], X))
        front = stages[-1][-1] if stages else X
        opened = open_estimator(estimator[-1], front)
        return replace(opened, X=X, stages=(*stages, *opened.stages))
    if isinstance(estimator, RFE):  # also RFECV: a selector with a model behind it
        check_is_fitted(estimator)
        front = transformed(estimator, X)
        # fitted without names, whatever the selector gives others
        front = np.asarray(front) if hasattr(front, "columns") else front
        opened = open_estimator(estimator.estimator_, front)
        return replace(opened, X=X, stages=((estimator, X, front), *opened.stages))
    if isinstance(estimator, FrozenEstimator):
        return open_estimator(estimator.estimator, X)
    if isinstance(estimator, FixedThresholdClassifier | TunedThresholdClassifierCV):
        inner = getattr(estimator, "estimator_", None)
        if inner is None:  # fitted before it was wrapped, or not at all
            check_is_fitted(estimator.estimator)
            inner = estimator.estimator
        opened = open_two_classes(inner, X)
        # Xw + b > 0 is Xw > −b; the wrapper's cut is in units of the decision Xw + b.
        natural = -float(np.ravel(getattr(opened.model, "intercept_", 0.0))[0])
        return replace(opened, threshold=natural + _moved_cut(estimator, opened))
    if hasattr(estimator, "best_estimator_"):
        opened = open_estimator(estimator.best_estimator_, X)
        many = _n_ways(estimator) > _FEW_WAYS
        return replace(opened, searched=opened.searched or many)
    return _leaf(estimator, X)


# Subsets of 8 of 30 columns of noise, 80 rows, the best by cross-validation: of 2, 5
# and 10 the posterior with refits of the linear model alone is .03 to .05 too high, of
# 30 and 100 .08 and .10, and its 95 % interval covers .88.
_FEW_WAYS = 10


def _n_ways(search):
    """How many ways to the rows in front of the linear model a search has tried."""
    best, tried = search.best_estimator_, getattr(search, "cv_results_", {})
    if not isinstance(best, Pipeline):
        return 1
    last = best.steps[-1][0]
    ways = {
        frozenset(
            (name, _known_by(value))
            for name, value in params.items()
            if name != last and not name.startswith(f"{last}__")
        )
        for params in tried.get("params", ())
    }
    return len(ways)


def _known_by(value):
    """A value that compares, or which object it is: some cannot be pickled."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def open_score(estimator, X) -> LinearModel | None:
    """A classifier that is not linear: its score is the one feature.

    As behind a step that saw y and is not affine no closed form holds, but true refits
    of the whole estimator do.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like or sparse matrix of shape (n, n_features)

    Returns
    -------
    LinearModel or None
        None of more than two classes, and of rows in blocks.
    """
    classes = getattr(estimator, "classes_", None)
    if isinstance(X, BlockMatrix) or (classes is not None and len(classes) != 2):
        return None
    front = np.asarray(decision_values(estimator, X), dtype=float).reshape(-1, 1)
    # Shares are cut at ½, decisions at 0.
    shares = classes is not None and not hasattr(estimator, "decision_function")
    way = ((estimator, X, front),)
    return LinearModel(
        front, np.ones(1), 0.5 if shares else 0.0, classes, estimator, X=X, stages=way
    )


def is_stacked(estimator) -> bool:
    """Whether a fitted estimator is a stacked model, or a Pipeline that ends in one."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return hasattr(estimator, "final_estimator_")


def stages_of(steps, rows):
    """Every transformer of a Pipeline with the rows on both sides of it.

    Behind a scaler at the end nothing is made that is not asked for.
    """
    last = steps[-1][1] if steps else None
    for _, step in steps:
        if step is None or step == "passthrough":
            continue
        if isinstance(step, Pipeline):
            for stage in stages_of(step.steps, rows):
                yield stage
                rows = stage[-1]
            continue
        behind = standardised(step, rows) if last is step else None
        behind = transformed(step, rows) if behind is None else behind
        yield step, rows, behind
        rows = behind


def _leaf(model, X):
    name = type(model).__name__
    if not hasattr(model, "fit"):
        raise TypeError(
            f"{name} is not linear (it is no model with coef_): score held-out "
            "decision_function values with skauc.cbauc_score, or let folds fit models, "
            "cv=5"
        )
    if isinstance(model, OneVsRestClassifier | OneVsOneClassifier):
        return _of_parts(model, X)
    if not hasattr(model, "coef_"):
        check_is_fitted(model)
        if hasattr(model, "cv_results_"):
            raise TypeError(f"{name} must be fitted with refit to be scored, got none")
        raise NotLinearError.of(name)
    _check_names(model, X)
    classes = getattr(model, "classes_", None)
    w, intercept = _coefficients(model)
    n_classes = 2 if classes is None else len(classes)
    if n_classes == 2 and len(w) == 1:
        opened = LinearModel(X, w[0], -float(intercept[0]), classes, model)
        _check_order(opened)
        return opened
    if n_classes > 2 and isinstance(model, SVC | NuSVC):
        # libsvm's decision between a pair i < j says i where it is positive
        return LinearModel(X, -w, intercept, classes, model, one_vs_one=True)
    if n_classes == 2 or len(w) != n_classes:
        raise ValueError(
            f"{name} must separate two classes, got coef_ of shape {w.shape} for "
            f"{n_classes} classes"
        )
    opened = LinearModel(X, w, -intercept, classes, model)
    _check_decision(opened)
    return opened


def _check_names(model, X):
    """Let scikit-learn compare the columns' names with ``feature_names_in_``.

    Rows that were not made have lost names that ``set_output`` gave them: those in
    front of their scaler have been compared.
    """
    if isinstance(X, StandardisedRows):
        return
    nameless = type(X) is np.ndarray or sparse.issparse(X)
    if nameless and not hasattr(model, "feature_names_in_"):  # which takes .1 ms
        return
    if isinstance(X, BlockMatrix):
        if not X.steps:
            record_features(model, X.blocks, X.n_features, reset=False)
        return
    validate_data(model, X, reset=False, skip_check_array=True, ensure_2d=False)


def _coefficients(model):
    """``coef_`` as a dense (k, P) array, and k intercepts."""
    coef = model.coef_
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    coef = np.atleast_2d(coef).astype(float)
    intercept = np.ravel(getattr(model, "intercept_", 0.0)).astype(float)
    return coef, intercept + np.zeros(len(coef))


def _check_order(opened):
    """A class of somebody's own may rank rows by something else than coefficients."""
    model, X = opened.model, opened.front
    names = ("decision_function", "predict_proba", "predict")
    name = next((name for name in names if hasattr(model, name)), None)
    own = name is not None and not is_known(getattr(type(model), name, None))
    labels = name == "predict" and opened.classes is not None
    if not own or labels or isinstance(X, BlockMatrix | StandardisedRows):
        return
    rows = take_rows(X, np.arange(min(_ROWS_TRIED, n_rows(X))))
    theirs = np.ravel(decision_values(model, rows)).astype(float)
    ours = rows @ opened.w if sparse.issparse(rows) else _dot(rows, opened.w)
    # Any increasing function of ours ranks alike; what is rounded ties.
    theirs, ours = theirs[np.argsort(ours)], np.sort(ours)
    fall = np.max(np.maximum.accumulate(theirs) - theirs, initial=0.0)
    if fall > 1e-4 * np.ptp(theirs):  # float32, as below
        raise ValueError(
            f"{type(model).__name__} must rank rows by X @ coef_.T to be scored, got "
            f"another {name}"
        )


_ROWS_TRIED = 50


def _check_decision(opened):
    """One row a class is taken at its word only if the model decides by it."""
    if not hasattr(opened.model, "decision_function"):
        return
    rows = take_rows(opened.front, np.arange(min(5, n_rows(opened.front))))
    theirs = np.asarray(opened.model.decision_function(rows))
    ours = np.asarray(
        rows @ opened.w.T if sparse.issparse(rows) else _dot(rows, opened.w)
    )
    # A model may decide by more than its coefficients.
    ours = ours - opened.threshold
    # A model of float32 rounds by 1e-7 of each of its terms: 1e-4 leaves it room.
    size = np.abs(ours).max(initial=1.0)
    if theirs.shape != ours.shape or not np.allclose(ours, theirs, atol=1e-4 * size):
        raise ValueError(
            f"{type(opened.model).__name__} must decide by X @ coef_.T + intercept_ to "
            "be scored, got another decision_function"
        )


def _dot(rows, w):
    return np.asarray(rows, dtype=float) @ w.T


def _of_parts(model, X):
    """One binary linear model a class (one vs rest), or a pair (one vs one)."""
    check_is_fitted(model)
    _check_names(model, X)
    parts = model.estimators_
    if any(not hasattr(part, "coef_") for part in parts):
        raise NotLinearError.of(type(model).__name__)
    w, intercept = map(
        np.concatenate, zip(*(_coefficients(part) for part in parts), strict=True)
    )
    if len(parts) == 1:
        return LinearModel(X, w[0], -float(intercept[0]), model.classes_, parts[0])
    pairs = isinstance(model, OneVsOneClassifier)
    return LinearModel(X, w, -intercept, model.classes_, model, one_vs_one=pairs)


def _moved_cut(wrapper, opened):
    """Threshold of the wrapper in units of the linear model's decision."""
    if isinstance(wrapper, TunedThresholdClassifierCV):
        threshold = wrapper.best_threshold_
    else:
        threshold = wrapper.threshold
    if threshold == "auto":
        return 0.0
    method = wrapper.response_method
    if method == "auto":
        has_proba = hasattr(opened.model, "predict_proba")
        method = "predict_proba" if has_proba else "decision_function"
    if method == "predict_proba":
        rows = take_rows(opened.front, np.arange(min(5, n_rows(opened.front))))
        # p > t is decision > logit(t) only for logistic probabilities: tried on rows.
        logistic = expit(decision_values(opened.model, rows))
        if not np.allclose(logistic, opened.model.predict_proba(rows)[:, 1]):
            raise TypeError(
                f"{type(wrapper).__name__} must cut decision_function, got a cut on "
                f"probabilities of {type(opened.model).__name__} that are not logistic"
            )
        threshold = logit(np.clip(threshold, 0.0, 1.0))  # beyond: one answer for all
    pos_label = getattr(wrapper, "pos_label", None)
    flipped = pos_label is not None and pos_label == opened.classes[0]
    return float(-threshold if flipped else threshold)
