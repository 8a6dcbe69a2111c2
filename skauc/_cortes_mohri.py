"""The AUC when only the number of errors is known (Cortes & Mohri 2004).

m positives, n negatives, N = m + n. All strict rankings with a threshold in one of
their N + 1 gaps are equally likely; condition on k errors, x false positives and
y = k − x false negatives. Given x,

    E[A|x]   = 1 − ½(x/n + y/m),
    Var[A|x] = {(m − y) x (M + 1) + (n − x) y (M' + 1)}/(12 m² n²),
    P(x)     ∝ C(M, x) C(M', y),    M = m − y + x,    M' = N − M,

so that mean and variance need E[x] and E[x²] (the cubes cancel). The published closed
form for them holds for k ≤ min(m, n) and loses digits; this one holds for every k.

**Derivation.** Let ``α = |k − m|``, ``β = |k − n|``, ``d = α + β`` and shift the
counts to ``i = x − (k − m)₊``, ``j = y − (k − n)₊``; their sum is
``L = min(k, m, n, N − k)``. Both binomials become central,
``C(2i + α, i) C(2j + β, j)``, with generating functions ``F_α(z) = c(z)^α s(z)``,
Catalan's c and ``s = (1 − 4z)^−½``. From
``z c'/c = (s − 1)/2`` and ``z s' = s(s² − 1)/2``, weighting by ``i^q`` multiplies
``F_α F_β = c^d s²`` by a polynomial Q_q(s)/2^q,

    Q₁ = α(s − 1) + s² − 1,    Q₂ = Q₁² + s(s² − 1) Q₁',

and with ``G_p = [z^L] c^d s^p / [z^L] c^d s²`` the same two identities give

    G_{p+2} = G_p + {2L G_p − d (G_{p+1} − G_p)}/p,    G₂ = 1,
    1/G₁ = Σ_{j≤L} C(N + 1, j)/C(N, L).

Only G₁ is no rational of small size. It is summed in whole numbers of 2^−bits, and
everything behind it is whole-number arithmetic with as many bits as the recurrence
can lose: the result is right to the last digit of a float, whatever cancels.

References: Cortes & Mohri (2004), "Confidence intervals for the area under the ROC
curve", NIPS 17, 305–312.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betaln, ndtri

from ._limits import Interval, exact_limits

ERROR_INTERVALS = ("clopper_pearson", "wilson", "normal", "chebyshev")


def cortes_mohri_moments(n_pos, n_neg, n_errors):
    """Mean and variance of the AUC over all rankings with the same number of errors.

    Answers: a table gives the class sizes and the errors of a classifier, no scores;
    what may its AUC have been? Every strict ranking with ``n_errors`` errors at some
    threshold is taken to be equally likely. Exact for every 0 ≤ k ≤ N; below 10 ms a
    case up to N = 2·10⁷.

    Parameters
    ----------
    n_pos, n_neg, n_errors : int or array-like of int
        Positives, negatives, false positives plus false negatives; they broadcast.

    Returns
    -------
    mean, variance : float or ndarray

    Raises
    ------
    ValueError
        If a number is not whole, a class is empty or n_errors not in [0, N].

    Notes
    -----
    For m = n and k ≤ m the mean is ``1 − k/N``. The mean is **not** consistent for
    the AUC of scores: balanced binormal scores with AUC .90 have mean .818, and for
    k between the class sizes it is about ½ whatever the classifier. With scores in
    hand use :func:`skauc.auc_estimate`.

    References
    ----------
    Cortes & Mohri (2004), Proposition 2 and Corollary 1,
    https://papers.nips.cc/paper/2645

    Examples
    --------
    >>> from skauc import cortes_mohri_moments
    >>> mean, variance = cortes_mohri_moments(50, 50, [0, 10, 30])
    >>> mean.round(4)
    array([1. , 0.9, 0.7])
    """
    cases = np.broadcast(n_pos, n_neg, n_errors)
    known: dict = {}
    for case in cases:
        if case not in known:
            known[case] = _moments(*_check_counts(*case))
    cases.reset()
    moments = np.array([known[case] for case in cases]).reshape((*cases.shape, 2))
    return moments[..., 0][()], moments[..., 1][()]


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
    For one k, Chebyshev's inequality gives ``E[A_k] ± √(Var[A_k]/ε_k)`` (eq. 11); the
    interval is the union over the plausible k. Adaptive: ``ε_k = a₀ exp((k − k₀)²/
    2a₁²)``, k with ε_k ≥ 1 dropped, a₀ such that ``Σ (1 − ε_k) P(K = k)`` is the
    level, a₁ for the shortest interval. P(K) is Bin(N, (k₀ + ½)/(N + 1)), Jeffreys'
    mean of the rate, because the paper's Bin(N, k₀/N) is degenerate at k₀ = 0.

    Its coverage of the true AUC of a good classifier falls to 0 as N grows (500 + 500
    binormal scores with AUC .90: 0 %). It is for published tables without scores.
    Costs one moment a plausible k, O(√N) of them.

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
    m, n, k = _check_counts(n_pos, n_neg, n_errors)
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level}")
    if error_interval not in ERROR_INTERVALS:
        known = ", ".join(map(repr, ERROR_INTERVALS))
        raise ValueError(
            f"error_interval must be one of {known}, got {error_interval!r}"
        )
    if adaptive:
        return _adaptive_interval(m, n, k, confidence_level)
    level = sqrt(confidence_level)
    low, high = _error_rate(k, m + n, level, error_interval)
    errors = np.arange(np.ceil((m + n) * low), np.floor((m + n) * high) + 1)
    mean, variance = cortes_mohri_moments(m, n, errors)
    reach = np.sqrt(variance / (1 - level))
    return _inside(np.min(mean - reach), np.max(mean + reach))


# --------------------------------------------------------------------------------------
# Moments
# --------------------------------------------------------------------------------------


def _moments(m, n, k):
    """Mean and variance for one case, as correctly rounded floats."""
    shift_x, shift_y = max(k - m, 0), max(k - n, 0)
    alpha, d = abs(k - m), abs(k - m) + abs(k - n)
    L = k - shift_x - shift_y
    # A step of the recurrence enlarges an error by d, or by √L where d is small.
    bits = 128 + 6 * (d + 1).bit_length() + 3 * L.bit_length()
    G = _generating_ratios(L, d, m + n, bits)
    i1 = _fraction(G[4] + alpha * G[3] - (alpha + 1) * G[2], bits + 1)
    i2 = _fraction(
        3 * G[6]
        + 3 * alpha * G[5]
        + (alpha**2 - 2 * alpha - 4) * G[4]
        - alpha * (2 * alpha + 3) * G[3]
        + (alpha + 1) ** 2 * G[2],
        bits + 2,
    )
    x1 = i1 + shift_x
    x2 = i2 + 2 * shift_x * i1 + shift_x**2
    # 12 m² n² Var[A|x] = x (x − a)(2x − a + 1) + (n − x)(k − x)(b + 1 − 2x),
    # a = k − m, b = n + k: the cubes cancel
    a, b = k - m, n + k
    square, linear = 3 * (b - a) + 2, a * (a - 1) - 2 * n * k - b * (b + 1)
    within = square * x2 + linear * x1 + n * k * (b + 1)
    between = 3 * (m - n) ** 2 * (x2 - x1**2)
    mean = 1 - (Fraction(k, m) + x1 * Fraction(m - n, m * n)) / 2
    return float(mean), float((within + between) / (12 * m**2 * n**2))


def _generating_ratios(L, d, N, bits):
    """``G_p``, p = 1..6, in units of 2^−bits; index 0 is not used."""
    one = 1 << bits
    total = term = one  # Σ_{j≤L} C(N + 1, j)/C(N + 1, L), from j = L downwards
    j = L
    while term and j:
        term = term * j // (N + 2 - j)
        total += term
        j -= 1
    G = [0, one * one * (N + 1 - L) // ((N + 1) * total), one]
    for p in range(1, 5):
        G.append(G[p] + (2 * L * G[p] - d * (G[p + 1] - G[p])) // p)
    return G


def _fraction(number, bits):
    return Fraction(number, 1 << bits)


def _check_counts(n_pos, n_neg, n_errors):
    for name, value in (("n_pos", n_pos), ("n_neg", n_neg)):
        if value != np.floor(value) or not 1 <= value < np.inf:
            raise ValueError(f"{name} must be a whole number >= 1, got {value}")
    n_pos, n_neg = int(n_pos), int(n_neg)  # small integer types would overflow
    if n_errors != np.floor(n_errors) or not 0 <= n_errors <= n_pos + n_neg:
        raise ValueError(
            f"n_errors must be a whole number in [0, {n_pos + n_neg}], got {n_errors}"
        )
    return n_pos, n_neg, int(n_errors)


# --------------------------------------------------------------------------------------
# Intervals
# --------------------------------------------------------------------------------------


def _error_rate(k, N, level, how):
    """Bounds of the error rate at the given level."""
    rate, tail = k / N, (1 - level) / 2
    if how == "clopper_pearson":
        return exact_limits(rate, N, tail, tail)
    z = -ndtri(tail)
    if how == "wilson":
        centre = (rate + z**2 / (2 * N)) / (1 + z**2 / N)
        reach = z / (1 + z**2 / N) * sqrt(rate * (1 - rate) / N + z**2 / (4 * N**2))
    else:  # σ² ≤ 1/(4N) in the paper's eqs. 15 and 16
        centre = rate
        reach = (1 / sqrt(1 - level) if how == "chebyshev" else z) / (2 * sqrt(N))
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


def _adaptive_interval(m, n, k0, confidence_level):
    N = m + n
    rate = (k0 + 0.5) / (N + 1)
    sd = sqrt(N * rate * (1 - rate))
    first, last = max(0, int(k0 - 12 * sd - 12)), min(N, int(k0 + 12 * sd + 12))
    k = np.arange(first, last + 1)
    log_binomial = -betaln(k + 1, N - k + 1) - np.log(N + 1)
    probability = np.exp(log_binomial + k * np.log(rate) + (N - k) * np.log1p(-rate))
    mean, variance = cortes_mohri_moments(m, n, k)

    def union(width):
        risk = _spread_risk((k - k0) / width, probability, confidence_level)
        kept = (risk < 1) | (k == k0)
        reach = np.sqrt(variance[kept] / risk[kept])
        return np.min(mean[kept] - reach), np.max(mean[kept] + reach)

    def length(log_width):
        low, high = _inside(*union(np.exp(log_width)))
        return high - low

    bounds = np.log(sd / 10), np.log(sd * 10)
    best = minimize_scalar(length, bounds=bounds, method="bounded")
    return _inside(*union(np.exp(best.x)))


def _spread_risk(distance, probability, confidence_level):
    """``ε_k = a₀ exp(distance²/2)``, at most 1, with ``Σ (1 − ε_k) P = level``."""

    def risk(log_a0):
        return np.exp(np.minimum(log_a0 + distance**2 / 2, 0))

    def excess(log_a0):
        return (1 - risk(log_a0)) @ probability - confidence_level

    smallest = -690.0  # e^−690 is still a normal float
    if excess(smallest) <= 0:  # the law's own tail is the whole risk
        return risk(smallest)
    return risk(brentq(excess, smallest, 0, xtol=1e-10))


def _inside(low, high):
    return Interval(float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1)))
