"""Rows in blocks as a matrix: the caller gets sums, scores and selected rows.

Labels, weights and scores are gathered as arrays of n numbers, the features stay in
their blocks. ``X @ w``, ``g @ X`` and moments are one pass over the blocks each;
``X[rows]`` are these rows in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
from scipy import sparse

from ._checks import check_weights
from ._row_blocks import (
    Block,
    RowBlocks,
    check_columns,
    dense,
    joined_labels,
    joined_weights,
)

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
    kept : ndarray of bool of shape (sum of the lengths,)
        The rows that are rows of the matrix.
    steps : tuple of transformers, default=()
        Their ``transform`` is applied to each block, one after the other.
    """

    blocks: RowBlocks
    lengths: dict
    n_features: int
    kept: np.ndarray
    steps: tuple = ()

    __array_ufunc__ = None  # so that NumPy leaves ``g @ X`` to __rmatmul__

    @classmethod
    def of(cls, blocks) -> tuple:
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
            or negative weights; the chunk is named.
        """
        outlines = blocks.map(_outline)
        lengths = {number: n for number, (n, _), *_ in outlines}
        kept = np.ones(sum(lengths.values()), dtype=bool)
        matrix = cls(blocks, lengths, outlines[0][1][1], kept)
        _, _, labels, weights = zip(*outlines, strict=True)
        return matrix, joined_labels(labels), joined_weights(weights, lengths.values())

    @cached_property
    def shape(self) -> tuple:
        """Number of rows and of features."""
        return int(np.count_nonzero(self.kept)), self.n_features

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
        rows = np.arange(len(self))[rows]
        if rows.size * self.n_features > LARGEST_ARRAY:
            raise ValueError(
                "X must hold at most 1 GiB where all its rows are needed in memory, "
                f"got {rows.size} rows of {self.n_features} features in blocks"
            )
        if not rows.size:
            return np.empty((0, self.n_features))
        distinct, places = np.unique(rows, return_inverse=True)
        chosen = np.zeros(len(self), dtype=bool)
        chosen[distinct] = True
        parts = self.where(chosen).map(attrgetter("X"))
        if sparse.issparse(parts[0]):
            return sparse.vstack(parts, format="csr")[places]
        return np.concatenate(parts)[places]

    def where(self, mask) -> BlockMatrix:
        """The rows of a mask of shape (n,); they stay in their blocks."""
        kept = self.kept.copy()
        kept[kept] = mask
        return replace(self, kept=kept)

    def behind(self, step) -> BlockMatrix:
        """The rows behind a fitted transformer."""
        found = replace(self, steps=(*self.steps, step))
        return replace(found, n_features=found[:1].shape[1])

    def check_names(self, model):
        """Raise if a model was fitted with other columns, by number or by name."""
        kind = type(model).__name__
        n_fitted = getattr(model, "n_features_in_", self.n_features)
        if n_fitted != self.n_features:
            raise ValueError(
                f"X must have the {n_fitted} features that {kind} was fitted with, got "
                f"{self.n_features}"
            )
        fitted = getattr(model, "feature_names_in_", None)
        check_columns("X", self.feature_names, fitted, f"the fitted {kind}")

    def _each(self, *columns):
        """Mask of the rows of each block (None: all), and its slices of the columns."""
        kept = np.split(self.kept, np.cumsum([*self.lengths.values()])[:-1])
        ends = np.cumsum([np.count_nonzero(mask) for mask in kept])[:-1]
        parts = [
            [None] * len(kept) if column is None else np.split(column, ends)
            for column in columns
        ]
        blocks = zip(self.lengths, kept, *parts, strict=True)
        return {
            number: (None if mask.all() else mask, *own)
            for number, mask, *own in blocks
            if mask.any()
        }


def _on_rows(block, given, function, names, steps, *shared):
    """Apply the function to selected rows of a block, float64 and behind the steps."""
    kept, y, weight = given
    X = block.X if kept is None else block.X[kept]
    # a step that was fitted to a frame selects and checks columns by name
    if names is not None and steps and hasattr(steps[0], "feature_names_in_"):
        import pandas as pd

        X = pd.DataFrame(dense(X), columns=names)
    for step in steps:
        X = step.transform(X)
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    X = X.astype(float, copy=False)
    return function(Block(block.number, X, y, weight), *shared)


def _outline(block):
    """Check a block; return its number, shape, labels and weights."""
    X, weight = block.X, check_weights(block.weight, len(block))
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(f"X must be a matrix with columns, got shape {X.shape}")
    if weight is not None:
        X = X[weight > 0]  # rows of weight 0 are not checked
    values = X.data if sparse.issparse(X) else X
    odd = values[~np.isfinite(values)]
    if len(odd):
        raise ValueError(f"X must be finite, got {odd[0]}")
    return block.number, block.X.shape, block.y, weight


def _scores(block, w):
    return np.asarray(block.X @ w, dtype=float)


def _combination(block):
    return np.asarray(block.y.T @ block.X)
