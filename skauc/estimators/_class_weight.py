"""Weights of the classes, multiplied into those of the rows."""

from __future__ import annotations

import numpy as np

from ._checks import check_class_weight, check_parameter


def check_class_weights(class_weight):
    """Check that it is None, "balanced" or a dict of numbers."""
    if isinstance(class_weight, dict):
        for label, factor in class_weight.items():
            check_parameter(
                f"class_weight of {label!r}", factor, 0, high=np.finfo(float).max
            )
    elif class_weight is not None and not (
        isinstance(class_weight, str) and class_weight == "balanced"
    ):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}"
        )


def times_class_weight(class_weight, weight, codes, classes):
    """Weights of the rows times those of their classes; None for none.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
    weight : ndarray of shape (n,) or None
    codes : ndarray of int of shape (n,)
    classes : ndarray of shape (K,)

    Returns
    -------
    ndarray of shape (n,) or None

    Raises
    ------
    ValueError
        If a label is unknown, or a product no number.
    """
    if class_weight is None:
        return weight
    # Not compute_class_weight, which sorts the labels once more, and whose sum
    # overflows with weights near the largest float.
    largest = 1.0 if weight is None else weight.max()
    relative = None if weight is None else weight / largest
    total = np.bincount(codes, relative, minlength=len(classes))
    factors = class_factors(class_weight, total, classes)
    with np.errstate(over="ignore"):
        product = factors[codes] * (1.0 if weight is None else weight)
    check_products(class_weight, product, largest)
    return check_class_weight(product, codes, classes)


def class_factors(class_weight, total, classes):
    """What the weights of each class are multiplied by.

    Parameters
    ----------
    class_weight : "balanced" or dict
    total : ndarray of shape (K,)
        Sums of the weights, in any unit.
    classes : ndarray of shape (K,)
    """
    labels = classes.tolist()
    if isinstance(class_weight, dict):
        unknown = set(class_weight) - set(labels)
        if unknown:
            raise ValueError(
                f"class_weight must name labels of {labels}, got {unknown.pop()!r}"
            )
        return np.array([class_weight.get(k, 1.0) for k in labels], float)
    with np.errstate(over="ignore", divide="ignore"):
        # "balanced": n/(K n_k), so that all classes weigh n/K
        return total.sum() / (len(labels) * total)


def check_products(class_weight, product, largest):
    """Refuse weights that are no numbers any more."""
    if not np.isfinite(product).all():
        raise ValueError(
            "class_weight times sample_weight must be finite, got "
            f"{class_weight!r} with weights up to {largest:.3g}"
        )
