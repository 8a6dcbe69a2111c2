"""The only door for data: labels become a boolean mask, bad input one clear sentence.

Every face (scorers, score functions, estimators) checks here, once; the floors below
take clean float arrays and the mask ``positive``.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import type_of_target


def check_positive(y_true, *, pos_label=None, classes=None) -> np.ndarray:
    """Boolean mask of the positive rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes: numbers, strings or booleans.
    pos_label : label, default=None
        The positive class; None takes the larger (last sorted) label.
    classes : ndarray of shape (2,), default=None
        The two labels, if a fitted model knows them; otherwise read from y_true.

    Returns
    -------
    ndarray of bool of shape (n,)

    Raises
    ------
    ValueError
        If y_true does not hold exactly two classes, or holds a label that the model
        does not know, or ``pos_label`` is not one of them.
    """
    y = column_or_1d(y_true)
    if len(y) == 0:
        raise ValueError("y_true must hold both classes, got no rows")
    if is_continuous(y):
        raise ValueError(
            "y_true must hold class labels, got continuous or missing values"
        )
    if classes is None:
        try:
            classes = np.unique(y)
        except TypeError:
            raise ValueError(
                "y_true must hold labels of one kind without missing values, got "
                f"{_show(y[:5])}"
            ) from None
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported: y_true must hold two "
                f"classes, got {len(classes)} classes"
            )
    if np.ndim(pos_label) > 0 or (
        pos_label is not None and pos_label not in list(classes)
    ):
        raise ValueError(
            f"pos_label must be one of the labels {_show(classes)}, got {pos_label!r}"
        )
    positive = y == (classes[-1] if pos_label is None else pos_label)
    known = positive | (y == classes[0]) | (y == classes[-1])
    if not known.all():
        raise ValueError(
            f"y_true must hold the labels of the fitted model, {_show(classes)}, got "
            f"{_show(_distinct(y[~known]))}"
        )
    if positive.all() or not positive.any():
        raise ValueError(f"y_true must hold both classes, got only {_show(y[:1])}")
    return positive


def check_codes(labels, classes) -> np.ndarray:
    """Number of each row's label among the classes of a fitted model.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    classes : ndarray of shape (K,)

    Returns
    -------
    ndarray of int of shape (n,)

    Raises
    ------
    ValueError
        If the model does not know a label.
    """
    codes = np.full(len(labels), -1)
    for code, label in enumerate(classes):
        codes[labels == label] = code
    if (codes < 0).any():
        raise ValueError(
            f"y_true must hold the labels of the fitted model, {_show(classes)}, got "
            f"{_show(_distinct(labels[codes < 0]))}"
        )
    return codes


def check_score(
    y_score, n: int, *, name="y_score", allow_infinite=False, largest=np.inf
) -> np.ndarray:
    """One-dimensional float scores, one a row.

    Parameters
    ----------
    y_score : array-like of shape (n,)
    n : int
        Number of rows of y_true.
    name : str, default="y_score"
        What to call it in an error.
    allow_infinite : bool, default=False
        Whether ±inf are allowed (rank statistics).
    largest : float, default=inf
        Size that finite scores must not exceed (their squares are summed).

    Returns
    -------
    ndarray of float64 of shape (n,)

    Raises
    ------
    ValueError
        If lengths differ or a score is NaN (or infinite).
    """
    score = np.asarray(y_score, dtype=float)
    if score.ndim == 2 and score.shape[1] == 1:
        score = score[:, 0]
    if score.shape != (n,):
        raise ValueError(
            f"{name} must have one value for each of the {n} rows of y_true, got "
            f"shape {score.shape}"
        )
    bad = np.isnan(score) if allow_infinite else ~np.isfinite(score)
    if bad.any():
        rule = "not be NaN" if allow_infinite else "be finite"
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{name} must {rule}, got {score[row]} in row {row}")
    if len(score) and np.abs(score).max() > largest:
        raise ValueError(
            f"{name} must not exceed {largest:g} in size, got {np.abs(score).max():.3g}"
        )
    return score


def check_weight(sample_weight, positive) -> np.ndarray | None:
    """Frequency weights: finite, non-negative, and some in each class.

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
    if sample_weight is None:
        return None
    weight = check_non_negative(sample_weight, len(positive))
    for mask, name in ((positive, "positive"), (~positive, "negative")):
        if not weight[mask].any():
            raise ValueError(
                "sample_weight must be positive somewhere in each class, got only "
                f"zeros in the {name} class"
            )
    return weight


def check_groups(groups, n: int) -> np.ndarray | None:
    """Clusters of rows, numbered from 0.

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
        If lengths differ.
    """
    if groups is None:
        return None
    groups = column_or_1d(groups)
    if len(groups) != n:
        raise ValueError(
            f"groups must have one value for each of the {n} rows of y_true, got "
            f"{len(groups)}"
        )
    if groups.dtype.kind == "f" and np.isnan(groups).any():
        row = int(np.flatnonzero(np.isnan(groups))[0])
        raise ValueError(f"groups must not be NaN, got nan in row {row}")
    return np.unique(groups, return_inverse=True)[1]


def check_non_negative(sample_weight, n: int) -> np.ndarray:
    """Weights as a float array that is finite and nowhere negative."""
    weight = check_score(sample_weight, n, name="sample_weight")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight must be >= 0, got {weight[row]} in row {row}")
    return weight


def check_level(name: str, value) -> float:
    """Check a number strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return float(value)


def check_option(name: str, value, options):
    """Check one of a few words."""
    if not isinstance(value, str) or value not in options:
        known = ", ".join(map(repr, options))
        raise ValueError(f"{name} must be one of {known}, got {value!r}")
    return value


def check_features(X, n: int):
    """Rows as a linear model sees them: 2-D, numeric, dense or CSR; not copied.

    Finiteness is checked on the scores ``X @ w``, which NaN and inf always reach.

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
    X = check_array(
        X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, input_name="X"
    )
    if X.shape[0] != n:
        raise ValueError(f"X must have the {n} rows of y_true, got {X.shape[0]} rows")
    return X


def is_continuous(y):
    """Whether y holds numbers that are no labels; cheap for integers and booleans."""
    if y.dtype.kind in "biu":
        return False
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        return True
    try:
        kind = type_of_target(y, input_name="y_true")
    except TypeError:  # strings beside None: not of one kind, which is said elsewhere
        return False
    return kind.startswith(("continuous", "unknown"))


def _distinct(labels):
    """The first five different labels, which may be of several kinds."""
    return list(dict.fromkeys(labels.tolist()))[:5]


def _show(labels):
    if isinstance(labels, list):  # of several kinds, perhaps
        return ", ".join(map(repr, labels))
    return ", ".join(repr(label) for label in np.asarray(labels).tolist())
