"""Coordinates in which Newton's equations are well scaled."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..statistics._numerics import TINY

_EPS = np.finfo(float).eps
# Squared mean over variance beyond which features are shifted: the Gram matrix then
# loses two of its sixteen digits
_LARGE_MEAN = 100.0
LARGEST_RIDGE = 1e300  # coefficients below its inverse are 0


@dataclass(frozen=True, eq=False)
class Point:
    """Parameters B with ``ℓ − penalty``, ℓ, gradient G and information H of ℓ."""

    B: np.ndarray
    objective: float
    log_likelihood: float
    G: np.ndarray
    H: np.ndarray


@dataclass(frozen=True, eq=False)
class Step:
    """Newton's step, its decrement ``gᵀH⁻¹g`` and the largest mean gradient."""

    D: np.ndarray
    decrement2: float
    gradient: float

    def is_small(self, tol, point):
        rounding = _EPS * abs(point.objective)  # gains below it cannot be seen
        return self.gradient <= tol and self.decrement2 <= max(tol**2, rounding)


class NewtonFrame:
    """Coordinates in which Newton's equations are well scaled.

    B is that of features measured in ``model.unit``. Features are shifted if their
    mean is large against their spread, equations scaled to unit spread, and restricted
    to the row space if the features are linearly dependent. All of it is read off the
    information at B = 0, which is X̃ᵀ diag(w) X̃ up to a factor.
    """

    def __init__(self, model, ridge, scale, basis):
        self.model, self.scale = model, scale
        self.unit = np.append(model.unit, np.ones(model.size - model.n_features))
        self.whole = ridge is not None or basis[1].shape[1] == 0
        self.ridge = np.zeros((model.size, 1))
        if ridge is not None:
            with np.errstate(over="ignore"):
                ridge = ridge / model.unit / model.unit
            limit = LARGEST_RIDGE * np.minimum(scale[: model.n_features] ** 2, 1)
            self.ridge[: model.n_features, 0] = np.minimum(ridge, limit)
        self.kept, self.null = basis

    @property
    def rank(self):
        return self.kept.shape[1]

    @classmethod
    def from_zero(cls, model, ridge):
        """The frame of the data, and the point B = 0."""
        M, size = model.T.shape[1], model.size
        B = np.zeros((size, M))
        with np.errstate(over="ignore", invalid="ignore"):
            value, G, H = model.evaluate(B)
        # H = S ⊗ Σ (1/K²)(t_k − t_m)(t_k − t_m)ᵀ at 0, where p_k p_m = 1/K²
        pairs = len(model.T) * np.sum(model.T[:, 0] ** 2) - np.sum(model.T[:, 0]) ** 2
        square = np.diag(H)[: model.n_features] * (len(model.T) ** 2 / pairs)
        if model.measure(square):
            value, G, H = model.evaluate(B)
        if model.fit_intercept:
            mean, variance = _location_scale(H[:size, :size])
            if np.any(mean**2 > _LARGE_MEAN * variance):
                model.shift = mean
                value, G, H = model.evaluate(B)
                _, variance = _location_scale(H[:size, :size])
            # The spread of a constant feature is rounding, 8 ε of its size.
            constant = variance <= (8 * _EPS * mean) ** 2
            scale = np.sqrt(np.where(constant, np.maximum(mean**2, 1), variance))
            scale = np.append(scale, 1.0)
        else:
            # √(Σ w x²) up to a factor, the weights w brought to a mean of 1
            scale = np.sqrt(np.diag(H)[:size] * (model.n_rows / model.total))
            scale[scale == 0] = 1.0
        frame = cls(model, ridge, scale, _row_space(H[:size, :size], scale))
        return frame, Point(B, value, value, G, H)

    def on(self, part):
        """The same coordinates for a part of the rows, and its share of the ridge."""
        frame = copy(self)
        # ℓ of a share of the rows is that share of ℓ: so must the penalty be.
        frame.model, frame.ridge = part, self.ridge * (part.total / self.model.total)
        return frame

    def evaluate(self, B):
        value, G, H = self.model.evaluate(B)
        # ℓ − Σ λ_j B_j²/2
        return Point(B, value - np.sum(self.ridge * B**2) / 2, value, G, H)

    def newton_step(self, point, held=None):
        """Solve ``(H + Λ) D = G − ΛB`` within the row space.

        Parameters
        ----------
        point : Point
        held : ndarray of shape (M(P + 1), q), default=None
            Columns a, of scaled parameters, along which ``aᵀd`` must be 0.
        """
        shape = point.B.shape
        # in units of scale s: (H + Λ)/(s sᵀ) d = (G − ΛB)/s,  D = d/s
        g = ((point.G - self.ridge * point.B) / self.scale[:, None]).T.ravel()
        # H/(s sᵀ) + Λ/s²
        A = self._information(point)
        A[np.diag_indices_from(A)] += np.tile(
            self.ridge[:, 0] / self.scale**2, shape[1]
        )
        R = self.free(shape[1], held)
        if R is None:
            d = _solve(A, g)
        else:
            d = R @ _solve(R.T @ A @ R, R.T @ g)
            g = R @ (R.T @ g)
        # M columns of P + 1 parameters one after the other, as in H.
        D = d.reshape(shape[::-1]).T / self.scale[:, None]
        return Step(D, float(g @ d), np.abs(g).max() / self.model.total)

    def free(self, M, held=None):
        """Orthonormal basis of steps: the row space, across ``held``; None is all."""
        R = None if self.whole else np.kron(np.eye(M), self.kept)
        if held is None:
            return R
        # Steps with heldᵀd = 0, and within the row space if that is not everything.
        if R is None:
            return linalg.null_space(held.T)
        return R @ linalg.null_space(held.T @ R)

    def solve(self, point, b):
        """``H⁻¹b`` for columns of scaled parameters and independent features."""
        return _solve(self._information(point), b)

    def covariance(self, point, meat=None):
        """Inverse information of the original parameters, the intercept first.

        Parameters
        ----------
        point : Point
        meat : ndarray of shape (M(P + 1), M(P + 1)), default=None
            Covariance of the gradient, if it is not the information.

        Returns
        -------
        covariance : ndarray of shape (M(P + 1), M(P + 1))
        errors : ndarray of shape (M, P + 1)
            Roots of its diagonal, also where that overflows.
        """
        M = point.B.shape[1]
        R = np.kron(np.eye(M), self.kept)
        # R(RᵀHR)⁻¹Rᵀ on the row space, then back to the original parameters
        inner = R.T @ self._information(point) @ R
        inverse = R @ _solve(inner, R.T)
        if meat is not None:
            s = np.tile(self.scale, M)
            # H⁻¹ meat H⁻¹, the meat in scaled units as well
            inverse = inverse @ (meat / s / s[:, None]) @ inverse
        back, unit = self.original(M)
        covariance = back @ inverse @ back.T
        errors = np.sqrt(np.maximum(np.diag(covariance), 0))
        covariance = (covariance + covariance.T) / 2
        if not self.model.ordinary:
            with np.errstate(over="ignore"):
                covariance = covariance / unit / unit[:, None]
                errors = errors / unit
        return covariance, errors.reshape(M, -1)

    def original(self, M):
        """Matrix from scaled to original parameters, the intercept first, and units.

        Returns
        -------
        back : ndarray of shape (M(P + 1), M(P + 1))
        unit : ndarray of shape (M(P + 1),)
            ``back @ d / unit`` are parameters of the features as they came.
        """
        # B = d/s, the null space's part off, the shift undone.
        back = self._unshift() @ self._least_norm() / self.scale
        order = np.arange(self.model.size)
        if self.model.fit_intercept:
            order = np.roll(order, 1)
        return np.kron(np.eye(M), back[order]), np.tile(self.unit[order], M)

    def enter(self, init, T):
        """Parameters B from coefficient rows in the original features."""
        coef = np.atleast_2d(init).astype(float)
        if len(T) > 2:  # K rows are T B plus a common shift, which is dropped
            coef = np.linalg.solve(np.column_stack([T, np.ones(len(T))]), coef)[:-1]
        # coef in units of the features, then the shift back into the intercept.
        return np.linalg.solve(self._unshift(), coef.T * self.unit[:, None])

    def leave(self, B, T):
        """Coefficient rows in the original features, of least norm."""
        with np.errstate(over="ignore"):
            # The shortest coefficients, the shift undone, in the features' own units
            coef = (self._unshift() @ self._least_norm() @ B).T / self.unit
        return coef if len(T) == 2 else T @ coef

    def _information(self, point):
        s = np.tile(self.scale, point.B.shape[1])
        return point.H / s / s[:, None]

    def _least_norm(self):
        """Projection of B along the null space that makes the coefficients short."""
        identity = np.eye(self.model.size)
        if self.whole:
            return identity
        P, unit = self.model.n_features, self.model.unit
        # Lengths are those of the coefficients as they came, B/unit: the shortest
        # coefficients are meant, not the shortest B.
        null, length = self.null / self.scale[:, None], (unit.min() / unit)[:, None]
        null /= np.abs(null).max(axis=0)
        solved = np.linalg.lstsq(length * null[:P], length * identity[:P], rcond=None)[
            0
        ]
        return identity - null @ solved

    def _unshift(self):
        """Matrix that undoes the shift: intercept ``b − shiftᵀβ``."""
        back = np.eye(self.model.size)
        if self.model.shift is not None:
            back[-1, :-1] -= self.model.shift
        return back


