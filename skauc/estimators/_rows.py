"""The rows of a fit, checked once: features in memory or in blocks, and their columns.

Labels and weights are arrays of n numbers in memory. Functions of rows take a
:class:`FitRows` with rows in memory, all of them or those of one block, and their
results are summed.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils.validation import validate_data

from .._validation import (
    check_class_totals,
    check_codes,
    check_groups,
    check_labels,
    check_non_negative,
    distinct_labels,
)
from ..statistics._block_matrix import BlockMatrix
from ..statistics._checks import columns_named, short
from ..statistics._moments import group_moments
from ..statistics._row_blocks import (
    block_rows,
    dense,
    parts_of,
    refuse_collection,
    row_blocks,
)
from ..statistics._weights import raised
from . import _checks as check

_EPS = np.finfo(float).eps
_COLUMNS = "y", "weight", "offset", "groups"  # one value per row


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows of a fit, with codes 0, …, K − 1 of their classes."""

    X: Any  # ndarray, CSR matrix or BlockMatrix
    y: np.ndarray
    classes: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None  # added to the logit of class 1, of two classes
    groups: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    @property
    def n_rows(self) -> int:
        """Number of rows, all of positive weight."""
        return len(self.y)

    @cached_property
    def counts(self) -> np.ndarray:
        """Sums of the weights of each class, (K,)."""
        sums = np.bincount(self.y, self.weight, minlength=len(self.classes))
        return sums.astype(float)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.counts.sum())

    def counted(self) -> FitRows:
        """The rows of positive weight."""
        if self.weight is None or self.weight.all():
            return self
        kept = self.weight > 0
        X = self.X.where(kept) if isinstance(self.X, BlockMatrix) else self.X[kept]
        columns = {name: getattr(self, name) for name in _COLUMNS}
        given = {name: v[kept] for name, v in columns.items() if v is not None}
        return replace(self, X=X, **given)

    def raised(self, *, by_class=False) -> FitRows:
        """Rows whose weights add up to an effective number of rows, also by class."""
        if self.weight is None:
            return self
        weight = self.weight.copy()
        sides = [self.y == c for c in range(len(self.classes))] if by_class else [...]
        for side in sides:
            weight[side] = raised(weight[side])
        return replace(self, weight=weight)

    def in_memory(self) -> FitRows:
        """The rows in memory, with checked features."""
        rows = replace(self, X=self.X[:])
        check.feature_range(rows.X)
        return rows

    def in_span(self, scale=1.0, *, centred=True):
        """Rows in memory in their own span, the origin and the basis.

        The rows z = Vᵀ(x − origin)/scale have the lengths of (x − origin)/scale; the
        columns of V, of shape (P, r), are orthonormal.
        """
        X = dense(self.X).astype(float, copy=False)
        origin = rest = np.zeros(X.shape[1])
        if centred:
            origin = X.mean(axis=0)
            # its rounding is common to all rows and would count as one dimension more
            rest = (X - origin).mean(axis=0)
        Z = (X - origin - rest) / scale
        U, sigma, Vt = linalg.svd(Z, full_matrices=False)
        # numpy.linalg.matrix_rank's bound; one column of zeros if all rows are equal
        r = max(np.count_nonzero(sigma > max(Z.shape) * _EPS * sigma[0]), 1)
        return replace(self, X=U[:, :r] * sigma[:r]), origin + rest, Vt[:r].T

    def parts(self):
        """Yield float64 rows, codes, weights and offsets, part by part."""
        n, P = self.X.shape
        # a part fits into a core's cache with its scaled copy and the information
        for part in parts_of(n, block_rows(P + 1, least=64)):
            rows = dense(self.X[part])
            weight = np.ones(len(rows)) if self.weight is None else self.weight[part]
            offset = 0.0 if self.offset is None else self.offset[part]
            yield rows.astype(float, copy=False), self.y[part], weight, offset

    def sum(self, function, *shared):
        """The sum of ``function(rows, *shared)`` over the blocks."""
        if isinstance(self.X, BlockMatrix):
            return self._over(self.X.total, function, *shared)
        return function(self, *shared)

    def map(self, function, *shared):
        """The list of ``function(rows, *shared)`` of the blocks."""
        if isinstance(self.X, BlockMatrix):
            return self._over(self.X.map, function, *shared)
        return [function(self, *shared)]

    def _over(self, blocks, function, *shared):
        """Apply a function to the rows of blocks, with their labels and weights."""
        columns = {"y": self.y, "weight": self.weight}
        return blocks(_of_block, function, self.classes, *shared, **columns)

    def class_moments(self, *, featurewise=False):
        """Moments of each class: one pass over the rows."""
        return self.sum(_moments_of_classes, featurewise)


def _of_block(block, function, classes, *shared):
    """Apply a function to the rows of a block."""
    return function(FitRows(block.X, block.y, classes, block.weight), *shared)


def _moments_of_classes(rows, featurewise):
    """Moments of each class of rows in memory."""
    groups = [rows.y == code for code in range(len(rows.classes))]
    return tuple(group_moments(rows.X, groups, rows.weight, featurewise=featurewise))


def fourth_powers(rows, centres, scale):
    """``Σ w ‖(x − m)/s‖⁴`` over the rows of each class, m its centre."""
    totals = np.zeros(len(centres))
    for X, y, weight, _ in rows.parts():
        z = (X - centres[y]) / scale
        totals += np.bincount(y, weight * np.einsum("ij,ij->i", z, z) ** 2, len(totals))
    return totals


def open_rows(
    model, X, y, sample_weight, offset=None, groups=None, *, known=None, binary=False
) -> FitRows:
    """Check the rows of a fit, and leave out those of weight 0.

    Only the ``known`` classes may occur; None takes all classes of the labels, which
    need positive weight, and is a new fit. Features in memory are dense or CSR and not
    copied; they may be infinite. Features in blocks stay there, except rows that are
    fewer than features.
    """
    blocks = row_blocks(X, y, sample_weight)
    reset = known is None or not hasattr(model, "n_features_in_")
    if blocks is not None:
        X, y, sample_weight = BlockMatrix.of(blocks)
        y = check_labels(y, name="y")
        columns = np.empty((0, X.n_features))
        if blocks.feature_names is not None:
            import pandas as pd

            columns = pd.DataFrame(columns=blocks.feature_names)
        validate_data(model, columns, skip_check_array=True, reset=reset)
        for name, value in (("offset", offset), ("groups", groups)):
            if value is not None:
                raise ValueError(
                    f"{name} must be None where X comes in blocks, got {short(value)}"
                )
    else:
        refuse_collection("X", X)
        labels: Any = y if y is None else check_labels(y, name="y")
        how: dict = check.FEATURES | {"ensure_all_finite": False}
        X, _ = validate_data(model, X, y, **how, reset=reset)
        y = labels
    classes = distinct_labels(y, name="y") if known is None else known
    check.class_count(classes, binary=binary)
    codes = check_codes(y, classes, name="y")
    rows = FitRows(
        X,
        codes,
        classes,
        weight=check_non_negative(sample_weight, len(y)),
        offset=check.offset(offset, len(y), classes),
        groups=check_groups(groups, len(y)),
    )
    if known is None:
        check_class_totals(rows.counts, [f"class {k!r}" for k in classes.tolist()])
    rows = rows.counted()
    if blocks is not None and rows.n_rows < rows.n_features:
        return rows.in_memory()
    return rows


@contextmanager
def unchanged_by_errors(model, X):
    """Restore the state of a model if the body raises; name columns of X in errors."""
    before = dict(vars(model))
    try:
        with columns_named(X):
            yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
