"""Repeated stratified folds, in the form of the samples of ``_bootstrap``."""

import numpy as np

from ._bootstrap import SEED, canonical_order

FOLDS = 5  # of one repeat: a fit then has four fifths of the rows


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
