"""The features that entered a Pipeline, and a linear model as a direction in them.

The posterior of the class means and the covariance, given *all* features, does not ask
how a direction was found: not which features were picked by their t-values, nor how
hard anybody searched. So a linear model is judged in the space of the features that
entered the Pipeline, not in what a step left over after it had looked at y.

Affine steps compose: ``z = Aᵀ(x − c)`` and ``s = wᵀz`` give ``s = (A w)ᵀx`` up to a
constant, whatever y the step saw. Scalers, every selector, PCA, PLS, discriminants as
transformers, unions and column transformers of such are taken back. A step that is not
affine and does not see y (one-hot, imputer, splines) makes the data set: the features
start there. A step that is not affine and sees y (a target encoder, a stacked model)
leaves no features on which a closed form holds; ``broken_by`` names it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from ._affine_steps import sees_y, transpose_of
from ._any_rows import (
    column_positions,
    n_columns,
    numeric,
    take_columns,
    transformed,
)


@dataclass(frozen=True, eq=False)
class EnteredFeatures:
    """Rows and direction in the features that entered.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P)
    w : ndarray of shape (P,) or (K, P)
    supervised : bool
        Whether a step in front of the linear model has seen y.
    broken_by : str or None
        Class name of a step that is not affine behind one that saw y (or is both).
    """

    Z: object
    w: np.ndarray
    supervised: bool
    broken_by: str | None


def entered_features(stages, X, w, y) -> EnteredFeatures:
    """Take directions behind some steps back to the features that entered them.

    Parameters
    ----------
    stages : sequence of (fitted transformer, rows in front, rows behind)
        In the order in which they are applied.
    X : array-like, sparse matrix or frame of shape (n, n_features)
        Rows in front of the first step.
    w : ndarray of shape (P_last,) or (K, P_last)
        Direction(s) behind the last step.
    y : array-like of shape (n,)
        Labels; steps of unknown classes are refitted on permuted ones, to see whether
        they look at them.

    Returns
    -------
    EnteredFeatures
    """
    node = _Columns(_Entry(X), None)
    for step, rows, behind in stages:
        node = _behind(step, node, rows, behind, y)
    # s = wᵀz and z = Aᵀ(x − c): w_x = A w, step by step from the last to the first.
    node.back(np.atleast_2d(w).T.astype(float))
    Z, back = _collected(node.starts())
    direction = back.T if w.ndim == 2 else back[:, 0]
    return EnteredFeatures(Z, direction, node.saw_y, node.broken_by)


class _Entry:
    """The rows as they came, and the directions that arrived at their columns."""

    def __init__(self, X):
        self.X, self.W = X, None
        self.used = np.zeros(n_columns(X), dtype=bool)

    def starts(self):
        return [self]

    def arrive(self, columns, W):
        if columns is None:
            self.W = W.copy() if self.W is None else self.W + W
            self.used[:] = True
            return
        if self.W is None:
            self.W = np.zeros((len(self.used), W.shape[1]))
        # Branches of a union may take the same column: their directions add up.
        np.add.at(self.W, columns, W)
        self.used[columns] = True

    def block(self):
        """Numeric columns that were used, and their directions."""
        if not self.used.any():
            return None
        if self.used.all():
            return numeric(self.X), self.W
        columns = np.flatnonzero(self.used)
        return numeric(take_columns(self.X, columns.tolist())), self.W[columns]


@dataclass(frozen=True, eq=False)
class _Columns:
    """Some columns of the entry; None for all."""

    entry: _Entry
    columns: np.ndarray | None
    saw_y, broken_by = False, None

    def some(self, picked):
        """Of these columns those in some places."""
        picked = np.array(picked, dtype=int)
        picked = picked if self.columns is None else self.columns[picked]
        return _Columns(self.entry, picked)

    def back(self, W):
        self.entry.arrive(self.columns, W)

    def starts(self):
        return [self.entry]


class _Start:
    """Features made by a step that is not affine: the data set from there on."""

    def __init__(self, rows, saw_y, broken_by):
        self.rows, self.saw_y, self.broken_by = rows, saw_y, broken_by
        self.W = 0.0

    def back(self, W):
        self.W = self.W + W

    def starts(self):
        return [self]

    def block(self):
        return (numeric(self.rows), self.W) if np.ndim(self.W) else None


@dataclass(frozen=True, eq=False)
class _Affine:
    """An affine step behind a node; ``transpose`` maps W behind it to W in front."""

    parent: object
    transpose: object
    saw_y: bool

    @property
    def broken_by(self):
        return self.parent.broken_by

    def back(self, W):
        self.parent.back(self.transpose(W))

    def starts(self):
        return self.parent.starts()


@dataclass(frozen=True, eq=False)
class _Union:
    """Blocks of columns side by side, each with a weight of its own."""

    children: list
    widths: list

    @property
    def saw_y(self):
        return any(child.saw_y for child in self.children)

    @property
    def broken_by(self):
        return next((c.broken_by for c in self.children if c.broken_by), None)

    def back(self, W):
        edges = np.cumsum(self.widths)[:-1]
        for child, part in zip(self.children, np.split(W, edges), strict=True):
            child.back(part)

    def starts(self):
        # Branches of the same entry share its rows: each start once.
        unique = {id(s): s for child in self.children for s in child.starts()}
        return list(unique.values())


def _collected(starts):
    """All starts side by side, and the directions on them."""
    blocks = [block for start in starts if (block := start.block()) is not None]
    rows, W = zip(*blocks, strict=True)
    if len(rows) == 1:
        return rows[0], W[0]
    if any(sparse.issparse(part) for part in rows):
        return sparse.hstack(rows, format="csr"), np.concatenate(W)
    return np.column_stack(rows), np.concatenate(W)


def _through(step, node, rows, y):
    """Node and rows behind a step that is not applied yet."""
    if step is None or step == "passthrough":
        return node, rows
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            node, rows = _through(inner, node, rows, y)
        return node, rows
    behind = transformed(step, rows)
    return _behind(step, node, rows, behind, y), behind


def _behind(step, node, rows, behind, y):
    """Node behind a step, whose rows are there on both sides."""
    if isinstance(step, FeatureUnion):
        return _union(step, node, rows, y)
    if isinstance(step, ColumnTransformer) and isinstance(node, _Columns):
        return _column_union(step, node, rows, y)
    transpose = transpose_of(step, rows, behind)
    saw_y = node.saw_y or sees_y(step, rows, y)
    if transpose is not None:
        return _Affine(node, transpose, saw_y)
    broken_by = node.broken_by or (type(step).__name__ if saw_y else None)
    return _Start(behind, saw_y, broken_by)


def _union(union, node, rows, y):
    """The branches of a FeatureUnion, side by side."""
    children, widths = [], []
    weights = union.transformer_weights or {}
    for name, step in union.transformer_list:
        if step == "drop":
            continue
        child, part = _through(step, node, rows, y)
        children.append(_weighted(child, weights.get(name, 1.0)))
        widths.append(n_columns(part))
    return _Union(children, widths)


def _column_union(transformer, node, rows, y):
    """The branches of a fitted ColumnTransformer, each on its own columns."""
    names = getattr(rows, "columns", None)
    children = []
    weights = transformer.transformer_weights or {}
    for name, step, columns in transformer.transformers_:
        where = transformer.output_indices_[name]
        if where.stop == where.start:  # dropped, or nothing is left
            continue
        picked = column_positions(columns, names, n_columns(rows))
        child, _ = _through(
            step, node.some(picked), _branch_rows(rows, columns, picked), y
        )
        child = _weighted(child, weights.get(name, 1.0))
        children.append((where.start, where.stop - where.start, child))
    # In the order of the columns behind, which is that of W's rows.
    _, widths, children = zip(*sorted(children, key=lambda c: c[0]), strict=True)
    return _Union(list(children), list(widths))


def _branch_rows(rows, columns, picked):
    """What a branch of a ColumnTransformer sees of the rows, ``picked`` by position."""
    if isinstance(columns, str | int):  # a single column goes in as a vector
        named = hasattr(rows, "columns")
        return rows[columns] if named else np.asarray(rows)[:, columns]
    return take_columns(rows, picked)


def branches(union, rows):
    """Fitted transformers that stand side by side, each with the rows that it sees.

    Parameters
    ----------
    union : fitted FeatureUnion or ColumnTransformer
    rows : array-like of shape (n, P)
        In front of it.
    """
    if isinstance(union, FeatureUnion):
        for _, step in union.transformer_list:
            if not isinstance(step, str):
                yield step, rows
        return
    names, width = getattr(rows, "columns", None), n_columns(rows)
    for name, step, columns in union.transformers_:
        where = union.output_indices_[name]
        # nothing was fitted to no columns
        if where.stop > where.start and not isinstance(step, str):
            picked = column_positions(columns, names, width)
            yield step, _branch_rows(rows, columns, picked)


def _weighted(node, factor):
    """A branch whose output is multiplied by a number."""
    return _Affine(node, lambda W: factor * W, node.saw_y)
