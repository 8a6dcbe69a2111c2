"""Ranks of the scores: placements, the empirical AUC and its variance.

``V₁₀`` of a positive is the share of negatives below it, ``V₀₁`` of a negative the
share of positives above it, ties counted ½. Both are counted in the sorted other
class, in O(n log n) and as whole numbers of half pairs, so nothing is rounded until
the last division. Their means are the Mann–Whitney estimate A of the AUC. With
weights w that count rows, n_c their sums, DeLong's variance is

    Σ_pos w (V₁₀ − A)²/(n₁(n₁ − 1)) + Σ_neg w (V₀₁ − A)²/(n₀(n₀ − 1)),

and Obuchowski's squares the sums of ``w (V − A)/n_c`` within clusters instead of the
rows, both classes together. For k scores squares become k × k products.

References: DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595;
Bamber (1975), https://doi.org/10.1016/0022-2496(75)90001-2; Sun & Xu (2014),
https://doi.org/10.1109/LSP.2014.2337313; Obuchowski (1997),
https://doi.org/10.2307/2533958.
"""

from __future__ import annotations

import numpy as np


def placements(neg, pos, weight_neg=None, weight_pos=None):
    """Placements ``V₀₁`` of the negatives and ``V₁₀`` of the positives.

    Parameters
    ----------
    neg : ndarray of shape (n_neg,)
    pos : ndarray of shape (n_pos,)
        Scores; ±inf are allowed, NaN is not.
    weight_neg, weight_pos : ndarray, default=None
        Weights of the rows: a placement is then a share of weight.

    Returns
    -------
    v01 : ndarray of shape (n_neg,)
    v10 : ndarray of shape (n_pos,)
    """
    if weight_neg is None and weight_pos is None:
        if _is_sorted(neg) and _is_sorted(pos):
            return _sorted_placements(neg, pos)
        # whole numbers: what is not below a row, or beside it, is above
        above_neg = 2 * len(pos) - _half_pairs(neg, pos)
        return above_neg / (2 * len(pos)), _half_pairs(pos, neg) / (2 * len(neg))
    weight_neg, weight_pos = _scaled(weight_neg), _scaled(weight_pos)
    # Weights round: 2·total − (weight below) would leave no digits of a small rest
    above_neg = _half_pairs(-neg, -pos, weight_pos)
    below_pos = _half_pairs(pos, neg, weight_neg)
    total_neg = len(neg) if weight_neg is None else weight_neg.sum()
    total_pos = len(pos) if weight_pos is None else weight_pos.sum()
    return above_neg / (2 * total_pos), below_pos / (2 * total_neg)


def _sorted_placements(neg, pos):
    """The same of rows in order: one search serves both classes.

    The j-th negative is below a positive that has more than j negatives below it.
    """
    above_neg, half_pairs = np.full(len(neg), 2 * len(pos)), 0
    for side in ("left", "right"):
        below = np.searchsorted(neg, pos, side=side)
        # The sum counts positives that are not above the j-th negative, ties included
        # "left" counts ties so and "right" does not: a tie is ½ of the difference
        above_neg -= np.cumsum(np.bincount(below, minlength=len(neg)))[: len(neg)]
        half_pairs = half_pairs + below
    return above_neg / (2 * len(pos)), half_pairs / (2 * len(neg))


def auc_in_order(positive, weight_neg=1.0, weight_pos=1.0):
    """AUC and DeLong's variance of rows in ascending order of scores without ties.

    No search is needed, and one class tells of both: ``a_k = n₀ + k − i`` negatives are
    above the k-th positive, which is row i. A negative has the first b positives below
    it, and ``b² = Σ_{k<b} (2k + 1)``: so ``Σ_neg b² = Σ_k a_k (2k + 1)``.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Class of the rows; both are there.
    weight_neg, weight_pos : float, default=1.0
        How often each row of a class counts.

    Returns
    -------
    auc, variance : float
        NaN for the variance where a class counts once or less.
    """
    places = np.flatnonzero(positive)
    n_pos, n_neg = len(places), len(positive) - len(places)
    k = np.arange(n_pos, dtype=float)
    # pairs in the wrong order: they keep their digits where the AUC is near 1
    above = n_neg + k - places
    wrong = float(above.sum())
    square_pos, square_neg = float(above @ above), 2 * float(above @ k) + wrong
    variance = 0.0
    for square, n, others, weight in (
        (square_neg, n_neg, n_pos, weight_neg),
        (square_pos, n_pos, n_neg, weight_pos),
    ):
        # Σ w (V − A)²/(W(W − 1)),  W = nw
        spread, total = max(square - wrong**2 / n, 0.0) / others**2, n * weight
        variance += weight * spread / (total * (total - 1)) if total > 1 else np.nan
    return 1 - wrong / (n_neg * n_pos), variance


