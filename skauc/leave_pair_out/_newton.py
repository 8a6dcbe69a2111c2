"""Losses, and Newton's method for many weightings of the same rows at once.

Problem k minimises ``Σ_i c_ki loss(a_iᵀθ) + ½ θᵀ diag(penalty) θ``. All problems share
the rows A, so that scores and gradients are one matrix product. The Hessian of a
problem needs only the rows of positive weight. With ``Π = diag(max(penalty, least))``
and the curvatures ω, the smaller one of two matrices is factorised,

    H = AᵀΩA + Π   (d × d)   or   B = I + Ω^½ A Π⁻¹ Aᵀ Ω^½   (drawn rows),
    H⁻¹ = Π⁻¹ − Π⁻¹ Aᵀ Ω^½ B⁻¹ Ω^½ A Π⁻¹                    (Woodbury).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

MAX_ITER = 100
CLOSE = 1e-7  # stop if the Newton decrement is below this share of the objective
STUCK = 1e-4  # a decrement below this share that no step can lower is rounding
SHRINKS = 0.3  # reuse a Cholesky factor while the decrement shrinks by this factor
# Nocedal & Wright (2006), Numerical Optimization, section 3.1
ARMIJO, HALVINGS = 1e-4, 30
# Least ridge of H relative to the sum of squares of a column, without and with a
# penalty. The steps depend on it, the optimum does not.
FLOOR, LEAST = 1e-9, 1e-12
# Woodbury's system of m rows costs m³/3, the other m d² + d³/3 multiplications
DUAL = 1.5


@dataclass(frozen=True)
class Loss:
    """A convex loss of a score z and a label ±1, with its first two derivatives.

    ``sign`` is the label. Scores may have leading axes; the rows are the last axis.
    """

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


@dataclass(frozen=True, eq=False)
class Problems:
    """Rows, weights (K, n) of the K problems, loss and penalty (d,)."""

    A: np.ndarray
    sign: np.ndarray
    weights: np.ndarray
    loss: Loss
    penalty: np.ndarray

    def __getitem__(self, which) -> Problems:
        """Problems selected by a mask or by numbers."""
        return replace(self, weights=self.weights[which])

    def value(self, theta, z):
        """Objective of every problem, (K,)."""
        losses = self.weights * self.loss.value(z, self.sign)
        return losses.sum(axis=1) + theta**2 @ self.penalty / 2

    def gradient(self, theta, z):
        """Gradient of every problem, (K, d)."""
        slopes = self.weights * self.loss.slope(z, self.sign)
        return slopes @ self.A + self.penalty * theta

    def curvature(self, z):
        """Second derivative in every score, (K, n)."""
        return self.weights * self.loss.curvature(z, self.sign)


def minimise(A, positive, weights, loss, penalty, start):
    """Minimise K penalised losses of the same rows.

    Parameters
    ----------
    A : ndarray of shape (n, d)
    positive : ndarray of bool of shape (n,)
    weights : ndarray of shape (K, n)
        Weight of every row in every problem, ≥ 0.
    loss : Loss
    penalty : ndarray of shape (d,)
        Weight of ½θ_j² in the objective, ≥ 0.
    start : ndarray of shape (d,)

    Returns
    -------
    theta : ndarray of shape (K, d)
    z : ndarray of shape (K, n)
        Scores of all rows.
    converged : ndarray of bool of shape (K,)
    """
    sign = np.where(positive, 1.0, -1.0)
    problems = Problems(A, sign, weights, loss, penalty)
    hessian = _Hessian.of(problems)
    theta = np.tile(start, (len(weights), 1))
    z = theta @ A.T
    value = problems.value(theta, z)
    lost = value > problems.value(0 * theta, 0 * z)
    theta[lost], z[lost] = 0.0, 0.0  # 0 is the better start if the solver diverged
    value = problems.value(theta, z)
    converged = np.zeros(len(theta), dtype=bool)
    live, last = np.arange(len(theta)), np.full(len(theta), np.inf)
    fresh = np.ones(len(theta), dtype=bool)
    for _ in range(MAX_ITER):
        here = problems[live]
        gradient = here.gradient(theta[live], z[live])
        if fresh.any():
            hessian.factorise(live[fresh], here[fresh].curvature(z[live[fresh]]))
        step = -hessian.solve(live, gradient)
        gain = -np.einsum("kd,kd->k", gradient, step)  # squared Newton decrement
        along = step @ A.T
        t, new = _armijo(here, theta[live], z[live], step, along, value[live], gain)
        theta[live] += t[:, None] * step
        z[live] += t[:, None] * along
        value[live] = new
        blocked = (t == 0) & fresh
        done = (gain <= CLOSE * new) & (t > 0) | (blocked & (gain <= STUCK * new))
        converged[live] = done
        # factorise again if the decrement shrinks too slowly or no step was possible
        fresh = ~(gain <= SHRINKS * last) | (t == 0)
        on = ~(done | blocked)
        live, last, fresh = live[on], gain[on], fresh[on]
        if len(live) == 0:
            break
    return theta, z, converged


def _armijo(problems, theta, z, step, along, value, gain):
    """Halve steps until ``f(θ + ts) ≤ f(θ) − c t gain``; lengths t and objectives."""
    t = np.ones(len(gain))
    new = problems.value(theta + step, z + along)
    for _ in range(HALVINGS):
        high = ~(new <= value - ARMIJO * t * gain)  # NaN fails, too
        if not high.any():
            return t, new
        t[high] /= 2
        length = t[high, None]
        there = theta[high] + length * step[high], z[high] + length * along[high]
        new[high] = problems[high].value(*there)
    high = ~(new <= value - ARMIJO * t * gain)
    return np.where(high, 0.0, t), np.where(high, value, new)


@dataclass(frozen=True, eq=False)
class _Hessian:
    """Cholesky factors of the problems' Hessians, or of Woodbury's systems."""

    A: np.ndarray
    ridge: np.ndarray
    kernel: np.ndarray | None  # A Π⁻¹ Aᵀ where Woodbury's systems are smaller
    drawn: list
    factor: list
    root: np.ndarray

    @classmethod
    def of(cls, problems):
        """Ridge and kernel of the problems, before any factorisation."""
        A, weights = problems.A, problems.weights
        penalty = problems.penalty
        square = weights.sum(axis=1).mean() * np.mean(A**2, axis=0)
        square = np.where(square > 0, square, 1.0)
        ridge = np.maximum(penalty, np.where(penalty > 0, LEAST, FLOOR) * square)
        drawn = [np.flatnonzero(c) for c in weights]
        n_drawn = np.mean([len(rows) for rows in drawn])
        kernel = (A / ridge) @ A.T if n_drawn < DUAL * A.shape[1] else None
        return cls(
            A, ridge, kernel, drawn, [None] * len(drawn), np.zeros(weights.shape)
        )

    def factorise(self, which, curvature):
        """Factorise the given problems at these curvatures."""
        self.root[which] = np.sqrt(curvature)
        for k in which:
            rows = self.drawn[k]
            root = self.root[k, rows]
            # AᵀΩA + Π, or I + Ω^½ A Π⁻¹ Aᵀ Ω^½ of the drawn rows
            if self.kernel is None:
                half = self.A[rows] * root[:, None]
                system, diagonal = half.T @ half, self.ridge
            else:
                system = self.kernel[np.ix_(rows, rows)]
                system *= root
                system *= root[:, None]
                diagonal = 1.0
            system.flat[:: len(system) + 1] += diagonal
            self.factor[k], _ = lapack.dpotrf(system.T, lower=1, overwrite_a=1)

    def solve(self, which, x):
        """H⁻¹x of the given problems, one row per problem."""
        if self.kernel is None:
            pairs = zip(which, x, strict=True)
            return np.array([self._solved(k, row) for k, row in pairs])
        # H⁻¹x = Π⁻¹x − Π⁻¹ Aᵀ Ω^½ B⁻¹ Ω^½ A Π⁻¹x
        root = self.root[which]
        inner, outer = root * ((x / self.ridge) @ self.A.T), np.zeros_like(root)
        for i, k in enumerate(which):
            rows = self.drawn[k]
            outer[i, rows] = self._solved(k, inner[i, rows])
        return (x - (root * outer) @ self.A) / self.ridge

    def _solved(self, k, x):
        return lapack.dpotrs(self.factor[k], x, lower=1)[0]
