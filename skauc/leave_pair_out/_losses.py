"""The losses of linear classifiers: value, slope and curvature in the score z.

``sign`` is the label as ±1. Scores may have leading axes; the rows are the last axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Loss:
    """A convex loss of a score z and a label ±1, with its first two derivatives."""

    name: str
    quadratic: bool = False

    def value(self, z, sign):
        """Loss of every row."""
        raise NotImplementedError

    def slope(self, z, sign):
        """First derivative in z."""
        raise NotImplementedError

    def curvature(self, z, sign):
        """Second derivative in z."""
        raise NotImplementedError


class _Logistic(Loss):
    """``log(1 + e^(−sign z))``."""

    def value(self, z, sign):
        # log(1 + e^m) = max(m, 0) + log(1 + e^(−|m|)): no exponential overflows
        return np.log1p(np.exp(-np.abs(z))) + np.maximum(-sign * z, 0.0)

    def slope(self, z, sign):
        small = np.exp(-np.abs(z))
        # 1/(1 + e^(−m)) of m = −sign z
        return -sign * np.where(sign * z < 0, 1.0, small) / (1 + small)

    def curvature(self, z, sign):
        small = np.exp(-np.abs(z))
        return small / (1 + small) ** 2


class _Squared(Loss):
    """``(z − sign)²/2``."""

    def value(self, z, sign):
        return (z - sign) ** 2 / 2

    def slope(self, z, sign):
        return z - sign

    def curvature(self, z, sign):
        return np.ones_like(z)


class _SquaredHinge(Loss):
    """``max(0, 1 − sign z)²``."""

    def value(self, z, sign):
        return np.maximum(0.0, 1 - sign * z) ** 2

    def slope(self, z, sign):
        return -2 * sign * np.maximum(0.0, 1 - sign * z)

    def curvature(self, z, sign):
        return 2.0 * (sign * z < 1)


LOGISTIC = _Logistic("logistic")
SQUARED = _Squared("squared", quadratic=True)
SQUARED_HINGE = _SquaredHinge("squared_hinge")
