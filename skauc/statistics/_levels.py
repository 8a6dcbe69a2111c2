"""Ranks of two samples: distinct scores with the weight of each class at them.

``V₁₀`` of a positive is the share of negatives below it, ``V₀₁`` of a negative the
share of positives above it, ties counted ½; both are functions of the score of the row.
Their means are the Mann–Whitney estimate A of the AUC. With weights w that count rows
and sums n_c, DeLong's variance is ``Σ_c Σ w (V − A)²/{n_c(n_c − 1)}``.

Scores of equal rows may differ in the last digits, because a product of matrices adds
in another order. Neighbours a < b are therefore one level where b − a is at most
``1e-12 min(range, max(|a|, |b|, m))``, or 4 units in the last place. Here m is the
median of the absolute scores if they have both signs, because a difference near 0 has
lost its digits, and 0 otherwise, so that probabilities of 1e-20 and 1e-18 stay apart. A
run of such neighbours is tied only if the whole run is that narrow and its distance to
other scores is 1000 times its width: scores that are dense somewhere, such as
probabilities near 1, keep their order. Integers are exact.

References: DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595; Sun
& Xu (2014), https://doi.org/10.1109/LSP.2014.2337313; Obuchowski (1997),
https://doi.org/10.2307/2533958. The variance as a function of the AUC alone:
Hanley & McNeil (1982), https://doi.org/10.1148/radiology.143.1.7063747; Newcombe
(2006), https://doi.org/10.1002/sim.2324.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# Scores of equal rows differ by rounding, up to 16 units in the last place of a score
# of 1000 features (3e-15); raw features with large means lose a factor of 100 more
_ROUNDING = 1e-12
_LAST_PLACE = 4 * np.finfo(float).eps
_USUAL = 0.25  # quantile of sizes that are usual: many may be 0, or be stand-ins
_ALONE = 1000  # distance of such scores to others, in units of their width
TIE = 1e-8  # share of the range of the scores below which a margin is 0


def in_precision_of(score, threshold) -> np.ndarray:
    """Thresholds, rounded to the dtype of scores of less than 64 bits, as by NumPy."""
    given = np.asarray(score)  # of lists, frames and all kinds of columns, too
    if given.dtype == object:
        given = np.array(given.ravel().tolist())
    if given.dtype not in (np.float16, np.float32):
        return threshold
    with np.errstate(over="ignore"):
        return threshold.astype(given.dtype).astype(float)


@dataclass(frozen=True, eq=False)
class Levels:
    """Distinct scores in ascending order, and the weight of each class at them.

    Parameters
    ----------
    value : ndarray of shape (d,)
        The scores; ±inf are allowed.
    neg, pos : ndarray of shape (d,)
        Weight of the negatives and the positives; whole numbers without weights.
    _rows : tuple, default=None
        Order of the rows, where the levels begin in it, number of negatives.
    """

    value: np.ndarray
    neg: np.ndarray
    pos: np.ndarray
    _rows: Any = None

    @classmethod
    def of(cls, neg, pos, weight_neg=None, weight_pos=None) -> Levels:
        """Sort two samples of scores together.

        Parameters
        ----------
        neg, pos : ndarray of shape (n_neg,), (n_pos,)
        weight_neg, weight_pos : ndarray, default=None
            Weights of the rows; None counts each row once.
        """
        score, n_neg = np.concatenate([neg, pos]), len(neg)
        order = np.argsort(score)
        score, is_pos = score[order], order >= n_neg
        steps = score[1:] != score[:-1]
        for first, last in rounded_runs(score):
            steps[first:last] = False
        starts = np.append(0, np.flatnonzero(steps) + 1)
        rows = order, starts, n_neg
        pairs = (neg, weight_neg), (pos, weight_pos)
        counts = [np.ones(len(x), np.int64) if w is None else w for x, w in pairs]
        weight = np.concatenate(counts)[order]
        at_neg, at_pos = (
            np.add.reduceat(weight * of, starts) for of in (~is_pos, is_pos)
        )
        return cls(score[starts].astype(float), at_neg, at_pos, _rows=rows)

    @cached_property
    def row_levels(self) -> tuple:
        """Number of the level of each negative and of each positive row."""
        order, starts, n_neg = self._rows
        rows = np.empty_like(order)
        sizes = np.diff(starts, append=len(order))
        rows[order] = np.repeat(np.arange(len(starts)), sizes)
        return rows[:n_neg], rows[n_neg:]

    @property
    def sizes(self) -> tuple:
        """Weight of each class."""
        return self.neg.sum(), self.pos.sum()

    @cached_property
    def auc(self) -> float:
        """Share of correctly ranked pairs, ties ½."""
        n_neg, n_pos = map(float, self.sizes)
        pairs = self.pos @ self._negatives_below  # whole numbers without weights
        return min(float(pairs) / (2 * n_neg * n_pos), 1.0)

    @property
    def _negatives_below(self):
        """Twice the weight of the negatives below each level, and once at it."""
        return 2 * np.cumsum(self.neg) - self.neg

    @cached_property
    def placements(self) -> tuple:
        """``V₀₁`` of a negative and ``V₁₀`` of a positive at each level."""
        n_neg, n_pos = self.sizes
        # sum from above: 1 − (weight below) would cancel if it is small
        above = 2 * np.cumsum(self.pos[::-1])[::-1] - self.pos
        return above / (2 * n_pos), self._negatives_below / (2 * n_neg)

    @cached_property
    def thresholds(self) -> np.ndarray:
        """The scores from the largest down."""
        return self.value[::-1]

    @cached_property
    def above_neg(self) -> np.ndarray:
        """Weight of the negatives with ``score >= threshold``, shape (d,)."""
        return np.cumsum(self.neg[::-1])

    @cached_property
    def above_pos(self) -> np.ndarray:
        """Weight of the positives with ``score >= threshold``, shape (d,)."""
        return np.cumsum(self.pos[::-1])

    @cached_property
    def fpr(self) -> np.ndarray:
        """False positive rates of the ROC corners, from 0 to 1, shape (d + 1,)."""
        return np.append(0.0, self.above_neg / self.above_neg[-1])

    @cached_property
    def tpr(self) -> np.ndarray:
        """True positive rates of the ROC corners, from 0 to 1, shape (d + 1,)."""
        return np.append(0.0, self.above_pos / self.above_pos[-1])

    def swapped(self) -> Levels:
        """Exchange the classes and negate the scores: the ROC curve's mirror image."""
        return Levels(-self.value[::-1], self.pos[::-1], self.neg[::-1])

    def coarse(self, most=512) -> Levels:
        """Join neighbouring levels until at most ``most`` remain."""
        if len(self.value) <= most:
            return self
        # each class counts for half of a block's size, so that both are resolved alike
        n_neg, n_pos = self.sizes
        share = (self.neg / n_neg + self.pos / n_pos) / 2
        block = ((np.cumsum(share) - share) * most).astype(np.int64)
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        neg, pos = (np.add.reduceat(w, starts) for w in (self.neg, self.pos))
        return Levels(self.value[starts], neg, pos)


