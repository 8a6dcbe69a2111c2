"""Newton's method for logistic models, in coordinates of unit spread.

Features are scaled to unit spread, and shifted if their means are much larger than
their spreads. For linearly dependent features the coordinates span the row space.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ._likelihood import Coding, likelihood_terms
from ._rows import FitRows

_EPS = np.finfo(float).eps
# Squared mean over variance beyond which features are shifted: the Gram matrix then
# loses two of its sixteen digits
_LARGE_MEAN = 100.0
_HALVINGS = 40  # of a step; Firth's on 30 separated rows takes 7 in 44 steps
_ROUNDING = 1e-12  # relative error of a log-likelihood: a sum over up to 1e7 rows


@dataclass(frozen=True, eq=False)
class Coordinates:
    """θ of parameters ``B = Rθ/s`` = (coefficients of x − shift, intercept)."""

    scale: np.ndarray  # s, (size,)
    # R (size, rank) for coefficients of least norm; None, the identity, if features are
    # independent
    R: np.ndarray | None
    shift: np.ndarray | None
    n_features: int
    null: np.ndarray  # unit directions of sB that change no logit, as columns

    @classmethod
    def of_gram(cls, gram, variance, shift) -> Coordinates:
        """From ``X̃ᵀdiag(w)X̃`` up to a factor, of features less ``shift``."""
        P = len(variance)
        mean = np.zeros(P) if shift is None else shift
        # the spread of a constant feature is at most rounding, 8 ε of its size
        constant = variance <= (8 * _EPS * mean) ** 2
        variance = np.where(constant, np.maximum(mean**2, 1), variance)
        scale = np.append(np.sqrt(variance), np.ones(len(gram) - P))
        values, vectors, null = spectrum(gram / scale / scale[:, None])
        if not len(values):
            raise ValueError(
                "X must have a value other than 0 in a row of positive weight if "
                "fit_intercept=False, got zeros only"
            )
        if not null.shape[1]:
            return cls(scale, None, shift, P, null)
        # logits do not change along the null space: take the shortest coefficients
        A, flat = vectors / scale[:, None], null / scale[:, None]
        flat = flat / np.abs(flat).max(axis=0)
        A = A - flat @ linalg.lstsq(flat[:P], A[:P])[0]
        noise = 16 * len(gram) * _EPS * values[-1] / values[0]
        null = np.where(np.abs(null) <= noise, 0.0, null)
        return cls(scale, A * scale[:, None], shift, P, null)

    @property
    def rank(self) -> int:
        """Rank of the features together with the intercept."""
        return len(self.scale) if self.R is None else self.R.shape[1]

    def parameters(self, theta):
        """B of shape (size, M)."""
        theta = theta.reshape(-1, self.rank).T
        theta = theta if self.R is None else self.R @ theta
        return theta / self.scale[:, None]

    def by_theta(self, derivatives):
        """First or second derivatives by θ from those by the columns of B."""
        M = len(derivatives) // len(self.scale)
        for _ in range(derivatives.ndim):
            derivatives = derivatives / np.tile(self.scale, M)
            if self.R is not None:
                derivatives = derivatives @ np.kron(np.eye(M), self.R)
            derivatives = derivatives.T
        return derivatives

    def leave(self, theta):
        """Columns of coefficients and intercept from θ."""
        B = self.parameters(theta)
        if self.shift is not None:
            B[-1] -= self.shift @ B[:-1]
        return B

    def enter(self, B):
        """θ from columns of coefficients and intercept."""
        B = B.astype(float)
        if self.shift is not None:
            B[-1] += self.shift @ B[:-1]
        theta = B * self.scale[:, None]
        theta = theta if self.R is None else linalg.lstsq(self.R, theta)[0]
        return theta.T.ravel()


@dataclass(frozen=True, eq=False)
class Point:
    """An objective at θ: its value, gradient and negative second derivatives."""

    theta: np.ndarray
    objective: float
    log_likelihood: float
    gradient: np.ndarray
    information: np.ndarray  # information of the rows; its inverse is the covariance
    curvature: np.ndarray  # of the objective


@dataclass(frozen=True, eq=False)
class Objective:
    """``ℓ − ‖coef‖²·ridge/2`` of θ, from sums over rows."""

    rows: FitRows
    coding: Coding
    coordinates: Coordinates
    ridge: float = 0.0
    concave = True  # everywhere

    @cached_property
    def penalty(self):
        """Second derivatives of the ridge by θ, which leaves the intercept out."""
        size, M = len(self.coordinates.scale), self.coding.T.shape[1]
        ridge = np.tile(np.arange(size) < self.coordinates.n_features, M) * self.ridge
        return self.coordinates.by_theta(np.diag(ridge))

    def sums(self, function, theta, *shared):
        """Sum over blocks of a function of the block, the coding and B."""
        B = self.coordinates.parameters(theta)
        return self.rows.sum(function, self.coding, B, *shared)

    def at(self, theta) -> Point:
        """The objective at θ: one pass over the rows."""
        value, G, H = self.sums(likelihood_terms, theta)
        return self.point(theta, value, G, H)

    def point(self, theta, value, G, H) -> Point:
        """The point with the given sums over rows."""
        gradient, information = map(self.coordinates.by_theta, (G.T.ravel(), H))
        pull = self.penalty @ theta
        return Point(
            theta,
            value - theta @ pull / 2,
            value,
            gradient - pull,
            information,
            information + self.penalty,
        )

    @cached_property
    def to_original(self):
        """Matrix from θ to the original parameters, each intercept first."""
        return self._original(self.coordinates)

    @property
    def scaled_and_null(self):
        """Matrix to the original parameters from all ``sB``, and those of no effect."""
        frame, M = self.coordinates, self.coding.T.shape[1]
        return self._original(replace(frame, R=None)), np.kron(np.eye(M), frame.null)

    def _original(self, coordinates):
        """Matrix from coordinates to the original parameters, each intercept first."""
        columns = coordinates.leave(np.eye(coordinates.rank).ravel())
        first = np.roll(columns, self.coding.fit_intercept, axis=0)
        return np.kron(np.eye(self.coding.T.shape[1]), first)

    def covariance(self, point, meat=None):
        """Covariance of the original parameters.

        The inverse information V, or ``V meat V`` with the covariance of the gradient
        of B.
        """
        V = solve(point.information, np.eye(len(point.theta)))
        if meat is not None:
            V = V @ self.coordinates.by_theta(meat) @ V
        covariance = self.to_original @ V @ self.to_original.T
        return (covariance + covariance.T) / 2


def standardised(rows, coding):
    """Coordinates of the rows, the coding with its shift, and the sums at B = 0."""
    first, *others = rows.class_moments(featurewise=True)
    whole = sum(others, first)
    square, variance = whole.mean**2, whole.scatter / whole.n
    if not coding.fit_intercept:
        variance = variance + square
    elif np.any(square > _LARGE_MEAN * variance):
        coding = replace(coding, shift=whole.mean)
    size = len(square) + coding.fit_intercept
    zero = np.zeros((size, coding.T.shape[1]))
    terms = rows.sum(likelihood_terms, coding, zero)
    gram = terms[2][:size, :size]
    return Coordinates.of_gram(gram, variance, coding.shift), coding, terms


class Step(NamedTuple):
    """Newton's step d, its decrement ``gᵀH⁻¹g`` and the largest mean gradient."""

    d: np.ndarray
    decrement2: float
    gradient: float


