"""Checks of labels, weights and features of the estimators."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._validation import (
    check_floats,
    check_interval,
    check_labels,
    check_non_negative,
    distinct_labels,
)
from ..statistics._collections import refuse_collection
from ..statistics._numerics import RANGE

# Labels -------------------------------------------------------------------------------


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


def feature_range(X):
    """Raise unless each feature is finite, and 0 or within ``RANGE`` in size."""
    dense, (low, high) = not sparse.issparse(X), RANGE
    with np.errstate(over="ignore", invalid="ignore"):
        if dense:
            square = np.einsum("ij,ij->j", X, X, dtype=float)
        else:
            square = np.asarray(X.astype(float).power(2).sum(axis=0)).ravel()
        mean = square / X.shape[0]
    # this form of the conditions also finds NaN
    odd = np.flatnonzero(~((mean >= low**2) & (mean <= high**2)))
    if not len(odd):
        return
    size = abs(X[:, odd]).max(axis=0)  # squares may have underflowed
    size = (size if dense else size.toarray().ravel()).astype(float)
    wrong = ~((size == 0) | (size >= low) & (size <= high))
    for j, value in zip(odd[wrong], size[wrong], strict=True):
        raise ValueError(
            f"X must be finite, and 0 or between {low:g} and {high:g} in size, got "
            f"{'NaN' if np.isnan(value) else f'{value:.3g}'} in feature {j}"
        )


# Discriminants ------------------------------------------------------------------------


def discriminant(X, y, given_priors):
    """Check the rows of a discriminant; return the labels."""
    refuse_collection("X", X)
    if y is None:
        raise ValueError("y should be a 1d array, got None")
    column = check_labels(y, name="y")
    if column.dtype.kind == "O" or given_priors is not None:
        priors(given_priors, len(distinct_labels(column, name="y")))
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu" and X.ndim == 2 and X.size:
        feature_range(X)
    return column


def priors(given, n_classes):
    """Check the priors of a discriminant: None, or a number >= 0 for each class."""
    if given is None:
        return
    values = check_floats("priors", given)
    if values.shape != (n_classes,) or not (values >= 0).all() or not values.any():
        raise ValueError(
            "priors must be non-negative numbers, one for each of the "
            f"{n_classes} classes, not all 0, got {given!r}"
        )