def rounded_runs(ordered) -> np.ndarray:
    """Runs of unequal scores that differ by rounding only.

    Parameters
    ----------
    ordered : ndarray of shape (n,)
        Rising; ±inf are allowed.

    Returns
    -------
    ndarray of int of shape (number of runs, 2)
        First and last place of each run.
    """
    none = np.empty((0, 2), dtype=np.intp)
    if ordered.dtype.kind != "f":
        return none
    begin = np.searchsorted(ordered, -np.inf, side="right")
    inner = ordered[begin : np.searchsorted(ordered, np.inf)]
    if len(inner) < 2:
        return none
    low, high = inner[0], inner[-1]
    with np.errstate(over="ignore"):  # of scores around 1e308
        gap, reach = np.diff(inner), high - low
    widest = max(_ROUNDING * reach, _LAST_PLACE * max(abs(low), abs(high)))
    at = np.flatnonzero(gap <= widest)
    if not gap[at].any():  # equal scores only: the ordinary case
        return none
    size = np.maximum(np.abs(inner[at]), np.abs(inner[at + 1]))
    middle = np.quantile(np.abs(inner), _USUAL) if low < 0 < high else 0.0
    limit = _ROUNDING * np.minimum(np.maximum(size, middle), reach)
    limit = np.maximum(limit, _LAST_PLACE * size)
    near = gap[at] <= limit
    at, limit = at[near], limit[near]
    # runs of gaps next to each other
    begins = np.flatnonzero(np.diff(at, prepend=-2) > 1)
    ends = np.flatnonzero(np.diff(at, append=len(ordered) + 1) > 1)
    first, last = at[begins], at[ends] + 1
    width = inner[last] - inner[first]
    narrow = (width > 0) & (width <= np.maximum(limit[begins], limit[ends]))
    apart = np.concatenate([[np.inf], gap, [np.inf]])  # before the i-th, after i − 1
    alone = _ALONE * width <= np.minimum(apart[first], apart[last + 1])
    return begin + np.column_stack([first, last])[narrow & alone]


