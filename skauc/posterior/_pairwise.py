"""The mean AUC of all pairs of classes, and what is known of it (section 8).

Of K > 2 classes each pair (i, j) has its own posterior, from its own rows and its own
linear model. The average over pairs has the average mean, whatever the pairs share.
Its spread depends on how they depend on each other: they share rows and coefficients,
and no joint posterior is known. The widest case is taken, in which all pairs are high
together and low together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.special import ndtr, ndtri

from ..statistics._numbers import as_numbers, as_rate
from ._auc_posterior import AUCPosterior
from ._distribution import AUCDistribution, generator

# Gauss–Hermite for u ~ N(0, 1): 20 nodes leave 4e-8 of a standard deviation whose
# posterior is piled up at 1, 40 nodes 1e-10
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_FAR = 8.2  # Φ(−8.2) = 1e-16: what lies beyond is lost in 1 − q and 1 − x
_TABLE = 257  # a sixteenth of a standard deviation apart: an error of about 1e-9
_HALVINGS = 60  # of the interval (−8.2, 8.2): to 1e-17


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseAUCPosterior(AUCDistribution):
    """Posterior of the mean AUC over the pairs of classes, with scipy's verbs.

    Made by :func:`skauc.auc_posterior` and :func:`skauc.bayesian_val_score` for more
    than two classes. The mean is exact; spread and interval assume the widest
    dependence between the pairs (all of them high or low together), because they share
    rows and coefficients and no joint posterior is known.

    Parameters
    ----------
    pairs : dict of (label, label) to AUCPosterior
        For classes i < j (sorted) the posterior of the AUC with j positive, on the
        rows of the two.

    References
    ----------
    Hand & Till (2001), https://doi.org/10.1023/A:1010920819831, for the average;
    Kaas, Dhaene & Goovaerts (2000), https://doi.org/10.1016/S0167-6687(00)00060-3,
    for the widest dependence; Fritsch & Carlson (1980),
    https://doi.org/10.1137/0717021, for a monotone table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from skauc import bayesian_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> posterior = bayesian_val_score(LinearDiscriminantAnalysis(), X, y)
    >>> round(posterior.mean(), 2), round(posterior.pairs[1, 2].mean(), 2)
    (1.0, 0.99)
    """

    pairs: dict[tuple, AUCPosterior]

    def __repr__(self):
        low, high = self.interval(0.95)
        return (
            f"PairwiseAUCPosterior(mean={self.mean():.4g}, interval95=({low:.4g}, "
            f"{high:.4g}), {len(self.pairs)} pairs)"
        )

    def mean(self) -> float:
        """Mean of the pairs' posterior means."""
        return float(np.mean([pair.mean() for pair in self.pairs.values()]))

    def var(self) -> float:
        """Variance of the average, if all pairs are high or low together."""
        return self.std() ** 2

    def std(self) -> float:
        """Standard deviation of the average: no dependence makes it larger."""
        # Var = E[(x(u) − mean)²], x(u) the mean of the pairs' quantiles at Φ(u)
        deviation = self._average(_NODES) - self.mean()
        spread = np.sqrt(_WEIGHTS @ deviation**2 / _WEIGHTS.sum())
        # Minkowski: no sum deviates by more than its parts together; quadrature might
        bound = np.mean([pair.std() for pair in self.pairs.values()])
        return float(min(spread, bound))

    def ppf(self, q):
        """Quantiles of the average, elementwise: means of the pairs' quantiles."""
        q = as_rate("q", q)
        return np.mean([pair.ppf(q) for pair in self.pairs.values()], axis=0)[()]

    def cdf(self, x):
        """``P(average AUC ≤ x | data)``, elementwise, to about 1e-9."""
        x = as_numbers("x", x)
        out = np.where(np.isnan(x), np.nan, np.where(x <= 0.5, 0.0, 1.0))
        inside = (x > 0) & (x < 1)
        out[inside] = ndtr(self._level(x[inside]))
        return out[()]

    def sf(self, x):
        """``P(average AUC > x | data)``, elementwise."""
        return 1 - self.cdf(x)

    def pdf(self, x):
        """Posterior density of the average, elementwise: 1/(d quantile/dq)."""
        x = as_numbers("x", x)
        out = np.where(np.isnan(x), np.nan, 0.0)
        inside = (x > 0) & (x < 1)
        u = self._level(x[inside])
        # x(q) = (1/M) Σ x_k(q) ⇒ x'(q) = (1/M) Σ 1/f_k(x_k(q)); the density is 1/x'
        quantiles = [ndtr(table(u)) for table in self._tables]
        with np.errstate(divide="ignore"):
            slopes = [
                1 / pair.pdf(at)
                for pair, at in zip(self.pairs.values(), quantiles, strict=True)
            ]
        out[inside] = np.where(np.abs(u) < _FAR, 1 / np.mean(slopes, axis=0), 0.0)
        return out[()]

    def rvs(self, size=None, random_state=None):
        """Draws of the average AUC.

        Parameters
        ----------
        size : int or tuple of int, default=None
            Shape of the result; None gives one float.
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        float or ndarray
        """
        rng = generator(random_state)
        try:
            return self._average(rng.standard_normal(size))[()]
        except (TypeError, ValueError):
            raise ValueError(f"size must be a shape or None, got {size!r}") from None

    def _rows(self, confidence_level):
        rows = {"mean of pairs": self._summary(confidence_level)}
        return rows | {
            f"{i} | {j}": pair._summary(confidence_level)
            for (i, j), pair in self.pairs.items()
        }

    @cached_property
    def _tables(self):
        return [_QuantileTable(pair._components) for pair in self.pairs.values()]

    def _average(self, u):
        """Quantiles of the average at the levels Φ(u)."""
        return np.mean([ndtr(table(u)) for table in self._tables], axis=0)

    def _level(self, x):
        """The u with quantile x, which lies in (0, 1): by halving, all at once."""
        low, high = np.full(x.shape, -_FAR), np.full(x.shape, _FAR)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self._average(middle) < x
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


