"""A column of rows in blocks that is not made: what makes it of each block.

Labels, scores ``X @ w`` and what is computed of them elementwise stay where the rows
are; sums, extremes and products with the rows are passes. Formulas that are written for
arrays take such a column as it is: NumPy's elementwise functions give another column,
its sums give numbers. What is not known here gets the array: n numbers that travel.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ._block import Block, add_all
from ._block_matrix import (
    BlockMatrix,
    ColumnSums,
    places_of,
    value_of,
)
from ._column_nodes import Constant, Elementwise, RowNumbers, Scores
from ._moments import Moments
from ._rank_sums import Evenly, RankSums, Runs, packed
from ._row_blocks import OPENERS, RowBlocks

_COUNTED = 2.0**31  # 10⁹ rows of as many are an int64
_ALL_ROWS = 2**16  # up to so many an even sample is chosen of all: 3 MB


@dataclass(frozen=True, eq=False)
class ColumnBlocks(RowBlocks):
    """The blocks of a column, with others beside it, as those of one feature.

    Parameters
    ----------
    columns : tuple of BlockColumn or None
        X, y and weight.
    """

    columns: tuple

    def map(self, function, *shared, only=None):
        """See :meth:`RowBlocks.map`."""
        return self._rows.blocks.map(*self._asked, function, *shared, only=only)

    def total(self, function, *shared, only=None):
        """See :meth:`RowBlocks.total`."""
        return self._rows.blocks.total(*self._asked, function, *shared, only=only)

    @property
    def _rows(self):
        return self.columns[0].rows

    @property
    def _asked(self):
        nodes = tuple(getattr(column, "node", None) for column in self.columns)
        return _on_columns, self._rows.blocks.feature_names, nodes


def _on_columns(block, names, nodes, function, *shared):
    known: dict = {}
    columns = (value_of(node, block, names, known) for node in nodes)
    return function(Block(block.number, *columns), *shared)


def _open_column(X, y=None, weight=None, called=("X", "y")):
    if not isinstance(X, BlockColumn):
        return None
    columns = X, y, weight
    stay = all(part is None or isinstance(part, BlockColumn) for part in columns)
    return ColumnBlocks(columns) if stay else None


OPENERS.append(_open_column)


def scores_of(matrix, w) -> BlockColumn:
    """``X @ w`` of a matrix of blocks."""
    return BlockColumn(matrix, Scores(matrix.steps, w))


class BlockColumn(NDArrayOperatorsMixin):
    """One number, label or truth value for each row in blocks.

    Parameters
    ----------
    rows : BlockMatrix
        All rows of its blocks.
    node : RowNumbers, Scores, Elementwise or other
        ``node.of(block, …)`` is what it is in a block, ``node.dtype`` of which type.
    """

    ndim = 1

    def __init__(self, rows, node, kept=None):
        self.rows, self.node = rows, node
        self._kept = {} if kept is None else kept  # by what is made of this one too

    @property
    def dtype(self):
        return self.node.dtype

    @property
    def shape(self):
        return (len(self.rows),)

    @property
    def T(self):  # noqa: N802
        return self

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(np.asarray(self))

    def __bool__(self):
        raise ValueError("the truth of a column is that of any() or all() of its rows")

    def __array_ufunc__(self, ufunc, method, *parts, **how):
        # Others may be made of this column: writing into it is refused
        changed = parts[:1] if method == "at" else how.get("out", ())
        if any(isinstance(part, BlockColumn) for part in changed):
            raise TypeError("columns of rows in blocks do not change in place")
        plain = method == "__call__" and not how and ufunc.nout == 1
        if plain and ufunc.signature is None:
            return self._elementwise(ufunc, parts)
        how = {name: made_column(value) for name, value in how.items()}
        return getattr(ufunc, method)(*map(made_column, parts), **how)

    # a *= b is a = a * b
    __iadd__ = NDArrayOperatorsMixin.__add__
    __isub__ = NDArrayOperatorsMixin.__sub__
    __imul__ = NDArrayOperatorsMixin.__mul__
    __itruediv__ = NDArrayOperatorsMixin.__truediv__
    __ipow__ = NDArrayOperatorsMixin.__pow__
    __iand__ = NDArrayOperatorsMixin.__and__
    __ior__ = NDArrayOperatorsMixin.__or__
    __ixor__ = NDArrayOperatorsMixin.__xor__

    def __array_function__(self, function, types, parts, how):
        # What is not known here, or not with these options, gets the array
        if function in _KNOWN:
            found = _KNOWN[function](*parts, **how)
            if found is not NotImplemented:
                return found
        return function(
            *map(made_column, parts), **{k: made_column(v) for k, v in how.items()}
        )

    def _elementwise(self, function, parts):
        if not all(isinstance(p, BlockColumn) or np.ndim(p) == 0 for p in parts):
            return function(*map(made_column, parts))
        nodes = tuple(p.node if isinstance(p, BlockColumn) else p for p in parts)
        # The same function of the same columns is the same column: what is kept of it
        key = function, *map(_identity, nodes)
        if key not in self._kept:
            node = Elementwise.of_parts(function, nodes)
            if not any(hasattr(n, "of") and not isinstance(n, Constant) for n in nodes):
                # Constants alone: computed at once, no pass
                value = function(*(getattr(n, "value", n) for n in nodes))
                node = Constant(value, node.dtype)
            self._kept[key] = nodes, node
        return BlockColumn(self.rows, self._kept[key][1], self._kept)

    def __matmul__(self, other):
        if isinstance(other, BlockMatrix):
            return NotImplemented
        product = isinstance(other, BlockColumn)
        return (self * other).sum() if product else made_column(self) @ other

    def __rmatmul__(self, other):
        return other @ made_column(self)

    def __getitem__(self, part):
        """Some rows by number; whatever else is asked gets the array."""
        # A mask asks for a share of all rows: then the column is made
        by_number = isinstance(part, slice) or np.asarray(part).dtype.kind in "iu"
        if not by_number:
            return np.asarray(self)[made_column(part)]
        rows = places_of(part, len(self))
        asked = self.rows.blocks.feature_names, self.node
        found = self.rows.picked(_values_at, asked, np.atleast_1d(rows))
        found = np.empty(0, self.dtype) if found is None else found
        return found if np.ndim(rows) else found[0]

    def __array__(self, dtype=None, copy=None):
        made = self._array
        return made.copy() if dtype is None else made.astype(dtype)

    def __reduce__(self):
        raise TypeError("columns of rows in blocks are not copied to other processes")

    def map(self, function, *shared):
        """``function(values, *shared)`` of every block."""
        asked = self.rows.blocks.feature_names, self.node, function
        return self.rows.blocks.map(on_values, *asked, *shared)

    def total(self, function, *shared):
        """Sum of ``function(values, *shared)`` over the blocks."""
        asked = self.rows.blocks.feature_names, self.node, function
        return self.rows.blocks.total(on_values, *asked, *shared)

    @cached_property
    def _array(self):
        return np.concatenate(self.map(np.asarray))

    def of_rows(self, rows) -> BlockColumn:
        """The same of the rows of another matrix, some of these."""
        return BlockColumn(rows, self.node)

    def by_class(self, positive) -> np.ndarray:
        """Its sums over the negatives and the positives, of shape (2,)."""
        if isinstance(self.node, Constant):
            n_pos = np.count_nonzero(positive)
            return self.node.value * np.array([len(positive) - n_pos, n_pos])
        both = self.beside(positive)
        return self._once("by class", positive.node, lambda: both.total(_by_class))

    def std(self, axis=None):
        """Standard deviation, around its mean."""
        whole = self.total(Moments.from_samples)
        return np.sqrt(whole.scatter / whole.n)

    @property
    def slope(self) -> float:
        """``Σ_i (2i − n + 1) x_i`` over the numbers i of the rows."""
        if isinstance(self.node, Scores):
            return self._sums_and_slope[1]
        return (2 * self.numbers - (len(self) - 1)) @ self

    def know_content(self, found):
        """What another pass has found."""
        self._once("content", self.node, lambda: found)

    def know_sums(self, sums):
        """What another pass has found."""
        self._once("sums", self.node, lambda: sums)

    @property
    def _sums(self):
        return self._sums_of(self.node)

    def _sums_of(self, node):
        """Sums of a node, without a pass where another's tell them."""
        # Sums that follow from known ones cost no pass: of c, of ~a and of 1·a
        if isinstance(node, Constant):
            return ColumnSums(node.value, node.value, node.value * len(self))
        if isinstance(node, Elementwise):
            if node.function is np.invert and node.dtype == bool:
                sums = self._sums_of(node.parts[0])
                return ColumnSums(1 - sums.high, 1 - sums.low, len(self) - sums.total)
            ones = [_is_one(part) for part in node.parts]
            if node.function is np.multiply and any(ones):
                return self._sums_of(node.parts[ones.index(True) - 1])
        if isinstance(node, Scores):
            return self._of(node)._sums_and_slope[0]
        return self._once("sums", node, lambda: self._of(node).total(ColumnSums.of))

    @property
    def _sums_and_slope(self):
        """Both are asked of the scores of every model: one pass."""
        both = self.beside(2 * self.numbers - (len(self) - 1))
        return self._once(
            "sums and slope", self.node, lambda: both.total(_sums_and_slope)
        )

    def _of(self, node):
        return BlockColumn(self.rows, node, self._kept)

    def _once(self, name, node, compute):
        """What was computed of a node, which is kept beside it: it has no other id."""
        # The node is kept as well, so that its id is not given to another
        key = name, id(node)
        if key not in self._kept:
            self._kept[key] = node, compute()
        return self._kept[key][1]

    @property
    def content(self) -> bytes:
        """16 bytes a block that tell it from other columns."""
        return self._once("content", self.node, lambda: b"".join(self.map(digest)))

    def sum(self, axis=None):
        return self._sums.total

    def mean(self, axis=None):
        return self._sums.total / len(self)

    def min(self, axis=None, initial=np.inf):
        return min(self._sums.low, initial)

    def max(self, axis=None, initial=-np.inf):
        # max|a| = max(−min a, max a)
        if isinstance(self.node, Elementwise) and self.node.function is np.absolute:
            sums = self._sums_of(self.node.parts[0])
            return max(-sums.low, sums.high, initial)
        return max(self._sums.high, initial)

    def all(self, axis=None):
        if self.dtype == bool:
            # all: the least truth value is True; any: the largest
            return bool(self._sums.low)
        return self._sums.low > 0 or self._sums.high < 0 or bool((self != 0)._sums.low)

    def any(self, axis=None):
        return bool((self if self.dtype == bool else self != 0)._sums.high)

    def astype(self, dtype, copy=True):
        return self._elementwise(partial(_as_type, np.dtype(dtype)), (self,))

    @property
    def numbers(self) -> BlockColumn:
        """Number of each row among all."""
        lengths = list(self.rows.lengths.values())
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        starts = dict(zip(self.rows.lengths, starts, strict=True))
        return self._of(RowNumbers(starts))

    def beside(self, *others) -> BlockColumn:
        """With other columns beside it; rows and sums of all may be asked at once."""
        return self._elementwise(_side_by_side, (self, *others))

    def evenly(self, classes, masses) -> tuple[tuple[Evenly, ...], ...]:
        """Rows at about equal shares of some masses, in the order of these values.

        Parameters
        ----------
        classes : tuple of BlockColumn of bool
            The rows that are asked of.
        masses : tuple of BlockColumn

        Returns
        -------
        tuple of tuple of Evenly
            One of each class for each of the masses; all rows while they are few.
        """
        whole = self.beside(self.numbers, *classes, *masses)
        return whole.total(_evenly, len(classes), len(self) > _ALL_ROWS)

    def rank_sums(self, positive, some=None, weight=None) -> RankSums:
        """What the ranks of the scores of two classes add up to.

        Parameters
        ----------
        positive : BlockColumn of bool
        some : Evenly, default=None
            Some of the scores, where they are known.
        weight : BlockColumn, default=None
            How often each row counts.

        Returns
        -------
        RankSums
        """
        weight = np.ones_like(positive, dtype=float) if weight is None else weight
        both = self.beside(positive, weight)
        some = self.total(Evenly.of) if some is None else some
        # About equally full ranges, each small enough to be sorted in one place
        edges = some.edges(self.rows.blocks.n_ranges(len(self)))
        asked = self.rows.blocks.feature_names, both.node
        cut = partial(_cut, *asked)
        return add_all(self.rows.blocks.exchange(cut, _rank_sums, edges))


