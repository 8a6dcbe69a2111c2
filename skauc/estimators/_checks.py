"""Checks of what an estimator is given: labels, weights, features, parameters."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from .._validation import check_column, check_non_negative, check_number
from ..statistics._collections import refuse_collection
from ._likelihood import ORDINARY, are_ordinary, feature_sizes

# Of more labels a row scikit-learn warns, at a quarter
_ROWS_A_LABEL = 8
_FEW_ROWS = 100  # in which an ordinary feature is not 0 everywhere


def check_labels(y):
    """Raise if labels are missing, of kinds that cannot be sorted, or continuous."""
    y = np.asarray(y)
    if few_labels(y) is not None:
        return
    if y.dtype == object:
        check_kinds(y.ravel().tolist())
    with np.errstate(invalid="ignore"):  # it casts floats beyond int64 to int64
        check_classification_targets(y)


def few_labels(y):
    """The sorted labels of a column of integers from a short range, without sorting.

    Parameters
    ----------
    y : ndarray

    Returns
    -------
    ndarray of shape (K,) or None
        None where they are not integers, all the same, or of a range of more than an
        eighth of the rows, unless there are two.
    """
    if y.ndim != 1 or y.dtype.kind not in "biu" or not len(y):
        return None
    # Passes without the sort of np.unique and of scikit-learn's own check.
    others = y != y[0]
    n_others = np.count_nonzero(others)
    if n_others == 0:
        return None
    two = y[[0, np.argmax(others)]]
    if np.count_nonzero(y == two[1]) == n_others:
        return np.sort(two)
    ends = np.array([y.min(), y.max()])
    low, high = ends.tolist()
    if (high - low) * _ROWS_A_LABEL > len(y):
        return None
    # A difference of unsigned integers is never negative; of others int64 holds it
    above = y - ends[0] if y.dtype.kind == "u" else y.astype(np.int64) - low
    found = np.flatnonzero(np.bincount(above.astype(np.intp)))
    return (found.astype(y.dtype) + ends[0]).astype(y.dtype)


def check_kinds(labels):
    """Raise if labels are missing, or of kinds that cannot be sorted.

    Parameters
    ----------
    labels : list
    """
    kinds: dict = {}  # and the first label of each
    for label in labels:
        kind = next((k for k in (str, Real) if isinstance(label, k)), type(label))
        kinds.setdefault(kind, label)
    missing = [label for label in labels if _is_missing(label)]
    if missing or len(kinds) > 1:
        raise ValueError(
            "y must hold labels of one kind without missing values, got "
            f"{missing[:1] or list(kinds.values())[:3]}"
        )


def _is_missing(label):
    """None, nan or NaT; an array or pandas.NA has no truth value, and is a kind."""
    differs = label != label
    return label is None or (isinstance(differs, bool | np.bool_) and bool(differs))


def check_classes(y, *, binary=False):
    """Sorted labels of y, and the index of each row's label.

    Parameters
    ----------
    y : ndarray of shape (n,)
    binary : bool, default=False
        Whether more than two classes are an error.

    Returns
    -------
    classes : ndarray of shape (K,)
    codes : ndarray of int of shape (n,)

    Raises
    ------
    ValueError
        If there are fewer than two classes, or more than allowed.
    """
    classes = distinct(y)
    check_class_count(classes, binary=binary)
    return classes, codes_of(y, classes)


def codes_of(y, classes):
    """Number of each row's label among the sorted classes."""
    if len(classes) == 2:  # several times faster than a search
        return (y == classes[1]).astype(np.intp)
    return np.searchsorted(classes, y)


def distinct(y):
    """Sorted labels of a column."""
    classes = few_labels(y)
    return np.unique(y) if classes is None else classes


def check_class_count(classes, *, binary=False):
    """Raise if there are fewer than two classes, or more than allowed.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    binary : bool, default=False
        Whether more than two classes are an error.
    """
    if binary and len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass. y must hold two classes, got {len(classes)}"
        )
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least 2 classes, got only 1 class, {classes.tolist()}"
        )


def check_known(y, classes):
    """Raise if a label is none of the classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
    classes : ndarray of shape (K,)
    """
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y must hold the labels {classes.tolist()}, got {y[unknown].tolist()[0]!r}"
        )


