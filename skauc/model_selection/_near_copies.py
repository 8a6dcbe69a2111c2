"""Rows that have near copies of themselves among the others.

Rows that were oversampled before the fit (repeated, or between two others, as SMOTE
makes them), augmented, merged twice or measured on the same person are not left out as
long as their copies stay: everything here takes them for independent rows. On noise,
20 features, some 20 of 200 rows positive and copied until the classes are even, the AUC
is said to be .73, by SMOTE .78, of 100 features .96.

Equal rows are copies unless features of few values make them: then rows that are equal
in half of the features alone are as many.

Of independent rows the nearest one is hardly nearer than the next ones: where the
density of D dimensions is even, ``D log(d_{k+1}/d_k)`` of the distances is exponential
with mean 1/k (Facco et al. 2017, https://doi.org/10.1038/s41598-017-11873-y). So
``D log(d_h/d_1)`` is the largest of h − 1 exponentials, beyond ``log(h/.001)`` in one
row of a thousand, with D from its neighbours farther away, ``Σ_{k≥h} 1/k`` over
``log(d_K/d_h)``.

No row of continuous features lies on the line between two others. Copies have the label
of their original.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..statistics._numerics import TINY

_ROWS, _AMONG = 100, 2000  # whose neighbours are looked for, and among how many
_MOST = 2 * _AMONG  # rows, of more of which most copies are not among these
_FEATURES, _AXES = 64, 32  # beyond, random projections keep distances to an eighth
_TOGETHER = 8  # axes
_STEP = 37  # a median of so many fewer distances will do
_NEIGHBOURS = 40  # K, h half of it
_ENDS = 20  # nearest ones, of which two may be those a row lies between
_SELDOM = 1e-3
# Shares of 200 × 20 and 200 × 100, copied as above, doubled, drawn with replacement,
# with noise of .05: .44 to 1; ten rows a person, .3 around a mean, .35 to .7; of
# SMOTE's rows, between others, .28 to .48. Of 40, 100, 400 and all rows of 22 real sets
# 0, but .62 of internet_ads, whose rows repeat. A fifth of all that are asked are few.
_FEW, _MANY = 20, 0.4
_SAME_LABEL = 0.97  # of near rows in real sets .68 to .96, and 1
_CHANCE = 1e-3  # that so many labels agree
_TIED = 1e-12  # of squares of distances: rounding
_ON_LINE = 1e-6  # of its length: rounding of float32
_PARTS = 12  # features of few values lie at halves, thirds, … of each other
_SPLITS = 3  # halves of the features
_DISTINCT = 6  # rows, fewer of which are no originals


def share_of_copies(Z, positive, weight=None) -> float:
    """Share of rows with a near copy of the same label; 0 if they are not many.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Rows of weight 0 are not there.

    Returns
    -------
    float
    """
    rng = np.random.default_rng(0)
    counted = np.arange(len(positive)) if weight is None else np.flatnonzero(weight)
    if len(counted) > _MOST:
        return 0.0
    if len(counted) > _AMONG:
        counted = np.sort(rng.choice(counted, _AMONG, replace=False))
    if len(counted) < 2 * _FEW:
        return 0.0
    Z, positive = _in_units(Z[counted]), positive[counted]
    if Z.shape[1] < 2:
        return 0.0
    asked = rng.permutation(len(counted))[:_ROWS]
    U = _projected(Z, rng)
    square = _squares_of_distances(U, asked)
    near, equal, nearer = _neighbours(square)
    if equal.any() and _of_few_values(Z, asked, square, rng):
        equal[:] = False
    exact = equal | _between_two(U, asked, near)
    same = positive[near] == positive[asked, None]
    # Others agree as well where nearly all rows have one label, or are told apart.
    alike = same[:, same.shape[1] // 2 :].mean()
    many = max(_FEW, _MANY * len(asked))
    for copied, least in ((exact, _FEW), (exact | nearer, many)):
        k = np.count_nonzero(copied)
        if k < least or alike**k > _CHANCE:
            continue
        if same[copied, 0].mean() >= _SAME_LABEL:
            return k / len(asked)
    return 0.0


def _neighbours(square):
    """Nearest neighbours, and whether the first is equal, or far nearer than others.

    Arrays of shapes (m, K), (m,) and (m,).
    """
    K = min(_NEIGHBOURS, square.shape[1] // 4)
    h = K // 2
    near = np.argpartition(square, K, axis=1)[:, :K]
    order = np.argsort(np.take_along_axis(square, near, 1), axis=1)
    near = np.take_along_axis(near, order, 1)
    d, tied = np.take_along_axis(square, near, 1), _tied(square)
    # of squares: both sides are twice as large
    log_d, equal = np.log(np.maximum(d, tied)), d[:, 0] <= tied
    gap = log_d[:, -1] - log_d[:, h - 1]
    # D log(d_h/d_1) > log(h/.001), D = Σ 1/k over log(d_K/d_h), k = h, …, K − 1
    first = np.sum(1 / np.arange(h, K)) * (log_d[:, h - 1] - log_d[:, 0])
    nearer = (gap > 0) & (first > np.log(h / _SELDOM) * gap)
    return near, equal, nearer & ~equal


def _of_few_values(Z, asked, square, rng):
    """Whether pairs of rows are equal in half of the features as often as in all."""
    equal = square <= _tied(square)
    pairs = np.count_nonzero(equal)
    if pairs > equal.shape[1] * np.count_nonzero(equal.any(axis=1)) / _DISTINCT:
        return True
    first = np.arange(Z.shape[1]) % 2 == 0
    for _ in range(_SPLITS):
        rng.shuffle(first)
        alone = 0
        for half in (np.flatnonzero(first), np.flatnonzero(~first)):
            part = _squares_of_distances(_projected(Z[:, half], rng), asked)
            alone += np.count_nonzero((part <= _tied(part)) & ~equal)
        if alone >= pairs:
            return True
    return False


def _between_two(U, asked, near):
    """Whether a row lies on the line between two of its neighbours."""
    near = near[:, :_ENDS]
    V = U[near] - U[asked, None]
    length = np.linalg.norm(V, axis=2)
    length[length == 0] = 1.0  # an equal one is at no end
    cosine = V @ V.transpose(0, 2, 1) / (length[:, :, None] * length[:, None])
    m, K = near.shape
    a, b = np.divmod(np.argmin(cosine.reshape(m, -1), axis=1), K)
    start, end = (V[np.arange(m), of] for of in (a, b))
    line = end - start
    size = np.maximum(np.einsum("ij,ij->i", line, line), TINY)
    t = -np.einsum("ij,ij->i", start, line) / size
    # where the line passes the row
    off = np.linalg.norm(start + t[:, None] * line, axis=1)
    parts = np.arange(1, _PARTS + 1)[:, None] * t
    simple = np.any(np.abs(parts - np.rint(parts)) < _ON_LINE, axis=0)
    return (off < _ON_LINE * np.sqrt(size)) & ~simple


def _in_units(Z):
    """Features over their standard deviations; of few, equal ones once."""
    if sparse.issparse(Z):
        Z = sparse.csr_array(Z).astype(float)
        Z.sum_duplicates()
        largest = np.zeros(Z.shape[1])
        np.maximum.at(largest, Z.indices, np.abs(Z.data))
    else:
        Z = np.asarray(Z).astype(float)
        largest = np.abs(Z).max(axis=0)
    Z = _times(Z, 1 / np.where(largest > 0, largest, 1.0))  # no square overflows
    mean = np.asarray(Z.mean(axis=0)).ravel()
    if sparse.issparse(Z):
        square = np.bincount(Z.indices, Z.data**2, Z.shape[1])
        variance = square / Z.shape[0] - mean**2
    else:
        Z -= mean
        variance = np.mean(Z**2, axis=0)
    some = np.flatnonzero(variance > _TIED)
    Z = _times(Z[:, some], 1 / np.sqrt(variance[some]))
    if len(some) > _FEATURES:
        return Z
    Z = Z.toarray() if sparse.issparse(Z) else Z
    Z -= Z.mean(axis=0)
    again = np.triu(np.abs(Z.T @ Z) / len(Z) > 1 - _TIED, 1).any(axis=0)
    return Z[:, ~again]


def _times(Z, unit):
    if not sparse.issparse(Z):
        return Z * unit
    entries = Z.data * unit.take(Z.indices)
    return sparse.csr_array((entries, Z.indices, Z.indptr), shape=Z.shape)


def _projected(Z, rng):
    """Few coordinates of the rows, less their mean."""
    if Z.shape[1] > _FEATURES:
        # some at a time: of texts their features are many more numbers than the rows
        shape = Z.shape[1], _TOGETHER
        Z = np.hstack([Z @ _axes(rng, shape) for _ in range(_AXES // _TOGETHER)])
    U = Z.toarray() if sparse.issparse(Z) else Z
    return U - U.mean(axis=0)


def _axes(rng, shape):
    """Even numbers around 0, which are sooner drawn than normal ones."""
    axes = rng.random(shape)
    axes -= 0.5
    return axes


def _squares_of_distances(U, asked):
    """From some rows to all, (m, n); to itself as if it were far."""
    size = np.einsum("ij,ij->i", U, U)
    square = U[asked] @ U.T
    square *= -2
    square += size[asked, None] + size
    square[np.arange(len(asked)), asked] = np.inf
    return square


def _tied(square):
    """Square of a distance up to which rows are equal."""
    some = square.ravel()[::_STEP]
    some = some[np.isfinite(some)]
    apart = some[some > _TIED * some.mean()]
    return _TIED * (np.median(apart) if len(apart) else 1.0)
