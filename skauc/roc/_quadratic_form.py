"""The distribution of a quadratic function of normal variables, as a value.

A quadratic function of a normal vector is, after a rotation,

    S = c + Σ_j (λ_j z_j² + b_j z_j),   z_j ~ N(0, 1) independent:

a normal variable where λ_j = 0, ``λ_j(z_j + δ_j)²`` plus a constant where
``b_j = 2λ_jδ_j``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics._numbers import as_number, as_numbers, as_rate
from ._contour_integral import (
    centred_cumulant,
    two_sum,
    upper_quantile,
    upper_tail,
)

_LARGEST = 1e300  # of a slope: beyond, the sum with a curvature overflows


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """Distribution of ``S = c + Σ_j (λ_j z_j² + b_j z_j)``, z_j independent N(0, 1).

    Answers what the scores of a quadratic discriminant are, how often they exceed a
    threshold, and, as the difference of two classes, which class has the larger one.
    Costs about 100 evaluations of K(s), O(P) each, per threshold.

    Parameters
    ----------
    weights : array-like of shape (P,)
        λ, of the squares; 0 makes the term normal.
    slopes : array-like of shape (P,)
        b, of the linear terms.
    offset : float, default=0.0
        c.

    Raises
    ------
    ValueError
        If the lengths differ, a number is not finite or a slope is beyond 1e300; from
        a method, if its integral cannot be had to 1e-8.

    Notes
    -----
    ``E S = c + Σλ_j``, ``Var S = Σ(2λ_j² + b_j²)``. Both tails have a relative error of
    about 1e-13 down to 1e-300 for x, λ, b and c as given: ``x − c + Σ b²/(4λ)``, the
    distance to the end of a bounded support, is not rounded. Beyond it the answer is 0
    or 1. Each answer is compared with one from half as many nodes.

    References
    ----------
    Rice (1980), https://doi.org/10.1137/0901032; Imhof (1961),
    https://doi.org/10.1093/biomet/48.3-4.419

    Examples
    --------
    >>> from skauc import QuadraticForm
    >>> chi2 = QuadraticForm(weights=[1.0, 1.0, 1.0], slopes=[0.0, 0.0, 0.0])
    >>> round(float(chi2.sf(7.8147)), 4), round(float(chi2.isf(0.05)), 4)
    (0.05, 7.8147)
    """

    weights: np.ndarray
    slopes: np.ndarray
    offset: float = 0.0

    def __post_init__(self):
        weights = as_numbers("weights", self.weights)
        slopes = as_numbers("slopes", self.slopes)
        if weights.ndim != 1 or weights.shape != slopes.shape:
            raise ValueError(
                "weights and slopes must be two vectors of one length, got shapes "
                f"{weights.shape} and {slopes.shape}"
            )
        for name, value in (
            ("weights", weights),
            ("slopes", slopes),
            ("offset", as_number("offset", self.offset)),
        ):
            if not np.all(np.isfinite(value)):
                raise ValueError(f"{name} must be finite, got {value}")
        if not np.all(np.abs(slopes) <= _LARGEST):
            raise ValueError(f"slopes must be at most {_LARGEST:g}, got {slopes}")
        # A term without weight and slope is 0
        there = (weights != 0) | (slopes != 0)
        object.__setattr__(self, "weights", weights[there])
        object.__setattr__(self, "slopes", slopes[there])
        object.__setattr__(self, "offset", float(self.offset))

    @classmethod
    def from_matrix(cls, matrix, vector, constant=0.0) -> QuadraticForm:
        """Distribution of ``zᵀAz + bᵀz + c`` for a symmetric A.

        Parameters
        ----------
        matrix : ndarray of shape (P, P)
        vector : ndarray of shape (P,)
        constant : float, default=0.0

        Returns
        -------
        QuadraticForm

        Raises
        ------
        ValueError
            If the shapes differ or a number is not finite.
        """
        matrix, vector = as_numbers("matrix", matrix), as_numbers("vector", vector)
        if vector.ndim != 1 or matrix.shape != 2 * vector.shape:
            raise ValueError(
                "matrix must be square and vector as long, got shapes "
                f"{matrix.shape} and {vector.shape}"
            )
        for name, value in (("matrix", matrix), ("vector", vector)):
            if not np.all(np.isfinite(value)):
                raise ValueError(f"{name} must be finite, got {value}")
        # With A = V diag(λ) Vᵀ and y = Vᵀz ~ N(0, I):
        # zᵀAz + bᵀz = Σ [λ_j y_j² + (Vᵀb)_j y_j]
        weights, axes = np.linalg.eigh(matrix)
        return cls(weights, axes.T @ vector, constant)

    def __neg__(self) -> QuadraticForm:
        return QuadraticForm(-self.weights, -self.slopes, -self.offset)

    def __sub__(self, other: QuadraticForm) -> QuadraticForm:
        """Distribution of the difference of two independent forms."""
        # −S₂ has −λ, −b, −c, and its normals are others than those of S₁
        return QuadraticForm(
            np.concatenate([self.weights, -other.weights]),
            np.concatenate([self.slopes, -other.slopes]),
            self.offset - other.offset,
        )

    def mean(self) -> float:
        """``c + Σλ_j``; infinite where that overflows."""
        with np.errstate(over="ignore"):
            return float(self.offset + self.weights.sum())

    def var(self) -> float:
        """``Σ(2λ_j² + b_j²)``; infinite where that overflows."""
        with np.errstate(over="ignore"):
            return float(np.square(self.std()))

    def std(self) -> float:
        """Square root of the variance; no overflow on the way."""
        # √Σ(2λ² + b²), scaled by its largest part
        parts = np.concatenate([np.sqrt(2) * self.weights, self.slopes])
        largest = np.abs(parts).max(initial=0.0)
        return float(largest * np.linalg.norm(parts / largest)) if largest > 0 else 0.0

    def vertex(self) -> float:
        """``c − Σ b_j²/(4λ_j)``, where the density of few terms is not smooth."""
        curved = self.weights != 0
        if not curved.any():
            return float(self.offset)
        b, weights = self.slopes[curved], self.weights[curved]
        # Powers of 2 in front, so that no square overflows: exact.
        k, j = np.frexp(np.abs(b).max())[1], np.frexp(np.abs(weights).min())[1]
        with np.errstate(over="ignore", under="ignore"):
            drop = np.ldexp(b, -k) ** 2 / (4 * np.ldexp(weights, -j))
            return float(self.offset - np.ldexp(drop.sum(), 2 * k - j))

    def cumulant(self, s):
        """``K(s) = log E exp(sS)``, elementwise; real or complex s."""
        s = np.asarray(s)
        return (self.offset * s + centred_cumulant(s, self.weights, self.slopes))[()]

    def sf(self, x):
        """``P(S > x)``, elementwise."""
        return self._probability(x, upper=True)

    def cdf(self, x):
        """``P(S ≤ x)``, elementwise."""
        return self._probability(x, upper=False)

    def pdf(self, x):
        """Density, elementwise.

        Infinite at the vertex of one squared term, and of two of opposite sign; two of
        one sign have a finite step there, and 0 at the vertex itself.
        """
        x = as_numbers("x", x)
        if self.std() == 0:
            return self._where_number(x, np.where(x == self.offset, np.inf, 0.0))
        infinite = self._is_infinite(x)
        finite = np.where(infinite, np.nan, x)
        # f_S(x) = f_{S/scale}(x/scale)/scale
        _, density, _ = self._nearer_tail(finite.ravel(), order=1)
        with np.errstate(over="ignore"):
            density = (density / self._standardised()[0]).reshape(x.shape)
        return np.where(infinite, np.inf, density)[()]

    def _is_infinite(self, x):
        """Where the density is: at the vertex of few terms, see :meth:`pdf`."""
        signs = np.sign(self.weights)
        few = len(signs) <= 2 and np.all(signs != 0) and abs(signs.sum()) <= 1
        return few & (x == self.vertex())

    @staticmethod
    def _where_number(x, value):
        return np.where(np.isnan(x), np.nan, value)[()]

    def _probability(self, x, *, upper):
        x = as_numbers("x", x)
        if self.std() == 0:
            above = self.offset > x
            return self._where_number(x, above if upper else ~above)
        # The other tail is 1 less this one, which beyond the mean is never near 1
        tail, _, right = self._nearer_tail(x.ravel(), order=0)
        return np.where(right == upper, tail, 1 - tail).reshape(x.shape)[()]

    def _nearer_tail(self, x, *, order):
        """Tail on the side of x away from the mean, standardised density, the side."""
        scale, weights, slopes = self._standardised()
        # y + rest = (x − c)/scale without rounding; P(S < x) = P(−S > −x)
        y, rest = (part / scale for part in two_sum(x, -self.offset))
        right = y >= weights.sum()
        tail, density = np.empty((2, len(y)))
        for sign, side in ((1.0, right), (-1.0, ~right)):
            tail[side], density[side] = upper_tail(
                sign * y[side], sign * weights, sign * slopes, order, sign * rest[side]
            )
        return tail, density, right

    def _standardised(self):
        """A power of 2 near the deviation, λ and b over it: nothing is rounded."""
        scale = 2.0 ** np.round(np.log2(self.std()))
        return scale, self.weights / scale, self.slopes / scale

    def isf(self, q):
        """The x with ``P(S > x) = q``, elementwise.

        Newton's method on the logarithm of the smaller tail, between brackets.
        """
        q = as_rate("q", q)
        if self.std() == 0:
            return np.where(q == 1, -np.inf, self.offset)[()]
        x, flat = np.empty(q.size), q.ravel()
        right = flat <= self.sf(self.mean())
        # P(S > x) = q on the right of the mean, P(−S > −x) = 1 − q on the left
        x[right] = self._quantile(flat[right], 1.0)
        x[~right] = self._quantile(1 - flat[~right], -1.0)
        return x.reshape(q.shape)[()]

    def _quantile(self, q, sign):
        """The x with ``P(±S > ±x) = q``, added up from the end of a bounded support."""
        scale, weights, slopes = self._standardised()
        end, rest, y = upper_quantile(q, sign * weights, sign * slopes)
        # c ± scale (end + rest + y): the parts that cancel first, the small ones last
        whole, lost = two_sum(self.offset, sign * scale * end)
        return whole + (lost + sign * scale * (rest + y))
