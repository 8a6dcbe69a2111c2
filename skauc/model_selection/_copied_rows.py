"""Rows that are there more than once, as by oversampling or counted by weights.

A row left out has trained the model all the same if a copy of it stays, so that neither
the model of the data set nor folds are honest. Equal rows are ordinary where features
have few values; they are copies if the different rows hardly ever share the value of
some feature, and no two of them differ in their label.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..statistics._block_matrix import BlockMatrix
from ._near_copies import share_of_copies

_LEAST_SHARE = 0.05  # of the rows: fewer copies move an AUC by less than its error
_LEAST_ROWS = 20  # different ones: of fewer a feature tells all apart by chance
_APART = 0.9  # share of values of a feature that no other of the rows has
_ASKED = 1000  # different rows whose values are counted
_COLUMNS = 64  # features at a time
_ROUNDING = 1e-12  # of the keys: one product may add up in two orders


def copies(Z, positive, weight=None) -> tuple[float, float]:
    """Copies, and if there are none, the share of rows with near copies.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P), or rows in blocks, not looked at
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None

    Returns
    -------
    n_copies, share_of_near_copies : float
    """
    if isinstance(Z, BlockMatrix) or Z.shape[1] == 1:
        return 0.0, 0.0
    n_copies = n_copied(Z, positive, weight)
    return n_copies, 0.0 if n_copies else share_of_copies(Z, positive, weight)


def n_copied(Z, positive, weight=None) -> float:
    """How many rows are copies of others; 0 where equal rows are ordinary.

    Parameters
    ----------
    Z : ndarray of shape (n, P), or sparse matrix, of which nothing is known
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Counts of rows: of a row that counts 3, two are copies.

    Returns
    -------
    float
    """
    if sparse.issparse(Z) or Z.shape[1] == 1:
        return 0.0
    if weight is not None:
        some = weight > 0
        Z, positive, weight = Z[some], positive[some], weight[some]
    first, group = _distinct(Z)
    n_copies = float(np.maximum(np.bincount(group, weight) - 1, 0).sum())
    n = len(Z) if weight is None else weight.sum()
    if n_copies < _LEAST_SHARE * n or len(first) < _LEAST_ROWS:
        return 0.0
    n_pos = np.bincount(group, positive)
    of_one_class = (n_pos == 0) | (n_pos == np.bincount(group))
    if not of_one_class.all() or not _tell_apart(Z, first):
        return 0.0
    return n_copies if np.array_equal(Z, Z[first[group]]) else 0.0


def _distinct(Z):
    """One row of each kind, and which of them each row is."""
    # Different rows share x'q, q normal, with probability 0
    q = np.random.default_rng(20190915).standard_normal(Z.shape[1])
    with np.errstate(all="ignore"):
        key = Z @ q
    order = np.argsort(key)
    step = np.diff(key[order], prepend=-np.inf) > _ROUNDING * np.abs(key).max()
    group = np.empty(len(Z), dtype=int)
    group[order] = np.cumsum(step) - 1
    return order[step], group


def _tell_apart(Z, first):
    """Whether the different rows hardly ever share the value of some feature."""
    some = first[np.linspace(0, len(first) - 1, min(len(first), _ASKED)).astype(int)]
    for start in range(0, Z.shape[1], _COLUMNS):
        values = np.sort(Z[some, start : start + _COLUMNS], axis=0)
        n_values = 1 + np.count_nonzero(np.diff(values, axis=0), axis=0)
        if (n_values > _APART * len(some)).any():
            return True
    return False
