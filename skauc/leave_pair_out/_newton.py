"""Losses, and damped Newton steps for penalised objectives.

An objective is ``Σ_i c_i loss(a_iᵀθ) + ½ θᵀ diag(penalty) θ``. With the curvatures ω
of the scores its Hessian is ``AᵀΩA + diag(penalty)``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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


def minimise(A, sign, weight, loss, penalty, start):
    """Minimise a penalised loss under each of m weightings of the rows.

    Parameters
    ----------
    A : ndarray of shape (n, d)
    sign : ndarray of shape (n,)
        1 for positive rows, −1 for the others.
    weight : ndarray of shape (m, n)
        Weight c of every row, ≥ 0.
    loss : Loss
    penalty : ndarray of shape (d,)
        Weight of ½θ_j² in the objective, ≥ 0.
    start : ndarray of shape (d,)

    Returns
    -------
    theta : ndarray of shape (m, d)
    converged : ndarray of bool of shape (m,)
    """
    m = len(weight)
    theta, converged = np.tile(start, (m, 1)), np.zeros(m, dtype=bool)
    # 0 is the better start if the solver diverged
    here, at_zero = (
        _value(t, t @ A.T, weight, loss, sign, penalty) for t in (theta, 0 * theta)
    )
    theta[~(here <= at_zero)] = 0.0
    moving = np.arange(m)
    for _ in range(MAX_ITER):
        theta[moving], solved, stuck = _newton_step(
            A, sign, weight[moving], loss, penalty, theta[moving]
        )
        converged[moving[solved]] = True
        moving = moving[~(solved | stuck)]
        if not len(moving):
            break
    return theta, converged


def _value(theta, z, weight, loss, sign, penalty):
    """Values of m objectives, (m,)."""
    return np.sum(weight * loss.value(z, sign), axis=1) + theta**2 @ penalty / 2


def _newton_step(A, sign, weight, loss, penalty, theta):
    """A damped step of m objectives; whether it solved each, or could lower none."""
    square = weight.sum(axis=1, keepdims=True) * np.mean(A**2, axis=0)
    square = np.where(square > 0, square, 1.0)
    ridge = np.maximum(penalty, np.where(penalty > 0, LEAST, FLOOR) * square)
    z = theta @ A.T
    here = _value(theta, z, weight, loss, sign, penalty)
    gradient = (weight * loss.slope(z, sign)) @ A + penalty * theta
    half = A * np.sqrt(weight * loss.curvature(z, sign))[..., None]
    hessian = half.swapaxes(1, 2) @ half
    diagonal = np.arange(A.shape[1])
    hessian[:, diagonal, diagonal] += ridge
    step = -np.linalg.solve(hessian, gradient[..., None])[..., 0]
    along = step @ A.T
    gain = -np.sum(gradient * step, axis=1)  # squared Newton decrement
    t = np.ones((len(theta), 1))
    for _ in range(HALVINGS):
        there = _value(theta + t * step, z + t * along, weight, loss, sign, penalty)
        short = ~(there <= here - ARMIJO * t[:, 0] * gain)
        if not short.any():
            break
        t[short] /= 2
    solved = np.abs(gain) <= np.where(short, STUCK, CLOSE) * here
    t[short] = 0.0
    return theta + t * step, solved, short
