"""Limits for what a 2 × 2 table says, elementwise over many tables.

A pair of tails is what a limit may miss below and above (``_confidence_limits``).
scipy's ``binomtest(...).proportion_ci`` and ``relative_risk(...).confidence_interval``
give the same for one table at a time (the tests hold them equal); these are arrays.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ._confidence_limits import exact_limits


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
        # No success, or nothing but: the limit is the end itself, without rounding.
        return np.where(n > 0, np.where(x == end * total, end, inside), end)

    return limit(tail_low, -1, 0.0), limit(tail_high, 1, 1.0)


def clopper_pearson_limits(successes, n, tail_low, tail_high):
    """Exact limits of a share; (0, 1) where n is 0."""
    x, n = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    return exact_limits(x / np.where(n > 0, n, 1), n, tail_low, tail_high)


def ratio_limits(x, n, y, m, tail_low, tail_high):
    """Limits of ``(x/n)/(y/m)`` on the log scale.

    ``Var log = 1/x − 1/n + 1/y − 1/m`` (Katz et al. 1978,
    https://doi.org/10.2307/2530610; Simel et al. 1991,
    https://doi.org/10.1016/0895-4356(91)90128-V). Where a count is 0, both get ½ and
    their totals 1, and the limit on that side is 0 or inf; also where both counts are
    the totals, which would leave no variance.
    """
    none_x, none_y = x == 0, y == 0
    odd = none_x | none_y | ((x == n) & (y == m))
    x, y = np.where(odd, x + 0.5, x), np.where(odd, y + 0.5, y)
    n, m = np.where(odd, n + 1, n), np.where(odd, m + 1, m)
    # log{(x/n)/(y/m)}, with error √(1/x − 1/n + 1/y − 1/m)
    centre = np.log(x) - np.log(n) - np.log(y) + np.log(m)
    error = np.sqrt(np.maximum(1 / x - 1 / n + 1 / y - 1 / m, 0))
    return _log_limits(centre, error, none_x, none_y, tail_low, tail_high)


def odds_ratio_limits(table, tail_low, tail_high):
    """Woolf's limits; ½ is added to all four counts where one is 0.

    References: Woolf (1955), https://doi.org/10.1111/j.1469-1809.1955.tb01348.x;
    Haldane (1956), https://doi.org/10.1111/j.1469-1809.1955.tb01285.x.
    """
    tp, fn, fp, tn = table
    none_above, none_below = (tp == 0) | (tn == 0), (fn == 0) | (fp == 0)
    half = np.where(none_above | none_below, 0.5, 0.0)
    tp, fn, fp, tn = tp + half, fn + half, fp + half, tn + half
    # log OR = log{TP·TN/(FN·FP)},   Var log OR = 1/TP + 1/FN + 1/FP + 1/TN
    centre = np.log(tp) + np.log(tn) - np.log(fn) - np.log(fp)
    error = np.sqrt(1 / tp + 1 / fn + 1 / fp + 1 / tn)
    return _log_limits(centre, error, none_above, none_below, tail_low, tail_high)


def _log_limits(centre, error, no_low, no_high, tail_low, tail_high):
    none = np.zeros_like(centre), np.full_like(centre, np.inf)
    # exp(log ratio ± z SE)
    low = np.exp(centre + ndtri(tail_low) * error) if tail_low else none[0]
    high = np.exp(centre - ndtri(tail_high) * error) if tail_high else none[1]
    return np.where(no_low, 0.0, low), np.where(no_high, np.inf, high)