def made_column(part):
    """A column as an array, also those of a list; other things as they are."""
    if isinstance(part, list | tuple):
        return type(part)(map(made_column, part))
    return np.asarray(part) if isinstance(part, BlockColumn) else part


def on_values(block, names, node, function, *shared):
    return function(value_of(node, block, names, {}), *shared)


def _values_at(block, names, node, wanted):
    return value_of(node, block, names, {})[wanted]


def _identity(node):
    """What tells a node, or a number beside it, from others."""
    return id(node) if hasattr(node, "of") else (type(node), np.asarray(node).tobytes())


def _is_one(node):
    return isinstance(node, Constant) and node.value == 1


def digest(*columns) -> bytes:
    """16 bytes that tell the values of some columns from others."""
    found = hashlib.blake2b(digest_size=16)
    for values in columns:
        found.update(np.ascontiguousarray(values).tobytes())
    return found.digest()


def _as_type(dtype, values):
    return values.astype(dtype)


def _side_by_side(*columns):
    return np.stack(columns, axis=1).astype(float)


def _sums_and_slope(values):
    return ColumnSums.of(values[:, 0]), (values[:, 0] @ values[:, 1]).item()


def _by_class(values):
    weight, positive = values.T
    return np.array([weight[positive == c].sum() for c in (0, 1)])


