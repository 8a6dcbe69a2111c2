"""The losses of linear classifiers: value, slope and curvature in the score z.

Logistic ``log(1 + e^{−tz})``, squared ``(z − t)²/2``, squared hinge
``max(0, 1 − tz)²`` with t = ±1 the label, and the hinge ``max(0, u)``, ``u = 1 − tz``,
with a rounded corner; each times the weight c of its row. Scores may have leading
axes; rows are the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RoundedHinge:
    """``u²/(2·width)`` up to u = width, ``u − width/2`` beyond, 0 for u < 0.

    Within width/2 of the hinge. Four times the one of width 2 is the modified Huber
    loss.
    """

    width: float


def loss_value(loss, z, positive, case_weight):
    """``Σ c · loss(z)`` over the rows."""
    sign = np.where(positive, 1.0, -1.0)
    if loss == "logistic":
        value = np.maximum(-sign * z, 0.0) + np.log1p(np.exp(-np.abs(z)))
    elif loss == "squared":
        value = (z - sign) ** 2 / 2
    else:
        slack = np.maximum(0.0, 1.0 - sign * z)
        if loss == "squared_hinge":
            value = slack**2
        else:
            near = np.minimum(slack, loss.width)
            value = near * (slack - near / 2) / loss.width
    return np.sum(case_weight * value, axis=-1)


def loss_derivatives(loss, z, positive, case_weight):
    """First and second derivative of ``c · loss`` in the score z."""
    if loss == "logistic":
        # p of the likelier class and of the other one, each to its last digit
        small = np.exp(-np.abs(z))
        large = 1 / (1 + small)
        small = small * large
        miss = np.where(positive == (z > 0), small, large)
        return case_weight * np.where(
            positive, -miss, miss
        ), case_weight * small * large
    sign = np.where(positive, 1.0, -1.0)
    if loss == "squared":
        return case_weight * (z - sign), case_weight * np.ones_like(z)
    slack = np.maximum(0.0, 1.0 - sign * z)
    if loss == "squared_hinge":
        return -2 * case_weight * sign * slack, 2 * case_weight * (slack > 0)
    near = np.minimum(slack, loss.width)
    inside = (slack > 0) & (slack < loss.width)
    weight = case_weight / loss.width
    return -weight * sign * near, weight * inside
