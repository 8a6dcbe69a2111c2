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


@dataclass(frozen=True)
class HeldCorner(RoundedHinge):
    """A rounded hinge with slope and curvature of a sharper one in its corner.

    As if the rows in the corner stayed in it, wherever they are there, while it
    narrows: −tu/width and 1/width grow.
    """

    sharper: float


def loss_terms(loss, z, positive, case_weight):
    """``Σ c · loss(z)`` over the rows, and its slope and curvature in every z."""
    value, slope, curvature = _of_rows(loss, z, positive)
    value *= case_weight
    slope *= case_weight
    curvature *= case_weight
    return value.sum(axis=-1), slope, curvature


def _of_rows(loss, z, positive, *, valued=True):
    """Loss, slope and curvature of each row: new columns, which nothing else holds.

    The loss is None unless it is asked: its logarithms are half of the time.
    """
    sign, value = 2.0 * positive - 1.0, None  # t; np.where takes ten times as long
    if loss == "logistic":
        miss = -sign * z
        # log(1 + e^m) = max(m, 0) + log(1 + e^−|m|), m = −tz: no exponential overflows
        small = np.exp(-np.abs(miss))
        large = 1 / (1 + small)
        if valued:
            value = np.log1p(small)
            value += np.maximum(miss, 0.0)
        # p = 1/(1 + e^−m) = e^min(m, 0)/(1 + e^−|m|) and p (1 − p), to the last digit
        slope = np.exp(np.minimum(miss, 0.0))
        slope *= large
        slope *= -sign
        small *= large
        small *= large
        curvature = small
    elif loss == "squared":
        slope, curvature = z - sign, np.ones_like(z)
        value = slope**2 / 2 if valued else None
    else:
        slack = np.maximum(0.0, 1.0 - sign * z)
        if loss == "squared_hinge":
            value, slope, curvature = slack**2, -2 * sign * slack, 2.0 * (slack > 0)
        else:
            near = np.minimum(slack, loss.width)
            # u²/(2·width) for u < width, u − width/2 beyond
            value = near * (slack - near / 2) / loss.width
            slope = -sign * near / loss.width
            inside = (slack > 0) & (slack < loss.width)
            curvature = inside / loss.width
            if isinstance(loss, HeldCorner):
                grown = np.where(inside, loss.width / loss.sharper, 1.0)
                slope, curvature = grown * slope, grown * curvature
    return value, slope, curvature


def loss_value(loss, z, positive, case_weight):
    """``Σ c · loss(z)`` over the rows."""
    return loss_terms(loss, z, positive, case_weight)[0]


def loss_derivatives(loss, z, positive, case_weight):
    """First and second derivative of ``c · loss`` in the score z."""
    _, slope, curvature = _of_rows(loss, z, positive, valued=False)
    slope *= case_weight
    curvature *= case_weight
    return slope, curvature
