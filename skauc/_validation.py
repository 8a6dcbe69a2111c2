"""Checks of user input: labels become a boolean mask, bad input raises one sentence.

Every public function checks its input here, once; the functions behind it take clean
arrays and the mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from .statistics._checks import as_numbers, check_weights, one_a_row, refuse_rows, short
from .statistics._row_blocks import refuse_collection
from .statistics._weights import design_effect

_LABELS = str, Integral, np.bool_


def positive_and_label(y_true, *, pos_label=None, classes=None, name="y_true"):
    """Boolean mask of the positive rows, and the label of these rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes: numbers, strings or booleans. An order of categories is
        not used, because no ``classes_`` of scikit-learn uses it.
    pos_label : label, default=None
        The positive class; None takes the last sorted label, as ``classes_[1]``.
    classes : ndarray of shape (2,), default=None
        The two labels, if a fitted model knows them; otherwise read from y_true.
    name : str, default="y_true"
        What to call it in an error.

    Returns
    -------
    positive : ndarray of bool of shape (n,)
    label : bool, int, float or str

    Raises
    ------
    ValueError
        If y_true does not hold exactly two classes, or holds a label that the model
        does not know, or ``pos_label`` is not one of them.
    """
    y = check_labels(y_true, name=name)
    if len(y) == 0:
        raise ValueError(f"{name} must hold both classes, got no rows")
    if classes is None:
        classes = distinct_labels(y, name=name)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported: {name} must hold two "
                f"classes, got {len(classes)} classes"
            )
    if pos_label is not None and not _is_one_of(pos_label, classes):
        raise ValueError(
            f"pos_label must be one of the labels {_show(classes)}, got "
            f"{short(pos_label)}"
        )
    which = 1 if pos_label is None else list(classes).index(pos_label)
    positive = check_codes(y, classes, name=name) == which
    if not 0 < np.count_nonzero(positive) < len(y):
        raise ValueError(f"{name} must hold both classes, got only {_show(y[:1])}")
    (label,) = y[[np.argmax(positive)]].tolist()
    return positive, label


def check_labels(y_true, *, name="y_true") -> np.ndarray:
    """Check labels of classes, as an array: not bytes, not continuous.

    Booleans and numbers of dtype object become an array of their own dtype.
    """
    y = check_column(name, y_true)
    if y.dtype.kind == "U" and isinstance(y_true, list | tuple):
        if not all(isinstance(label, str) for label in y_true):
            y = np.array(y_true, dtype=object)  # numpy made texts of other kinds
    if y.dtype.kind == "O":
        y = _of_objects(y)
    for row in np.flatnonzero(_without_label(y))[:1]:
        got = short(y[row : row + 1].tolist()[0])
        got = "a missing value" if got in ("nan", "None", "<NA>", "NaT") else got
        raise ValueError(
            f"Unknown label type: {name} must hold class labels (texts, booleans or "
            f"whole numbers), got {got} in row {row}"
        )
    return y


def _of_objects(y):
    """Labels of dtype object as numbers or booleans, if all of them are."""
    kinds = set(map(type, y))
    if kinds and all(issubclass(kind, Real | np.bool_) for kind in kinds):
        numbers = np.array(y.tolist())
        return numbers if numbers.dtype.kind in "biuf" else y
    return y


def _without_label(y):
    """Whether each row holds no label."""
    if y.dtype.kind == "f":
        return ~np.isfinite(y) | (y != np.floor(y))
    if y.dtype.kind == "O":
        return [not isinstance(value, _LABELS) for value in y]
    return np.full(len(y), y.dtype.kind in "mMS")


def distinct_labels(y, *, name="y_true") -> np.ndarray:
    """Sorted distinct labels, which must be of one kind."""
    try:
        if y.dtype.kind in "iu":  # counts are sorted, which is ten times as fast
            return np.unique(y, return_counts=True)[0]
        return np.unique(y)
    except TypeError:
        kinds = {type(label): label for label in reversed(y.tolist())}
        raise ValueError(
            f"{name} must hold labels of one kind without missing values, got "
            f"{_show(list(kinds.values())[:-6:-1])}"
        ) from None


def check_codes(labels, classes, *, name="y_true") -> np.ndarray:
    """Index of each row's label among the classes of a fitted model.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    classes : ndarray of shape (K,)
    name : str, default="y_true"
        What to call the labels in an error.

    Returns
    -------
    ndarray of int of shape (n,)

    Raises
    ------
    ValueError
        If the model does not know a label.
    """
    codes = np.full(len(labels), -1, dtype=np.int64)
    for code, label in enumerate(classes):
        codes[labels == label] = code
    if (codes < 0).any():
        raise ValueError(
            f"{name} must hold the labels of the fitted model, {_show(classes)}, got "
            f"{_show(list(dict.fromkeys(labels[codes < 0].tolist()))[:5])}"
        )
    return codes


def check_score(
    y_score, n: int, *, name="y_score", allow_infinite=False, largest=np.inf
) -> np.ndarray:
    """Check one-dimensional scores, one per row, as floats.

    Parameters
    ----------
    y_score : array-like of shape (n,)
    n : int
        Number of rows of y_true.
    name : str, default="y_score"
        What to call it in an error.
    allow_infinite : bool, default=False
        Whether ±inf are allowed (rank statistics, for which integers stay integers).
    largest : float, default=inf
        Size that finite scores must not exceed, and the inverse of the least size of
        the largest one (their squares are summed).

    Returns
    -------
    ndarray of float64 of shape (n,), or of integers

    Raises
    ------
    ValueError
        If lengths differ or a score is NaN (or infinite).
    """
    score = check_floats(name, y_score)
    if allow_infinite and (exact := np.asarray(y_score)).dtype.kind in "iu":
        score = exact
    score = one_a_row(name, score, n)
    bad = np.isnan(score) if allow_infinite else ~np.isfinite(score)
    refuse_rows(bad, name, "not be NaN" if allow_infinite else "be finite", score)
    if largest < np.inf and len(score):
        size = np.abs(score).max()
        if size > largest or 0 < size < 1 / largest:
            raise ValueError(
                f"{name} must be 0 or between {1 / largest:g} and {largest:g} in size, "
                f"got {size:.3g}"
            )
    return score


def check_weight(sample_weight, positive) -> np.ndarray | None:
    """Check weights: 0 or of ordinary size, and positive somewhere in each class.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    positive : ndarray of bool of shape (n,)

    Returns
    -------
    ndarray of float64 of shape (n,) or None

    Raises
    ------
    ValueError
        If a rule is broken.
    """
    weight = check_non_negative(sample_weight, len(positive))
    if weight is not None:
        names = "the negative class", "the positive class"
        totals = weight[~positive].sum(), weight[positive].sum()
        check_class_totals(totals, names)
    return weight


def check_class_totals(totals, names):
    """Raise if the weights of a class add up to 0; ``names`` are those of classes."""
    for total, name in zip(totals, names, strict=True):
        if not total > 0:
            raise ValueError(
                "sample_weight must be positive somewhere in each class, got only "
                f"zeros in {name}"
            )


def check_counted(y_true, sample_weight, *columns, pos_label=None, name="y_true"):
    """Leave out the rows of weight 0 before anything else looks at them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    *columns : array-like of shape (n,) or None
        Unchecked values of the same rows; other lengths are returned as they came.
    pos_label, name
        As for :func:`positive_and_label`.

    Returns
    -------
    positive : ndarray of bool
    label : bool, int, float or str
        That of the positive rows.
    weight : ndarray of float64 or None
    *columns
    """
    how = {"pos_label": pos_label, "name": name}
    kept, weight, *columns = counted_rows(y_true, sample_weight, *columns, name=name)
    if kept is not y_true:
        if len(distinct_labels(check_labels(kept, name=name), name=name)) < 2:
            check_weight(sample_weight, positive_and_label(y_true, **how)[0])
    positive, label = positive_and_label(kept, **how)
    return positive, label, weight, *columns


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Checked rows of two classes and their scores, without rows of weight 0.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
    scores : list of ndarray of shape (n,)
    weight : ndarray of float of shape (n,) or None
    groups : ndarray of int of shape (n,) or None
        Numbers of the groups, from 0.
    pos_label : label
    """

    positive: np.ndarray
    scores: list
    weight: np.ndarray | None
    groups: np.ndarray | None
    pos_label: Any

    @classmethod
    def of(
        cls, y_true, scores, sample_weight, groups, pos_label,
        *, names=("y_score",), label_name="y_true", **how,
    ) -> ScoredRows:  # fmt: skip
        """Check what a user gave; ``how`` as for :func:`check_score`."""
        positive, label, weight, groups, *scores = check_counted(
            y_true, sample_weight, groups, *scores, pos_label=pos_label, name=label_name
        )
        n = len(positive)
        cluster = check_groups(groups, n)
        if cluster is not None and not cluster.any():
            raise ValueError(f"groups must be 2 or more, got 1 group of {n} rows")
        checked = [
            check_score(score, n, name=name, **how)
            for score, name in zip(scores, names, strict=True)
        ]
        return cls(positive, checked, weight, cluster, label)

    def effect(self, influence) -> float:
        """Design effect of the groups on an estimate, see :func:`design_effect`."""
        return design_effect(influence, self.weight, self.groups)


