"""Samples and folds of rows for refits, and the .632+ estimate of an AUC."""

import numpy as np

from ..statistics._row_blocks import block_rows, dense, parts_of

SEED = 632  # one seed, so that all candidates of a search share their samples
FOLDS = 5  # of one repeat: a fit then has four fifths of the rows
INSIDE = 0.632  # 1 − 1/e: share of distinct rows in a bootstrap sample
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
    mean, unit, sides = rows.spread[0], rows.standard_unit, rows.class_contrast
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


def repeated_folds(rows, strata, K):
    """Whether each row trains each of K fits, (K, n).

    The K fits are as many repeats of five folds as fit into them, or one repeat; a
    repeat leaves out every row once. A class with fewer rows than folds is missing in
    some of them. Neither the order of the rows nor the names of the classes matter.

    Parameters
    ----------
    rows : Rows
    strata : ndarray of shape (n,)
        Class of each row; there may be more than two.
    K : int
        At least 2.
    """

    def compute():
        order, _ = canonical_order(rows)
        rank = np.argsort(order)
        labels = sorted(np.unique(strata), key=lambda k: rank[strata == k].mean())
        rng = np.random.default_rng(SEED)
        trains = np.ones((K, len(order)), dtype=bool)
        for folds in np.array_split(np.arange(K), max(K // FOLDS, 1)):
            start = 0
            for label in labels:
                mine = rng.permutation(order[strata[order] == label])
                # classes begin where the last one ended, so that folds are of one size
                place = (start + np.arange(len(mine))) % len(folds)
                trains[folds[place], mine] = False
                start += len(mine)
        return trains

    return rows.cached(("folds", K, strata.tobytes()), compute)
