"""The distribution of a quadratic function of normal variables (sections 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..statistics._checks import as_numbers, check_interval, check_numbers
from ._contour import upper_quantile, upper_tail

_ROUNDING = 1e-16  # λ and b, in deviations: they move quantiles by 1e-13 at most
_LARGEST = 1e100  # largest weight, slope or offset: squares do not overflow


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """Distribution of ``S = c + Σ_j (λ_j z_j² + b_j z_j)``, z_j independent N(0, 1).

    Answers: how are the scores of a quadratic discriminant distributed within a class,
    and how often do they exceed a threshold? The difference of the scores of two
    classes has a distribution of the same kind, so it also answers which class has the
    larger score. Each threshold costs a few hundred evaluations of K(s), O(P) each.

    Parameters
    ----------
    weights : array-like of shape (P,)
        Coefficients λ of the squares; a term with λ = 0 is normal.
    slopes : array-like of shape (P,)
        Coefficients b of the linear terms.
    offset : float, default=0.0
        The constant c.

    Raises
    ------
    ValueError
        If the lengths differ or a number exceeds 1e100 in absolute value. Methods raise
        it, too, if an integral does not reach a relative error of 1e-8.

    See Also
    --------
    skauc.results.QuadraticROC : The ROC curve of two such distributions.
    skauc.QuadraticDiscriminantROC : The classifier whose scores have this distribution.

    Notes
    -----
    ``E S = c + Σλ_j``, ``Var S = Σ(2λ_j² + b_j²)``. Both tails have a relative error of
    about 1e-12 down to 1e-300, except next to the end of a bounded support, where the
    distance of x from ``c − Σ b²/(4λ)`` has a rounding error of 1e-16 standard
    deviations. Both tails are contour integrals through a saddlepoint [1]_; along the
    imaginary axis [2]_ their digits would cancel. Each result is compared with that of
    half as many nodes.

    References
    ----------
    .. [1] Rice (1980), "Distribution of quadratic forms in normal random variables —
       evaluation by numerical integration", https://doi.org/10.1137/0901032
    .. [2] Imhof (1961), "Computing the distribution of quadratic forms in normal
       variables", https://doi.org/10.1093/biomet/48.3-4.419

    Examples
    --------
    >>> from skauc.results import QuadraticForm
    >>> chi2 = QuadraticForm(weights=[1.0, 1.0, 1.0], slopes=[0.0, 0.0, 0.0])
    >>> round(float(chi2.sf(7.8147)), 4), round(float(chi2.isf(0.05)), 4)
    (0.05, 7.8147)
    """

    weights: np.ndarray
    slopes: np.ndarray
    offset: float = 0.0

    def __post_init__(self):
        weights = check_numbers("weights", self.weights, -_LARGEST, _LARGEST)
        slopes = check_numbers("slopes", self.slopes, -_LARGEST, _LARGEST)
        offset = check_interval("offset", self.offset, -_LARGEST, _LARGEST)
        if weights.ndim != 1 or weights.shape != slopes.shape:
            raise ValueError(
                "weights and slopes must be two vectors of one length, got shapes "
                f"{weights.shape} and {slopes.shape}"
            )
        # drop terms that are 0
        there = (weights != 0) | (slopes != 0)
        given = {"weights": weights[there], "slopes": slopes[there], "offset": offset}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def __neg__(self) -> QuadraticForm:
        return QuadraticForm(-self.weights, -self.slopes, -self.offset)

    def __sub__(self, other: QuadraticForm) -> QuadraticForm:
        """Distribution of the difference of two independent forms."""
        # −S₂ has −λ, −b, −c, and independent normal variables
        weights = np.concatenate([self.weights, -other.weights])
        slopes = np.concatenate([self.slopes, -other.slopes])
        return QuadraticForm(weights, slopes, self.offset - other.offset)

    def mean(self) -> float:
        """``c + Σλ_j``."""
        return float(self.offset + self.weights.sum())

    def var(self) -> float:
        """``Σ(2λ_j² + b_j²)``."""
        return float(np.sum(2 * self.weights**2 + self.slopes**2))

    def std(self) -> float:
        """Square root of the variance."""
        return float(np.sqrt(self.var()))

    def _vertex(self) -> float:
        """``c − Σ b_j²/(4λ_j)``, at which the density of few terms is not smooth."""
        curved = self.weights != 0
        drops = self.slopes[curved] ** 2 / (4 * self.weights[curved])
        return float(self.offset - drops.sum())

    def sf(self, x: ArrayLike) -> Any:
        """``P(S > x)``, elementwise."""
        tail, _, right = self._nearer_tail(x)
        # the other tail is 1 − this one, without cancellation: this one is not near 1
        return np.where(right, tail, 1 - tail)[()]

    def cdf(self, x: ArrayLike) -> Any:
        """``P(S ≤ x)``, elementwise."""
        tail, _, right = self._nearer_tail(x)
        return np.where(right, 1 - tail, tail)[()]

    def pdf(self, x: ArrayLike) -> Any:
        """Density, elementwise.

        At the vertex the density is infinite, up to rounding, for one squared term and
        for two squared terms of opposite signs. For two terms of the same sign it has a
        finite step there, and is 0 at the vertex itself.
        """
        x, signs = as_numbers("x", x), np.sign(self.weights)
        few = len(signs) <= 2 and np.all(signs != 0) and abs(signs.sum()) <= 1
        infinite = few & (np.abs(x - self._vertex()) <= 1e-15 * self.std())
        _, density, _ = self._nearer_tail(np.where(infinite, np.nan, x), density=True)
        return np.where(infinite, np.inf, density)[()]

    def _standardised(self):
        """Standard deviation, and weights and slopes in units of it."""
        unit = self.std() or 1.0  # a point mass has no terms
        weights, slopes = self.weights / unit, self.slopes / unit
        # rounding of 0 would move the end of the support, Σ −b²/(4λ)
        weights, slopes = (
            np.where(np.abs(part) < _ROUNDING, 0.0, part) for part in (weights, slopes)
        )
        there = (weights != 0) | (slopes != 0)
        return unit, weights[there], slopes[there]

    def _nearer_tail(self, x, *, density=False):
        """Tail on the side of x away from the mean, density, whether that is right."""
        x, (unit, weights, slopes) = as_numbers("x", x), self._standardised()
        y = ((x - self.offset) / unit).ravel()
        right = y >= weights.sum()
        answers = np.empty((2, len(y)))
        # P(S < x) = P(−S > −x)
        for sign, side in ((1.0, right), (-1.0, ~right)):
            terms = sign * weights, sign * slopes
            answers[:, side] = upper_tail(sign * y[side], *terms, density=density)
        tail, height = answers.reshape(2, *x.shape)
        # f_S(x) = f_{S/unit}(x/unit)/unit
        return tail, height / unit, right.reshape(x.shape)

    def isf(self, q: ArrayLike) -> Any:
        """Upper quantile: the x with ``P(S > x) = q``, elementwise."""
        q, (unit, *terms) = check_numbers("q", q, 0, 1), self._standardised()
        if self.std() == 0:
            return np.where(q == 1, -np.inf, self.offset)[()]
        y, flat = np.empty(q.size), q.ravel()
        right = flat <= self.sf(self.mean())
        # P(S > x) = q on the right of the mean, P(−S > −x) = 1 − q on the left
        for sign, side, level in ((1.0, right, flat), (-1.0, ~right, 1 - flat)):
            mirrored = (sign * part for part in terms)
            y[side] = sign * upper_quantile(level[side], *mirrored)
        return (self.offset + unit * y.reshape(q.shape))[()]
