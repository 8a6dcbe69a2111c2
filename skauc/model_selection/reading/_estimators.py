"""Rows of every kind that scikit-learn takes, and fits and scores of any estimator.

Rows are arrays, sparse matrices, frames or lists. An estimator is fitted with weights
under their routed name, and its scores are larger for ``classes_[1]``. This module
knows scikit-learn's interface and no single linear model.
"""

import inspect
import os
from collections.abc import Iterator, Mapping
from numbers import Integral
from threading import current_thread, main_thread
from warnings import catch_warnings

import joblib
import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import clone, is_classifier, is_clusterer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import get_routing_for_object

from ..._validation import (
    check_counted,
    check_groups,
    check_labels,
    check_score,
    check_weight,
    counted_rows,
    distinct_labels,
    positive_and_label,
    take_rows,
)
from ...estimators._gaussian_auc import GaussianAUCClassifier
from ...estimators._logistic import IRLSLogisticRegression
from ...statistics._checks import RANGE, columns_named
from ...statistics._row_blocks import parts_of, refuse_collection, row_blocks
from ...statistics._warn_caller import warn_caller

_KNOWN = "sklearn", __name__.split(".")[0]
TAKE_BLOCKS = GaussianAUCClassifier, IRLSLogisticRegression


def in_parallel(calls, n_jobs, verbose=0) -> list:
    """Results of the calls, made with scikit-learn's configuration of the caller.

    Warnings that worker processes record are issued by the caller, each text once.

    Parameters
    ----------
    calls : iterable of callable
    n_jobs : int or None
    verbose : int, default=0
        Verbosity of joblib.
    """
    # sklearn.utils.parallel would replace the warning filters, which threads share
    task, here = joblib.delayed(_called), (os.getpid(), get_config())
    run = joblib.Parallel(n_jobs=n_jobs, verbose=verbose)
    found = run(task(call, *here) for call in calls)
    for issued in dict.fromkeys(one for _, of_call in found for one in of_call):
        warn_caller(*issued)
    return [result for result, _ in found]


def _called(call, process, config):
    """Result of a call, and the warnings that it issued in another process."""
    with config_context(**config):
        # a thread issues its warnings itself: filters belong to the process
        if os.getpid() == process or current_thread() is not main_thread():
            return call(), ()
        with catch_warnings(record=True, action="always") as issued:
            result = call()
    return result, tuple((str(one.message), one.category) for one in issued)


def n_rows(X) -> int:
    """Number of rows; raise a TypeError if X is not a container of rows."""
    if hasattr(X, "shape"):
        return X.shape[0]
    if not hasattr(X, "__len__"):
        raise TypeError(f"X must be an array of rows, got {X!r}")
    return len(X)


def has_columns(X) -> bool:
    """Whether rows have columns; texts, mappings and images do not."""
    if hasattr(X, "shape"):
        return len(X.shape) == 2
    row = X[0]
    if isinstance(row, str | bytes | Mapping) or not hasattr(row, "__len__"):
        return False
    return getattr(row, "ndim", 1) == 1


def n_columns(X) -> int:
    """Number of columns; rows without columns count as one column of objects."""
    if not has_columns(X):
        return 1
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


def take_columns(X, columns):
    """Columns by number, in the container type of X; an array for lists."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if sparse.issparse(X):
        return X.tocsc()[:, columns]
    return (X if hasattr(X, "shape") else np.asarray(X))[:, columns]


def numeric(X):
    """Rows as a numeric array or CSR matrix; object columns become floats."""
    if sparse.issparse(X):
        return X.tocsr()
    X = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    return X.astype(float) if X.dtype == object else X


def row_keys(X) -> np.ndarray:
    """Integers (n,) that are equal for equal rows, of rows of any kind."""
    return np.fromiter(map(hash, row_contents(X)), np.int64)


def row_contents(X) -> Iterator:
    """Yield every row as bytes or as text."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if sparse.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        for a, b in zip(X.indptr, X.indptr[1:], strict=False):
            yield X.indices[a:b].tobytes(), X.data[a:b].tobytes()
    elif isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        for part in parts_of(len(X), 2**10):
            for row in X[part] + 0:  # makes 0 of −0, in parts, because it copies them
                yield row.tobytes()
    else:
        yield from map(repr, X.tolist() if hasattr(X, "tolist") else X)


def column_positions(columns, names, width) -> list:
    """Positions of the columns that a fitted ColumnTransformer names.

    Parameters
    ----------
    columns : slice, int, str, or array-like of int, str or bool
    names : sequence of str or None
    width : int
    """
    labels = list(range(width)) if names is None else list(names)
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = labels.index(start) if isinstance(start, str) else start
        # a slice of names includes its end
        stop = labels.index(stop) + 1 if isinstance(stop, str) else stop
        return list(range(width))[start : stop : columns.step]
    wanted = np.atleast_1d(np.asarray(columns, dtype=object)).tolist()
    if wanted and all(isinstance(c, bool | np.bool_) for c in wanted):
        return np.flatnonzero(wanted).tolist()
    return [labels.index(c) if isinstance(c, str) else int(c) for c in wanted]


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
    """Whether ``predict`` returns labels of classes or clusters instead of scores."""
    try:
        return is_classifier(model) or is_clusterer(model)
    except AttributeError:  # an estimator without scikit-learn's tags
        return False


def is_known(method) -> bool:
    """Whether a method of a class is scikit-learn's or skauc's own."""
    module = getattr(method, "__module__", None) or ""
    return module.split(".")[0] in _KNOWN


