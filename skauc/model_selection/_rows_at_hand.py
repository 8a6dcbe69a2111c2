"""Rows in blocks, as what asks one fitted model about them takes them.

The rows come to where the question is asked if they are few: 32 MB or at most 40 rows a
feature (what the answer needs of them is as large then). Otherwise they stay in their
blocks, as a matrix that is not made (:mod:`skauc.statistics._block_matrix`), and with
them labels, weights and scores (:mod:`skauc.statistics._block_column`). Either way the
answer is that of the rows in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from scipy import sparse

from .._validation import (
    check_column,
    check_labels,
    check_non_negative,
    check_positive,
    distinct_labels,
)
from ..estimators._checks import check_finite_features
from ..statistics._block import add_all
from ..statistics._block_column import BlockColumn, digest, scores_of
from ..statistics._block_matrix import (
    LARGEST_MADE,
    BlockMatrix,
    ColumnSums,
    random_combination,
)
from ..statistics._column_nodes import Elementwise
from ..statistics._kept_rows import KeptRows
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
    y, sample_weight : as they were, or LabelColumn and BlockColumn

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
    distinct = _distinct(found)
    n, P = sum(one.n_rows for one in found), found[0].n_features
    if (n * P <= _FEW_NUMBERS or n <= _ROWS_A_FEATURE * P) and n * P <= LARGEST_MADE:
        X, labels, weight = blocks.gather()
        return _framed(X, blocks), check_column("y", labels), weight
    rows = [one for one in found if one.counts.any()]
    if not rows:
        raise ValueError("sample_weight must be positive somewhere, got only zeros")
    n_left_out = n - int(sum(one.counts.sum() for one in rows))
    if n_left_out:
        blocks = KeptRows(blocks, _HAS_WEIGHT, n_left_out)
    lengths = {one.number: int(one.counts.sum()) for one in rows}
    matrix = BlockMatrix(blocks, lengths, P, scores=scores_of)
    matrix.know_sketch(add_all([one.sketch for one in rows]))
    counts = {one.number: one.of(distinct) for one in rows}
    labels = LabelColumn(matrix, distinct, counts, [one.digest for one in rows])
    if all(one.weight is None for one in found):
        return matrix, labels, None
    weight = BlockColumn(matrix, _Weights())
    # Some blocks have weights: rows of the others count once
    sums = [one.weight or ColumnSums(1.0, 1.0, float(one.n_rows)) for one in rows]
    weight.know_sums(add_all(sums))
    return matrix, labels, weight


class LabelColumn(BlockColumn):
    """Labels that stay in their blocks.

    Parameters
    ----------
    rows : BlockMatrix
    distinct : ndarray of shape (K,)
        The labels in order.
    counts : dict of int to ndarray of shape (K,)
        How many rows of each block have them.
    digests : list of bytes, default=None
        What tells the labels of each block from others, if that is known.
    """

    def __init__(self, rows, distinct, counts, digests=None):
        super().__init__(rows, _Labels(distinct.dtype))
        self.distinct, self.counts, self.digests = distinct, counts, digests

    def positive(self, **how) -> BlockColumn:
        """See :func:`skauc._validation.check_positive`."""
        mask = check_positive(self.distinct, **how)
        found = self.equal(self.distinct[mask][0])
        total = int(sum(count[mask].sum() for count in self.counts.values()))
        found.know_sums(ColumnSums(int(total == len(self)), int(total > 0), total))
        if self.digests is not None:  # the labels, and which of them is meant
            which = np.flatnonzero(mask).astype(np.uint8)
            found.know_content(b"".join([digest(which), *self.digests]))
        return found

    def of(self, labels) -> LabelColumn:
        """Labels of the rows that have some of them."""
        there = np.isin(self.distinct, labels)
        distinct = self.distinct[there]
        if not there.any():
            check_positive(distinct)
        counts = {k: c[there] for k, c in self.counts.items() if c[there].any()}
        lengths = {k: int(c.sum()) for k, c in counts.items()}
        mask = reduce(np.bitwise_or, map(self.equal, distinct))
        return LabelColumn(self.rows.where(mask, lengths), distinct, counts)

    def equal(self, label):
        """Whether the rows have a label, a BlockColumn."""
        return self._elementwise(partial(_equal, label), (self,))


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of a block."""

    dtype: np.dtype

    def of(self, block, names, known):
        return check_column("y", block.y)