class _QuantileTable:
    """``z(u)`` with ``P(Z ≤ z) = Φ(u)``, without a search for each u.

    The distribution of Z is tabulated, ``u(z) = Φ⁻¹ P(Z ≤ z)``, and the table read the
    other way round, as a cubic through its points with its slopes. That is a straight
    line where Z is normal.
    """

    def __init__(self, components):
        below, above = components.distribution, components.mirrored().distribution
        far = ndtr(-_FAR)
        ends = components.quantile(far), -components.mirrored().quantile(far)
        z = np.linspace(*np.clip(ends, -_FAR, _FAR), _TABLE)
        # each side from the tail that keeps its digits
        lower = ndtri([below.cdf(at) for at in z])
        upper = -ndtri([above.cdf(-at) for at in z])
        u = np.where(lower <= 0, lower, upper)
        density = np.array([below.pdf(at) for at in z])
        # Where P(Z ≤ z) rounds to 0 or 1, u is ±∞: one such point is kept, clipped
        u, rows = np.unique(np.clip(u, -2 * _FAR, 2 * _FAR), return_index=True)
        z, density = z[rows], density[rows]
        self._z = z
        self._curve = None
        if len(u) > 1:
            # three secants at most keep a cubic monotone (Fritsch & Carlson 1980)
            secant = np.diff(z) / np.diff(u)
            most = 3 * np.minimum(np.r_[secant, np.inf], np.r_[np.inf, secant])
            with np.errstate(divide="ignore", over="ignore"):
                # P(Z ≤ z) = Φ(u) ⇒ dz/du = φ(u)/f(z)
                slope = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) / density
            self._curve = CubicHermiteSpline(u, z, np.minimum(slope, most))

    def __call__(self, u):
        if self._curve is None:
            return np.full(np.shape(u), self._z[0])
        return self._curve(np.clip(u, *self._curve.x[[0, -1]]))
