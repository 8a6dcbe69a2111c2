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
``L = min(k, m, n, N − k)``, and ``d = N − 2L``. Both binomials become central,
``C(2i + α, i) C(2j + β, j)``, with generating functions ``F_α(z) = c(z)^α s(z)``,
Catalan's c and ``s = (1 − 4z)^−½``. From
``z c'/c = (s − 1)/2`` and ``z s' = s(s² − 1)/2``, weighting by ``i^q`` multiplies
``F_α F_β = c^d s²`` by a polynomial Q_q(s)/2^q,

    Q₁ = α(s − 1) + s² − 1,    Q₂ = Q₁² + s(s² − 1) Q₁',

and with ``G_p = [z^L] c^d s^p / [z^L] c^d s²`` the same two identities give for
the ratios ``R_p = G_{p+1}/G_p``

    R_p = (N + p)/(d + p R_{p+1}),    R_{p+1} = (N + p + 1)/p · I_p/I_{p−1},
    I_p = ∫₀¹ v^p (1 − v²)^L (1 − v)^d dv,

for integration by parts gives the integrals the same recurrence, and it has one
positive solution. Downwards it forgets its start, so one Gauss–Legendre rule starts
it at p = 7, and ``h_p = R_p − 1`` and ``e_p = R_p − R_{p+1}`` have recurrences of their
own. Then E[i], E[j] and Var[i] = Var[j] follow from h, e and G, and

    1 − E[A] = ½(E[x]/n + E[y]/m),
    12 m² n² Var[A] = (m − y) x (M + 1) + (n − x) y (M' + 1) at the means
                      + {3N + 2 + 3(m − n)²} Var[i],

sums of positive terms: nothing cancels, and the relative error is a few roundings
for every k and N. Nothing here needs k to be whole.

References: Cortes & Mohri (2004), "Confidence intervals for the area under the ROC
curve", NIPS 17, 305–312.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtri
from scipy.stats import binom

from .._validation import check_bool, check_level, check_option, short
from ._confidence_limits import Interval, exact_limits

ERROR_INTERVALS = ("clopper_pearson", "wilson", "normal", "chebyshev")

_LARGEST = 2**53  # beyond it a float skips whole numbers
# A rule on (0, 1): 32 nodes already leave a relative error of 1e-14 for every L and N.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_NODES = (_NODES + 1) / 2
_CASES_AT_ONCE = 8192  # · 40 nodes: 2.6 MB an array
_GRID = 500  # numbers of errors that are looked at before the best is refined


def cortes_mohri_moments(n_pos, n_neg, n_errors):
    """Mean and variance of the AUC over all rankings with the same number of errors.

    Answers: a table gives the class sizes and the errors of a classifier, no scores;
    what may its AUC have been? Every strict ranking with ``n_errors`` errors at some
    threshold is taken to be equally likely. The relative error is a few roundings
    for every 0 ≤ k ≤ N; some microseconds a case, of any size.

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
        If a number is not whole, a class is empty or larger than 2⁵³, or n_errors
        is not in [0, N].

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
    m, n, k = _check_counts(n_pos, n_neg, n_errors)
    mean, variance = np.empty(k.shape), np.empty(k.shape)
    for start in range(0, k.size, _CASES_AT_ONCE):
        block = slice(start, start + _CASES_AT_ONCE)
        moments = _moments(m.flat[block], n.flat[block], k.flat[block])
        mean.flat[block], variance.flat[block] = moments
    return mean[()], variance[()]


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
    Up to 500 plausible k are all looked at; beyond, every so many-th, and all around
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
    m, n, k = _check_counts(n_pos, n_neg, n_errors)
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
    level = sqrt(confidence_level)
    low, high = _error_rate(k, m + n, level, error_interval)

    def limits(errors):
        mean, variance = cortes_mohri_moments(m, n, errors)
        reach = np.sqrt(variance / (1 - level))
        return mean - reach, mean + reach

    return _union(limits, np.ceil((m + n) * low), np.floor((m + n) * high))


# --------------------------------------------------------------------------------------
# Moments
# --------------------------------------------------------------------------------------


def _moments(m, n, k):
    """Mean and variance; m, n, k float arrays of one shape (cases,)."""
    N = m + n
    alpha, beta = np.abs(k - m), np.abs(k - n)
    L = np.minimum(np.minimum(k, N - k), np.minimum(m, n))
    R, h, e = _generating_ratios(L, N)
    i, j = ((a * h[2] + h[2] + h[3] + h[2] * h[3]) / 2 for a in (alpha, beta))
    a = np.minimum(alpha, beta)  # Var[i] = Var[j]; the smaller one does not cancel
    spread = (R[2] / 4) * (
        a * (h[3] + h[4] + h[3] * h[4])  # ⟨s(s² − 1) Q₁'⟩
        + 2 * R[3] * (h[4] + h[5] + h[4] * h[5])
        - a**2 * e[2]  # ⟨Q₁²⟩ − ⟨Q₁⟩²
        - 2 * a * R[3] * (e[2] + e[3])
        - R[3] * (R[4] * (e[3] + e[4]) + R[3] * (e[2] + e[3]))
    )
    i, j, spread = (np.where(L > 0, value, 0.0) for value in (i, j, spread))
    false_pos, true_pos = i + np.maximum(k - m, 0), i + np.maximum(m - k, 0)
    false_neg, true_neg = j + np.maximum(k - n, 0), j + np.maximum(n - k, 0)
    mean = (true_neg / n + true_pos / m) / 2
    at_means = true_pos * false_pos * (true_pos + false_pos + 1)
    at_means += true_neg * false_neg * (true_neg + false_neg + 1)
    variance = at_means + (3 * N + 2 + 3 * (m - n) ** 2) * spread
    return mean, variance / (12 * (m * n) ** 2)


def _generating_ratios(L, N):
    """``R_p``, ``R_p − 1`` and ``R_p − R_{p+1}`` for p = 2..6, as dictionaries."""
    d = N - 2 * L
    # (1 − v²)^L (1 − v)^d < e^−80 beyond: L v² + d v = 80
    end = np.minimum(1.0, 160 / (d + np.sqrt(d**2 + 320 * L)))
    v = end[:, None] * _NODES
    density = np.exp(L[:, None] * np.log1p(-(v**2)) + d[:, None] * np.log1p(-v))
    I5, I6, I7 = (density @ (_WEIGHTS * _NODES**p) for p in (5, 6, 7))
    h = {7: (N + 7) / 6 * end * I6 / I5 - 1, 8: (N + 8) / 7 * end * I7 / I6 - 1}
    e = {7: h[7] - h[8]}
    for p in range(6, 1, -1):
        h[p] = (2 * L - p * h[p + 1]) / (d + p + p * h[p + 1])
        e[p] = 2 * L + (N + p) * h[p + 2] - p * h[p + 1] - p * (N + p) * e[p + 1]
        e[p] /= d + p + p * h[p + 1]
        e[p] /= d + p + 1 + (p + 1) * h[p + 2]
    return {p: 1 + value for p, value in h.items()}, h, e


def _check_counts(n_pos, n_neg, n_errors):
    """The counts as float arrays of one shape."""
    counts = (
        _check_whole("n_pos", n_pos, 1),
        _check_whole("n_neg", n_neg, 1),
        _check_whole("n_errors", n_errors, 0),
    )
    try:
        m, n, k = np.broadcast_arrays(*counts)
    except ValueError:
        shapes = ", ".join(str(count.shape) for count in counts)
        raise ValueError(
            f"n_pos, n_neg and n_errors must broadcast, got shapes {shapes}"
        ) from None
    if (k > m + n).any():
        worst = np.argmax(k > m + n)
        raise ValueError(
            "n_errors must be a whole number in "
            f"[0, {m.flat[worst] + n.flat[worst]:.0f}], got {k.flat[worst]:.0f}"
        )
    return m, n, k


def _check_whole(name, value, least):
    rule = f"{name} must be a whole number >= {least}"
    try:
        number = np.asarray(value)
    except ValueError:
        raise ValueError(f"{rule}, got lists of several lengths") from None
    if number.dtype.kind not in "iuf":
        raise ValueError(f"{rule}, got {short(value)}")
    bad = ~((number >= least) & (number == np.floor(number)))
    if bad.any():
        raise ValueError(f"{rule}, got {number[bad].flat[0]}")
    if (number > _LARGEST).any():
        raise ValueError(f"{name} must be <= 2**53, got {number.max():g}")
    return number.astype(float)


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
    far = int(12 * sd + 12)  # less than 1e-32 of the law of K lies beyond
    step = -(-2 * far // _GRID)
    k = k0 + step * np.arange(-(min(far, k0) // step), min(far, N - k0) // step + 1)
    probability = step * binom.pmf(k, N, rate)
    mean, variance = cortes_mohri_moments(m, n, k)

    def risks(width):
        """Log a₀ and the least and largest k with ε_k < 1."""
        log_a0 = _log_risk_of_k0((k - k0) / width, probability, confidence_level)
        radius = max(int(np.ceil(width * sqrt(-2 * log_a0))) - 1, 0)
        return log_a0, max(k0 - radius, k[0]), min(k0 + radius, k[-1])

    def limits(k, mean, variance, log_a0, width):
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

    bounds = np.log(sd / 10), np.log(sd * 10)
    best = minimize_scalar(length, bounds=bounds, method="bounded")
    width = np.exp(best.x)
    log_a0, first, last = risks(width)
    return _union(
        lambda k: limits(k, *cortes_mohri_moments(m, n, k), log_a0, width), first, last
    )


def _log_risk_of_k0(distance, probability, confidence_level):
    """Log a₀ with ``Σ (1 − ε_k) P = level``, ``ε_k = a₀ exp(distance²/2)`` ≤ 1."""

    def excess(log_a0):
        risk = np.exp(np.minimum(log_a0 + distance**2 / 2, 0))
        return (1 - risk) @ probability - confidence_level

    smallest = -690.0  # e^−690 is still a normal float
    if excess(smallest) <= 0:  # the law's own tail is the whole risk
        return smallest
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
    if len(bend) < 3 or 2 * bend.min() < bend.max():
        return values[best]
    return values[best] - (values[best + 1] - values[best - 1]) ** 2 / (8 * bend[1])


def _inside(low, high):
    return Interval(float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1)))