@dataclass(frozen=True, eq=False)
class _Weights:
    """The weights of a block."""

    dtype = np.dtype(float)

    def of(self, block, names, known):
        if block.weight is None:
            return np.ones(len(block))
        return np.asarray(block.weight, dtype=float)


def _has_weight(weight):
    return weight > 0


_HAS_WEIGHT = Elementwise(_has_weight, (_Weights(),), np.dtype(bool))


@dataclass(frozen=True, eq=False)
class _Outline:
    """What is known of a block at once.

    Parameters
    ----------
    number, n_features, n_rows : int
    labels : ndarray
        The different ones, in order.
    counts : ndarray of int
        Of each the rows of positive weight.
    weight : ColumnSums
        Of the positive weights; None if none were given, or none is positive.
    sketch : ndarray of shape (2, P) or None
        See :meth:`BlockMatrix.sketch`; None if no row weighs anything.
    digest : bytes
        What tells the labels from others.
    """

    number: int
    n_features: int
    n_rows: int
    labels: np.ndarray
    counts: np.ndarray
    weight: ColumnSums | None
    sketch: np.ndarray | None
    digest: bytes

    def of(self, distinct):
        """The rows of each of all labels."""
        counts = np.zeros(len(distinct), dtype=int)
        counts[np.searchsorted(distinct, self.labels)] = self.counts
        return counts


def _equal(label, values):
    return np.asarray(values == label, dtype=bool)


def _outline_of(block):
    """Number, width, rows, labels and weights of a block; checked."""
    if block.X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got shape {block.X.shape}")
    if block.y is None:
        raise ValueError("y must hold the labels, got None")
    check_finite_features(block.X)
    y, counted, sums = check_labels(block.y, name="y"), slice(None), None
    if block.weight is not None:
        weight = check_non_negative(block.weight, len(y))
        counted = weight > 0
        sums = ColumnSums.of(weight[counted]) if counted.any() else None
    labels = distinct_labels(y, name="y")
    if labels.dtype.kind == "O":
        labels = labels.astype(str)
    masks = [(y == one)[counted] for one in labels]
    codes = np.arange(len(labels), dtype=np.uint8 if len(labels) < 256 else int) @ masks
    X = block.X[counted]
    return _Outline(
        number=block.number,
        n_features=X.shape[1],
        n_rows=len(y),
        labels=labels,
        counts=np.array([np.count_nonzero(mask) for mask in masks]),
        weight=sums,
        sketch=random_combination(replace(block, X=X)) if X.shape[0] else None,
        digest=digest(codes, labels),
    )


def _distinct(found):
    """The different labels of all blocks in order."""
    texts = [one for one in found if one.labels.dtype.kind == "U"]
    others = [one for one in found if one.labels.dtype.kind != "U"]
    if texts and others:
        first, other = sorted((texts[0], others[0]), key=lambda one: one.number)
        raise ValueError(
            f"y must hold labels of one kind, got {first.labels.tolist()[0]!r} in "
            f"chunk {first.number} and {other.labels.tolist()[0]!r} in chunk "
            f"{other.number}"
        )
    return reduce(np.union1d, (one.labels for one in found))


def _framed(X, blocks):
    """A frame of the columns of the blocks, where they are frames."""
    if blocks.feature_names is None:
        return X
    import pandas as pd

    X = X.toarray() if sparse.issparse(X) else X
    return pd.DataFrame(X, columns=blocks.feature_names)