def _location_scale(gram):
    """Mean and variance of the features from ``X̃ᵀX̃`` (up to a factor)."""
    gram = gram / gram[-1, -1]
    # Σ x²/n − x̄² cancels where x̄ is large, which the caller looks at (_LARGE_MEAN).
    mean = gram[:-1, -1]
    return mean, np.maximum(np.diag(gram)[:-1] - mean**2, 0)


def _row_space(gram, scale):
    """Orthonormal bases of the range and of the null space of the scaled Gram."""
    gram = gram / scale / scale[:, None]
    values, vectors = linalg.eigh(gram)
    kept = values > 16 * len(gram) * _EPS * values[-1]  # beyond the rounding of eigh
    return vectors[:, kept], vectors[:, ~kept]


def _solve(A, b):
    """Solve a positive semidefinite system, by least squares if it is singular."""
    # Unit diagonal, (A/rrᵀ)(r∘x) = b/r: nearly the best condition that a diagonal
    # scaling gives (van der Sluis 1969, https://doi.org/10.1007/BF02165096).
    root = np.sqrt(np.maximum(np.diag(A), TINY))
    A = A / root / root[:, None]
    b = (b.T / root).T
    try:
        x = linalg.cho_solve(linalg.cho_factor(A, lower=True), b)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(A)
        # The least-squares solution of least norm leaves out what is rounding.
        kept = values > len(A) * _EPS * values[-1]
        inverse = np.where(kept, 1 / np.where(kept, values, 1), 0)
        x = vectors @ ((vectors.T @ b).T * inverse).T
    return (x.T / root).T
