"""One block of rows: clean arrays, and how what is computed of blocks adds up."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the rows.

    Parameters
    ----------
    number : int
        Which block, from 0.
    X : ndarray of shape (m, P) or (m,), or CSR matrix of shape (m, P)
        Finite or not; numbers.
    y : ndarray of shape (m,) or None
    weight : ndarray of shape (m,) or None
    """

    number: int
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None

    def __len__(self):
        return self.X.shape[0]


def as_block(
    number, X, y=None, weight=None, *, n_features=None, called=("X", "y"), names=None
) -> Block:
    """One block of clean arrays.

    Parameters
    ----------
    number : int
    X, y, weight : array-like
    n_features : tuple, default=None
        ``X.shape[1:]`` of the other blocks, if it is known.
    called : (str, str), default=("X", "y")
        What X and y are called where the rows were given.
    names : list, default=None
        Columns of the other blocks, if they are frames.

    Raises
    ------
    ValueError
        If X holds no numbers, has another width or other columns, or lengths differ;
        the chunk is named.
    """
    try:
        _check_columns(called[0], X, names)
        return Block(number, *_checked(X, y, weight, n_features, called))
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {number}") from None


def _checked(X, y, weight, n_features, called):
    X = as_rows(called[0], X)
    if X.dtype.kind == "O":
        X = _floats(X, called[0])
    if X.dtype.kind not in "biuf" or X.ndim > 2:
        raise ValueError(
            f"{called[0]} must hold real numbers in one or two dimensions, got dtype "
            f"{X.dtype} and shape {X.shape}"
        )
    if n_features is not None and X.shape[0] and X.shape[1:] != n_features:
        raise ValueError(
            f"{called[0]} must have {', '.join(map(str, n_features)) or 'no'} columns "
            f"as the other chunks, got shape {X.shape}"
        )
    columns = []
    for name, column in zip((called[1], "sample_weight"), (y, weight), strict=True):
        column = None if column is None else as_rows(name, column)
        if column is not None and column.shape[0] != X.shape[0]:
            raise ValueError(
                f"{name} must have one value for each of the {X.shape[0]} rows, got "
                f"{column.shape[0]}"
            )
        if column is not None and column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]  # as data frames of one column have it
        columns.append(column)
    return X, *columns


def _floats(X, name):
    try:
        return X.astype(float)
    except (TypeError, ValueError, OverflowError):
        odd = next((v for v in X.ravel() if not isinstance(v, Real)), "objects")
        raise ValueError(f"{name} must hold real numbers, got {odd!r:.60}") from None


def as_rows(name, value):
    """Rows that ``[a:b]`` cuts without copying the rest."""
    if sparse.issparse(value):
        return value.tocsr()
    try:
        array = np.asanyarray(value)
    except ValueError:  # lists of several lengths
        array = np.empty(())
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array of rows, got {value!r:.60}")
    return array


def columns_of(X):
    """The columns of a data frame; None of what is none."""
    return list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else None


def _check_columns(name, X, names):
    own = columns_of(X)
    # Of another number of columns the width is complained of
    if names is not None and own not in (None, names) and len(own) == len(names):
        odd = next(k for k, (a, b) in enumerate(zip(own, names, strict=True)) if a != b)
        raise ValueError(
            f"{name} must have the columns of the other chunks in their order, got "
            f"{own[odd]!r} in place of {names[odd]!r}"
        )


def on_block(function, block, *shared):
    """``function(block, *shared)``; what it raises names the chunk."""
    try:
        return function(block, *shared)
    except ValueError as error:
        raise ValueError(f"{error}, in chunk {block.number}") from None


def add_all(results):
    """Sum of results that are numbers, arrays, moments, or tuples of such."""
    total = results[0]
    for result in results[1:]:
        total = _add(total, result)
    return total


def _add(a, b):
    if isinstance(a, tuple):
        return tuple(_add(x, y) for x, y in zip(a, b, strict=True))
    return a + b
