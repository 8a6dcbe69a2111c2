"""One block of rows: clean arrays, and how results of blocks add up."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from ._checks import as_numbers, one_a_row, refuse_mask


@dataclass(frozen=True, eq=False)
class Block:
    """A block of rows.

    Parameters
    ----------
    number : int
        Number of the block, from 0.
    X : ndarray of shape (m, P) or (m,), or CSR matrix of shape (m, P)
        Numbers, finite or not.
    y : ndarray of shape (m,) or None
    weight : ndarray of shape (m,) or None
    """

    number: int
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None

    def __len__(self):
        return self.X.shape[0]


def as_block(number, X, y, weight=None, *, n_features, called, names=None) -> Block:
    """Clean arrays of one block.

    Parameters
    ----------
    number : int
    X, y, weight : array-like
    n_features : tuple or None
        ``X.shape[1:]`` of the other blocks, if it is known.
    called : (str, str)
        Names of X and y in an error.
    names : list, default=None
        Columns of the other blocks, if they are frames.

    Raises
    ------
    ValueError
        If X holds no numbers, has another width or other columns, or lengths differ;
        the chunk is named.
    """
    try:
        check_columns(called[0], columns_of(X), names, "the other chunks")
        X = _features(called[0], X, n_features)
        y = _column(called[1], y, X.shape[0])
        weight = _column("sample_weight", weight, X.shape[0])
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {number}") from None
    return Block(number, X, y, weight)


def _features(name, X, n_features):
    """Check real numbers in one or two dimensions, as wide as the other blocks."""
    X = as_rows(name, X)
    if X.dtype.kind == "O":
        X = as_numbers(name, X)
    if X.dtype.kind not in "biuf" or X.ndim > 2:
        raise ValueError(
            f"{name} must hold real numbers in one or two dimensions, got dtype "
            f"{X.dtype} and shape {X.shape}"
        )
    if n_features is not None and X.shape[0] and X.shape[1:] != n_features:
        raise ValueError(
            f"{name} must have {', '.join(map(str, n_features)) or 'no'} columns "
            f"as the other chunks, got shape {X.shape}"
        )
    return X


def _column(name, column, n_rows):
    """Check labels or weights, one per row."""
    return None if column is None else one_a_row(name, as_rows(name, column), n_rows)


def as_rows(name, value):
    """Convert to a container whose slices ``[a:b]`` are cheap."""
    if sparse.issparse(value):
        return value.tocsr()
    refuse_mask(name, value)
    try:
        array = np.asanyarray(value)
    except ValueError:  # lists of several lengths
        array = np.empty(())
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array of rows, got {value!r:.60}")
    return array


def columns_of(X):
    """The columns of a data frame; None for anything else."""
    return list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else None


def check_columns(name, columns, expected, source):
    """Raise if columns are not those of the source; None for columns without names."""
    if columns is None or expected is None or len(columns) != len(expected):
        return  # the check of the width reports another number of columns
    for own, other in zip(columns, expected, strict=True):
        if own != other:
            raise ValueError(
                f"{name} must have the columns of {source} in their order, got {own!r} "
                f"in place of {other!r}"
            )


def on_block(function, block, *given):
    """Return ``function(block, *given)``; an error names the chunk."""
    try:
        return function(block, *given)
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {block.number}") from None


def add_all(results):
    """Sum of results: numbers, arrays, moments, or tuples; None is left out."""
    return reduce(_add, results, None)


def _add(a, b):
    """Sum of two results."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        return tuple(_add(x, y) for x, y in zip(a, b, strict=True))
    return a + b
