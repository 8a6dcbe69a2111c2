"""What a discriminant needs of rows in blocks: one pass, whatever the chunks are.

The moments of each class add up. Rows that are fewer than features are smaller than
the scatter matrix they would make, so they stay rows until enough have met: a chunk of
one row costs no matrix, and P > n rows are at hand for the ways that need no P×P
matrix. Either way what leaves a block is O(P²) numbers a class.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from .._validation import check_column, check_non_negative, is_continuous
from ..statistics._moments import Moments, group_moments
from ._checks import (
    check_class_count,
    check_feature_sizes,
    check_finite_features,
    check_kinds,
    check_known,
    check_sizes,
    distinct,
)
from ._likelihood import ORDINARY, feature_sizes


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Moments of each class of some rows; or the rows, while they are fewer than P.

    Parameters
    ----------
    chunk : int
        The first block of the rows, for errors.
    classes : ndarray of shape (K,)
        Their labels, sorted.
    n_rows : int
        Rows, whatever their weights.
    moments : tuple of Moments
        One of each class; empty if there are rows.
    rows : tuple (X, y, sample_weight) or None
        If there are no moments; the weight may be None.
    """

    chunk: int
    classes: np.ndarray
    n_rows: int
    moments: tuple[Moments, ...]
    rows: tuple[Any, np.ndarray, np.ndarray | None] | None = None

    def __add__(self, other: ClassSums) -> ClassSums:
        classes, n = _united(self, other), self.n_rows + other.n_rows
        if self.rows is not None and other.rows is not None:
            rows = _stacked(self.rows, other.rows)
            joined = ClassSums(self.chunk, classes, n, (), rows)
            return joined if n < rows[0].shape[1] else joined.with_moments()
        # From n = P rows on the scatter matrices are smaller than the rows.
        found: dict = {}
        for part in (self.with_moments(), other.with_moments()):
            for label, moments in zip(part.classes.tolist(), part.moments, strict=True):
                found[label] = found[label] + moments if label in found else moments
        merged = tuple(found[label] for label in classes.tolist())
        return ClassSums(self.chunk, classes, n, merged)

    def __sizeof__(self):  # who plans memory and transfers asks it
        held = map(getsizeof, (*self.moments, *(self.rows or ())))
        return object.__sizeof__(self) + sum(held)

    def with_moments(self) -> ClassSums:
        """The same with moments, however few the rows."""
        if self.rows is None:
            return self
        X, y, weight = self.rows
        masks = [y == label for label in self.classes]
        moments = tuple(group_moments(X, masks, weight))
        return ClassSums(self.chunk, self.classes, self.n_rows, moments)


def class_sums(blocks, *, known=None, binary=False, weighted=True) -> ClassSums:
    """One pass over rows in blocks.

    Parameters
    ----------
    blocks : RowBlocks
    known : ndarray of shape (K,), default=None
        The only labels that may occur; they become the classes.
    binary : bool, default=False
        Whether more than two classes are an error.
    weighted : bool, default=True
        False makes weights an error.

    Returns
    -------
    ClassSums

    Raises
    ------
    ValueError
        If a block breaks a rule of labels, weights or features, with its number; if
        there are too few or too many classes, or one has no weight.
    """
    sums = blocks.total(_sums_of_block, known, binary, weighted)
    if known is None:
        check_class_count(sums.classes, binary=binary)
    if sums.rows is None:
        for label, moments in zip(sums.classes.tolist(), sums.moments, strict=True):
            if known is None and moments.n == 0:
                raise ValueError(
                    "sample_weight must be positive somewhere in each class, got only "
                    f"zeros in class {label!r}"
                )
        _check_ordinary(blocks, sums.moments)
    return sums


