"""Rows in blocks, as what asks one fitted model about them takes them.

The rows come to where the question is asked if they are few: 32 MB or at most 40 rows a
feature (what the answer needs of them is as large then). Otherwise they stay in their
blocks, as a matrix that is not made (:mod:`skauc.statistics._block_matrix`), and with
them labels and scores (:mod:`skauc.statistics._block_column`), unless there are weights
or more than two classes: then a number, or two, for each row come. Either way the
answer is that of the rows in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from scipy import sparse

from .._validation import (
    check_column,
    check_non_negative,
    check_positive,
    is_continuous,
)
from ..estimators._checks import check_finite_features
from ..statistics._block_column import BlockColumn, scores_of
from ..statistics._block_matrix import LARGEST_MADE, BlockMatrix, ColumnSums
from ..statistics._row_blocks import row_blocks

_FEW_NUMBERS = 2**22  # 32 MB
_ROWS_A_FEATURE = 40  # up to where all rows enter the leave-one-out AUC


def rows_at_hand(X, y, sample_weight=None):
    """Arrays as they are; labels, weights and a matrix of rows that come in blocks.

    Parameters
    ----------
    X : array-like, collection or RowBlocks of shape (n, n_features)
    y : array-like or collection of shape (n,)
        None beside a RowBlocks, which holds it.
    sample_weight : array-like or collection of shape (n,), default=None

    Returns
    -------
    X : as it was, ndarray, CSR matrix, frame or BlockMatrix
        Of blocks, rows of weight 0 are left out.
    y, sample_weight : as they were, LabelColumn or ndarray

    Raises
    ------
    ValueError
        If a block is bad, which is named.
    """
    blocks = row_blocks(X, y, sample_weight)
    if blocks is None or isinstance(X, BlockMatrix):
        return X, y, sample_weight
    found = blocks.map(_outline_of)
    if not found:
        raise ValueError("X must have rows, got none in all chunks")
    numbers, widths, sizes, labels, weighted = zip(*found, strict=True)
    n, P = sum(sizes), widths[0]
    few = (n * P <= _FEW_NUMBERS or n <= _ROWS_A_FEATURE * P) and n * P <= LARGEST_MADE
    lengths = dict(zip(numbers, sizes, strict=True))
    # Two labels without weights may stay where they are; else columns come.
    distinct = None if few or any(weighted) else _two_at_most(labels)
    if distinct is not None:
        matrix = BlockMatrix(blocks, lengths, P, scores=scores_of)
        count = sum(n[some == distinct[-1]].sum() for some, n in labels)
        return matrix, LabelColumn(matrix, distinct, int(count)), None
    if few:
        X, labels, weight = blocks.gather()
        return _framed(X, blocks), check_column("y", labels), weight
    labels, weights = zip(*blocks.map(_columns_of), strict=True)
    labels, weight = np.concatenate(labels), None
    if any(weighted):
        parts = zip(weights, sizes, strict=True)
        weight = np.concatenate([np.ones(m) if w is None else w for w, m in parts])
    matrix = BlockMatrix(blocks, lengths, P)
    if weight is not None and not weight.all() and weight.any():
        rows = np.flatnonzero(weight)
        matrix, labels, weight = matrix.only(rows), labels[rows], weight[rows]
    return matrix, labels, weight


class LabelColumn(BlockColumn):
    """Labels that stay in their blocks, of which there are two, or one."""

    def __init__(self, rows, distinct, n_last):
        super().__init__(rows, _Labels(distinct.dtype))
        self.distinct, self.n_last = distinct, n_last

    def positive(self, **how) -> BlockColumn:
        """See :func:`skauc._validation.check_positive`."""
        label = self.distinct[check_positive(self.distinct, **how)][0]
        found = self._elementwise(partial(_equal, label), (self,))
        last = label == self.distinct[-1]
        total = self.n_last if last else len(self) - self.n_last
        found.know_sums(ColumnSums(0, 1, total))  # both classes are there
        return found


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of a block."""

    dtype: np.dtype

    def of(self, block, names, known):
        return check_column("y", block.y)


def _equal(label, values):
    return np.asarray(values == label, dtype=bool)


def _outline_of(block):
    """Number, width, rows, some labels, and whether there are weights; checked."""
    if block.X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got shape {block.X.shape}")
    if block.y is None:
        raise ValueError("y must hold the labels, got None")
    check_finite_features(block.X)
    y, _ = _columns_of(block)
    weighted = block.weight is not None
    return block.number, block.X.shape[1], len(y), _some_labels(y), weighted


def _some_labels(y):
    """The different labels and their rows if they are two or one, else None."""
    if y.dtype.kind not in "biufUO" or is_continuous(y):
        return None
    try:
        distinct, count = np.unique(y, return_counts=True)
    except TypeError:  # of several kinds
        return None
    if distinct.dtype.kind == "O":
        # Other objects are left to the checks of all rows: three labels give None.
        texts = all(isinstance(label, str) for label in distinct)
        distinct = distinct.astype(str) if texts else np.empty(3)
    return (distinct, count) if len(distinct) <= 2 else None


def _two_at_most(labels):
    """The different labels of all blocks in order; None if they are more."""
    if any(some is None for some in labels):
        return None
    kinds = {some.dtype.kind == "U" for some, _ in labels}
    distinct = reduce(np.union1d, (some for some, _ in labels))
    return distinct if len(distinct) <= 2 and len(kinds) == 1 else None


def _columns_of(block):
    """Labels and weights of a block."""
    y, weight = check_column("y", block.y), None
    if block.weight is not None:
        weight = check_non_negative(block.weight, len(y))
    return y, weight


def _framed(X, blocks):
    """A frame of the columns of the blocks, where they are frames."""
    if blocks.feature_names is None:
        return X
    import pandas as pd

    X = X.toarray() if sparse.issparse(X) else X
    return pd.DataFrame(X, columns=blocks.feature_names)
