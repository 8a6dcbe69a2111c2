"""The mean AUC over all pairs of classes (section 7).

Each pair (i, j) of K > 2 classes has its own posterior, from its own rows and its own
linear model. The mean of the average is exact. The pairs share rows and coefficients,
and their joint posterior is not known: the dependence with the largest variance is
used, in which all pairs are high together and low together.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from ..statistics._checks import as_numbers, check_numbers
from ..statistics._levels import normal_pdf
from ..statistics._wald import Interval
from ._auc_posterior import AUCPosterior, warnings_of
from ._distribution import AUCDistribution

# Levels Φ(u): Φ(−8) = 6e-16. Linear interpolation between them leaves 1e-4 of a
# standard deviation
_U = np.linspace(-8, 8, 401)


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseAUCPosterior(AUCDistribution):
    """Posterior of the mean AUC over pairs of classes, used like a scipy distribution.

    The average is that of Hand and Till [1]_, for more than two classes. Its mean is
    exact. The variance and the interval assume the strongest possible dependence
    between the pairs (all AUCs high or low together), because the pairs share rows and
    coefficients and their joint posterior is not known.

    Attributes
    ----------
    pairs : dict of (label, label) to AUCPosterior
        For classes i < j (sorted): the posterior of the AUC with j as the positive
        class, computed on the rows of these two classes.

    See Also
    --------
    skauc.auc_posterior : Makes it, for a fitted model of more than two classes.
    skauc.results.AUCPosterior : The posterior of one pair of classes.
    skauc.hand_till_auc : The same average for scores of held-out rows.

    Notes
    -----
    ``quantile(q) = (1/M) Σ_pairs quantile_pair(q)`` [2]_. ``ppf`` and ``interval`` are
    exact; ``cdf``, ``sf``, ``pdf``, ``var`` and ``rvs`` interpolate between 401
    quantiles.

    References
    ----------
    .. [1] Hand & Till (2001), "A simple generalisation of the area under the ROC curve
       for multiple class classification problems",
       https://doi.org/10.1023/A:1010920819831
    .. [2] Kaas, Dhaene & Goovaerts (2000), "Upper and lower bounds for sums of random
       variables", https://doi.org/10.1016/S0167-6687(00)00060-3

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

    @property
    def rows(self) -> str | None:
        """What the rows are to the model, as in :class:`AUCPosterior`."""
        return next(iter(self.pairs.values())).rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts about any of the pairs."""
        return warnings_of(*self.pairs.values())

    def mean(self) -> float:
        """Posterior mean: the average of the posterior means of all pairs."""
        return float(np.mean([pair.mean() for pair in self.pairs.values()]))

    def var(self) -> float:
        """Posterior variance, if the AUCs of all pairs are high or low together."""
        # Var = E[(x(u) − mean)²], x(u) the mean of the pairs' quantiles at Φ(u)
        spread = (_U[1] - _U[0]) * (
            normal_pdf(_U) @ (self._quantiles - self.mean()) ** 2
        )
        # Minkowski: no sum deviates by more than its parts together
        bound = np.mean([pair.std() for pair in self.pairs.values()]) ** 2
        return float(min(spread, bound))

    def ppf(self, q: ArrayLike) -> Any:
        """Quantiles of the average, elementwise: the mean quantiles of the pairs."""
        q = check_numbers("q", q, 0, 1)
        return np.mean([pair.ppf(q) for pair in self.pairs.values()], axis=0)[()]

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Equal-tailed credible interval: the mean limits of the pairs.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        Interval
        """
        limits = [pair.interval(confidence_level) for pair in self.pairs.values()]
        return Interval(*np.mean(limits, axis=0).tolist())

    def cdf(self, x: ArrayLike) -> Any:
        """``P(average AUC ≤ x | data)``, elementwise."""
        x = as_numbers("x", x)
        level = np.interp(x, self._quantiles, _U, left=-np.inf, right=np.inf)
        return ndtr(np.where(np.isnan(x), np.nan, level))[()]

    def sf(self, x: ArrayLike) -> Any:
        """``P(average AUC > x | data)``, elementwise."""
        return 1 - self.cdf(x)

    def pdf(self, x: ArrayLike) -> Any:
        """Posterior density of the average, elementwise: 1/(d quantile/dq)."""
        x = as_numbers("x", x)
        u, quantiles = np.interp(x, self._quantiles, _U), self._quantiles
        # x(Φ(u)) has the slope x′(q) φ(u) in u, and the density is 1/x′(q)
        slope = np.interp(x, quantiles, np.gradient(quantiles, _U))
        inside = (x > quantiles[0]) & (x < quantiles[-1]) & (slope > 0)
        density = normal_pdf(u) / np.where(inside, slope, 1.0)
        return np.where(np.isnan(x), np.nan, np.where(inside, density, 0.0))[()]

    def _draw(self, size, rng):
        return np.interp(rng.standard_normal(size), _U, self._quantiles)[()]

    @cached_property
    def _quantiles(self):
        """Quantiles of the average at the levels Φ(u)."""
        probits = [_probits(pair._components) for pair in self.pairs.values()]
        return np.mean(ndtr(probits), axis=0)

    def _head(self):
        return super()._head() | {"pairs": len(self.pairs)}

    method = "pairs"

    def _estimates(self, confidence_level):
        columns = super()._estimates(confidence_level)
        parts = [pair._estimates(confidence_level) for pair in self.pairs.values()]
        rows = {k: v + [part[k][0] for part in parts] for k, v in columns.items()}
        return rows | {"": ["mean of pairs", *(f"{i} | {j}" for i, j in self.pairs)]}


def _probits(components):
    """The z with ``P(Z ≤ z) = Φ(u)``, by a table of ``u(z) = Φ⁻¹ P(Z ≤ z)``."""
    mirrored = components.mirrored()
    low, high = components.quantile(ndtr(-8.0)), -mirrored.quantile(ndtr(-8.0))
    z = np.linspace(np.clip(low, -9, 9), np.clip(high, -9, 9), len(_U))
    # each side from its smaller tail
    lower = ndtri([components.cdf(at) for at in z])
    upper = -ndtri([mirrored.cdf(-at) for at in z])
    return np.interp(_U, np.where(lower <= 0, lower, upper), z)
