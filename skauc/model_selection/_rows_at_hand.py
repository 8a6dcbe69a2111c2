"""Rows in blocks, as what asks one fitted model about them takes them.

Labels and weights come to where the question is asked. The features do if they are few,
32 MB or at most 40 rows a feature (what the answer needs of them is as large then);
otherwise they stay in their blocks, as a matrix that is not made
(:mod:`skauc.statistics._block_matrix`). Either way the answer is that of the rows in
memory.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._validation import check_column, check_non_negative
from ..estimators._checks import check_finite_features
from ..statistics._block_matrix import LARGEST_MADE, BlockMatrix
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
    y, sample_weight : as they were, or ndarray

    Raises
    ------
    ValueError
        If a block is bad, which is named.
    """
    blocks = row_blocks(X, y, sample_weight)
    if blocks is None or isinstance(X, BlockMatrix):
        return X, y, sample_weight
    found = blocks.map(_columns_of)
    if not found:
        raise ValueError("X must have rows, got none in all chunks")
    numbers, n_features, labels, weights = zip(*found, strict=True)
    lengths = dict(zip(numbers, map(len, labels), strict=True))
    labels, weight = np.concatenate(labels), None
    if any(part is not None for part in weights):
        parts = zip(weights, lengths.values(), strict=True)
        weight = np.concatenate([np.ones(m) if w is None else w for w, m in parts])
    n, P = len(labels), n_features[0]
    few = n * P <= _FEW_NUMBERS or n <= _ROWS_A_FEATURE * P
    if few and n * P <= LARGEST_MADE:
        return _gathered(blocks), labels, weight
    matrix = BlockMatrix(blocks, lengths, P)
    if weight is not None and not weight.all() and weight.any():
        rows = np.flatnonzero(weight)
        matrix, labels, weight = matrix.only(rows), labels[rows], weight[rows]
    return matrix, labels, weight


def _columns_of(block):
    """Number, width, labels and weights of a block whose features are numbers."""
    if block.X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got shape {block.X.shape}")
    if block.y is None:
        raise ValueError("y must hold the labels, got None")
    check_finite_features(block.X)
    y, weight = check_column("y", block.y), None
    if block.weight is not None:
        weight = check_non_negative(block.weight, len(y))
    return block.number, block.X.shape[1], y, weight


def _gathered(blocks):
    """The rows in memory, of the kind that their blocks are."""
    X, _, _ = blocks.gather()
    if blocks.feature_names is None:
        return X
    import pandas as pd

    X = X.toarray() if sparse.issparse(X) else X
    return pd.DataFrame(X, columns=blocks.feature_names)
