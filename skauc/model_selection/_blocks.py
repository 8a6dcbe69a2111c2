"""Rows in blocks, as the questions about one fitted model take them."""

from __future__ import annotations

from .._validation import check_column
from ..statistics._row_blocks import row_blocks
from ._posterior import Evaluation, evaluations


def rows_at_hand(X, y, sample_weight=None):
    """Arrays as they are; rows that come in blocks are gathered."""
    blocks = row_blocks(X, y, sample_weight)
    if blocks is None:
        return X, y, sample_weight
    X, labels, weight = blocks.gather()
    return X, check_column("y", labels), weight


def evaluations_of(estimator, X, y, sample_weight=None, **question) -> list[Evaluation]:
    """Evaluations of a fitted estimator on rows in memory or in blocks."""
    return evaluations(estimator, X, y, sample_weight=sample_weight, **question)
