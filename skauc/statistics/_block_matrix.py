"""Rows in blocks as a matrix that is not made: products with it, and some of its rows.

``X @ w`` and ``g @ X`` are passes over the blocks and moments are sums of those of the
blocks. What asks for some rows gets these; what asks for all of them gets them up to
1 GiB, and beyond that an error. A column of n numbers is at hand where the question is
asked, and its parts travel to the blocks; or it stays where the features are
(:mod:`skauc.statistics._block_column`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ._block import Block
from ._kept_rows import KeptRows
from ._moments import Moments, class_moments
from ._row_blocks import OPENERS, RowBlocks

LARGEST_MADE = 2**27  # numbers of an array: 1 GiB
_SKETCH = 20190915
_FEW_MADE = 2**18  # numbers of some rows that are kept: 2 MB
_REMEMBERED = 4  # products with directions: of a model, and of its rows as they entered


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """Rows in blocks, behind some fitted transformers.

    Parameters
    ----------
    blocks : RowBlocks
    lengths : dict of int to int
        Rows of each block, by its number; blocks that are not there have none.
    n_features : int
    steps : tuple of transformers, default=()
        What the rows go through, block by block.
    scores : callable, default=None
        ``scores(matrix, w)`` makes ``X @ w`` a column that stays in the blocks; None
        makes it an array.
    """

    blocks: RowBlocks
    lengths: dict[int, int]
    n_features: int
    steps: tuple = ()
    scores: Callable | None = None
    _last: dict = field(default_factory=dict, init=False, repr=False)
    _rows: dict = field(default_factory=dict, init=False, repr=False)
    _known: dict = field(default_factory=dict, init=False, repr=False)

    __array_ufunc__ = None  # an array leaves ``g @ rows`` to these rows
    ndim, dtype = 2, np.dtype(float)

    @cached_property
    def shape(self) -> tuple[int, int]:
        return sum(self.lengths.values()), self.n_features

    @property
    def columns(self):
        """Names, where the rows are those of a data frame as they came."""
        return None if self.steps else self.blocks.feature_names

    def __len__(self):
        return self.shape[0]

    def __matmul__(self, w):
        w = np.asarray(w, dtype=float)
        if self.scores is None or w.ndim > 1:
            return self._remembered(w).copy()
        # X @ (c w) = c (X @ w): models that differ in length alone share the product
        unit = w[np.argmax(np.abs(w))] or 1.0
        found = self._remembered(w / unit)
        return found if unit == 1.0 else unit * found

    def _remembered(self, w):
        """The product; fits are asked for their scores again and again."""
        key = w.shape, w.tobytes()
        if key not in self._last:
            if self.scores is not None and w.ndim == 1:
                found = self.scores(self, w)
            else:
                # An array of n numbers takes memory that a column does not: one is kept
                found = np.concatenate(MatrixBlocks(self).map(_product, w))
                self._last.clear()  # n numbers
            while len(self._last) >= _REMEMBERED:
                del self._last[next(iter(self._last))]
            self._last[key] = found
        return self._last[key]

    def __rmatmul__(self, g):
        if not _stays(g):
            return MatrixBlocks(self, np.asarray(g).T).total(_combination)
        found, sums = MatrixBlocks(self, g).total(_combination_and_sums)
        g.know_sums(sums)
        return found

    @property
    def T(self):  # noqa: N802
        return _Transposed(self)

    def __getitem__(self, part):
        # Columns are one step more; rows that are asked for are made
        rows, columns = part if isinstance(part, tuple) else (part, slice(None))
        some = self
        if not _is_all(columns):
            some = self.behind(_Columns(columns))
        return some if _is_all(rows) else some.made(places_of(rows, len(self)))

    def of_rows(self, other) -> BlockMatrix:
        """The same features of the rows of another matrix, some of these."""
        return replace(self, blocks=other.blocks, lengths=other.lengths)

    def where(self, mask, lengths) -> BlockMatrix:
        """Some of the rows, not made either.

        Parameters
        ----------
        mask : BlockColumn of bool
        lengths : dict of int to int
            How many there are in each block that has any.
        """
        return replace(self, blocks=KeptRows(self.blocks, mask.node), lengths=lengths)

    def behind(self, step, n_features=None) -> BlockMatrix:
        """The rows behind a fitted transformer; one of them tells ``n_features``."""
        found = replace(self, steps=(*self.steps, step))
        if n_features is None:
            n_features = found.made(np.arange(1)).shape[1]
        return replace(found, n_features=n_features)

    def made(self, rows=None):
        """Some rows by number, in this order, or all of them: an array.

        Raises
        ------
        ValueError
            If that is more than 1 GiB.
        """
        rows = np.arange(len(self)) if rows is None else rows
        if rows.size * self.n_features > LARGEST_MADE:
            raise ValueError(
                "X must hold at most 1 GiB where its rows are needed in memory, got "
                f"{rows.size} rows of {self.n_features} features in blocks; "
                'rows="training" or "held-out" with '
                "prior=AdaptivePrior(leave_pair_out=False) needs none"
            )
        return self.made_beside(None, rows)[0]

    def made_beside(self, column, rows):
        """Some rows, and what a column is in them, of one pass.

        Parameters
        ----------
        column : BlockColumn of shape (n,) or (n, k), or None
        rows : ndarray of int of shape (m,)

        Returns
        -------
        X : ndarray of shape (m, n_features)
        values : ndarray of shape (m,) or (m, k), or None
        """
        key = rows.shape, rows.tobytes()
        if key in self._rows and column is None:
            return self._rows[key].copy(), None
        node = None if column is None else column.node
        asked = self.blocks.feature_names, self.steps, node
        found = self.picked(_made_rows, asked, rows)
        if found is None:
            return np.empty((0, self.n_features)), None if node is None else column[
                rows
            ]
        made = np.ascontiguousarray(found[:, : self.n_features])
        if made.size <= _FEW_MADE:
            while len(self._rows) >= _REMEMBERED:
                del self._rows[next(iter(self._rows))]
            self._rows[key] = made.copy()
        values = found[:, self.n_features :]
        flat = node is not None and values.shape[1] == 1
        return made, None if node is None else values[:, 0] if flat else values

    def picked(self, function, asked, rows):
        """``function(block, *asked, wanted)`` of the blocks that hold some rows.

        Parameters
        ----------
        function : callable
            Returns a value for each of the wanted rows of a block.
        asked : tuple
        rows : ndarray of int of shape (m,)
            By number, in any order.

        Returns
        -------
        ndarray of shape (m, ...)
            The values in this order; None of no rows.
        """
        # Ascending, the wanted rows of a block are neighbours; ``order`` puts them back
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(list(self.lengths.values()))
        block = np.searchsorted(ends, rows[order], side="right")
        starts = np.searchsorted(block, np.arange(len(ends) + 1))
        wanted = {
            number: rows[order[a:b]] - (end - length)
            for (number, length), end, a, b in zip(
                self.lengths.items(), ends, starts, starts[1:], strict=False
            )
            if b > a
        }
        if not wanted:
            return None
        only = set(wanted)
        found = self.blocks.map(_of_wanted, function, asked, wanted, only=only)
        found = np.concatenate(found)
        out = np.empty_like(found)
        out[order] = found
        return out

    def moments(self) -> Moments:
        """Of all rows, with the diagonal of the scatter."""
        return self._moments

    @cached_property
    def _moments(self):
        return MatrixBlocks(self).total(_moments_of_all)

    def affine(self, origin, scale, *, ones=False) -> BlockMatrix:
        """Features ``(x − origin)/scale``, and perhaps a column of ones."""
        return self.behind(_Affine(origin, scale, ones), self.n_features + ones)

    def gram(self, weight):
        """``Xᵀ diag(weight) X`` of weights ≥ 0, of shape (P, P)."""
        # Xᵀ diag(w) X = (√w X)ᵀ(√w X)
        return MatrixBlocks(self, np.sqrt(weight)).total(_gram)

    def min(self, axis=0):
        """Least value of each column."""
        return np.min(MatrixBlocks(self).map(_least), axis=axis)

    def sketch(self):
        """Two random combinations of the rows, of shape (2, P)."""
        if "sketch" not in self._known:
            self.know_sketch(MatrixBlocks(self).total(random_combination))
        return self._known["sketch"]

    def know_sketch(self, found):
        """What another pass has found."""
        self._known["sketch"] = found

    def astype(self, dtype, copy=False):
        return self if dtype is float else self.made().astype(dtype)

    def __array__(self, dtype=None, copy=None):
        made = self.made()
        return made if dtype is None else made.astype(dtype, copy=False)

    def __reduce__(self):
        raise TypeError("rows in blocks are not copied to other processes")

    def split(self, column) -> dict:
        """Parts of a column of the rows, by block."""
        edges = np.cumsum(list(self.lengths.values()))[:-1]
        return dict(zip(self.lengths, np.split(column, edges), strict=True))


@dataclass(frozen=True, eq=False)
class MatrixBlocks(RowBlocks):
    """The blocks of a matrix, with columns beside them.

    Parameters
    ----------
    matrix : BlockMatrix
    y : ndarray or BlockColumn of shape (n,) or (n, k), default=None
        Boolean if there are weights.
    weight : ndarray or BlockColumn of shape (n,), default=None
    """

    matrix: BlockMatrix
    y: Any = None
    weight: Any = None

    def map(self, function, *shared, only=None):
        """See :meth:`RowBlocks.map`."""
        blocks, on_made, *asked = self._opened()
        only = set(self.matrix.lengths)
        return blocks.map(on_made, *asked, function, *shared, only=only)

    def total(self, function, *shared, only=None):
        """See :meth:`RowBlocks.total`."""
        blocks, on_made, *asked = self._opened()
        only = set(self.matrix.lengths)
        return blocks.total(on_made, *asked, function, *shared, only=only)

    def _opened(self):
        matrix, y, weight = self.matrix, self.y, self.weight
        asked = matrix.blocks.feature_names, matrix.steps
        if all(column is None or _stays(column) for column in (y, weight)):
            nodes = tuple(getattr(column, "node", None) for column in (y, weight))
            return matrix.blocks, _on_made_beside, *asked, nodes
        column, weighted = np.asarray(y), weight is not None
        if weighted:
            column = np.column_stack([column, weight])
        blocks = matrix.blocks.beside(matrix.split(column), {})
        return blocks, _on_made, *asked, weighted


@dataclass(frozen=True)
class ColumnSums:
    """Least, largest and sum of some numbers; those of two parts add up."""

    low: float
    high: float
    total: float

    @classmethod
    def of(cls, values) -> ColumnSums:
        """Of an array; whole numbers stay whole."""
        # A sum of bool or of small integers would overflow its own type
        wide = values.astype(np.int64 if values.dtype.kind in "bui" else float)
        low, high = wide.min(), wide.max()  # both NaN if one is
        return cls(low.item(), high.item(), wide.sum().item())

    def __add__(self, other):
        extremes = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ColumnSums(*(e.item() for e in extremes), self.total + other.total)


@dataclass(frozen=True, eq=False)
class _Transposed:
    rows: BlockMatrix

    __array_ufunc__ = None

    def __matmul__(self, g):
        return (g.T @ self.rows).T

    def __rmatmul__(self, w):
        return (self.rows @ np.asarray(w).T).T


@dataclass(frozen=True, eq=False)
class _Columns:
    """The transformer that takes some columns."""

    columns: Any

    def transform(self, X):
        return X.iloc[:, self.columns] if hasattr(X, "iloc") else X[:, self.columns]


@dataclass(frozen=True, eq=False)
class _Affine:
    """The transformer of :meth:`BlockMatrix.affine`."""

    origin: np.ndarray
    scale: np.ndarray
    ones: bool

    def transform(self, X):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        Z = (X - self.origin) / self.scale
        return np.column_stack([Z, np.ones(len(Z))]) if self.ones else Z


@dataclass(frozen=True, eq=False)
class Direction:
    """The transformer whose only feature is the score ``X @ w``."""

    w: np.ndarray

    def transform(self, X):
        return np.asarray(X @ self.w)[:, None]


def in_memory(X):
    """X, or its rows as an array if they are in blocks."""
    return X.made() if isinstance(X, BlockMatrix) else X


def places_of(part, n):
    """Numbers of the rows of a slice, mask or numbers, of n; an index of n is not made.

    Raises
    ------
    IndexError
        If a row is not there.
    """
    if isinstance(part, slice):
        return np.arange(*part.indices(n))
    rows = np.asarray(part)
    if rows.dtype.kind not in "iu":
        return np.arange(n)[part]
    if rows.size and not -n <= rows.min() <= rows.max() < n:
        raise IndexError(
            f"rows must lie in [{-n}, {n}), got {rows.min()}, {rows.max()}"
        )
    return np.where(rows < 0, rows + n, rows)


def _is_all(part):
    return isinstance(part, slice) and part == slice(None)


def rows_behind(X, names, steps):
    """Rows of a block behind the steps, in float64."""
    # Steps that were fitted on a frame select and check columns by name
    if names is not None and steps:
        import pandas as pd

        X = X.toarray() if sparse.issparse(X) else X
        X = pd.DataFrame(X, columns=names)
    for step in steps:
        X = step.transform(X)
    X = X if sparse.issparse(X) else np.asarray(X)
    return X.astype(float, copy=False)


def _on_made(block, names, steps, weighted, function, *shared):
    """The function of the rows behind their steps, with what is beside them."""
    X, y, weight = block.X, block.y, None
    if block.weight is not None:  # the mask of the rows that are kept
        X, y = X[block.weight], y[block.weight]
    if weighted:
        y, weight = y[:, 0].astype(bool), y[:, 1]
    made = Block(block.number, rows_behind(X, names, steps), y, weight)
    return function(made, *shared)


def _on_made_beside(block, names, steps, nodes, function, *shared):
    """The same with columns that were not sent."""
    known: dict = {}
    y, weight = (value_of(node, block, names, known) for node in nodes)
    made = Block(block.number, rows_behind(block.X, names, steps), y, weight)
    return function(made, *shared)


def value_of(node, block, names, known):
    """What a column is in a block, computed once; a number is itself."""
    if not hasattr(node, "of"):
        return node
    if id(node) not in known:
        known[id(node)] = node.of(block, names, known)
    return known[id(node)]


def _stays(column):
    """Whether it is a column that stays in the blocks."""
    return hasattr(column, "node")


def _of_wanted(block, function, asked, wanted):
    return function(block, *asked, wanted[block.number])


def _made_rows(block, names, steps, node, wanted):
    X = rows_behind(block.X[wanted], names, steps)
    X = X.toarray() if sparse.issparse(X) else X
    if node is None:
        return X
    return np.column_stack([X, value_of(node, block, names, {})[wanted]])


def _moments_of_all(block):
    # No row is positive: the moments of the negatives are those of all
    every = np.zeros(len(block), dtype=bool)
    return class_moments(block.X, every, featurewise=True)[0]


def _product(block, w):
    return np.asarray(block.X @ w, dtype=float)


def _combination(block):
    return np.asarray(block.y.T @ block.X)


def _combination_and_sums(block):
    return _combination(block), ColumnSums.of(block.y)


def _gram(block):
    # A diagonal matrix times sparse rows leaves them sparse
    root = sparse.diags_array(block.y) if sparse.issparse(block.X) else block.y[:, None]
    Z = root @ block.X if sparse.issparse(block.X) else root * block.X
    square = Z.T @ Z
    return square.toarray() if sparse.issparse(square) else square


def random_combination(block):
    # The same numbers wherever and whenever the block is read
    rng = np.random.default_rng((_SKETCH, block.number))
    return np.asarray(rng.random((2, len(block))) @ block.X)


def _least(block):
    least = block.X.min(axis=0)
    return least.toarray().ravel() if sparse.issparse(least) else least


def _open_matrix(X, y=None, weight=None, called=("X", "y")):
    return MatrixBlocks(X, y, weight) if isinstance(X, BlockMatrix) else None


OPENERS.append(_open_matrix)