def height(x, y, at, side="right"):
    """Height of the path of corners (x, y) at x = ``at``.

    On a vertical piece this is its top, or with ``side="left"`` its bottom.
    """
    if side == "left":  # at equal x, np.interp takes the last corner: here the first
        x, y, at = -x[::-1], y[::-1], -at
    return np.interp(at, x, y)


def placements(neg, pos, weight_neg=None, weight_pos=None):
    """Placements ``V₀₁`` of the negative rows and ``V₁₀`` of the positive rows.

    Parameters
    ----------
    neg, pos : ndarray of shape (n_neg,), (n_pos,)
        Scores; ±inf are allowed, NaN is not.
    weight_neg, weight_pos : ndarray, default=None
        A placement is then a share of weight.

    Returns
    -------
    v01, v10 : ndarray of shape (n_neg,), (n_pos,)
    """
    levels = Levels.of(neg, pos, weight_neg, weight_pos)
    pairs = zip(levels.placements, levels.row_levels, strict=True)
    return tuple(v[rows] for v, rows in pairs)


def empirical_auc(score, positive, weight=None) -> float:
    """Share of pairs in which the positive scores higher, ties ½.

    Equals :attr:`Levels.auc`. Without weights, and without scores that differ by
    rounding, in half of the time and a third of the memory.

    Parameters
    ----------
    score : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
    """
    if weight is None and not len(rounded_runs(np.sort(score))):
        neg, pos = np.sort(score[~positive]), np.sort(score[positive])
        won = sum(np.searchsorted(neg, pos, side).sum() for side in ("left", "right"))
        return min(float(won / (2.0 * len(neg) * len(pos))), 1.0)
    columns = [score] if weight is None else [score, weight]
    parts = (x[side] for x in columns for side in (~positive, positive))
    return Levels.of(*parts).auc


def aucs(scores, positive, weight):
    """AUC of all rows in each of K weightings, and the weight of their pairs.

    Parameters
    ----------
    scores : ndarray of shape (K, n) or (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (K, n) or (n,)

    Returns
    -------
    auc, pairs : ndarray of shape (K,)
        NaN and 0 where a class has no weight.
    """
    scores, weight = np.broadcast_arrays(*np.atleast_2d(scores, weight))
    pairs = (weight @ ~positive) * (weight @ positive)
    auc = np.full(len(scores), np.nan)
    for k in np.flatnonzero(pairs):
        auc[k] = empirical_auc(scores[k], positive, weight[k])
    return auc, pairs


def weighted_auc(scores, positive, weight) -> float:
    """Share of the weighted pairs that the positive wins, pooled over weightings."""
    auc, pairs = aucs(scores, positive, weight)
    return float(np.nansum(auc * pairs) / pairs.sum()) if pairs.any() else np.nan


def row_placements(score, positive, weight) -> np.ndarray:
    """Share of the other class that each row is ordered with, (n,)."""
    placed = np.empty(len(score))
    placed[~positive], placed[positive] = placements(
        score[~positive], score[positive], weight[~positive], weight[positive]
    )
    return placed