def counted_rows(y_true, sample_weight, *columns, name="y_true"):
    """Labels, checked weights and columns of the rows of positive weight."""
    n = len(check_column(name, y_true))
    weight = check_non_negative(sample_weight, n)
    if weight is None or weight.all():
        return y_true, weight, *columns
    rows = np.flatnonzero(weight)

    def counted(values):
        shape = (len(values),) if isinstance(values, list) else np.shape(values)
        return take_rows(values, rows) if shape[:1] == (n,) else values

    return counted(y_true), weight[rows], *map(counted, columns)


def take_rows(X, rows):
    """Rows by number, in the container type of X."""
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "shape"):  # arrays and polars
        return X[rows]
    return [X[row] for row in rows]


def check_either(name: str, **given):
    """Raise unless exactly one of several arguments is given, the others None.

    ``name`` is the function or the result that needs it.
    """
    present = [key for key, value in given.items() if value is not None]
    if len(present) != 1:
        raise ValueError(
            f"{name} needs either {' or '.join(given)}, got "
            f"{' and '.join(present) or 'none of them'}"
        )


def check_groups(groups, n: int) -> np.ndarray | None:
    """Check the clusters of rows, and number them from 0.

    Parameters
    ----------
    groups : array-like of shape (n,) or None
        Any labels.
    n : int
        Number of rows of y_true.

    Returns
    -------
    ndarray of int of shape (n,) or None

    Raises
    ------
    ValueError
        If lengths differ or a group is missing.
    """
    if groups is None:
        return None
    groups = check_column("groups", groups)
    if len(groups) != n:
        raise ValueError(
            f"groups must have one value for each of the {n} rows of y_true, got "
            f"{len(groups)}; folds and halving searches score a part of the rows, and "
            "pass their groups to scorers by set_score_request(groups=True) only"
        )
    if groups.dtype.kind in "fmM":  # NaN and NaT differ from themselves
        refuse_rows(groups != groups, "groups", "not be missing", groups)
    if groups.dtype.kind == "O":
        distinct_labels(groups, name="groups")  # refuses labels of several kinds
    return np.unique(groups, return_inverse=True)[1]


