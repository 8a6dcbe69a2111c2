"""Losses, and damped Newton steps for one penalised objective.

The objective is ``Σ_i c_i loss(a_iᵀθ) + ½ θᵀ diag(penalty) θ``. With the curvatures ω
of the scores its Hessian is ``AᵀΩA + diag(penalty)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

MAX_ITER = 100
CLOSE = 1e-7  # stop if the Newton decrement is below this share of the objective
STUCK = 1e-4  # a decrement below this share that no step can lower is rounding
# Nocedal & Wright (2006), Numerical Optimization, section 3.1
ARMIJO, HALVINGS = 1e-4, 30
# Least ridge of H relative to the sum of squares of a column, without and with a
# penalty. The steps depend on it, the optimum does not.
FLOOR, LEAST = 1e-9, 1e-12


@dataclass(frozen=True)
class Loss:
    """A convex loss of a score z and a label ``sign`` = ±1.

    Its value and its first two derivatives in z are functions of both arrays.
    """

    value: Callable
    slope: Callable
    curvature: Callable
    quadratic: bool = False


def _logistic_value(z, sign):
    # log(1 + e^m) = max(m, 0) + log(1 + e^(−|m|)): no exponential overflows
    return np.log1p(np.exp(-np.abs(z))) + np.maximum(-sign * z, 0.0)


def _logistic_slope(z, sign):
    small = np.exp(-np.abs(z))
    # 1/(1 + e^(−m)) of m = −sign z
    return -sign * np.where(sign * z < 0, 1.0, small) / (1 + small)


def _logistic_curvature(z, sign):
    small = np.exp(-np.abs(z))
    return small / (1 + small) ** 2


def _squared_value(z, sign):
    return (z - sign) ** 2 / 2


def _squared_slope(z, sign):
    return z - sign


def _squared_curvature(z, sign):
    return np.ones_like(z)


def _hinge_value(z, sign):
    return np.maximum(0.0, 1 - sign * z) ** 2


def _hinge_slope(z, sign):
    return -2 * sign * np.maximum(0.0, 1 - sign * z)


def _hinge_curvature(z, sign):
    return 2.0 * (sign * z < 1)


# log(1 + e^(−sign z)), (z − sign)²/2 and max(0, 1 − sign z)²
LOGISTIC = Loss(_logistic_value, _logistic_slope, _logistic_curvature)
SQUARED = Loss(_squared_value, _squared_slope, _squared_curvature, quadratic=True)
SQUARED_HINGE = Loss(_hinge_value, _hinge_slope, _hinge_curvature)


def minimise(A, positive, weight, loss, penalty, start):
    """Minimise a penalised loss.

    Parameters
    ----------
    A : ndarray of shape (n, d)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)
        Weight c of every row, ≥ 0.
    loss : Loss
    penalty : ndarray of shape (d,)
        Weight of ½θ_j² in the objective, ≥ 0.
    start : ndarray of shape (d,)

    Returns
    -------
    theta : ndarray of shape (d,)
    converged : bool
    """
    sign = np.where(positive, 1.0, -1.0)

    def value(theta, z):
        return weight @ loss.value(z, sign) + penalty @ theta**2 / 2

    square = weight.sum() * np.mean(A**2, axis=0)
    square = np.where(square > 0, square, 1.0)
    ridge = np.maximum(penalty, np.where(penalty > 0, LEAST, FLOOR) * square)
    theta, z = start, A @ start
    here, at_zero = value(theta, z), value(0 * theta, 0 * z)
    if not here <= at_zero:  # 0 is the better start if the solver diverged
        theta, z, here = 0 * theta, 0 * z, at_zero
    for _ in range(MAX_ITER):
        gradient = (weight * loss.slope(z, sign)) @ A + penalty * theta
        half = A * np.sqrt(weight * loss.curvature(z, sign))[:, None]
        hessian = half.T @ half
        hessian.flat[:: len(hessian) + 1] += ridge
        try:
            step = -linalg.cho_solve(linalg.cho_factor(hessian), gradient)
        except linalg.LinAlgError:
            return theta, False
        along = A @ step
        gain = -(gradient @ step)  # squared Newton decrement
        t = 1.0
        while not value(theta + t * step, z + t * along) <= here - ARMIJO * t * gain:
            t /= 2
            if t < 0.5**HALVINGS:
                return theta, bool(gain <= STUCK * here)
        theta, z = theta + t * step, z + t * along
        here = value(theta, z)
        if gain <= CLOSE * here:
            return theta, True
    return theta, False