def empirical_auc(neg, pos, weight_neg=None, weight_pos=None) -> float:
    """Share of pairs in which the positive scores higher, ties ½.

    Parameters
    ----------
    neg, pos : ndarray of shape (n_neg,), (n_pos,)
    weight_neg, weight_pos : ndarray, default=None
        A pair weighs the product of its two rows; both or neither.

    Returns
    -------
    float
    """
    if weight_neg is None:
        # Whole numbers until the one division
        half_pairs = _half_pairs(np.sort(pos), neg)
        return int(half_pairs.sum()) / (2 * len(neg) * len(pos))
    weight_neg, weight_pos = _scaled(weight_neg), _scaled(weight_pos)
    half_pairs = weight_pos @ _half_pairs(pos, neg, weight_neg)
    share = half_pairs / (2 * weight_neg.sum() * weight_pos.sum())
    return float(min(share, 1.0))  # sums of weights round


def delong_covariance(v01, v10, weight_neg=None, weight_pos=None):
    """DeLong's covariance of the AUCs of k scores; O(k² n) from their placements.

    Parameters
    ----------
    v01 : ndarray of shape (k, n_neg)
    v10 : ndarray of shape (k, n_pos)
    weight_neg, weight_pos : ndarray, default=None
        How often each row counts.

    Returns
    -------
    ndarray of shape (k, k)
        NaN where a class has one row only.
    """
    return _mean_covariance(v01, weight_neg) + _mean_covariance(v10, weight_pos)


def clustered_covariance(v01, v10, cluster_neg, cluster_pos, weight_neg, weight_pos):
    """Obuchowski's covariance of k AUCs, for rows that come in clusters.

    Clusters are drawn independently, rows within one may depend on each other
    whatever their class. With one row a cluster it is DeLong's.

    Parameters
    ----------
    v01, v10 : ndarray of shape (k, n_neg), (k, n_pos)
        Placements.
    cluster_neg, cluster_pos : ndarray of int
        Number of the cluster of each row, from 0.
    weight_neg, weight_pos : ndarray
        Weights of the rows; of any size, since only sums within clusters enter.

    Returns
    -------
    ndarray of shape (k, k)
        NaN where one class lies in a single cluster.
    """
    weight_neg, weight_pos = _scaled(weight_neg), _scaled(weight_pos)
    n_clusters = 1 + max(cluster_neg.max(), cluster_pos.max())
    neg = _cluster_sums(v01, cluster_neg, weight_neg, n_clusters)
    pos = _cluster_sums(v10, cluster_pos, weight_pos, n_clusters)
    both = len(np.union1d(cluster_neg, cluster_pos))
    # Negatives and positives of one cluster depend on each other
    cross = neg @ pos.T
    return (
        _unbiased(len(np.unique(cluster_neg))) * (neg @ neg.T)
        + _unbiased(len(np.unique(cluster_pos))) * (pos @ pos.T)
        + _unbiased(both) * (cross + cross.T)
    )


