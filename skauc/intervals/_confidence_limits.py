"""From an AUC and its variance to limits that stay in [0, 1].

Everything here broadcasts over arrays: one interval, or a simulation of thousands.
A pair of *tails* is what an interval may miss on its lower and upper side: α/2 and
α/2 for a two-sided one, α and 0 for a one-sided.

The formulas are sections 2 and 3 of :mod:`skauc.intervals`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, ndtri

from ..statistics._auc_variance import balanced_variance

TRANSFORMS = ("none", "logit", "probit")
_TINY = 1e-300  # a parameter of the beta distribution must not be 0
_HALVINGS = 60  # of [0, 1]: beyond the 53 bits of a float
ALTERNATIVES = ("two-sided", "less", "greater")


class Interval(NamedTuple):
    """Limits ``(low, high)`` of an interval: floats, or arrays of many."""

    low: Any
    high: Any


def interval_tails(confidence_level, alternative) -> tuple[float, float]:
    """What may be missed below and above; scipy's meaning of ``alternative``.

    Parameters
    ----------
    confidence_level : float
    alternative : {"two-sided", "less", "greater"}
        ``"greater"`` bounds from below, ``"less"`` from above.

    Returns
    -------
    tail_low, tail_high : float
    """
    risk = 1 - confidence_level
    return {
        "two-sided": (risk / 2, risk / 2),
        "greater": (risk, 0.0),
        "less": (0.0, risk),
    }[alternative]


def difference_limits(difference, error, tails, quantile, width=1.0) -> Interval:
    """``difference ± quantile(1 − tail)·error``, inside [−width, width].

    Parameters
    ----------
    difference, error : float or ndarray
    tails : tuple of float
        Of :func:`interval_tails`.
    quantile : callable
        Of the standardised difference, symmetric about 0.
    width : float, default=1
        Largest value of what is compared.

    Returns
    -------
    Interval
    """
    low, high = (-quantile(tail) * error if tail else np.inf for tail in tails)
    return Interval(
        np.maximum(difference - low, -width), np.minimum(difference + high, width)
    )


def larger_variance(auc, delong, n_neg, n_pos):
    """Variance as a function of A: the larger of a model's and the data's.

    :func:`balanced_variance`, or DeLong's scaled to ``A(1 − A)``, whichever is larger.

    Parameters
    ----------
    auc : float or ndarray
        Estimate Â.
    delong : float or ndarray
        DeLong's variance of Â, 0 where it is not known.
    n_neg, n_pos : float

    Returns
    -------
    callable
    """
    # The data's variance at A: DeLong's · A(1 − A)/{Â(1 − Â)}
    share = np.asarray(auc * (1 - auc), dtype=float)
    scale = np.where(share > 0, delong / np.where(share > 0, share, 1), 0)

    def variance(a):
        return np.maximum(balanced_variance(a, n_neg, n_pos), scale * a * (1 - a))

    return variance


def exact_limits(share, n, tail_low, tail_high):
    """Clopper–Pearson limits of ``share · n`` successes in n; elementwise.

    The bound for an AUC whose variance is estimated as 0: no AUC varies more than a
    share of the smaller class. Not ``scipy.stats.binomtest(...).proportion_ci``, which
    takes one whole number of successes; these are arrays, of any size, weighted or not.
    """
    # low: I_low(x, n − x + 1) = tail_low;  high: I_high(x + 1, n − x) = 1 − tail_high
    x = np.asarray(share * n, dtype=float)
    rest = n - x
    low = betaincinv(np.maximum(x, _TINY), rest + 1, tail_low)
    # I_h(x + 1, n − x) = 1 − I_{1−h}(n − x, x + 1): the tail is not rounded to 1.
    high = 1 - betaincinv(np.maximum(rest, _TINY), x + 1, tail_high)
    return np.where(x > 0, low, 0.0)[()], np.where(rest > 0, high, 1.0)[()]


def wald_limits(auc, error, n, tail_low, tail_high, transform):
    """``g⁻¹(g(A) ± z SE g'(A))`` clipped to [0, 1]; elementwise.

    Parameters
    ----------
    auc, error : float or ndarray
        Estimate and standard error.
    n : float or ndarray
        Size of the smaller class (or its number of clusters), for
        :func:`exact_limits` where the error is 0 or the AUC is 0 or 1.
    tail_low, tail_high : float
    transform : {"none", "logit", "probit"}
        g.

    Returns
    -------
    low, high : float or ndarray
    """
    auc, error = np.asarray(auc, dtype=float), np.asarray(error, dtype=float)
    degenerate = (error <= 0) | (auc <= 0) | (auc >= 1)
    inside = np.where(degenerate, 0.5, auc)  # any number that g takes
    forward, slope, back = {
        "none": (_same, np.ones_like, _clip),
        "logit": (logit, lambda a: 1 / (a * (1 - a)), expit),
        "probit": (ndtri, _probit_slope, ndtr),
    }[transform]
    # g⁻¹(g(A) + Φ⁻¹(tail) SE g'(A)) below, with a minus above
    centre, reach = forward(inside), error * slope(inside)
    low, high = (
        back(centre + ndtri(tail_low) * reach) if tail_low else np.zeros_like(auc),
        back(centre - ndtri(tail_high) * reach) if tail_high else np.ones_like(auc),
    )
    exact_low, exact_high = exact_limits(auc, n, tail_low, tail_high)
    return (
        np.where(degenerate, exact_low, low)[()],
        np.where(degenerate, exact_high, high)[()],
    )


def score_limits(auc, variance, tail_low, tail_high):
    """All A with ``|Â − A| ≤ z √variance(A)``, by bisection; elementwise.

    Parameters
    ----------
    auc : float or ndarray
        Estimate Â.
    variance : callable
        Variance of the estimate when the AUC is A; 0 at A = 0 and 1.
    tail_low, tail_high : float

    Returns
    -------
    low, high : float or ndarray
        Informative at Â = 0 and 1, and never outside [0, 1].
    """
    auc = np.asarray(auc, dtype=float)

    def limit(end, tail):
        if tail == 0:
            return end + 0 * auc
        # (Â − A)² ≤ z² V(A) holds at A = Â and from there up to the limit: halve what
        # lies between Â and the end of [0, 1].
        z2 = ndtri(tail) ** 2
        end = 1 - end if tail > 0.5 else end  # the limit lies beyond the estimate
        inner, outer = auc, end + 0 * auc
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            within = (auc - middle) ** 2 <= z2 * variance(middle)
            inner, outer = (
                np.where(within, middle, inner),
                np.where(within, outer, middle),
            )
        return inner[()]

    return limit(0.0, tail_low), limit(1.0, tail_high)


def _same(auc):
    return auc


def _clip(auc):
    return np.clip(auc, 0.0, 1.0)


def _probit_slope(auc):
    """``dΦ⁻¹(A)/dA = 1/φ(Φ⁻¹(A))``."""
    return np.sqrt(2 * np.pi) * np.exp(ndtri(auc) ** 2 / 2)
