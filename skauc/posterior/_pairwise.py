"""The mean AUC of all pairs of classes, and what is known of it (section 8).

Of K > 2 classes each pair (i, j) has its own posterior, from its own rows and its own
linear model. The average over pairs has the average mean, whatever the pairs share.
Its spread depends on how they depend on each other: they share rows and coefficients,
and no joint posterior is known. The widest case is taken, in which all pairs are high
together and low together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from ..statistics._numbers import as_rate
from ._auc_posterior import AUCPosterior
from ._distribution import AUCDistribution, generator

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_LEVELS = ndtr(_NODES)  # a quantile is smooth in Φ⁻¹(q), not in q


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
    for the widest dependence.

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
        deviation = self.ppf(_LEVELS) - self.mean()
        spread = np.sqrt(_WEIGHTS @ deviation**2 / _WEIGHTS.sum())
        bound = np.mean([pair.std() for pair in self.pairs.values()])
        return float(min(spread, bound))

    def ppf(self, q):
        """Quantiles of the average, elementwise: means of the pairs' quantiles."""
        q = as_rate("q", q)
        return np.mean([pair.ppf(q) for pair in self.pairs.values()], axis=0)[()]

    def cdf(self, x):
        """``P(average AUC ≤ x | data)``, elementwise."""
        x = np.asarray(x, dtype=float)
        levels = [self._level(value) for value in x.ravel()]
        return np.reshape(levels, x.shape)[()]

    def sf(self, x):
        """``P(average AUC > x | data)``, elementwise."""
        return 1 - self.cdf(x)

    def pdf(self, x):
        """Posterior density of the average, elementwise: 1/(d quantile/dq)."""
        x = np.asarray(x, dtype=float)
        q = np.ravel(self.cdf(x))
        out, inside = np.zeros(q.shape), (q > 0) & (q < 1)
        with np.errstate(divide="ignore"):
            slopes = [1 / p.pdf(p.ppf(q[inside])) for p in self.pairs.values()]
        out[inside] = 1 / np.mean(slopes, axis=0)
        return out.reshape(x.shape)[()]

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
        return self.ppf(generator(random_state).uniform(size=size))

    def _rows(self, confidence_level):
        rows = {"mean of pairs": self._summary(confidence_level)}
        return rows | {
            f"{i} | {j}": pair._summary(confidence_level)
            for (i, j), pair in self.pairs.items()
        }

    def _level(self, x):
        if np.isnan(x):
            return np.nan
        if not self.ppf(0.0) < x < self.ppf(1.0):
            return float(x > 0.5)
        return brentq(lambda q: self.ppf(q) - x, 0.0, 1.0, xtol=1e-12)