def weight_for_fit(model, weight) -> dict:
    """Keyword under which ``fit`` takes the weights; empty if the model takes none."""
    if weight is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        return {"sample_weight": weight}
    *_, (prefix, last) = _nested(model, ("cv", "threshold"))
    parameters = inspect.signature(last.fit).parameters.values()
    # a sampler's Pipeline, for example, passes all keywords on
    takes = any(
        p.kind is p.VAR_KEYWORD or p.name == "sample_weight" for p in parameters
    )
    return {f"{prefix}sample_weight": weight} if takes else {}


def groups_for_fit(model, groups) -> dict:
    """Groups for the splitters of searches in a model, by their names in ``fit``."""
    if groups is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        takes = get_routing_for_object(model).consumes("fit", ["groups"])
        return {"groups": groups} if takes else {}
    return {
        f"{prefix}groups": groups
        for prefix, search in searches_in(model)
        if get_routing_for_object(search.cv).consumes("split", ["groups"])
    }


def searches_in(model) -> list:
    """Searches in a model, and the prefixes of their keywords in ``model.fit``."""
    nested = _nested(model, ("error_score",))  # which all searches have, and only they
    return [pair for pair in nested if hasattr(pair[1], "error_score")]


def _nested(model, wrappers, prefix=""):
    """Yield prefixes of keywords in ``fit``, and the models that they lead to.

    They are the model, the last steps of Pipelines, and the estimators of wrappers,
    which are known by an attribute.
    """
    yield prefix, model
    if isinstance(model, Pipeline):
        step, last = model.steps[-1]
        yield from _nested(last, wrappers, f"{prefix}{step}__")
    elif hasattr(model, "estimator") and any(hasattr(model, name) for name in wrappers):
        yield from _nested(model.estimator, wrappers, prefix)


def _keeps_copies_together(model) -> bool:
    """Let stratified folds of searches hold all copies of a row, as groups."""
    plain = [
        search
        for _, search in searches_in(model)
        if search.cv is None or isinstance(search.cv, Integral | StratifiedKFold)
    ]
    for search in plain:
        size = check_cv(search.cv, [0, 1], classifier=True).get_n_splits()
        search.set_params(cv=StratifiedGroupKFold(size))
    return bool(plain)


def checked_rows(X, y, sample_weight, pos_label, groups=None):
    """Mask, label, weight, X, labels and groups of the rows of positive weight."""
    refuse_collection("X", X)
    X, labels = indexable(X, check_labels(y))
    *counted, groups = check_counted(
        labels, sample_weight, X, labels, groups, pos_label=pos_label
    )
    return *counted, check_groups(groups, len(counted[0]))


def fitted_to_rows(estimator, X, y, weight, rows, group=None):
    """A clone fitted to rows given by number, which may repeat, and their weights."""
    model = clone(estimator)
    if len(np.unique(rows)) < len(rows) and _keeps_copies_together(model):
        group = np.arange(len(y)) if group is None else group
    weight, group = (v if v is None else v[rows] for v in (weight, group))
    return _fitted(model, take_rows(X, rows), y[rows], weight, group)


def _fitted(model, X, y, weight, groups):
    """Fit a model with weights and groups, if it takes them."""
    with columns_named(X):
        return model.fit(
            X, y, **weight_for_fit(model, weight), **groups_for_fit(model, groups)
        )


def scores_towards(model, X, y, positive) -> np.ndarray:
    """Scores of the rows X, larger for the positive class of the labels y."""
    score = decision_values(model, X)
    # scores are larger for the larger label, which may be the negative class
    lower = getattr(model, "classes_", np.unique(y))[0]
    score = -score if positive[y == lower].any() else score
    name = f"scores of a fitted {type(model).__name__}"
    return check_score(score, n_rows(X), name=name)


def apart(splits, n, groups=None) -> list:
    """Folds of n rows; raise a ValueError if one is tested on its training rows.

    Rows of a group must not be divided. A row that a fold names twice is one.
    """
    number, folds = np.arange(n), []
    for train, test in splits:
        train, test = number[train], np.unique(number[test])
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                "cv must leave the test rows of a fold out of its training rows, got "
                f"{len(both)} rows in both: ResubstitutionSplit is for scorers such as "
                "cbauc_scorer, and auc_posterior reports the AUC of a single fit"
            )
        if groups is not None and np.isin(groups[test], groups[train]).any():
            raise ValueError(
                "cv must not divide a group, got one in both: use StratifiedGroupKFold"
            )
        folds.append((train, test))
    return folds


def scores_of_clone(estimator, X, y, positive, weight, groups, train, test):
    """Scores of the rows ``test`` by a clone fitted to the rows ``train``."""
    model = fitted_to_rows(estimator, X, y, weight, train, groups)
    return scores_towards(model, take_rows(X, test), y, positive)


def fitted_clone(estimator, X, y, sample_weight=None, pos_label=None, groups=None):
    """A clone fitted to the rows, with the weights and groups if it takes them.

    Labels and weights are checked first, because a fit may take long. Estimators that
    take rows in blocks get the blocks.
    """
    blocks = isinstance(estimator, TAKE_BLOCKS) and row_blocks(X, y, sample_weight)
    if blocks:
        return clone(estimator).fit(X, y, sample_weight=sample_weight)
    refuse_collection("X", X)
    indexable(X, y)
    labels = check_labels(y)
    # with more than two classes the estimator itself raises if it is binary
    if pos_label is not None or len(distinct_labels(labels)) <= 2:
        positive, _ = positive_and_label(y, pos_label=pos_label)
        check_weight(sample_weight, positive)
    groups = check_groups(groups, len(labels))
    labels, weight, X, groups = counted_rows(labels, sample_weight, X, groups)
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        odd = np.isfinite(X) & (np.abs(X) > RANGE[1])
        if odd.any():
            raise ValueError(
                f"X must hold values up to {RANGE[1]:g}, got {X[odd][0]:g}"
            )
    return _fitted(clone(estimator), X, labels, weight, groups)