def check_non_negative(sample_weight, n: int):
    """Weights as a float array: finite, 0 or of ordinary size; None stays None."""
    refuse_collection("sample_weight", sample_weight)
    return check_weights(sample_weight, n)


def check_column(name: str, values) -> np.ndarray:
    """Check a one-dimensional array, or one column of a two-dimensional one."""
    refuse_collection(name, values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be one-dimensional, got lists of different lengths"
        ) from None
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} must not hold complex numbers, got "
            f"{array.flat[0]}"
        )
    if (array.ndim == 2 and array.shape[1] == 1) or array.ndim == 1:
        return array.reshape(-1)
    got = f"shape {array.shape}" if array.ndim else short(values)
    raise ValueError(f"{name} must be one-dimensional, got {got}")


def check_floats(name: str, values) -> np.ndarray:
    """Check numbers, as a float array: no texts, dates or missing values."""
    refuse_collection(name, values)
    return as_numbers(name, values)


def check_features(X, n: int):
    """Check a two-dimensional numeric matrix, dense or CSR, without a copy.

    Long doubles become float64, because no special function takes them. Finiteness is
    checked on the scores ``X @ w``, which NaN and inf always reach.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, P)
    n : int
        Number of rows of y_true.

    Returns
    -------
    ndarray or sparse matrix of shape (n, P)

    Raises
    ------
    ValueError
        If X is not two-dimensional or has another number of rows.
    """
    refuse_collection("X", X)
    how = {"dtype": "numeric", "ensure_all_finite": False, "input_name": "X"}
    # scikit-learn's checks take longer than the scores of a thousand rows
    plain = type(X) is np.ndarray and X.dtype == float and X.ndim == 2 and X.size
    X = X if plain else check_array(X, accept_sparse="csr", **how)
    if X.shape[0] != n:
        raise ValueError(f"X must have the {n} rows of y_true, got {X.shape[0]} rows")
    return X if X.dtype.itemsize <= 8 else X.astype(float)


def _is_one_of(label, classes):
    try:
        return np.ndim(label) == 0 and label in list(classes)
    except (TypeError, ValueError):  # lists of several lengths; pandas.NA == label
        return False


def _show(labels):
    labels = labels if isinstance(labels, list) else np.asarray(labels).tolist()
    return ", ".join(map(repr, labels))