def newton_step(objective, point, basis) -> Step:
    """Solve ``H d = g`` within the span of the basis; None means the whole space."""
    H, g = _within(basis, point.curvature), point.gradient
    if not objective.concave and linalg.eigvalsh(H)[0] <= 0:
        H = _within(basis, point.information)  # the objective is not concave here
    if basis is None:
        d = solve(H, g)
    else:
        d, g = basis @ solve(H, basis.T @ g), basis @ (basis.T @ g)
    return Step(d, float(g @ d), np.abs(g).max() / objective.rows.total)


def _within(basis, H):
    """Restrict second derivatives to the span of a basis; None means no limit."""
    return H if basis is None else basis.T @ H @ basis


def ascend(objective, point, d, most):
    """The first of ``θ + d, θ + d/2, …`` where the objective does not fall, or None."""
    # a fall within the rounding of a sum over all rows is allowed
    lowest = point.objective - _ROUNDING * max(abs(point.objective), 1)
    for halved in range(most + 1):
        trial = objective.at(point.theta + d / 2**halved)
        if trial.objective >= lowest:
            return trial
    return None


class Climb(NamedTuple):
    """The last point of Newton's method, and whether it is the optimum."""

    point: Point
    step: Step
    small: bool  # whether the last step was small: the optimum is reached
    n_iter: int


def climb(objective, point, basis=None, *, tol=1e-8, max_iter=50) -> Climb:
    """Take Newton steps with halving from a point, within the span of a basis."""
    smallest = tol**2 * objective.rows.total  # by weight: copies change nothing
    for n_iter in range(max_iter + 1):
        step = newton_step(objective, point, basis)
        rounding = _EPS * abs(point.objective)  # smaller gains are rounding
        small = step.gradient <= tol and step.decrement2 <= max(smallest, rounding)
        if n_iter == max_iter and not small:
            break
        # a small step is the last one: it squares the error
        following = ascend(objective, point, step.d, 0 if small else _HALVINGS)
        point = following or point
        if small or following is None:
            break
    return Climb(point, step, small, n_iter)


def solve(A, b):
    """Solve a positive semidefinite system, by least squares if it is singular."""
    A, root = unit_diagonal(A)
    b = (b.T / root).T  # (A/rrᵀ)(r∘x) = b/r
    try:
        x = linalg.cho_solve(linalg.cho_factor(A, lower=True), b)
    except linalg.LinAlgError:
        # the least-squares solution of least norm ignores directions of rounding
        x = linalg.lstsq(A, b, cond=len(A) * _EPS)[0]
    return (x.T / root).T


def unit_diagonal(A):
    """``A/rrᵀ`` with ones on its diagonal, and r; r is 1 where the diagonal is 0.

    Nearly the best condition that a diagonal scaling gives (van der Sluis 1969,
    https://doi.org/10.1007/BF02165096).
    """
    root = np.sqrt(np.maximum(np.diag(A), 0))
    root[root == 0] = 1.0
    return A / root / root[:, None], root


def spectrum(A):
    """Eigenvalues beyond rounding, their eigenvectors, and the other eigenvectors."""
    values, vectors = linalg.eigh(A)
    kept = values > 16 * len(A) * _EPS * values[-1]
    return values[kept], vectors[:, kept], vectors[:, ~kept]
