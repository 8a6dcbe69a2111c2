"""Moments of the AUC when only the number of errors is known.

The derivation is section 6 of :mod:`skauc.intervals`; its letters are used here.
"""

from __future__ import annotations

import numpy as np

from .._validation import short

_LARGEST = 2**53  # beyond it a float skips whole numbers
# A rule on (0, 1): 32 nodes already leave a relative error of 1e-14 for every L and N.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_NODES = (_NODES + 1) / 2
_CASES_AT_ONCE = 8192  # · 40 nodes: 2.6 MB an array


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
    m, n, k = check_error_counts(n_pos, n_neg, n_errors)
    mean, variance = np.empty(k.shape), np.empty(k.shape)
    for start in range(0, k.size, _CASES_AT_ONCE):
        block = slice(start, start + _CASES_AT_ONCE)
        moments = _moments(m.flat[block], n.flat[block], k.flat[block])
        mean.flat[block], variance.flat[block] = moments
    return mean[()], variance[()]


def _moments(m, n, k):
    """Mean and variance; m, n, k float arrays of one shape (cases,)."""
    N = m + n
    alpha, beta = np.abs(k - m), np.abs(k - n)
    L = np.minimum(np.minimum(k, N - k), np.minimum(m, n))
    R, h, e = _generating_ratios(L, N)
    # E[i] = ⟨Q₁⟩/2 = {α(R₂ − 1) + R₂R₃ − 1}/2, for ⟨s⟩ = R₂, ⟨s²⟩ = R₂R₃, …; E[j]: β
    i, j = ((a * h[2] + h[2] + h[3] + h[2] * h[3]) / 2 for a in (alpha, beta))
    a = np.minimum(alpha, beta)  # Var[i] = Var[j]; the smaller one does not cancel
    # Var[i] = (⟨Q₂⟩ − ⟨Q₁⟩²)/4 with R₂ before the bracket; e and h instead of
    # differences of the R, so that every term keeps its digits.
    spread = (R[2] / 4) * (
        a * (h[3] + h[4] + h[3] * h[4])  # ⟨s(s² − 1) Q₁'⟩
        + 2 * R[3] * (h[4] + h[5] + h[4] * h[5])
        - a**2 * e[2]  # ⟨Q₁²⟩ − ⟨Q₁⟩²
        - 2 * a * R[3] * (e[2] + e[3])
        - R[3] * (R[4] * (e[3] + e[4]) + R[3] * (e[2] + e[3]))
    )
    # L = 0 has i = j = 0 for sure; the quadrature would leave a rounding there.
    i, j, spread = (np.where(L > 0, value, 0.0) for value in (i, j, spread))
    # x = i + (k − m)₊,  m − y = i + (m − k)₊,  y = j + (k − n)₊,  n − x = j + (n − k)₊
    false_pos, true_pos = i + np.maximum(k - m, 0), i + np.maximum(m - k, 0)
    false_neg, true_neg = j + np.maximum(k - n, 0), j + np.maximum(n - k, 0)
    mean = (true_neg / n + true_pos / m) / 2
    # 12 m²n² Var = (m − y)x(M + 1) + (n − x)y(M' + 1) + {3N + 2 + 3(m − n)²} Var[i]
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
    # R_{p+1} = (N + p + 1)/p · I_p/I_{p−1} for p = 6, 7; v = end·node gives ``end``
    h = {7: (N + 7) / 6 * end * I6 / I5 - 1, 8: (N + 8) / 7 * end * I7 / I6 - 1}
    e = {7: h[7] - h[8]}
    for p in range(6, 1, -1):
        # R_p = (N + p)/(d + p R_{p+1}) with 1, and then R_{p+1}, subtracted by hand:
        # h_p = (2L − p h_{p+1})/(d + p R_{p+1}),
        # e_p = {2L + N h_{p+2} − p(N+p+1) e_{p+1}}/{(d + pR_{p+1})(d + (p+1)R_{p+2})}
        h[p] = (2 * L - p * h[p + 1]) / (d + p + p * h[p + 1])
        e[p] = 2 * L + (N + p) * h[p + 2] - p * h[p + 1] - p * (N + p) * e[p + 1]
        e[p] /= d + p + p * h[p + 1]
        e[p] /= d + p + 1 + (p + 1) * h[p + 2]
    return {p: 1 + value for p, value in h.items()}, h, e


def check_error_counts(n_pos, n_neg, n_errors):
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
