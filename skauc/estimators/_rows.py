"""The rows of a fit, checked once, in memory or in blocks.

Functions of rows take an :class:`OneBlock`, which holds all rows or one of many
blocks, and their results are summed. Rows in blocks need one more pass, over labels and
weights.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.utils.validation import validate_data

from .._validation import check_column, check_labels
from ..statistics._collections import refuse_collection
from ..statistics._moments import group_moments
from ..statistics._numerics import parts_of
from ..statistics._row_blocks import row_blocks
from . import _checks as check

_EPS = np.finfo(float).eps
# Rows are scaled and multiplied in parts that fit into a core's level-2 cache (2 MiB)
# together with their scaled copy and the information
_PART_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class OneBlock:
    """Rows in memory; y holds codes 0, …, K − 1."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None  # added to the logit of class 1, of two classes
    groups: np.ndarray | None = None

    def parts(self):
        """Yield float64 rows, codes, weights and offsets, part by part."""
        n, P = self.X.shape
        for part in parts_of(n, max(_PART_BYTES // (8 * (P + 1)), 64)):
            rows = self.X[part]
            rows = rows.toarray() if sparse.issparse(rows) else rows
            weight = np.ones(len(rows)) if self.weight is None else self.weight[part]
            offset = 0.0 if self.offset is None else self.offset[part]
            yield rows.astype(float, copy=False), self.y[part], weight, offset


@dataclass(frozen=True, eq=False)
class FitRows:
    """Checked rows of a fit, in memory or in blocks, and their weights."""

    blocks: Any  # OneBlock or RowBlocks
    classes: np.ndarray
    counts: np.ndarray  # sums of the sample weights of each class, (K,)
    n_rows: int  # number of rows of positive weight
    n_features: int
    factors: np.ndarray | None = None  # factors of the weights of the classes

    @classmethod
    def of_arrays(cls, X, codes, classes, weight=None) -> FitRows:
        """Rows in memory."""
        counts = np.bincount(codes, weight, minlength=len(classes)).astype(float)
        n_rows = len(codes) if weight is None else int(np.count_nonzero(weight))
        block = OneBlock(X, codes, weight)
        return cls(block, classes, counts, n_rows, X.shape[1])

    @property
    def in_memory(self) -> bool:
        """Whether all rows are one block in memory."""
        return isinstance(self.blocks, OneBlock)

    @property
    def total(self) -> float:
        """Sum of the weights times the class factors."""
        factors = 1.0 if self.factors is None else self.factors
        return float((self.counts * factors).sum())

    def sum(self, function, *shared):
        """The sum of ``function(block, *shared)`` over the blocks."""
        if self.in_memory:
            return function(self.blocks, *shared)
        return self.blocks.total(_with_codes, function, self.classes, *shared)

    def map(self, function, *shared):
        """The list of ``function(block, *shared)`` of the blocks."""
        if self.in_memory:
            return [function(self.blocks, *shared)]
        return self.blocks.map(_with_codes, function, self.classes, *shared)

    def class_moments(self):
        """Moments of each class: one pass over the rows."""
        return self.sum(_moments_of_block, len(self.classes))


def _with_codes(block, function, classes, *shared):
    """Apply a function to a block with codes in place of labels."""
    codes = check.codes_of(check_column("y", block.y), classes)
    weight = None if block.weight is None else np.asarray(block.weight, dtype=float)
    return function(OneBlock(block.X, codes, weight), *shared)


def _moments_of_block(block, n_classes):
    """Moments of the classes of a block; errors name the place of a bad value."""
    groups = [block.y == code for code in range(n_classes)]
    try:
        return tuple(group_moments(block.X, groups, block.weight))
    except ValueError:
        check.finite_features(block.X)
        check.feature_range(block.X)
        raise


def fourth_powers(block, codes, centres, scales):
    """``Σ w ‖(x − m)/s‖⁴`` over the rows of each code; None means all rows."""
    totals = np.zeros(len(codes))
    for rows, y, weight, _ in block.parts():
        for k, code in enumerate(codes):
            mask = slice(None) if code is None else y == code
            z = (rows[mask] - centres[k]) / scales[k]
            totals[k] += weight[mask] @ np.einsum("ij,ij->i", z, z) ** 2
    return totals


def open_rows(
    model, X, y, sample_weight=None, *, known=None, binary=False, reset=True, **options
) -> FitRows:
    """Check the rows of a fit, in memory or in blocks.

    Only the ``known`` classes may occur; None takes all classes of the labels, which
    need positive weight. Features in memory are dense or CSR and not copied; they may
    be infinite. Options for blocks: ``weights`` are allowed, ``gather`` rows if there
    are fewer than features.
    """
    blocks = row_blocks(X, y, sample_weight)
    if blocks is not None:
        rows = _in_blocks(model, blocks, known, reset, **options)
    else:
        rows = _in_memory(model, X, y, sample_weight, known, reset)
    check.class_count(rows.classes, binary=binary)
    if known is None:
        check.class_totals(rows.counts, rows.classes)
    return rows


def _in_memory(model, X, y, sample_weight, known, reset):
    """Check arrays in memory."""
    refuse_collection("X", X)
    refuse_collection("y", y)
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
    with np.errstate(invalid="ignore"):  # labels of inf and -inf are added up
        X, y = validate_data(model, X, y, accept_sparse="csr", reset=reset, **options)
    check.labels(y)
    if known is not None:
        check.known(y, known)
    classes = check.distinct(y) if known is None else known
    weight = check.weights(sample_weight, len(y))
    return FitRows.of_arrays(X, check.codes_of(y, classes), classes, weight)


def _in_blocks(model, blocks, known, reset, *, weights=True, gather=True):
    """Check blocks in a pass over labels and weights; few rows are gathered."""
    parts = blocks.map(_outline_of_block, known, weights)
    classes = _united(parts) if known is None else known
    counts, n_features = np.zeros(len(classes)), parts[0][-1]
    for _, own, total, _, _ in parts:
        counts[np.searchsorted(classes, own)] += total
    n_rows = sum(n for _, _, _, n, _ in parts)
    record_features(model, blocks, n_features, reset=reset)
    if n_rows >= n_features or not gather:
        return FitRows(blocks, classes, counts, n_rows, n_features)
    X, y, weight = blocks.gather(weighted=True)
    return FitRows.of_arrays(X, check.codes_of(y, classes), classes, weight)


def _outline_of_block(block, known, weights):
    """Number, classes, class weights, rows of positive weight, columns of a block."""
    X, y = block.X, labels_of(block, known)
    if X.ndim != 2 or X.shape[1] == 0:
        rule = "be two-dimensional" if X.ndim != 2 else "hold one feature or more"
        raise ValueError(f"X must {rule}, got shape {X.shape}")
    if block.weight is not None and not weights:
        raise ValueError("sample_weight must be None, got weights")
    weight = check.weights(block.weight, len(y))
    check.finite_features(X if weight is None else X[weight > 0])
    classes = check.distinct(y)
    total = np.bincount(check.codes_of(y, classes), weight, minlength=len(classes))
    n = len(y) if weight is None else np.count_nonzero(weight)
    return block.number, classes, total, n, X.shape[1]


def labels_of(block, known=None):
    """The labels of a block, of one kind."""
    if block.y is None:
        raise ValueError("y must hold a label for each row, got None")
    y = check_column("y", block.y)
    if y.dtype.kind == "O":
        check.kinds(y.tolist())
        y = np.array(y.tolist()) if not isinstance(y[0], str) else y
    if y.dtype.kind not in "OU":
        check_labels(y, name="y")
    if known is not None:
        check.known(y, known)
    return y


def _united(parts):
    """Union of the labels of all blocks, which must be of one kind."""
    places = {}  # of the first label of each kind
    for number, classes, *_ in parts:
        kind = classes.dtype.kind in "OUS"
        places.setdefault(kind, f"{classes.tolist()[0]!r} in chunk {number}")
    if len(places) > 1:
        got = " and ".join(places.values())
        raise ValueError(f"y must hold labels of one kind, got {got}")
    return np.unique(np.concatenate([classes for _, classes, *_ in parts]))


def record_features(model, blocks, n_features, *, reset=True):
    """Record, or check, the number and names of columns by scikit-learn."""
    columns = np.empty((0, n_features))
    if blocks.feature_names is not None:
        import pandas as pd

        columns = pd.DataFrame(columns, columns=blocks.feature_names)
    validate_data(model, columns, skip_check_array=True, reset=reset)


@contextmanager
def unchanged_by_errors(model):
    """Restore the state of a model if the body raises."""
    before = dict(vars(model))
    try:
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
