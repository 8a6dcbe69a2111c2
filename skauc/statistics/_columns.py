"""Columns of numbers, one a row: arrays, or such as stay where their rows are."""

from __future__ import annotations

from functools import partial

import numpy as np

from ._block_column import BlockColumn, on_values
from ._block_matrix import BlockMatrix, places_of

_FEW_ZEROS = 0.75  # of a column's numbers: with more the others alone stand for it


def dot_products(*pairs) -> np.ndarray:
    """``a @ b`` of each pair of columns; of such that stay in one pass."""
    if not any(isinstance(column, BlockColumn) for pair in pairs for column in pair):
        return np.array([a @ b for a, b in pairs])
    # aᵀb = Σ_rows a·b, of all pairs in one pass
    first, *more = (a * b for a, b in pairs)
    return first.beside(*more).total(partial(np.sum, axis=0))


def class_sums(positive, weight=None) -> np.ndarray:
    """Rows of the negative and the positive class, or the sums of their weights."""
    if weight is None:
        n_pos = np.count_nonzero(positive)
        return np.array([len(positive) - n_pos, n_pos])
    if isinstance(weight, BlockColumn) and isinstance(positive, BlockColumn):
        return weight.by_class(positive)
    return np.array([weight @ mask for mask in (~positive, positive)])


def content(column) -> bytes:
    """What tells a column from others of its length: its bytes, or 16 a block."""
    if isinstance(column, BlockColumn):
        return column.content
    if column.dtype == bool:
        return np.packbits(column).tobytes()
    if column.dtype.kind == "f":
        # Of many zeros, as of text, where the others lie and these: a digest of fewer
        # bytes is sooner made, and a column that is written out has more
        some = column != 0
        if np.count_nonzero(some) < _FEW_ZEROS * column.size:
            where = np.flatnonzero(some)
            return np.packbits(some).tobytes() + column.ravel()[where].tobytes()
    return np.ascontiguousarray(column).tobytes()


def row_slope(column) -> float:
    """``Σ_i (2i − n + 1) x_i`` over the numbers i of the rows, from 0."""
    if isinstance(column, BlockColumn):
        return column.slope
    n = len(column)
    return 2 * (np.arange(n, dtype=float) @ column) - (n - 1) * column.sum()


def n_given(column) -> int:
    """Rows of a column, with those that were left out because they weigh nothing."""
    is_column = isinstance(column, BlockColumn)
    blocks = column.rows.blocks if is_column else None
    return len(column) + getattr(blocks, "n_left_out", 0)


def classes_given(positive) -> np.ndarray:
    """Rows of both classes, with those that were left out, of shape (2,)."""
    n = n_given(positive)
    if n == len(positive):
        return class_sums(positive)
    blocks = positive.rows.blocks
    asked = blocks.feature_names, positive.node, np.count_nonzero
    n_pos = blocks.blocks.total(on_values, *asked)
    return np.array([n - n_pos, n_pos])


def columns_at(rows, *columns):
    """Some rows of several columns; of such that stay in one pass."""
    if not all(isinstance(column, BlockColumn) for column in columns):
        return [column[rows] for column in columns]
    first, *more = columns
    found = first.beside(*more)[rows].T
    return [part.astype(c.dtype) for part, c in zip(found, columns, strict=True)]


def made_beside(X, column, rows):
    """Some rows of features, and of a column of one or more; of blocks in one pass."""
    if isinstance(X, BlockMatrix) and isinstance(column, BlockColumn):
        return X.made_beside(column, places_of(rows, len(X)))
    return X[rows], column[rows]