def bamber_variance(neg, pos, weight_neg=None, weight_pos=None) -> float:
    """Unbiased variance of the empirical AUC (Bamber; eq. 2 of Cortes–Mohri).

    ``[E ψ² + (n₁ − 1) P_xxy + (n₀ − 1) P_xyy − (n₁ + n₀ − 1) A²]/((n₁ − 1)(n₀ − 1))``
    with ``ψ ∈ {0, ½, 1}`` of a pair, and the probabilities that two positives beat
    one negative, or one positive two negatives, over pairs of *distinct* rows.

    Parameters
    ----------
    neg, pos : ndarray of shape (n_neg,), (n_pos,)
        Scores; at least two of each.
    weight_neg, weight_pos : ndarray, default=None
        How often each row counts; both or neither.

    Returns
    -------
    float
        Not negative: an estimate below 0 becomes 0.
    """
    if weight_neg is None:
        weight_neg, weight_pos = np.ones(len(neg)), np.ones(len(pos))
    n0, n1 = weight_neg.sum(), weight_pos.sum()
    v01, v10 = placements(neg, pos, weight_neg, weight_pos)
    auc = np.average(v10, weights=weight_pos)
    order = np.argsort(neg)
    below = np.concatenate([[0.0], np.cumsum(weight_neg[order])])
    # Weight of the negatives that are equal to each positive
    ties = below[np.searchsorted(neg[order], pos, side="right")]
    ties -= below[np.searchsorted(neg[order], pos, side="left")]
    return bamber_of_sums(
        auc,
        np.average(ties, weights=weight_pos) / n0,
        np.average((v01 - auc) ** 2, weights=weight_neg),
        np.average((v10 - auc) ** 2, weights=weight_pos),
        n0,
        n1,
    )


def bamber_of_sums(auc, tied, spread01, spread10, n0, n1) -> float:
    """:func:`bamber_variance` from means over the rows.

    Parameters
    ----------
    auc, tied : float
        Share of pairs in order, ties ½, and share of tied pairs.
    spread01, spread10 : float
        Mean squared deviations of the placements.
    n0, n1 : float
    """
    # E ψ²: a tie has ψ² = ¼, not ½
    square = auc - tied / 4
    # (n₁ − 1) P_xxy = n₁ mean V₀₁² − E ψ²; written around A, where little cancels
    excess = n1 * spread01 + n0 * spread10 - (square - auc**2)
    return max(float(excess / ((n1 - 1) * (n0 - 1))), 0.0)


def _scaled(weight):
    """Weights times a power of two, the largest near 1: only their ratio matters.

    Their products then neither overflow nor vanish, and not a digit changes.
    """
    return None if weight is None else np.ldexp(weight, -np.frexp(weight.max())[1])


def _half_pairs(row, other, weight=None):
    """Twice the weight of ``other`` below each row, ties once; whole numbers."""
    if not _is_sorted(row):
        # Sorted against sorted, binary searches walk through the cache: 4 × faster.
        order = np.argsort(row)
        counted = _half_pairs(row[order], other, weight)
        half_pairs = np.empty_like(counted)
        half_pairs[order] = counted
        return half_pairs
    if weight is None:
        other = np.sort(other)
        below = np.searchsorted(other, row, side="left")
        return below + np.searchsorted(other, row, side="right")
    order = np.argsort(other, kind="stable")
    other, cumulative = other[order], np.concatenate([[0.0], np.cumsum(weight[order])])
    below = cumulative[np.searchsorted(other, row, side="left")]
    return below + cumulative[np.searchsorted(other, row, side="right")]


def _is_sorted(row):
    return not (row[1:] < row[:-1]).any()


def _mean_covariance(v, weight):
    """Covariance of the (frequency-weighted) mean of the rows' placements."""
    n = v.shape[1] if weight is None else weight.sum()
    centre = v.mean(axis=1) if weight is None else v @ weight / n
    deviation = v - centre[:, None]
    weighted = deviation if weight is None else deviation * weight
    # Σ w (V_a − A_a)(V_b − A_b)/(n(n − 1))
    return weighted @ deviation.T / (n * (n - 1) if n > 1 else np.nan)


def _cluster_sums(v, cluster, weight, n_clusters):
    """Sums of ``w (V − A)/Σw`` in each cluster, shape (k, n_clusters)."""
    deviation = (v - np.average(v, axis=1, weights=weight)[:, None]) * weight
    sums = [np.bincount(cluster, row, n_clusters) for row in deviation]
    return np.array(sums) / weight.sum()


def _unbiased(n):
    # I/(I − 1) clusters, as n/(n − 1) rows
    return n / (n - 1) if n > 1 else np.nan
