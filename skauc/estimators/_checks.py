"""Checks of classes, their weights, and features."""

import numpy as np

from .._validation import check_floats, check_labels, check_score, distinct_labels
from ..statistics._checks import RANGE, check_interval, short
from ..statistics._moments import Moments
from ..statistics._row_blocks import refuse_collection

FEATURES = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
_LARGEST_OFFSET = 1e150  # its square does not overflow

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


def class_weight(class_weight):
    """Check that it is None, "balanced" or a dict of numbers."""
    if isinstance(class_weight, dict):
        for label, factor in class_weight.items():
            rule = f"class_weight of {label!r}"
            check_interval(rule, factor, *RANGE)
    elif class_weight is not None and str(class_weight) != "balanced":
        rule = "be None, 'balanced' or a dict"
        raise ValueError(f"class_weight must {rule}, got {class_weight!r}")


# Features -----------------------------------------------------------------------------


def feature_range(X):
    """Raise unless each feature is finite, and 0 or within ``RANGE`` in size."""
    Moments.from_samples(X, featurewise=True)


def offset(values, n, classes) -> np.ndarray | None:
    """Check an offset: one finite number per row, for two classes."""
    if values is None:
        return None
    if len(classes) > 2:
        raise ValueError(
            f"offset must be None for more than two classes, got {short(values)}"
        )
    return check_score(values, n, name="offset", largest=_LARGEST_OFFSET)


# Discriminants ------------------------------------------------------------------------


def discriminant(X, y, given_priors):
    """Check the rows of a discriminant; return the labels, and those for the parent.

    The parent gets them as given, except numbers of dtype object, which it refuses.
    """
    refuse_collection("X", X)
    if y is None:
        raise ValueError("y should be a 1d array, got None")
    column = check_labels(y, name="y")
    K = len(distinct_labels(column, name="y"))
    if given_priors is not None:
        values = check_floats("priors", given_priors)
        if values.shape != (K,) or not (values >= 0).all() or not values.any():
            raise ValueError(
                "priors must be non-negative numbers, one for each of the "
                f"{K} classes, not all 0, got {given_priors!r}"
            )
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu" and X.ndim == 2 and X.size:
        feature_range(X)
    return column, y if np.asarray(y).dtype == column.dtype else column
