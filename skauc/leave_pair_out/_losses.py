"""The losses of linear classifiers: value, slope and curvature in the score z.

Logistic ``log(1 + e^{−tz})``, squared ``(z − t)²/2`` and squared hinge
``max(0, 1 − tz)²`` with t = ±1 the label; each times the weight c of its row. Scores
may have leading axes; rows are the last one.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit


def loss_value(loss, z, positive, case_weight):
    """``Σ c · loss(z)`` over the rows."""
    sign = np.where(positive, 1.0, -1.0)
    if loss == "logistic":
        value = np.logaddexp(0, -sign * z)
    elif loss == "squared":
        value = (z - sign) ** 2 / 2
    else:
        value = np.maximum(0.0, 1.0 - sign * z) ** 2
    return np.sum(case_weight * value, axis=-1)


def loss_derivatives(loss, z, positive, case_weight):
    """First and second derivative of ``c · loss`` in the score z."""
    if loss == "logistic":
        p, q = expit(z), expit(-z)
        return case_weight * np.where(positive, -q, p), case_weight * p * q
    sign = np.where(positive, 1.0, -1.0)
    if loss == "squared":
        return case_weight * (z - sign), case_weight * np.ones_like(z)
    slack = np.maximum(0.0, 1.0 - sign * z)
    return -2 * case_weight * sign * slack, 2 * case_weight * (slack > 0)
