"""Interval for the AUC when only the number of errors is known (section 6)."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtri
from scipy.stats import binom

from .._validation import check_bool, check_level, check_option
from ._confidence_limits import Interval, exact_limits
from ._cortes_mohri_moments import check_error_counts, cortes_mohri_moments

ERROR_INTERVALS = ("clopper_pearson", "wilson", "normal", "chebyshev")

_GRID = 1000  # numbers of errors that are looked at before the best is refined


def cortes_mohri_interval(
    n_pos,
    n_neg,
    n_errors,
    confidence_level=0.95,
    *,
    error_interval="clopper_pearson",
    adaptive=True,
) -> Interval:
    """Interval for the AUC of a classifier of which only the errors are known.

    Answers the question of :func:`cortes_mohri_moments` with an interval. It assumes
    that the errors are binomial and, given their number, every ranking equally
    likely; it is **not** an interval for the AUC of given scores (see Notes).

    Parameters
    ----------
    n_pos, n_neg, n_errors : int
        Positives, negatives, false positives plus false negatives.
    confidence_level : float in (0, 1), default=0.95
    error_interval : {"clopper_pearson", "wilson", "normal", "chebyshev"}
        How the error rate is bounded; the last two are the paper's (eqs. 16, 15).
        Read only when ``adaptive=False``.
    adaptive : bool, default=True
        Spread the risk over the number of errors as in section 6 of the paper;
        False bounds the error rate and the AUC at level √confidence_level each.

    Returns
    -------
    Interval
        ``(low, high)`` inside [0, 1].

    Raises
    ------
    ValueError
        If a count or an option breaks its rule.

    Notes
    -----
    Given a number k of errors, Chebyshev's inequality gives the limits
    ``E[A_k] ± √(Var[A_k]/ε_k)`` (eq. 11); the interval is the union over the plausible
    k, of which k₀ were seen. Adaptive: ``ε_k = a₀ exp((k − k₀)²/2a₁²)``, k with ε_k ≥ 1
    dropped, a₀ such that ``Σ (1 − ε_k) P(K = k)`` is the level, a₁ for the shortest
    interval. P(K) is Bin(N, (k₀ + ½)/(N + 1)), Jeffreys' mean of the rate, because the
    paper's Bin(N, k₀/N) is degenerate at k₀ = 0.

    Its coverage of the true AUC of a good classifier falls to 0 as N grows (500 + 500
    binormal scores with AUC .90: 0 %). It is for published tables without scores.
    Up to 1000 plausible k are all looked at; beyond, every so many-th, and all around
    those that set the limits. Costs some hundredths of a second for every N.

    References
    ----------
    Cortes & Mohri (2004), sections 4 to 6, https://papers.nips.cc/paper/2645

    Examples
    --------
    >>> from skauc import cortes_mohri_interval
    >>> low, high = cortes_mohri_interval(50, 50, 10, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.77, 1.0)
    """
    m, n, k = check_error_counts(n_pos, n_neg, n_errors)
    if np.ndim(k):
        raise ValueError(
            f"n_pos, n_neg and n_errors must be one number each, got shape {k.shape}"
        )
    m, n, k = int(m), int(n), int(k)
    confidence_level = check_level("confidence_level", confidence_level)
    check_option("error_interval", error_interval, ERROR_INTERVALS)
    check_bool("adaptive", adaptive)
    if adaptive:
        return _adaptive_interval(m, n, k, confidence_level)
    # Two statements, one of the error rate and one of the AUC: √level · √level.
    level = sqrt(confidence_level)
    low, high = _error_rate(k, m + n, level, error_interval)

    def limits(errors):
        mean, variance = cortes_mohri_moments(m, n, errors)
        # P(|A − E A| ≥ √(Var A/ε)) ≤ ε (Chebyshev, eq. 11), ε = 1 − √level
        reach = np.sqrt(variance / (1 - level))
        return mean - reach, mean + reach

    # Whole k with N e₁ ≤ k ≤ N e₂; the bound of eq. 11 is not monotone in k.
    return _union(limits, np.ceil((m + n) * low), np.floor((m + n) * high))


def _error_rate(k, N, level, how):
    """Bounds of the error rate at the given level."""
    rate, tail = k / N, (1 - level) / 2
    if how == "clopper_pearson":
        return exact_limits(rate, N, tail, tail)
    z = -ndtri(tail)
    if how == "wilson":
        # {p + z²/2N ± z √(p(1 − p)/N + z²/4N²)}/(1 + z²/N)
        centre = (rate + z**2 / (2 * N)) / (1 + z**2 / N)
        reach = z / (1 + z**2 / N) * sqrt(rate * (1 - rate) / N + z**2 / (4 * N**2))
    else:  # σ² ≤ 1/(4N) in the paper's eqs. 15 and 16
        # p ± σ/√(1 − level) (eq. 15, Chebyshev), p ± zσ (eq. 16, normal), σ = 1/2√N
        centre = rate
        reach = (1 / sqrt(1 - level) if how == "chebyshev" else z) / (2 * sqrt(N))
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


def _adaptive_interval(m, n, k0, confidence_level):
    N = m + n
    # Jeffreys' mean: with k₀/N = 0 the law of K would be one point.
    rate = (k0 + 0.5) / (N + 1)
    sd = sqrt(N * rate * (1 - rate))
    k, step = _plausible_errors(k0, N, sd)
    # They sum to 1, but scipy's to 1.02 before 1.17 where N is beyond 1e15
    probability = binom.pmf(k, N, rate)
    probability /= probability.sum()
    mean, variance = cortes_mohri_moments(m, n, k)

    def risks(width):
        """Log a₀ and the least and largest k with ε_k < 1."""
        log_a0 = _log_risk_of_k0((k - k0) / width, probability, confidence_level)
        # ε_k < 1 where |k − k₀| < a₁ √(−2 log a₀)
        radius = max(int(np.ceil(width * sqrt(-2 * log_a0))) - 1, 0)
        return log_a0, max(k0 - radius, k[0]), min(k0 + radius, k[-1])

    def limits(k, mean, variance, log_a0, width):
        # log ε_k = log a₀ + (k − k₀)²/2a₁²,   E[A_k] ± √(Var[A_k]/ε_k)
        log_risk = log_a0 + ((k - k0) / width) ** 2 / 2
        reach = np.sqrt(variance) * np.exp(-log_risk / 2)
        return mean - reach, mean + reach

    def length(log_width):
        width = np.exp(log_width)
        log_a0, first, last = risks(width)
        kept = slice(*np.searchsorted(k, [first, last + 1]))
        low, high = limits(k[kept], mean[kept], variance[kept], log_a0, width)
        if step > 1:  # the ends and the corners are not on the grid
            ends = np.clip([first, last, m, n], first, last)
            lows, highs = limits(ends, *cortes_mohri_moments(m, n, ends), log_a0, width)
            low = np.append(_smooth_least(low), lows)
            high = np.append(-_smooth_least(-high), highs)
        low, high = _inside(np.min(low), np.max(high))
        return high - low

    # The best a₁ is 1 to 2 standard deviations of K at levels of .9 to .99.
    bounds = np.log(sd / 10), np.log(sd * 10)
    best = minimize_scalar(length, bounds=bounds, method="bounded")
    width = np.exp(best.x)
    log_a0, first, last = risks(width)
    return _union(
        lambda k: limits(k, *cortes_mohri_moments(m, n, k), log_a0, width), first, last
    )


def _plausible_errors(k0, N, sd):
    """Numbers of errors around k0, all or every step-th, and the step."""
    far = int(12 * sd + 12)  # less than 1e-32 of the distribution of K lies beyond
    step = -(-2 * far // _GRID)
    return k0 + step * np.arange(
        -(min(far, k0) // step), min(far, N - k0) // step + 1
    ), step


def _log_risk_of_k0(distance, probability, confidence_level):
    """Log a₀ with ``Σ (1 − ε_k) P = level``, ``ε_k = a₀ exp(distance²/2)`` ≤ 1."""

    def excess(log_a0):
        # Σ (1 − ε_k) P(K = k) − level; k with ε_k ≥ 1 add nothing (they are dropped).
        risk = np.exp(np.minimum(log_a0 + distance**2 / 2, 0))
        return (1 - risk) @ probability - confidence_level

    smallest = -690.0  # e^−690 is still a normal float
    if excess(smallest) <= 0:  # the distribution's own tail is the whole risk
        return smallest
    # log a₀ to 1e-10, which is the relative error of all ε_k.
    return brentq(excess, smallest, 0, xtol=1e-10)


def _union(limits, first, last):
    """Least low and largest high limit over the whole numbers from first to last."""
    k = _whole_numbers(first, last, _GRID)
    low, high = limits(k)
    return _inside(
        _refined_least(lambda k: limits(k)[0], k, low),
        -_refined_least(lambda k: -limits(k)[1], k, -high),
    )


def _whole_numbers(first, last, number):
    """All whole numbers from first to last, or about so many, with both ends."""
    step = max(1, np.ceil((last - first) / number))
    return np.append(np.arange(first, last, step), last)


def _refined_least(bound, k, values):
    """Least of a smooth bound: around the least so far, ever finer grids."""
    while True:
        best = np.argmin(values)
        left, right = max(best - 1, 0), min(best + 1, len(k) - 1)
        if k[right] - k[left] == right - left:  # no whole number between them
            return values[best]
        k = _whole_numbers(k[left], k[right], 64)
        values = bound(k)


def _smooth_least(values):
    """Least of a function from equidistant values: a parabola's where it is one.

    At k = m and k = n the limits have corners: the second differences show them.
    """
    best = np.argmin(values)
    bend = np.diff(values[max(best - 2, 0) : best + 3], 2)
    # At a smooth minimum the three second differences are nearly equal.
    if len(bend) < 3 or 2 * bend.min() < bend.max():
        return values[best]
    # Vertex of the parabola: f₀ − (f₁ − f₋₁)²/{8(f₁ − 2f₀ + f₋₁)}
    return values[best] - (values[best + 1] - values[best - 1]) ** 2 / (8 * bend[1])


def _inside(low, high):
    return Interval(float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1)))
