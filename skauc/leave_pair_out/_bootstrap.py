"""Bootstrap samples of two classes, and the .632+ estimate of an AUC.

This module knows scores and weights, not models.
"""

import numpy as np

from ..statistics._levels import (
    balanced_variance,
    empirical_auc,
    placements,
    shrunk_auc,
)
from ..statistics._row_blocks import block_rows, dense, parts_of
from ._coordinates import class_contrast, spread, standard_unit

SEED = 632  # one seed, so that all candidates of a search share their samples
INSIDE = 0.632  # 1 − 1/e: share of distinct rows in a bootstrap sample
TIE = 1e-8  # share of the range of the scores below which a margin is 0
_DIGITS = 1e-9  # relative precision of the keys that order rows


def balanced_samples(rows, K):
    """K samples by :func:`balanced_counts`, (K, n), cached with the rows.

    Neither the order of the rows nor the names of the classes matter. Weights are not
    counted.
    """

    def compute():
        order, swap = canonical_order(rows)
        counts = np.zeros((K, len(order)), dtype=np.int64)
        counts[:, order] = balanced_counts(rows.positive[order] ^ swap, K)
        return counts

    return rows.cached(("samples", K), compute)


def canonical_order(rows):
    """Order of the rows by their content, and whether to swap the classes.

    Sorted by ``Σ_j u_j⁴``, u the standardised features, then by the distance from the
    mean along the difference of the class means: neither the units of the features nor
    the names of the classes matter. The class with the larger mean key is the first.
    """
    mean, unit, sides = spread(rows)[0], standard_unit(rows), class_contrast(rows)
    gap = unit**2 * (sides @ rows.X)
    size, along = np.empty((2, rows.shape[0]))
    for part in parts_of(len(rows.weight), block_rows(rows.shape[1])):
        Z = dense(rows.X[part]) - mean
        along[part] = np.abs(Z @ gap)
        square = (Z * unit) ** 2
        size[part] = np.einsum("ij,ij->i", square, square)
    keys = [np.rint(key / (_DIGITS * key.max() or 1.0)) for key in (along, size)]
    return np.lexsort(keys), bool(sides @ size < 0)


def balanced_counts(positive, K):
    """Number of copies of each row in each of K balanced samples.

    Every row is left out of m samples, m the whole number nearest to K/e, and all
    samples together hold it about K times. The rows of a class are placed on a circle
    of K samples; a row is left out of m neighbouring samples, and the samples after
    these get its copies first. The circle of the other class visits every second
    sample, so that most pairs are left out together.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
    K : int
        At least 2.

    Returns
    -------
    ndarray of int of shape (K, n)
        Rows of each class sum to its size. A class of one row is never left out.
    """
    # place i K/n on a circle of K samples, in random order
    rng = np.random.default_rng(SEED)
    counts = np.zeros((K, len(positive)), dtype=np.int64)
    circle = np.arange(K)
    every_second = np.r_[circle[::2], circle[1::2]]
    for mask, samples in ((~positive, circle), (positive, every_second)):
        rows = rng.permutation(np.flatnonzero(mask))
        start = np.arange(len(rows)) * K // len(rows)
        for place, sample in enumerate(samples):
            counts[sample, rows] = _copies((place - start) % K, K)
    return counts


def _copies(since, K):
    """Copies of rows, by the number of samples since the first one left them out."""
    # left out of m = round(K/e) samples, then first in line for copies
    n = len(since)
    kept = np.flatnonzero((since >= max(round(K / np.e), 1)) | (n == 1))
    kept = kept[np.argsort(since[kept], kind="stable")]
    counts = np.zeros(n, dtype=np.int64)
    counts[kept] = n // len(kept)
    counts[kept[: n % len(kept)]] += 1
    return counts


def bootstrap_counts(stratum, K, rng):
    """Number of copies of each row in K stratified bootstrap samples, (K, n).

    The counts of a stratum sum to its size. Every sample leaves out at least one row of
    each stratum of two rows or more.
    """
    counts = np.zeros((K, len(stratum)), dtype=np.int64)
    for kind in np.unique(stratum):
        rows = np.flatnonzero(stratum == kind)
        n = len(rows)
        share = np.full(n, 1 / n)
        drawn = rng.multinomial(n, share, size=K)
        while n > 1 and (whole := np.all(drawn > 0, axis=1)).any():
            drawn[whole] = rng.multinomial(n, share, size=whole.sum())
        counts[:, rows] = drawn
    return counts


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


def plus_632(resubstitution_auc, out_of_bag_auc) -> float:
    """``(1 − w) A + w A_out`` with ``w = .632/(1 − .368 R)``.

    R is the relative overfitting ``(A − A_out)/(A − ½)`` in [0, 1], with ½ for no
    information. For a resubstitution AUC below ½ the estimate is that of the mirrored
    model, mirrored.
    """
    inside, outside = resubstitution_auc, out_of_bag_auc
    if inside < 0.5:
        return 1 - plus_632(1 - inside, 1 - outside)
    R = min(max((inside - outside) / max(inside - 0.5, 1e-300), 0.0), 1.0)
    w = INSIDE / (1 - (1 - INSIDE) * R)
    return float((1 - w) * inside + w * outside)


def model_variance(auc, rows) -> float:
    """Hanley & McNeil's variance with n/2 rows per class, positive even for A = 1.

    It is taken at ``(nA + ½)/(n + 1)``, the posterior mean under Jeffreys's prior.
    """
    n_neg, n_pos = max(rows.n_neg, 1.0), max(rows.n_pos, 1.0)
    expected = shrunk_auc(auc, n_neg + n_pos)
    return float(balanced_variance(expected, n_neg, n_pos))
