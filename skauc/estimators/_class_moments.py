"""Moments of the classes of rows in blocks, of which rows in memory are one."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._validation import check_column
from ..statistics._moments import group_moments
from . import _checks as check

_PART_BYTES = 2**21  # rows are centred in parts that stay in cache


def class_moments_of(rows):
    """Moments of each class: one pass over the rows (FitRows)."""
    parts = rows.blocks.total(_moments_of_block, rows.labels)
    with np.errstate(over="ignore"):
        # Σ w x² = W + n x̄²
        square = sum(np.diag(c.scatter) + c.n * c.mean**2 for c in parts)
    check.feature_range(rows.blocks, square, sum(c.n for c in parts))
    return parts


def _moments_of_block(block, labels):
    y = check_column("y", block.y)
    weight = None if block.weight is None else np.asarray(block.weight, dtype=float)
    try:
        return tuple(group_moments(block.X, [y == label for label in labels], weight))
    except ValueError:  # not finite, or too large for its squares
        check.finite_features(block.X)
        check.feature_range(block.X)
        raise


def fourth_powers(block, labels, centres, scales):
    """``Σ w ‖(x − m)/s‖⁴`` of the rows of each class; the label None has all rows."""
    y, X = check_column("y", block.y), block.X
    totals, step = np.zeros(len(labels)), max(_PART_BYTES // (8 * X.shape[1]), 1)
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        rows = X[part].toarray() if sparse.issparse(X) else X[part]
        weight = np.ones(len(rows)) if block.weight is None else block.weight[part]
        for k, label in enumerate(labels):
            mask = slice(None) if label is None else y[part] == label
            z = (rows[mask] - centres[k]) / scales[k]
            totals[k] += weight[mask] @ np.einsum("ij,ij->i", z, z) ** 2
    return totals