def won_by(margin, least) -> np.ndarray:
    """1 where the positive of a pair wins by more than ``least``, ½ for a tie."""
    return (margin > least) * 0.5 + (margin >= -least) * 0.5


def delong_covariance(v01, v10, weight_neg=None, weight_pos=None):
    """DeLong's covariance of the AUCs of k scores; O(k² n) from their placements.

    Parameters
    ----------
    v01, v10 : ndarray of shape (k, n_neg), (k, n_pos)
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

    Clusters are independent; rows of one cluster may be dependent. With one row per
    cluster the result is DeLong's covariance.

    Parameters
    ----------
    v01, v10 : ndarray of shape (k, n_neg), (k, n_pos)
        Placements.
    cluster_neg, cluster_pos : ndarray of int
        Number of the cluster of each row, from 0.
    weight_neg, weight_pos : ndarray
        Weights of the rows; only their ratios within a class enter.

    Returns
    -------
    ndarray of shape (k, k)
        NaN where one class lies in a single cluster.
    """
    n_clusters = 1 + max(cluster_neg.max(), cluster_pos.max())
    neg = _cluster_sums(v01, cluster_neg, weight_neg, n_clusters)
    pos = _cluster_sums(v10, cluster_pos, weight_pos, n_clusters)
    sets = cluster_neg, cluster_pos, np.concatenate([cluster_neg, cluster_pos])
    # G/(G − 1) for the clusters of each class, and of both together
    f_neg, f_pos, f_both = (
        n / (n - 1) if n > 1 else np.nan for n in (len(np.unique(s)) for s in sets)
    )
    # twice the covariance of the two classes within the clusters
    cross = neg @ pos.T
    return f_neg * (neg @ neg.T) + f_pos * (pos @ pos.T) + f_both * (cross + cross.T)


def hanley_mcneil_variance(auc, n_neg, n_pos):
    """Variance of the AUC of negative exponential scores; elementwise.

    ``[A(1 − A) + (n₁ − 1)(P_xxy − A²) + (n₀ − 1)(P_xyy − A²)]/(n₀ n₁)`` with
    ``P_xxy = A/(2 − A)``, ``P_xyy = 2A²/(1 + A)``, each written as A(1 − A) times a
    factor.
    """
    # P_xxy − A² = A(1 − A) (1 − A)/(2 − A),   P_xyy − A² = A(1 − A) A/(1 + A)
    factor = 1 + (n_pos - 1) * (1 - auc) / (2 - auc) + (n_neg - 1) * auc / (1 + auc)
    return auc * (1 - auc) * factor / (n_neg * n_pos)


def balanced_variance(auc, n_neg, n_pos):
    """Hanley–McNeil variance with ``(n₀ + n₁)/2`` rows of each class: symmetric."""
    half = (n_neg + n_pos) / 2
    return hanley_mcneil_variance(auc, half, half) * half**2 / (n_neg * n_pos)


def shrunk_auc(auc, n) -> float:
    """``(A n + ½)/(n + 1)``: an AUC A of n rows, moved away from 0 and 1."""
    return (auc * n + 0.5) / (n + 1)


def normal_pdf(x):
    """``φ(x)``."""
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _mean_covariance(v, weight):
    """Covariance of the (frequency-weighted) mean of the rows' placements."""
    weight = np.ones(v.shape[1]) if weight is None else weight
    n = weight.sum()
    deviation = v - (v @ weight / n)[:, None]
    # Σ w (V_a − A_a)(V_b − A_b)/(n(n − 1))
    return (deviation * weight) @ deviation.T / (n * (n - 1) if n > 1 else np.nan)


def _cluster_sums(v, cluster, weight, n_clusters):
    """Sums of ``w (V − A)/Σw`` in each cluster, shape (k, n_clusters)."""
    deviation = (v - np.average(v, axis=1, weights=weight)[:, None]) * weight
    sums = [np.bincount(cluster, row, n_clusters) for row in deviation]
    return np.array(sums) / weight.sum()
