"""Constants and helpers of several folders: range of numbers, blocks of rows."""

import numpy as np
from scipy import linalg, sparse

RANGE = 1e-70, 1e70  # sizes of features, scores and weights: fourth powers are numbers
# size of copied and multiplied rows: they stay in the level-2 cache of a core
BLOCK_BYTES = 2**20
# size of rows that are read at once: the overhead of a block is 5 %
READ_BYTES = 2**24
TINY = np.finfo(float).tiny
# Rounding moves the eigenvalues of a scatter matrix by less than this share of the
# largest one; smaller eigenvalues are directions in which the rows do not vary.
RANK = 1e-10


def block_rows(n_columns, size=BLOCK_BYTES, *, least=1) -> int:
    """Rows of a float64 block of so many bytes, at least ``least``."""
    return max(size // (8 * max(n_columns, 1)), least)


def dense(X) -> np.ndarray:
    """Rows as an ndarray."""
    return X.toarray() if sparse.issparse(X) else X


def positive_eigen(A, rank=RANK):
    """Eigenvalues of a symmetric matrix beyond rounding, with their eigenvectors.

    The matrix is overwritten.
    """
    values, vectors = linalg.eigh(A, overwrite_a=True, check_finite=False)
    first = np.count_nonzero(values <= max(rank * values[-1], TINY))
    return values[first:], vectors[:, first:]


def parts_of(count: int, step: int):
    """Slices of ``step`` elements each that cover ``count`` elements."""
    return (slice(start, start + step) for start in range(0, count, step))
