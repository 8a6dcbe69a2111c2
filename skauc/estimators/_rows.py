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
from scipy import linalg, sparse
from sklearn.utils.validation import validate_data

from .._validation import (
    check_class_totals,
    check_codes,
    check_column,
    check_groups,
    check_labels,
    check_non_negative,
    distinct_labels,
)
from ..statistics._block_matrix import BlockMatrix
from ..statistics._collections import columns_named, refuse_collection
from ..statistics._moments import group_moments
from ..statistics._numerics import parts_of
from ..statistics._row_blocks import row_blocks
from ..statistics._weights import raising_factor
from . import _checks as check

_EPS = np.finfo(float).eps
# Rows are scaled and multiplied in parts that fit into a core's level-2 cache (2 MiB)
# together with their scaled copy and the information
_PART_BYTES = 2**20
_COLUMNS = "X", "y", "weight", "offset", "groups"  # one value per row


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows of a fit, with codes 0, …, K − 1 of their classes."""

    X: Any  # ndarray, CSR matrix or BlockMatrix
    y: np.ndarray
    classes: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None  # added to the logit of class 1, of two classes
    groups: np.ndarray | None = None
    factors: np.ndarray | None = None  # factors of the weights of the classes

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
        """Sums of the sample weights of each class, (K,)."""
        sums = np.bincount(self.y, self.weight, minlength=len(self.classes))
        return sums.astype(float)

    @property
    def totals(self) -> np.ndarray:
        """Sums of the weights times the factors of the classes, (K,)."""
        return self.counts * (1.0 if self.factors is None else self.factors)

    @property
    def total(self) -> float:
        """Sum of the weights times the factors of the classes."""
        return float(self.totals.sum())

    def check_totals(self):
        """Raise if the weights of a class add up to 0."""
        names = [f"class {label!r}" for label in self.classes.tolist()]
        check_class_totals(self.totals, names)

    def counted(self) -> FitRows:
        """The rows of positive weight."""
        if self.weight is None or self.weight.all():
            return self
        kept, blocks = self.weight > 0, isinstance(self.X, BlockMatrix)
        columns = {name: getattr(self, name) for name in _COLUMNS}
        columns = {k: v[kept] for k, v in columns.items() if v is not None and k != "X"}
        X = self.X.where(kept) if blocks else self.X[kept]
        return replace(self, X=X, **columns)

    def raised(self, *, by_class=False) -> FitRows:
        """Rows whose weights add up to an effective number of rows.

        ``by_class``: of each class; the factors of the classes keep their totals.
        """
        if self.weight is None:
            return self
        sides = [self.y == c for c in range(len(self.classes))] if by_class else [...]
        factors = np.array([raising_factor(self.weight[side]) for side in sides])
        if (factors == 1).all():
            return self
        if by_class:
            weight = self.weight * factors[self.y]
            return replace(self, weight=weight, factors=1 / factors)
        return replace(self, weight=self.weight * factors)

    def in_memory(self) -> FitRows:
        """The rows in memory, with checked features."""
        rows = replace(self, X=self.X[:])
        check.feature_range(rows.X)
        return rows

    def parts(self):
        """Yield float64 rows, codes, weights and offsets, part by part."""
        n, P = self.X.shape
        for part in parts_of(n, max(_PART_BYTES // (8 * (P + 1)), 64)):
            rows = self.X[part]
            rows = rows.toarray() if sparse.issparse(rows) else rows
            weight = np.ones(len(rows)) if self.weight is None else self.weight[part]
            offset = 0.0 if self.offset is None else self.offset[part]
            yield rows.astype(float, copy=False), self.y[part], weight, offset

    def sum(self, function, *shared):
        """The sum of ``function(rows, *shared)`` over the blocks."""
        if not isinstance(self.X, BlockMatrix):
            return function(self, *shared)
        columns = {"y": self.y, "weight": self.weight}
        return self.X.total(_of_block, function, self.classes, *shared, **columns)

    def map(self, function, *shared):
        """The list of ``function(rows, *shared)`` of the blocks."""
        if not isinstance(self.X, BlockMatrix):
            return [function(self, *shared)]
        columns = {"y": self.y, "weight": self.weight}
        return self.X.map(_of_block, function, self.classes, *shared, **columns)

    def class_moments(self):
        """Moments of each class: one pass over the rows."""
        return self.sum(_moments_of_classes)


def _of_block(block, function, classes, *shared):
    """Apply a function to the rows of a block."""
    return function(FitRows(block.X, block.y, classes, block.weight), *shared)


def _moments_of_classes(rows):
    """Moments of each class of rows in memory."""
    groups = [rows.y == code for code in range(len(rows.classes))]
    return tuple(group_moments(rows.X, groups, rows.weight))


def fourth_powers(rows, centres, scale):
    """``Σ w ‖(x − m)/s‖⁴`` over the rows of each class."""
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
        y = check_column("y", y)
        record_features(model, blocks, X.n_features, reset=reset)
        for name, value in (("offset", offset), ("groups", groups)):
            rule, got = "be None where X comes in blocks", type(value).__name__
            if value is not None:
                raise ValueError(f"{name} must {rule}, got {got}")
    else:
        refuse_collection("X", X)
        refuse_collection("y", y)
        options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
        options |= {"accept_sparse": "csr", "reset": reset}
        with np.errstate(invalid="ignore"):  # labels of inf and -inf are added up
            X, y = validate_data(model, X, y, **options)
    y = check_labels(y, name="y")
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
        rows.check_totals()
    rows = rows.counted()
    if blocks is not None and rows.n_rows < rows.n_features:
        return rows.in_memory()
    return rows


def record_features(model, blocks, n_features, *, reset=True):
    """Record, or check, the number and names of columns by scikit-learn."""
    columns = np.empty((0, n_features))
    if blocks.feature_names is not None:
        import pandas as pd

        columns = pd.DataFrame(columns, columns=blocks.feature_names)
    validate_data(model, columns, skip_check_array=True, reset=reset)


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


def row_space(Z):
    """Coordinates of rows in their own span, and its orthonormal basis.

    ``Z = U diag(σ) Vᵀ`` has coordinates ``U diag(σ)`` of shape (n, r) and the basis V
    of shape (P, r): lengths in the span are those of the features.
    """
    U, sigma, Vt = linalg.svd(Z, full_matrices=False)
    # numpy.linalg.matrix_rank's bound; one coordinate of zeros if all rows are equal
    r = max(np.count_nonzero(sigma > max(Z.shape) * _EPS * sigma[0]), 1)
    return U[:, :r] * sigma[:r], Vt[:r].T
