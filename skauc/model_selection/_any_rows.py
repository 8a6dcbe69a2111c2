"""Rows and columns of whatever scikit-learn takes: arrays, sparse, frames, lists."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from ..statistics._block_matrix import BlockMatrix


def n_rows(X) -> int:
    """Number of rows; a TypeError where there are none to count."""
    if hasattr(X, "shape"):
        return X.shape[0]
    if not hasattr(X, "__len__"):
        raise TypeError(f"X must be an array of rows, got {X!r}")
    return len(X)


def take_rows(X, rows):
    """Rows by number, of the same kind as X."""
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "shape"):  # arrays and polars
        return X[rows]
    return [X[row] for row in rows]


def has_columns(X) -> bool:
    """Whether rows are made of columns; texts, mappings and images are not."""
    if hasattr(X, "shape"):
        return len(X.shape) == 2
    row = X[0]
    if isinstance(row, str | bytes | Mapping) or not hasattr(row, "__len__"):
        return False
    return getattr(row, "ndim", 1) == 1


def n_columns(X) -> int:
    """Number of columns; what has none is one column of whatever it is."""
    if not has_columns(X):
        return 1
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


def take_columns(X, columns):
    """Columns by number; of lists, an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if sparse.issparse(X):
        return X.tocsc()[:, columns]
    return (X if hasattr(X, "shape") else np.asarray(X))[:, columns]


def same_rows(A, B) -> bool:
    """Whether two matrices of numbers are equal; at once where they are one object."""
    if A is B:
        return True
    if A.shape != B.shape or sparse.issparse(A) != sparse.issparse(B):
        return False
    if sparse.issparse(A):
        return (A != B).nnz == 0
    return np.array_equal(A, B)


def numeric(X):
    """Numbers as an array or as CSR; a frame of several kinds becomes floats."""
    if isinstance(X, BlockMatrix):
        return X
    if sparse.issparse(X):
        return X.tocsr()
    X = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    return X.astype(float) if X.dtype == object else X


def transformed(step, X):
    """Rows behind a fitted transformer; of blocks, block by block."""
    return X.behind(step) if isinstance(X, BlockMatrix) else step.transform(X)


def dense(X) -> np.ndarray:
    """Numbers as an array."""
    X = numeric(X)
    return X.toarray() if sparse.issparse(X) else X


def column_positions(columns, names, width) -> list[int]:
    """Positions of the columns that a fitted ColumnTransformer names.

    Parameters
    ----------
    columns : slice, int, str, or array-like of int, str or bool
    names : sequence of str or None
    width : int
    """
    if isinstance(columns, slice) and all(
        not isinstance(end, str) for end in (columns.start, columns.stop)
    ):
        return list(range(width))[columns]
    labels = list(range(width)) if names is None else list(names)
    if isinstance(columns, slice):
        start = labels.index(columns.start) if columns.start is not None else 0
        stop = labels.index(columns.stop) + 1 if columns.stop is not None else width
        return list(range(start, stop))
    wanted = np.atleast_1d(np.asarray(columns, dtype=object)).tolist()
    if wanted and all(isinstance(c, bool | np.bool_) for c in wanted):
        return np.flatnonzero(wanted).tolist()
    return [labels.index(c) if isinstance(c, str) else int(c) for c in wanted]
