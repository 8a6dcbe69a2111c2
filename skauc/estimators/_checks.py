"""Checks of labels, weights and features of the estimators."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from .._validation import (
    check_column,
    check_floats,
    check_interval,
    check_non_negative,
)
from ..statistics._collections import refuse_collection
from ..statistics._numerics import RANGE

# Labels -------------------------------------------------------------------------------


def labels(y):
    """Raise if labels are missing, of kinds that cannot be sorted, or continuous."""
    y = np.asarray(y)
    if y.dtype == object:
        kinds(y.ravel().tolist())
    if y.dtype.kind not in "biu" or y.ndim != 1:
        with np.errstate(invalid="ignore"):  # floats beyond int64 are cast to int64
            check_classification_targets(y)


def kinds(column):
    """Raise if labels are missing, or of kinds that cannot be sorted."""
    first: dict = {}  # a label of each kind
    for label in column:
        kind = next((k for k in (str, Real) if isinstance(label, k)), type(label))
        first.setdefault(kind, label)
    missing = [v for v in column if v is None or (isinstance(v, Real) and v != v)][:1]
    if missing or len(first) > 1:
        raise ValueError(
            "y must hold labels of one kind without missing values, got "
            f"{missing or list(first.values())[:3]}"
        )


def distinct(y):
    """Sorted distinct labels of a column; two labels need no sort."""
    others = y != y[0]
    if others.any():
        two = y[[0, np.argmax(others)]]
        if np.count_nonzero(y == two[1]) == np.count_nonzero(others):
            return np.unique(two)
    return np.unique(y)


def codes_of(y, classes):
    """Number of each row's label among the sorted classes."""
    if len(classes) == 2:  # several times faster than a search
        return (y == classes[1]).astype(np.intp)
    return np.searchsorted(classes, y)


def class_count(classes, *, binary=False):
    """Raise if there are fewer than two classes, or more than allowed."""
    if binary and len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass. y must hold two classes, got {len(classes)}"
        )
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least 2 classes, got only 1 class, {classes.tolist()}"
        )


def known(y, classes):
    """Raise if a label is none of the classes."""
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y must hold the labels {classes.tolist()}, got {y[unknown].tolist()[0]!r}"
        )


# Weights ------------------------------------------------------------------------------


def weights(sample_weight, n):
    """Frequency weights of shape (n,): finite, >= 0, within the range; or None."""
    if sample_weight is None:
        return None
    weight = check_non_negative(sample_weight, n)
    extreme = (weight > RANGE[1]) | ((weight > 0) & (weight < RANGE[0]))
    if extreme.any():
        raise ValueError(
            f"sample_weight must be 0 or lie between {RANGE[0]:g} and {RANGE[1]:g}, "
            f"got {weight[extreme][0]:.3g}"
        )
    return weight


def class_totals(total, classes):
    """Raise if the weights of a class add up to 0."""
    if not total.all():
        raise ValueError(
            "sample_weight must be positive somewhere in each class, got only zeros "
            f"in class {classes.tolist()[np.argmin(total)]!r}"
        )


def class_weight(class_weight):
    """Check that it is None, "balanced" or a dict of numbers."""
    if isinstance(class_weight, dict):
        for label, factor in class_weight.items():
            check_interval(f"class_weight of {label!r}", factor, 0, RANGE[1])
    elif class_weight is not None and str(class_weight) != "balanced":
        rule = "be None, 'balanced' or a dict"
        raise ValueError(f"class_weight must {rule}, got {class_weight!r}")


def class_factors(class_weight, total, classes):
    """Factors of the classes' weights, whose sums are ``total``; shape (K,)."""
    labels = classes.tolist()
    if isinstance(class_weight, dict):
        unknown = set(class_weight) - set(labels)
        if unknown:
            raise ValueError(
                f"class_weight must name labels of {labels}, got {unknown.pop()!r}"
            )
        return np.array([class_weight.get(k, 1.0) for k in labels], float)
    # "balanced": n/(K n_k), so that all classes weigh n/K
    return total.sum() / (len(labels) * total)


# Features -----------------------------------------------------------------------------


def finite_features(X):
    """Raise if X holds NaN or infinity; one pass, no copy."""
    values = X if isinstance(X, np.ndarray) else X.data
    with np.errstate(over="ignore", invalid="ignore"):
        # a finite sum has finite terms; an infinite sum may be an overflow: check all
        finite = np.isfinite(np.sum(values)) or np.isfinite(values).all()
    if not finite:
        raise ValueError(f"X must be finite, got {_first_not_finite(X)}")


def _first_not_finite(X):
    """Text of the first value that is not finite, with its place."""
    columns = sparse.find(X) if sparse.issparse(X) else (*np.indices(X.shape), X)
    *place, value = (column[~np.isfinite(columns[-1])][0] for column in columns)
    where = ", ".join(map("{} {}".format, ("row", "column"), place))
    return f"{'NaN' if np.isnan(value) else value} in {where}"


def feature_range(X):
    """Raise if the largest value of a feature, other than 0, is outside ``RANGE``."""
    if type(X) is np.ndarray and X.dtype == np.float64:
        with np.errstate(all="ignore"):
            square = np.einsum("ij,ij->j", X, X)
        # n max x² ≥ Σ x² ≥ max x²: one fast pass shows what is inside the range
        if np.all((square <= RANGE[1] ** 2) & (square >= len(X) * RANGE[0] ** 2)):
            return
    least, most = X.min(axis=0), X.max(axis=0)  # max |x| without a copy of |X|
    if sparse.issparse(X):
        least, most = least.toarray().ravel(), most.toarray().ravel()
    sizes, (low, high) = np.maximum(most, -least).astype(float), RANGE
    extreme = np.isfinite(sizes) & ((sizes > high) | ((sizes > 0) & (sizes < low)))
    if extreme.any():
        j = int(np.flatnonzero(extreme)[0])
        raise ValueError(
            f"X must hold features that are 0 or between {low:g} and {high:g} in size, "
            f"got {sizes[j]:.3g} in feature {j}"
        )


# Discriminants ------------------------------------------------------------------------


def discriminant(X, y, given_priors):
    """Check the rows of a discriminant; return the labels."""
    refuse_collection("X", X)
    if y is None:
        raise ValueError("y should be a 1d array, got None")
    column = check_column("y", y)
    labels(column)
    classes = distinct(column) if len(column) else column
    class_count(classes)
    priors(given_priors, len(classes))
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu" and X.ndim == 2 and X.size:
        feature_range(X)
    return column


def priors(given, n_classes):
    """Check the priors of a discriminant: None, or a number >= 0 for each class."""
    if given is None:
        return
    values = check_floats("priors", given)
    # NaN fails both comparisons
    if values.shape == (n_classes,) and (values < 0).any():
        raise ValueError(f"priors must be non-negative, got {given!r}")
    if values.shape != (n_classes,) or not (values >= 0).all() or not values.any():
        raise ValueError(
            f"priors must hold a number >= 0 for each of the {n_classes} classes, not "
            f"all 0, got {given!r}"
        )
