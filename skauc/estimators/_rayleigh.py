"""Maximise the Gaussian AUC of a direction, a Rayleigh quotient.

Sections 2 and 3 of :mod:`skauc.estimators`.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from ..roc._binormal import check_own_variances
from ..statistics._moments import Moments, class_moments
from ._newton import spectrum, unit_diagonal
from ._rows import fourth_powers

_EPS = np.finfo(float).eps
_SMALLEST_DEVIATION = 1e-8  # in units of the gap of the class means; less is rounding
_OUTSIDE = 1e-6  # share of μ outside the range of Σ that is more than rounding


@dataclass(frozen=True, eq=False)
class RayleighProblem:
    """Class moments in working coordinates ``z = Vᵀ(x − origin)/scale``.

    Parameters
    ----------
    neg, pos : Moments
        In working coordinates.
    origin, scale : ndarray of shape (P,)
    basis : ndarray of shape (P, r) or None
        V for P > n, an orthonormal basis of the rows' span; None is the identity.
    rows : FitRows or None
        Features, or for P > n working coordinates; None if only moments are known.
    """

    neg: Moments
    pos: Moments
    origin: np.ndarray
    scale: np.ndarray
    basis: np.ndarray | None
    rows: Any  # FitRows or None

    @classmethod
    def of_moments(cls, neg, pos, standardize, rows=None):
        """Problem of features with full scatters."""
        scale, origin = _scale(neg, pos, standardize), neg.mean
        working = (
            Moments(c.n, (c.mean - origin) / scale, c.scatter / scale / scale[:, None])
            for c in (neg, pos)
        )
        return cls(*working, origin, scale, None, rows)

    @classmethod
    def of_few_rows(cls, rows, standardize):
        """Problem in the span of rows in memory, for P > n."""
        each = class_moments(rows.X, rows.y == 1, rows.weight, featurewise=True)
        scale = _scale(*each, standardize)
        rows, origin, basis = rows.in_span(scale)
        return cls(*rows.class_moments(), origin, scale, basis, rows)

    def fourth_powers(self) -> float:
        """``Σ w ‖z − z̄_c‖⁴/(n_c − 1)²`` over the rows."""
        few = self.basis is not None  # the rows are working coordinates
        origin, scale = (0.0, 1.0) if few else (self.origin, self.scale)
        centres = [origin + part.mean * scale for part in (self.neg, self.pos)]
        powers = self.rows.sum(fourth_powers, np.array(centres), scale)
        return float(powers @ [1 / (part.n - 1) ** 2 for part in (self.neg, self.pos)])

    def leave(self, theta):
        """Coefficients of the features from θ."""
        return (theta if self.basis is None else self.basis @ theta) / self.scale

    @property
    def sigma(self):
        """``Σ̂₀ + Σ̂₁``."""
        return self.neg.covariance + self.pos.covariance

    def shrunk(self, alpha):
        """``(1 − α)Σ + ατI``, ``τ = tr Σ/P``."""
        sigma = self.sigma
        # P features also in the span of rows
        tau = np.trace(sigma) / len(self.origin)
        return (1 - alpha) * sigma + alpha * tau * np.eye(len(sigma))

    def unit_deviation(self, theta):
        """θ scaled to pooled within-class deviation 1, and its scores' moments.

        A deviation below ``_SMALLEST_DEVIATION`` of the gap of the means is rounding:
        it counts as 0 in a class, and as this share in the pooled one.
        """
        neg, pos = self.neg.project(theta), self.pos.project(theta)
        smallest = _SMALLEST_DEVIATION * abs(pos.mean - neg.mean)
        # (W₀ + W₁)/(n − 2)
        variance = max(neg.scatter + pos.scatter, 0.0) / (neg.n + pos.n - 2)
        unit = max(np.sqrt(variance), smallest) or 1.0
        rounding = (smallest / unit) ** 2
        parts = [Moments(c.n, c.mean / unit, c.scatter / unit**2) for c in (neg, pos)]
        return theta / unit, [
            c if c.scatter > rounding * c.n else replace(c, scatter=0.0) for c in parts
        ]


def best_direction(sigma, mu, singular):
    """θ* of Σ and μ, the rank of Σ, and whether θ* is a direction without spread.

    It is the part of μ outside the range of Σ, where μ has such a part, and ``Σ⁻¹μ`` on
    the range otherwise. ``singular``: Σ is known to be so.
    """
    # use correlations, so that the rank does not depend on units
    correlation, root = unit_diagonal(sigma)
    scaled, P = mu / root, len(mu)
    with suppress(linalg.LinAlgError):
        L = linalg.cholesky(correlation, lower=True)
        if np.diag(L).min() ** 2 > 16 * P * _EPS and not singular:
            return linalg.cho_solve((L, True), scaled) / root, P, False
    # a pivot of the Cholesky factor is below rounding: find the rank by eigenvalues
    values, V, null = spectrum(correlation)
    outside = null @ (null.T @ scaled)
    piles = np.linalg.norm(outside) > _OUTSIDE * np.linalg.norm(scaled)
    theta = outside if piles else V @ (V.T @ scaled / values)
    return theta / root, len(values), piles


def _scale(neg, pos, standardize):
    """The root of the diagonal of Σ (1 where it is 0), or 1."""
    check_own_variances(neg, pos)
    if not standardize:
        return np.ones(len(neg.mean))
    variance = neg.covariance + pos.covariance
    variance = np.diag(variance) if variance.ndim == 2 else variance
    return np.where(variance > 0, np.sqrt(variance), 1.0)


# Shrinkage: section 3 -----------------------------------------------------------------


def shrinkage_weight(problem, method) -> float:
    """Shrinkage α for None, a number or "auto".

    Parameters
    ----------
    problem : RayleighProblem
    method : None, float or "auto"

    Returns
    -------
    float
    """
    if method != "auto":
        return float(method or 0)
    # Ledoit & Wolf (2004), section 3.3: b²/d² of Σ
    square, trace = np.sum(problem.sigma**2), np.trace(problem.sigma)
    spread = square - trace**2 / len(problem.origin)  # ‖Σ − τI‖² = ‖Σ‖² − Pτ²
    # Σ_i ‖n z_i z_iᵀ − Σ‖²/n² = Σ_i ‖z_i‖⁴ − ‖Σ‖²/n: the error of Σ, estimated as if
    # all rows were alike. Those of two covariances, Σ_i ‖z_i‖⁴ − Σ_c ‖Σ̂_c‖²/n_c, fall
    # short of E‖Σ − EΣ‖² by 6 to 39 %, because ‖Σ̂_c‖² is above ‖EΣ̂_c‖²; this is off
    # by −11 to 11 %. What α leaves, ‖Σ_α − EΣ‖², would be .97 to 1.06 as much (eight
    # designs of normal rows, 45 : 5 to 200 : 20 and 50 : 50, 3 to 40 features)
    noise = problem.fourth_powers() - square / (problem.neg.n + problem.pos.n)
    return float(min(max(noise, 0.0) / spread, 1.0)) if spread > 0 else 0.0