def _evenly(values, n_classes, thins):
    score, number, *columns = values.T
    kept = [mask == 1 for mask in columns[:n_classes]]
    return tuple(
        tuple(Evenly.of(score[on], mass[on], number[on], thins) for on in kept)
        for mass in columns[n_classes:]
    )


def _cut(names, node, block, edges):
    values = value_of(node, block, names, {})
    low, high = edges[0], edges[-1]
    # Scores of inf belong to the last range
    inside = (values[:, 0] >= low) & ((values[:, 0] < high) | np.isinf(high))
    score, positive, weight = values[inside].T
    if ((weight == np.floor(weight)) & (weight < _COUNTED)).all():  # exact, and smaller
        weight = packed(weight.astype(np.int64))
    count = np.stack([positive == 0, positive == 1], axis=1) * weight[:, None]
    return [part.packed() for part in Runs.of(score, count).cut(edges)]


def _rank_sums(parts):
    return RankSums.of(Runs.merged(parts), np.inf)


def _ones_like(column, dtype=None, **how):
    if "shape" in how:
        return NotImplemented
    dtype = np.dtype(column.dtype if dtype is None else dtype)
    return column._of(Constant(dtype.type(1), dtype))


def _zeros_like(column, dtype=None, **how):
    if "shape" in how:
        return NotImplemented
    dtype = np.dtype(column.dtype if dtype is None else dtype)
    return column._of(Constant(dtype.type(0), dtype))


