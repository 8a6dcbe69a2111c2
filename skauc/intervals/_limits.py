"""Limits that stay in their range, from an estimate and its variance.

A pair of *tails* holds the probabilities of a true value below and above the limits:
α/2 and α/2 for two-sided limits, α and 0 for a one-sided limit. Limits of shares are
computed elementwise. The formulas for AUCs are in sections 2 and 3 of
:mod:`skauc.intervals`. scipy's ``binomtest(...).proportion_ci`` gives the same for one
share at a time.
"""

from typing import Any

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri

from ..statistics._checks import check_level
from ..statistics._result import EstimatedAUC, LabelledResult
from ..statistics._wald import Interval

_TINY = 1e-150  # parameters of the beta distribution and divisors must not be 0
# Placements are multiples of 1/(2n) and rounded to about 1e-16: smaller errors are 0
_NO_ERROR = 1e-14


class EstimateWithLimits(EstimatedAUC, LabelledResult):
    """Parent of results with ``auc``, ``standard_error`` and an interval."""

    auc: float
    standard_error: Any

    def _moments(self, confidence_level):
        """Estimate, error and limits; NaN where the rows determine no interval."""
        check_level("confidence_level", confidence_level)
        try:
            limits = self.confidence_interval(confidence_level)
            error = self.standard_error
            error = error() if callable(error) else error
        except ValueError:  # too few rows or clusters
            error, limits = np.nan, Interval(np.nan, np.nan)
        return self.auc, error, *limits

    def _head(self):
        _, _, *limits = self._moments(0.95)
        interval = {} if np.isnan(limits[0]) else {"interval95": tuple(limits)}
        return {"auc": self.auc} | interval | super()._head()


def clopper_pearson_limits(successes, n, tail_low, tail_high):
    """Exact limits of a share; successes and n need not be whole. (0, 1) where n is 0.

    They bound an AUC whose variance is estimated as 0, because its variance is at most
    that of a share of the smaller class.
    """
    # low: I_low(x, n − x + 1) = tail_low;  high: I_high(x + 1, n − x) = 1 − tail_high
    x = np.asarray(successes, dtype=float)
    rest = n - x
    low = betaincinv(np.maximum(x, _TINY), rest + 1, tail_low)
    # I_h(x + 1, n − x) = 1 − I_{1−h}(n − x, x + 1): the tail is not rounded to 1
    high = 1 - betaincinv(np.maximum(rest, _TINY), x + 1, tail_high)
    return np.where(x > 0, low, 0.0)[()], np.where(rest > 0, high, 1.0)[()]


def wald_limits(auc, error, n, tail_low, tail_high, transform):
    """``g⁻¹(g(A) ± z SE g'(A))`` clipped to [0, 1].

    Parameters
    ----------
    auc, error : float
        Estimate and standard error.
    n : float
        Size of the smaller class (or its number of clusters), for
        :func:`clopper_pearson_limits` where the error is 0 or the AUC is 0 or 1.
    tail_low, tail_high : float
    transform : {"none", "logit"}
        g.

    Returns
    -------
    low, high : float
    """
    if error <= _NO_ERROR or auc <= 0 or auc >= 1:
        return clopper_pearson_limits(auc * n, n, tail_low, tail_high)
    centre, reach, back = auc, error, lambda a: np.clip(a, 0, 1)
    if transform == "logit":
        centre, reach, back = logit(auc), error / (auc * (1 - auc)), expit
    # g⁻¹(g(A) + Φ⁻¹(tail) SE g'(A)) below, with a minus above
    low = back(centre + ndtri(tail_low) * reach) if tail_low else 0.0
    high = back(centre - ndtri(tail_high) * reach) if tail_high else 1.0
    return low, high


def bisected(holds, inner, outer, halvings=60):
    """Farthest point towards ``outer`` at which a condition still holds.

    It holds at ``inner``.
    """
    for _ in range(halvings):  # 60 of [0, 1] are beyond the 53 bits of a float
        middle = (inner + outer) / 2
        inside = holds(middle)
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    return inner


def continuous(auc, variance, n_neg, n_pos):
    """Variance V(A) for a score test in which a perfect ranking lacks half a pair.

    Its probability is not that of a normal tail: of 3 + 3 rows, which rank perfectly
    with p = .1 where the AUC is ½, Mann and Whitney's statistic makes .0495.
    """
    half = 0.5 / (n_neg * n_pos)
    perfect = np.minimum(auc, 1 - auc) < half / 2

    def corrected(a):
        # |Â − A| − 1/(2n₀n₁) ≤ z √V(A)
        gap = np.abs(auc - a)
        factor = np.where(perfect, gap / np.maximum(gap - half, _TINY), 1)
        return variance(a) * factor**2

    return corrected


def score_limits(auc, variance, tail_low, tail_high):
    """All A with ``|Â − A| ≤ z √variance(A)``, by bisection.

    Parameters
    ----------
    auc : float
        Estimate Â.
    variance : callable
        Variance of the estimate when the AUC is A; 0 at A = 0 and 1.
    tail_low, tail_high : float or ndarray > 0

    Returns
    -------
    low, high : float
        Informative at Â = 0 and 1, and never outside [0, 1].
    """

    def limit(end, tail):
        if np.all(tail == 0):
            return end
        # (Â − A)² ≤ z² V(A) holds at A = Â and from there up to the limit
        z2 = ndtri(tail) ** 2
        end = np.where(tail > 0.5, 1 - end, end)  # the limit lies beyond the estimate
        return bisected(lambda a: (auc - a) ** 2 <= z2 * variance(a), auc, end)

    return limit(0.0, tail_low), limit(1.0, tail_high)


def wilson_limits(successes, n, tail_low, tail_high):
    """Wilson's score limits of a share; (0, 1) where n is 0.

    References: Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953.
    """
    x, n = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    total = np.where(n > 0, n, 1)

    def limit(tail, sign, end):
        if tail == 0:
            return np.full_like(x, end)
        z = -ndtri(tail)
        # (x + z²/2 ± z √(x(n − x)/n + z²/4))/(n + z²)
        reach = z * np.sqrt(x * (total - x) / total + z**2 / 4)
        inside = np.clip((x + z**2 / 2 + sign * reach) / (total + z**2), 0, 1)
        # with all or no successes the limit beyond the share is exactly 0 or 1
        exact = (x == end * total) & (tail <= 0.5)
        return np.where(n > 0, np.where(exact, end, inside), end)

    return limit(tail_low, -1, 0.0), limit(tail_high, 1, 1.0)
