"""Shared numerics: centred Gram matrices, which eigenvalues are rounding, blocks.

The Gram matrix of rows r_i less a centre m of their group,

    K_ij = (r_i − m_{g(i)})ᵀ(r_j − m_{g(j)})
         = r_iᵀr_j − r_iᵀm_{g(j)} − m_{g(i)}ᵀr_j + m_{g(i)}ᵀm_{g(j)},

has two ways. Dense rows are centred first: far from the origin the products of raw
rows have no digits left. Sparse rows stay sparse and the second line is computed; it
loses what the raw products round, and an eigenvalue below that is none.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

BLOCK_BYTES = 2**21  # 2 MiB, a core's level-2 cache: rows are copied and multiplied so
# Rounding of a Gram or scatter matrix moves its eigenvalues by about
# n·eps·(largest one), 1e-13 to 1e-11 for n = 10³ to 10⁵; what is not ten times that
# is a direction in which the rows do not vary.
RANK = 1e-10
TINY = np.finfo(float).tiny
# Features from which on single precision is asked for an eigenproblem: half the time.
# The least eigenvalue beside the largest of which it keeps two of its seven digits, and
# steps that come near the largest. Posterior means and deviations in single precision
# less those in double, over the deviation: largest 3e-7 for eigenvalues of up to three
# decades, 6e-4 of up to four and a half (normal, t(3), counts; AR(.9), 30 factors,
# near copies of features; 1500 × 500 and 1200 × 800, logistic, C from 1e-4 to 100),
# and .01 where a solver that stopped early is taken on by other steps.
SINGLE_FEATURES, EVEN, _STEPS = 400, 1e-5, 8
_LEAST_32 = 1e-15  # single precision holds squares of sums of such numbers
_SCALED_BACK = 1e-9  # relative: rounding of a count that was scaled


def log_sum_exp(x) -> float:
    """``log Σ e^x`` of an array, of which one number at least is finite."""
    largest = np.max(x)
    return float(largest + np.log(np.exp(x - largest).sum()))


def block_rows(n_columns: int, *, least: int = 1) -> int:
    """Rows of a float64 block of ``BLOCK_BYTES``, at least ``least``."""
    return max(BLOCK_BYTES // (8 * max(n_columns, 1)), least)


def rows_read_at_once(n_columns: int) -> int:
    """Rows of a block that is read: what it costs beside its rows is 5 %."""
    return 8 * block_rows(n_columns)


def parts_of(count: int, step: int):
    """Slices of so many, ``step`` at a time."""
    return (slice(start, start + step) for start in range(0, count, step))


def even_places(count: int, most: int) -> np.ndarray:
    """Numbers of at most so many of ``count`` rows or columns, evenly, both ends in."""
    return np.linspace(0, count - 1, min(count, most)).astype(int)


def eigenvalue_cutoff(values, *, rounding: float = 0.0, share: float = RANK) -> float:
    """What an eigenvalue of a Gram or scatter matrix must exceed to count.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, in any order.
    rounding : float, default=0.0
        What the matrix has lost before (see :func:`centred_gram`).
    share : float, default=RANK
        Of the largest eigenvalue.

    Returns
    -------
    float
        Positive, so that a matrix of zeros has rank 0.
    """
    return max(share * np.max(values, initial=0.0), rounding, TINY)


def eigenvectors(matrix):
    """Eigenvalues, ascending, and vectors of a symmetric matrix (overwritten)."""
    # "evd" takes a sixth less time than "evr", but fails of one number with scipy
    # before 1.14; the transpose has the order of columns that LAPACK wants
    driver = "evd" if len(matrix) > 1 else "evr"
    return linalg.eigh(matrix.T, driver=driver, overwrite_a=True)


def is_even(matrix):
    """Whether single precision tells all eigenvalues of a symmetric matrix.

    Not of a small one, which costs little; nor where the least is too small beside the
    largest: then the matrix less so much of the largest has no Cholesky factor.
    """
    unit = np.trace(matrix) / max(len(matrix), 1)
    if len(matrix) < SINGLE_FEATURES or not _LEAST_32 < unit < 1 / _LEAST_32:
        return False
    less = matrix.astype(np.float32)
    less.flat[:: len(less) + 1] -= np.float32(EVEN * largest_eigenvalue(less))
    _, failed = linalg.lapack.spotrf(less.T, lower=1, overwrite_a=1, clean=0)
    return not failed


def largest_eigenvalue(matrix):
    """Of a positive semidefinite matrix; a few steps come near it from below."""
    x = matrix[np.argmax(np.diag(matrix))]
    for _ in range(_STEPS):
        x = matrix @ (x / linalg.norm(x, check_finite=False))
    return float(linalg.norm(x, check_finite=False))


def centred_gram(X, centre=None, group=None, *, root=None, scale=None):
    """``RRᵀ`` of ``R = root·(X − centre[group])·scale``, and what it may have lost.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
        Sparse rows are never made dense.
    centre : ndarray of shape (P,) or (G, P), default=None
        Centre of all rows, or one a group; None is the origin.
    group : ndarray of shape (n,), default=None
        Group of each row, bool or int; needed for G centres.
    root : ndarray of shape (n,), default=None
        Factors of the rows: square roots of their weights.
    scale : ndarray of shape (P,), default=None
        Factors of the columns.

    Returns
    -------
    gram : ndarray of shape (n, n)
    rounding : float
        Largest eigenvalue that rounding of the raw products can make; 0 for dense X,
        whose rounding is relative to the eigenvalues themselves.
    """
    n = X.shape[0]
    centre = None if centre is None else np.atleast_2d(centre)
    group = np.zeros(n, dtype=int) if group is None else np.asarray(group, dtype=int)
    if not sparse.issparse(X):
        # Far from the origin only products of centred rows have digits
        R = X
        if centre is not None:
            R = X - (centre if len(centre) == 1 else centre[group])
        for factor in (scale, None if root is None else root[:, None]):
            if factor is not None:
                R = np.multiply(R, factor, out=None if R is X else R)
        return R @ R.T, 0.0
    rows = X.tocsr() if scale is None else X.multiply(scale).tocsr()
    if centre is not None:
        centre = centre if scale is None else centre * scale
        rows, centre = _nearer_to_origin(rows, centre)
    gram = (rows @ rows.T).toarray().astype(float, copy=False)
    weight = 1.0 if root is None else root**2
    # tr(RRᵀ) bounds its largest eigenvalue, each product rounds by eps of itself
    rounding = np.finfo(float).eps * float(np.sum(np.diag(gram) * weight))
    if centre is not None:
        # half of mᵀm belongs to each of the two products that are taken off
        cross = rows @ centre.T - (centre @ centre.T)[group] / 2
        gram -= cross[:, group]
        gram -= cross[:, group].T
    if root is not None:
        gram *= root
        gram *= root[:, None]
    return gram, rounding


def are_whole(weight):
    """Which weights are counts but for rounding; ufuncs, for columns in blocks, too."""
    return np.abs(weight - np.rint(weight)) <= _SCALED_BACK * weight


def canonical(rows):
    """Sparse rows with one entry a place: a copy where there are several."""
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _nearer_to_origin(rows, centre):
    """Rows and centre less one point, whose coordinates are 0 where a row has none."""
    rows = canonical(rows)
    full = np.bincount(rows.indices, minlength=rows.shape[1]) == rows.shape[0]
    if not full.any():
        return rows, centre
    # a feature with entries in all rows stays as sparse; others have rows at the origin
    point = np.where(full, centre.mean(axis=0), 0.0)
    near = rows.astype(float)  # a copy
    near.data -= point[near.indices]
    return near, centre - point