def check_class_weight(sample_weight, codes, classes):
    """Frequency weights: finite, non-negative, some in each class; or None.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    codes : ndarray of int of shape (n,)
    classes : ndarray of shape (K,)

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
    weight = check_non_negative(sample_weight, len(codes))
    check_class_totals(np.bincount(codes, weight, minlength=len(classes)), classes)
    return weight


def check_class_totals(total, classes):
    """Refuse sums of weights that are infinite, or 0 in a class."""
    if not np.isfinite(sum(total.tolist())):
        raise ValueError("sample_weight must have a finite sum, got inf")
    if not total.all():
        raise ValueError(
            "sample_weight must be positive somewhere in each class, got only zeros "
            f"in class {classes.tolist()[np.argmin(total)]!r}"
        )


def check_finite_features(X):
    """Raise if X holds NaN or infinity; one pass, no copy."""
    values = X if isinstance(X, np.ndarray) else X.data
    with np.errstate(over="ignore", invalid="ignore"):
        # A finite sum has finite terms; an infinite one may be an overflow: look again.
        finite = np.isfinite(np.sum(values)) or np.isfinite(values).all()
    if not finite:
        raise ValueError(f"X must be finite, got {_first_not_finite(X)}")


def _first_not_finite(X):
    """The first value that is no number, and where; NaN as scikit-learn writes it."""
    if sparse.issparse(X):
        found = X.tocoo()
        at = np.flatnonzero(~np.isfinite(found.data))[0]
        value, place = found.data[at], (found.coords[0][at], found.coords[1][at])
    else:
        place = tuple(np.argwhere(~np.isfinite(X))[0])
        value = X[place]
    names = zip(("row", "column"), place, strict=False)  # of one column: the row
    told = ", ".join(f"{name} {number}" for name, number in names)
    return f"{'NaN' if np.isnan(value) else value} in {told}"


def check_parameter(name, value, low, *, high=np.inf, integer=False, open_low=False):
    """Check a parameter that is a number in [low, high] (or (low, high]).

    Not :func:`sklearn.utils.check_scalar`: that lets NaN and booleans through (neither
    ``nan < 0`` nor ``isinstance(True, Real)`` refuses them), raises a TypeError for
    some wrong values, and speaks in several sentences.
    """
    rule = f"be {'an integer' if integer else 'a number'} {'>' if open_low else '>='} "
    rule += f"{low} and <= {high}" if high < np.inf else f"{low}"

    def holds(number):
        above = low < number or (low == number and not open_low)
        return (
            above and number <= high and (isinstance(number, Integral) or not integer)
        )

    check_number(name, value, rule, holds)
    return value


def check_flag(name, value):
    """Check a parameter that is True or False."""
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_feature_sizes(X, *, square=None, weight=None):
    """Raise if a feature is so large or small that its fourth power is no number.

    What is no numeric table is left to scikit-learn's checks.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, P)
    square : ndarray of shape (P,), default=None
        ``Σ w x²`` of the features; X is only looked at where it is in doubt.
    weight : ndarray of shape (n,), default=None
        Its weights.
    """
    if square is not None and are_ordinary(square, weight, X.shape[0]):
        return
    try:
        X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    except ValueError:  # rows of several lengths
        return
    if X.dtype.kind not in "fiu" or X.ndim != 2 or 0 in X.shape:
        return
    if not (isinstance(X, np.ndarray) and _is_plainly_ordinary(X)):
        check_sizes(feature_sizes(X))


def _is_plainly_ordinary(X):
    """Whether some rows and one sum tell that all features are of ordinary size.

    Two passes of extremes, feature by feature, take ten times as long.
    """
    if X.dtype.kind != "f" or not X.flags.c_contiguous:  # a sum of integers overflows
        return False
    low, high = ORDINARY
    with np.errstate(over="ignore", invalid="ignore"):
        # max |x| is not below that of a few rows, nor its square above Σ x²
        least, every = np.abs(X[:_FEW_ROWS]).max(axis=0), X.ravel()
        return bool(np.all(least > low) and every @ every < high**2)


def check_sizes(sizes):
    """Raise if a feature's size, other than 0, is beyond ``ORDINARY``."""
    low, high = ORDINARY
    extreme = np.isfinite(sizes) & ((sizes > high) | ((sizes > 0) & (sizes < low)))
    if extreme.any():
        j = int(np.flatnonzero(extreme)[0])
        raise ValueError(
            f"X must hold features that are 0 or between {low:g} and {high:g} in size, "
            f"got {sizes[j]:.3g} in feature {j}"
        )


def check_discriminant(X, y, priors, *, sizes=True):
    """What a discriminant's parent would say later, or not in one sentence.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
    y : array-like of shape (n,)
    priors : array-like of shape (n_classes,) or None
    sizes : bool, default=True
        Whether the sizes of the features are checked too: a pass over X.

    Returns
    -------
    labels : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If labels, sizes of features or priors break their rule.
    """
    refuse_collection("X", X)
    if y is None:
        raise ValueError("y should be a 1d array, got None")
    labels = check_column("y", y)
    classes = few_labels(labels)
    if classes is None:
        check_labels(labels)
        classes = np.unique(labels)
    check_class_count(classes)
    check_priors(priors, len(classes))
    if sizes:
        check_feature_sizes(X)
    return labels


def check_priors(priors, n_classes):
    """Check the priors of a discriminant: None, or a number >= 0 for each class."""
    if priors is None:
        return
    try:
        values = np.asarray(priors, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.array(np.nan)
    # NaN fails both comparisons
    if values.shape == (n_classes,) and (values < 0).any():
        raise ValueError(f"priors must be non-negative, got {priors!r}")
    if values.shape != (n_classes,) or not (values >= 0).all() or not values.any():
        raise ValueError(
            f"priors must hold a number >= 0 for each of the {n_classes} classes, not "
            f"all 0, got {priors!r}"
        )
