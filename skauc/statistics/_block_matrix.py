"""Rows in blocks as a matrix: the caller gets sums, scores and selected rows.

Labels, weights and scores are gathered as arrays of n numbers, the features stay in
their blocks. ``X @ w``, ``g @ X`` and moments are one pass over the blocks each;
``X[rows]`` are these rows in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ._block import Block
from ._row_blocks import RowBlocks, joined_weights

LARGEST_ARRAY = 2**27  # entries of rows that are loaded into memory: 1 GiB


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """Rows in blocks, behind some fitted transformers.

    Parameters
    ----------
    blocks : RowBlocks
    lengths : dict of int to int
        Rows of each block by its number, in order; empty blocks are left out.
    n_features : int
    steps : tuple of transformers, default=()
        Their ``transform`` is applied to each block, one after the other.
    kept : ndarray of bool of shape (sum of the lengths,), default=None
        The rows that are rows of the matrix; None for all.
    """

    blocks: RowBlocks
    lengths: dict[int, int]
    n_features: int
    steps: tuple = ()
    kept: np.ndarray | None = None

    __array_ufunc__ = None  # so that NumPy leaves ``g @ X`` to __rmatmul__
    ndim, dtype = 2, np.dtype(float)

    @classmethod
    def of(cls, blocks) -> tuple[BlockMatrix, Any, Any]:
        """Gather labels and weights in one pass; the features stay in the blocks.

        Parameters
        ----------
        blocks : RowBlocks

        Returns
        -------
        matrix : BlockMatrix of shape (n, P)
        y : ndarray of shape (n,)
            None if the blocks hold no labels.
        weight : ndarray of float64 of shape (n,)
            None if no block holds weights; rows of the others count once.

        Raises
        ------
        ValueError
            If a block holds no matrix, values that are not finite in rows that count,
            negative weights, or labels of another kind; the chunk is named.
        """
        outlines = blocks.map(_outline)
        lengths = {number: n for number, (n, _), *_ in outlines}
        matrix = cls(blocks, lengths, outlines[0][1][1])
        y = _joined_labels(blocks.called[1], outlines)
        weights = [weight for *_, weight in outlines]
        return matrix, y, joined_weights(weights, lengths.values())

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return int(self._starts[-1]), self.n_features

    def __len__(self):
        return self.shape[0]

    @property
    def feature_names(self) -> list | None:
        """Names of the columns; None behind a transformer, or without names."""
        return None if self.steps else self.blocks.feature_names

    def map(self, function, *shared, y=None, weight=None) -> list:
        """``function(block, *shared)`` of every block with float64 rows.

        Parameters
        ----------
        function : callable
            It gets a :class:`Block` with the parts of ``y`` and ``weight`` of its rows.
        *shared
            Further arguments, the same for all blocks.
        y, weight : ndarray of shape (n,) or (n, k), default=None

        Returns
        -------
        list
        """
        call = function, self.blocks.feature_names, self.steps, *shared
        return self.blocks.map(_on_rows, *call, each=self._each(y, weight))

    def total(self, function, *shared, y=None, weight=None):
        """The sum of ``function(block, *shared)`` over the blocks; see :meth:`map`."""
        call = function, self.blocks.feature_names, self.steps, *shared
        return self.blocks.total(_on_rows, *call, each=self._each(y, weight))

    def __matmul__(self, w):
        return np.concatenate(self.map(_scores, np.asarray(w, dtype=float)))

    def __rmatmul__(self, g):
        return self.total(_combination, y=np.asarray(g, dtype=float).T)

    def __getitem__(self, rows):
        """Rows by number, slice or mask, in memory: an array, or CSR of sparse blocks.

        Raises
        ------
        ValueError
            If they are more than 1 GiB of numbers.
        """
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        else:
            rows = np.arange(len(self))[rows]
        if rows.size * self.n_features > LARGEST_ARRAY:
            raise ValueError(
                "X must hold at most 1 GiB where all its rows are needed in memory, "
                f"got {rows.size} rows of {self.n_features} features in blocks"
            )
        return self._rows(rows)

    def _rows(self, rows):
        """Rows by number, read from their blocks in one pass."""
        if not rows.size:
            return np.empty((0, self.n_features))
        order = np.argsort(rows, kind="stable")
        places = rows if self.kept is None else np.flatnonzero(self.kept)[rows]
        places = places[order]  # ascending: the rows of a block are neighbours
        ends = np.cumsum(list(self.lengths.values()))
        cuts = np.concatenate([[0], np.searchsorted(places, ends)])
        each = {
            number: (places[a:b] - (end - length), None, None)
            for (number, length), end, a, b in zip(
                self.lengths.items(), ends, cuts, cuts[1:], strict=False
            )
            if a < b
        }
        call = _features, self.blocks.feature_names, self.steps
        parts = self.blocks.map(_on_rows, *call, each=each)
        if sparse.issparse(parts[0]):
            stacked = sparse.vstack(parts, format="csr")
        else:
            stacked = np.concatenate(parts)
        return stacked[np.argsort(order)]  # in the requested order

    def where(self, mask) -> BlockMatrix:
        """The rows of a mask of shape (n,); they stay in their blocks."""
        mask = np.asarray(mask, dtype=bool)
        if self.kept is not None:
            kept = self.kept.copy()
            kept[kept] = mask
            mask = kept
        return BlockMatrix(self.blocks, self.lengths, self.n_features, self.steps, mask)

    def behind(self, step) -> BlockMatrix:
        """The rows behind a fitted transformer."""
        found = replace(self, steps=(*self.steps, step))
        n_features = found._rows(np.zeros(1, dtype=int)).shape[1]
        return replace(found, n_features=n_features)

    def astype(self, dtype, copy=False):
        """Return the matrix itself for float64, rows in memory for any other type."""
        return self if np.dtype(dtype) == self.dtype else self[:].astype(dtype)

    def __array__(self, dtype=None, copy=None):
        rows = self[:]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def check_names(self, model):
        """Raise if a model was fitted with other columns, by number or by name."""
        kind = type(model).__name__
        n_fitted = getattr(model, "n_features_in_", self.n_features)
        if n_fitted != self.n_features:
            raise ValueError(
                f"X must have the {n_fitted} features that {kind} was fitted with, got "
                f"{self.n_features}"
            )
        fitted, own = getattr(model, "feature_names_in_", None), self.feature_names
        if fitted is None or own is None or list(fitted) == own:
            return
        expected, odd = next(
            pair for pair in zip(fitted, own, strict=True) if len({*pair}) > 1
        )
        raise ValueError(
            f"X must have the columns that {kind} was fitted with in their order, got "
            f"{odd!r} in place of {expected!r}"
        )

    @cached_property
    def _starts(self):
        """Number of the first row of each block, and of all rows."""
        ends = np.cumsum([0, *self.lengths.values()])
        if self.kept is None:
            return ends
        return np.concatenate([[0], np.cumsum(self.kept)])[ends]

    def _each(self, *columns):
        """Selected rows of each block, and its slices of the columns."""
        every = np.cumsum([0, *self.lengths.values()])
        cuts = zip(
            self.lengths, every, every[1:], self._starts, self._starts[1:], strict=False
        )
        return {
            number: (
                None if self.kept is None else self.kept[i:j],
                *(None if column is None else column[a:b] for column in columns),
            )
            for number, i, j, a, b in cuts
            if a < b
        }


def rows_behind(X, names, steps):
    """Float64 rows of a block behind the steps, dense or CSR."""
    # a step that was fitted to a frame selects and checks columns by name
    if names is not None and steps and hasattr(steps[0], "feature_names_in_"):
        import pandas as pd

        X = pd.DataFrame(X.toarray() if sparse.issparse(X) else X, columns=names)
    for step in steps:
        X = step.transform(X)
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    return X.astype(float, copy=False)


def _on_rows(block, given, function, names, steps, *shared):
    """Apply the function to the selected rows of a block, behind the steps."""
    rows, y, weight = given
    X = rows_behind(block.X if rows is None else block.X[rows], names, steps)
    return function(Block(block.number, X, y, weight), *shared)


def _outline(block):
    """Check a block; return its number, shape, labels and weights."""
    X, weight = block.X, block.weight
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(f"X must be a matrix with columns, got shape {X.shape}")
    if weight is not None:
        weight = np.asarray(weight, dtype=float)
        if not np.all((weight >= 0) & (weight < np.inf)):
            raise ValueError("sample_weight must be finite and >= 0")
        X = X[weight > 0]  # rows of weight 0 are not checked
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(np.sum(values)) and not np.isfinite(values).all():
        odd = values[~np.isfinite(values)][0]
        raise ValueError(f"X must be finite, got {odd}")
    return block.number, block.X.shape, block.y, weight


def _joined_labels(name, outlines):
    """Labels of all blocks; None if there are none, an error if kinds differ."""
    labels = [y for *_, y, _ in outlines]
    if all(y is None for y in labels):
        return None
    first, kind = outlines[0][0], _kind(labels[0])
    for (number, *_), y in zip(outlines, labels, strict=True):
        if _kind(y) != kind:
            raise ValueError(
                f"{name} must hold labels of one kind, got {kind} in chunk {first} and "
                f"{_kind(y)} in chunk {number}"
            )
    return np.concatenate(labels)


def _kind(y):
    """Kind of labels: texts, numbers or none."""
    if y is None:
        return "none"
    is_text = (
        isinstance(y.flat[0], str) if y.dtype.kind == "O" else y.dtype.kind in "UT"
    )
    return "texts" if is_text else "numbers"


def _features(block):
    return block.X


def _scores(block, w):
    return np.asarray(block.X @ w, dtype=float)


def _combination(block):
    return np.asarray(block.y.T @ block.X)
