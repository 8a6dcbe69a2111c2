"""Rows that are there more than once, as by oversampling or counted by weights.

A row left out has trained the model all the same if a copy of it stays, so that neither
the model of the data set nor folds are honest. Equal rows are ordinary where features
have few values; they are copies if most features that tell the different rows apart
have so many places that hardly two rows share all by chance, and no two equal ones
differ in their label. What else has copies, or nearly, :mod:`._near_copies` tells.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..statistics._block_matrix import BlockMatrix
from ..statistics._numerics import block_rows, even_places, parts_of
from ._near_copies import share_of_copies

_LEAST_SHARE = 0.05  # of the rows: fewer copies move an AUC by less than its error
_LEAST_ROWS = 20  # different ones: of fewer a feature tells all apart by chance
_APART = 0.9  # share of values of a feature that no other of the rows has
_ASKED = 1000  # rows whose values are looked at
_COLUMNS = 64  # features at a time
_CHANCE = 10  # times as many copies as chance makes
_ROUNDING = 1e-12  # of the largest: one product may add up in two orders


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
    if isinstance(Z, BlockMatrix):
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
    if weight is not None and not weight.all():
        some = weight > 0
        Z, positive, weight = Z[some], positive[some], weight[some]
    size = np.abs(Z[even_places(len(Z), _ASKED)]).max(axis=0)
    first, group = _distinct(Z, size)
    of_each = np.maximum(np.bincount(group, weight) - 1, 0)
    n_copies, n = float(of_each.sum()), len(Z) if weight is None else weight.sum()
    if n_copies < _LEAST_SHARE * n or len(first) < _LEAST_ROWS:
        return 0.0
    # one row that is there so often is what stands for a missing one
    if of_each.max() > n_copies / 2:
        return 0.0
    n_pos = np.bincount(group, positive)
    of_one_class = (n_pos == 0) | (n_pos == np.bincount(group))
    if not of_one_class.all() or not _tell_apart(Z, first, n_copies):
        return 0.0
    same = (
        np.abs(Z[part] - Z[first[group[part]]]) <= _ROUNDING * size
        for part in parts_of(len(Z), block_rows(Z.shape[1]))
    )
    return n_copies if all(part.all() for part in same) else 0.0


def _distinct(Z, size):
    """One row of each kind, and which of them each row is."""
    # Different rows share x'q, q normal, with probability 0
    q = np.random.default_rng(20190915).standard_normal(Z.shape[1])
    with np.errstate(all="ignore"):
        key = Z @ (q / np.where(size > 0, size, 1.0))
    if not np.isfinite(key).all():
        return np.arange(len(Z)), np.arange(len(Z))
    order = np.argsort(key)
    step = np.diff(key[order], prepend=-np.inf) > _ROUNDING * np.abs(key).max()
    group = np.empty(len(Z), dtype=int)
    group[order] = np.cumsum(step) - 1
    return order[step], group


def _tell_apart(Z, first, n_copies):
    """Whether most features in which rows differ make no row equal by chance.

    Of m rows at k places ``m²/2k`` pairs are.
    """
    m = len(first)
    some = first[even_places(m, _ASKED)]
    differ = fine = 0
    for part in parts_of(Z.shape[1], _COLUMNS):
        values = np.sort(Z[some, part], axis=0)
        with np.errstate(all="ignore"):
            steps = np.diff(values, axis=0)
            least = np.min(steps, axis=0, where=steps > 0, initial=np.inf)
            places = (values[-1] - values[0]) / least
        apart = 1 + np.count_nonzero(steps, axis=0) > _APART * len(some)
        differ += np.count_nonzero(apart)
        fine += np.count_nonzero(apart & (2 * places * n_copies > _CHANCE * m**2))
    return 2 * fine > differ