def _where(*parts):
    column = next(part for part in parts if isinstance(part, BlockColumn))
    return column._elementwise(np.where, parts) if len(parts) == 3 else NotImplemented


def _of_all(method, *options):
    """A function of all rows in the place of NumPy's, unless that is asked for more."""

    def asked(column, axis=None, **how):
        if not isinstance(column, BlockColumn) or axis not in (None, -1, 0):
            return NotImplemented
        return NotImplemented if how.keys() - set(options) else method(column, **how)

    return asked


def _average(column, weights=None):
    if weights is None:
        return column.mean()
    if not isinstance(weights, BlockColumn):
        return NotImplemented
    return (column * weights).sum() / weights.sum()


def _ptp(column):
    return column.max() - column.min()


def _count(column):
    return (column if column.dtype == bool else column != 0).sum()


def _correlation(a, b=None, **how):
    if how or not isinstance(a, BlockColumn) or not isinstance(b, BlockColumn):
        return NotImplemented
    # W_ab/√(W_aa W_bb), centred sums: nothing cancels
    scatter = a.beside(b).total(Moments.from_samples).scatter
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.diag(scatter))
        return scatter / root / root[:, None]


_KNOWN = {
    np.ones_like: _ones_like,
    np.zeros_like: _zeros_like,
    np.where: _where,
    np.sum: _of_all(BlockColumn.sum),
    np.mean: _of_all(BlockColumn.mean),
    np.average: _of_all(_average, "weights"),
    np.min: _of_all(BlockColumn.min, "initial"),
    np.max: _of_all(BlockColumn.max, "initial"),
    np.ptp: _of_all(_ptp),
    np.all: _of_all(BlockColumn.all),
    np.any: _of_all(BlockColumn.any),
    np.count_nonzero: _of_all(_count),
    np.corrcoef: _correlation,
    np.shape: lambda column: column.shape,
    np.ndim: lambda column: 1,
}