def _sums_of_block(block, known, binary, weighted):
    X = block.X
    check_two_dimensional(X)
    y = labels_of(block)
    weight = block.weight
    if weight is not None:
        if not weighted:
            raise ValueError("sample_weight must be None, got weights")
        weight = check_non_negative(weight, len(y))
    classes = distinct(y)
    if known is not None:
        check_known(classes, known)
        classes = known
    if binary and len(classes) > 2:
        check_class_count(classes, binary=True)
    few = ClassSums(block.number, classes, len(y), (), (X, y, weight))
    try:
        if len(y) >= X.shape[1]:
            return few.with_moments()
        check_finite_features(X if weight is None else X[weight > 0])
        check_feature_sizes(X)
        return few
    # Features that are not finite or too large overflow sums: name those first.
    except ValueError:
        check_finite_features(X)
        check_feature_sizes(X)
        raise


def check_two_dimensional(X):
    """Raise if the features of a block are no columns, or none."""
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got shape {X.shape}")
    if X.shape[1] == 0:
        raise ValueError(f"X must hold one feature or more, got shape {X.shape}")


def labels_of(block):
    """The labels of a block, of one kind."""
    if block.y is None:
        raise ValueError("y must hold a label for each row, got None")
    y = check_column("y", block.y)
    if isinstance(y[0], bytes):
        raise ValueError(f"y must hold texts or numbers, got {y.tolist()[0]!r}")
    if y.dtype.kind == "O":
        check_kinds(y.tolist())
        y = np.array(y.tolist()) if not isinstance(y[0], str) else y
    if y.dtype.kind not in "OU" and is_continuous(y):
        raise ValueError(
            "y must hold class labels, got continuous or missing values such as "
            f"{y[np.argmax(~(y == np.floor(y)))].item()!r}"
        )
    return y


def _united(a, b):
    """The labels of both."""
    if is_text(a.classes) != is_text(b.classes):
        raise ValueError(
            "y must hold labels of one kind, got "
            f"{a.classes.tolist()[0]!r} in chunk {a.chunk} and "
            f"{b.classes.tolist()[0]!r} in chunk {b.chunk}"
        )
    return np.unique(np.concatenate([a.classes, b.classes]))


def is_text(labels):
    """Whether labels are texts, which cannot be sorted among numbers."""
    return labels.dtype.kind in "OUS"


def _stacked(a, b):
    (X, y, weight), (more, labels, weights) = a, b
    if sparse.issparse(X) or sparse.issparse(more):
        X = sparse.vstack([sparse.csr_matrix(X), sparse.csr_matrix(more)], format="csr")
    else:
        X = np.concatenate([X, more])
    if weight is not None or weights is not None:
        weight = np.concatenate(
            [np.ones(len(part[1])) if part[2] is None else part[2] for part in (a, b)]
        )
    return X, np.concatenate([y, labels]), weight


def _check_ordinary(blocks, moments):
    """Raise if a feature's size is beyond ``ORDINARY``; a pass only where in doubt.

    ``Σ w x²/Σ w ≤ max x²``; and a sum below 1e70 has no x beyond it but with weights
    that are nothing.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # inf, or 0/0: in doubt
        square = sum(np.diag(c.scatter) + c.n * c.mean**2 for c in moments)
        # Σ w x² = W + n x̄² over both classes
        low = square / sum(c.n for c in moments)
    if not np.all((low > ORDINARY[0] ** 2) & (square < ORDINARY[1])):
        check_sizes(np.max(blocks.map(sizes_of_block), axis=0))


def sizes_of_block(block):
    """Largest absolute value of each feature."""
    return feature_sizes(block.X)


def record_features(model, blocks, n_features, *, reset=True):
    """Let scikit-learn note the width and the names of the columns, or compare them.

    Parameters
    ----------
    model : estimator
    blocks : RowBlocks
    n_features : int
    reset : bool, default=True
        False compares them with those of an earlier fit.
    """
    columns = np.empty((0, n_features))
    if blocks.feature_names is not None:
        import pandas as pd

        columns = pd.DataFrame(columns, columns=blocks.feature_names)
    validate_data(model, columns, skip_check_array=True, reset=reset)


@contextmanager
def unchanged_by_errors(model):
    """Give a model its state back if what is done within raises."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
