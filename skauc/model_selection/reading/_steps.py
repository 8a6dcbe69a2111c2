"""Steps in front of a model: what is known of each, and the way back through them.

The posterior of the class means and the covariance, given *all* features, does not
depend on how a direction was chosen. Affine steps compose: ``z = Aᵀ(x − c)`` and
``s = wᵀz`` give ``s = (A w)ᵀx`` up to a constant, also if the step used y. Directions
are mapped back through scalers, selectors, PCA, discriminants as transformers, and
unions and column transformers of these. If a step is not known as affine and ignores y
(one-hot encoder, imputer, splines), the features start behind it. If it uses y (a
target encoder), no closed form holds; ``broken_by`` names it. The class of a step
decides whether it is affine; whether it uses y is tried on rows where the class does
not show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import RBFSampler
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.utils import get_tags

from ...statistics._row_blocks import dense
from ._estimators import (
    column_positions,
    is_known,
    n_columns,
    n_rows,
    numeric,
    take_columns,
    take_rows,
)

# What the fits of transformers in a module of scikit-learn do: ignore y; make with
# fit_transform the rows of transform; treat each column by itself, or draw components
_PLAIN = {"ignores y", "repeatable", "by column"}
_TRAITS = {
    "sklearn.preprocessing": _PLAIN,
    "sklearn.feature_extraction": _PLAIN,
    "sklearn.random_projection": _PLAIN,
    "sklearn.kernel_approximation": {"ignores y", "repeatable"},
    "sklearn.decomposition": {"ignores y"},
    "sklearn.impute": {"ignores y", "by column"},
    "sklearn.cluster": {"ignores y"},
    "sklearn.manifold": {"ignores y"},
    "sklearn.feature_selection": {"repeatable", "by column"},
}
_DIVIDE = StandardScaler, RobustScaler, MaxAbsScaler
# z = C(x − c)
_COMPONENTS = (
    *(PCA, IncrementalPCA, TruncatedSVD, NeighborhoodComponentsAnalysis),
    *(GaussianRandomProjection, SparseRandomProjection),
)
_PROJECTIONS = PCA | FastICA | TruncatedSVD  # fit_transform returns what transform does
_SOME_ROWS = 8  # that show whether a step of unknown class mixes columns
_SAME = 1e-6  # share of a column's range that rounding may leave
_ROUNDINGS = 32  # roundings of a column's largest entry, which may be far from 0


def transpose_of(step):
    """``W -> A W`` of an affine step ``z = Aᵀ(x − c)``; None if it is not known as one.

    Parameters
    ----------
    step : fitted transformer

    Returns
    -------
    callable or None
        From directions of shape (P_behind, K) to those of shape (P_front, K).
    """
    if isinstance(step, FrozenEstimator):
        return transpose_of(step.estimator)
    if hasattr(step, "get_support"):
        support = step.get_support()
        return lambda W: _spread(W, support)
    if isinstance(step, _DIVIDE):
        return lambda W: W if step.scale_ is None else W / step.scale_[:, None]
    if isinstance(step, FunctionTransformer) and step.func is None:
        return lambda W: W  # as a ColumnTransformer passes columns through
    if isinstance(step, MinMaxScaler):
        # z = x · scale_ + min_: this scaler multiplies
        return lambda W: step.scale_[:, None] * W
    if isinstance(step, _COMPONENTS):
        components = step.components_
        if getattr(step, "whiten", False):
            # z_k/√λ_k, λ_k the variance of component k: A = (C/√λ)ᵀ
            components = components / np.sqrt(step.explained_variance_)[:, None]
        return lambda W: components.T @ W
    if isinstance(step, LinearDiscriminantAnalysis):
        return lambda W: step.scalings_[:, : len(W)] @ W
    return None


def _spread(W, support):
    """Directions in all features from those in the selected ones."""
    out = np.zeros((len(support), W.shape[1]))
    out[support] = W
    return out


def _equal(expected, got):
    """Whether two arrays agree to rounding, each column in units of its own."""
    if expected.shape != got.shape:
        return False
    kind = np.result_type(expected, np.float32)
    finite = np.where(np.isfinite(expected), expected, 0.0).astype(kind)
    unit, largest = np.ptp(finite, axis=0), np.abs(finite).max(axis=0, initial=0.0)
    least = _SAME * unit + _ROUNDINGS * np.finfo(kind).eps * largest
    with np.errstate(invalid="ignore"):  # differences of infinite numbers
        close = (np.abs(got - expected) <= least) | (got == expected)
    return bool((close | (np.isnan(got) & np.isnan(expected))).all())


def projects(step, rows, behind) -> bool:
    """Whether the fit of a step makes components of the rows, as PCA does.

    A step of unknown class does if the number of columns behind it is another one, or
    if the first of them depends on more than the first column of the rows.
    """
    if "by column" in _traits(step) or isinstance(step, FrozenEstimator | RBFSampler):
        return False
    other = is_known(type(step)) or n_columns(rows) != n_columns(behind)
    return other or _mixes(step, rows)


def _mixes(step, rows):
    """Whether other columns of some rows change the first column behind a step."""
    some = np.arange(min(n_rows(rows), _SOME_ROWS))
    turned = take_rows(rows, some[::-1])
    try:
        place = getattr(turned, "iloc", turned)
        place[:, 0] = take_rows(getattr(rows, "iloc", rows)[:, 0], some)
        first = (
            dense(numeric(take_columns(step.transform(X), [0])))
            for X in (take_rows(rows, some), turned)
        )
        return not _equal(*first)
    except Exception:  # nothing is known of such a step
        return True


def keeps_features(step) -> bool:
    """Whether a step is known to be affine in all of its input features, or nothing."""
    if step is None or isinstance(step, str):  # "passthrough"
        return True
    return isinstance(step, (*_DIVIDE, MinMaxScaler, *_COMPONENTS))


def sees_y(step, rows, y) -> bool:
    """Whether the fit of a step uses y, by its class or by a refit to permuted labels.

    True if that cannot be decided: without the second source an estimate is only less
    precise, but a second source that trusts a supervised step is biased.

    Parameters
    ----------
    step : fitted transformer
    rows : array-like, sparse matrix or frame
        Its input.
    y : array-like of shape (n,)
    """
    if (inner := _never_refitted(step)) is not None:
        return sees_y(inner, rows, y)  # it may have been fitted to these rows
    if ignores_y(step):
        return False
    selects = _module(step) == "sklearn.feature_selection"
    if selects or get_tags(step).target_tags.required:
        return True
    return _depends_on_y(step, rows, y)


def ignores_y(step) -> bool:
    """Whether the class of a step is known to ignore y."""
    if isinstance(step, Pipeline):
        steps = [inner for _, inner in step.steps if inner not in (None, "passthrough")]
        return all(map(ignores_y, steps))
    return "ignores y" in _traits(step) or isinstance(step, VarianceThreshold)


def _traits(step):
    """What is known of the fit of a step by its class."""
    if isinstance(step, TargetEncoder):  # unlike the other encoders of its module
        return {"by column"}
    return _TRAITS.get(_module(step), set())


def _module(step):
    """Module of scikit-learn that has the class of a step."""
    return ".".join(type(step).__module__.split(".")[:2])


def is_repeatable(step) -> bool:
    """Whether ``fit_transform`` is known to return the rows that ``transform`` returns.

    Otherwise (NMF, an imputer that samples, out-of-fold encodings) the rows that the
    model behind the step was fitted to cannot be computed again.
    """
    if isinstance(step, FrozenEstimator | _PROJECTIONS):
        return True
    own = getattr(type(step), "fit_transform", None)
    inherited = is_known(type(step)) and own is TransformerMixin.fit_transform
    return inherited or "repeatable" in _traits(step)


def _depends_on_y(step, rows, y):
    """Whether refits to y and to permuted y transform the rows differently."""
    permuted = np.random.default_rng(0).permutation(np.asarray(y))
    try:
        first, again = (
            dense(numeric(_same_seed(step).fit(rows, labels).transform(rows)))
            for labels in (y, permuted)
        )
    except Exception:
        return True
    return not _equal(first, again)


def _same_seed(step):
    """A clone with fixed seeds, so that two fits differ by y only."""
    copy = clone(step)
    names = [name for name in copy.get_params() if name.endswith("random_state")]
    return copy.set_params(**dict.fromkeys(names, 0))


def _never_refitted(part):
    """The estimator of a FrozenEstimator, or whose method is a function; or None."""
    if isinstance(part, FrozenEstimator):
        return part.estimator
    func = getattr(part, "func", None)
    owner = getattr(getattr(func, "func", func), "__self__", None)  # also of a partial
    return owner if hasattr(owner, "fit") else None


def has_frozen(estimator) -> bool:
    """Whether a part of the estimator that may have used y is never fitted again."""
    parts = estimator, *getattr(estimator, "get_params", dict)().values()
    fixed = (inner for part in parts if (inner := _never_refitted(part)) is not None)
    return not all(map(ignores_y, fixed))


# --------------------------------------------------- the way back through all steps


@dataclass(frozen=True, eq=False)
class EnteredFeatures:
    """Rows and directions in the features that entered a Pipeline.

    Parameters
    ----------
    starts : list of _Start
        Rows where the features start.
    W : ndarray of shape (P, K)
    saw_y : str or None
        Class name of the first step that used y.
    broken_by : str or None
        Class name of a step that is not affine and uses y, or follows one that does.
    fitted : tuple of (fitted transformer, its input)
        Every step, also inside unions, in the order in which they are applied.
    components : int
        Largest number of components on which a step projects the rows; 0 if none does.
    """

    starts: list
    W: np.ndarray
    saw_y: str | None
    broken_by: str | None
    fitted: list
    components: int

    @cached_property
    def features(self):
        """Features of all starts side by side; ValueError if some are texts."""
        parts = [start.rows() for start in self.starts]
        if len(parts) == 1:
            return parts[0]
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack(parts, format="csr")
        return np.column_stack(parts)


def entered_features(stages, X, W, y) -> EnteredFeatures:
    """Take directions behind some steps back to the features that entered them.

    Parameters
    ----------
    stages : sequence of (fitted transformer, its input, its output)
        In the order in which they are applied.
    X : array-like, sparse matrix or frame of shape (n, n_features)
        Rows in front of the first step.
    W : ndarray of shape (P_last, K)
        Directions behind the last step.
    y : array-like of shape (n,)
        Labels; steps of unknown classes are refitted to permuted labels, to see
        whether they use y.

    Returns
    -------
    EnteredFeatures
    """
    walk = _Walk(y)
    node = _Start(X).node(np.arange(n_columns(X)))
    for step, rows, behind in stages:
        node = walk.behind(step, node, rows, behind)
    node.back(W.astype(float))
    starts = [start for start in node.starts if start.used.any()]
    return EnteredFeatures(
        starts,
        W=np.concatenate([start.W[start.used] for start in starts]),
        saw_y=node.saw_y,
        broken_by=node.broken_by,
        fitted=walk.fitted,
        components=walk.components,
    )


class _Start:
    """Rows where features start, and the sum of the directions on their columns."""

    def __init__(self, X):
        self.X, self.W = X, None
        self.used = np.zeros(n_columns(X), dtype=bool)

    def node(self, columns=None, **seen) -> _Node:
        """These rows, or some of their columns, as a node."""
        return _Node(partial(self.arrive, columns), (self,), columns=columns, **seen)

    def arrive(self, columns, W):
        """Add directions on the given columns; None for all of them."""
        columns = slice(None) if columns is None else columns
        if self.W is None:
            self.W = np.zeros((len(self.used), W.shape[1]))
        # Branches of a union may use the same column: s = Σ_k w_kᵀx adds directions.
        np.add.at(self.W, columns, W)
        self.used[columns] = True

    def rows(self):
        """The columns that were used, as numbers."""
        if self.used.all():
            return numeric(self.X)
        return numeric(take_columns(self.X, np.flatnonzero(self.used).tolist()))


class _Node(NamedTuple):
    """Columns behind some steps.

    ``back`` adds directions of shape (P, K) on these columns, taken back through the
    affine steps, to those of ``starts``. ``columns`` are their numbers among the
    columns in front of all steps, if no step changed them.
    """

    back: Callable
    starts: tuple
    saw_y: str | None = None
    broken_by: str | None = None
    columns: np.ndarray | None = None


def _side_by_side(branches):
    """Node of branches ``(node, width, weight)``, whose columns are multiplied."""
    nodes, widths, weights = zip(*branches, strict=True)

    def back(W):
        blocks = np.split(W, np.cumsum(widths)[:-1])
        for node, weight, block in zip(nodes, weights, blocks, strict=True):
            node.back(weight * block)

    # branches of the same rows share a start, which is listed once
    starts = dict.fromkeys(start for node in nodes for start in node.starts)
    saw_y = next((node.saw_y for node in nodes if node.saw_y), None)
    broken_by = next((node.broken_by for node in nodes if node.broken_by), None)
    return _Node(back, tuple(starts), saw_y, broken_by)


class _Walk:
    """Walk through the steps, which lists every step with its input."""

    def __init__(self, y):
        self.y, self.fitted, self.components = y, [], 0

    def through(self, step, node, rows):
        """Apply a step; return the node and the rows behind it."""
        if step is None or isinstance(step, str):  # "passthrough"
            return node, rows
        if isinstance(step, Pipeline):
            for _, inner in step.steps:
                node, rows = self.through(inner, node, rows)
            return node, rows
        behind = step.transform(rows)
        return self.behind(step, node, rows, behind), behind

    def behind(self, step, node, rows, behind):
        """Node behind a step whose input and output are known."""
        if isinstance(step, FeatureUnion):
            return self._union(step, node, rows)
        if isinstance(step, ColumnTransformer) and node.columns is not None:
            return self._column_union(step, node, rows)
        self.fitted.append((step, rows))
        width = n_columns(behind)
        if projects(step, rows, behind):
            self.components = max(self.components, width)
        transpose = transpose_of(step)
        name = type(step).__name__
        saw_y = node.saw_y or (name if sees_y(step, rows, self.y) else None)
        if transpose is not None:
            return node._replace(
                back=lambda W: node.back(transpose(W)), saw_y=saw_y, columns=None
            )
        broken_by = node.broken_by or (name if saw_y else None)
        return _Start(behind).node(saw_y=saw_y, broken_by=broken_by)

    def _union(self, union, node, rows):
        """The branches of a FeatureUnion, side by side."""
        branches = []
        weights = union.transformer_weights or {}
        for name, step in union.transformer_list:
            if step != "drop":
                child, behind = self.through(step, node, rows)
                branches.append((child, n_columns(behind), weights.get(name, 1.0)))
        return _side_by_side(branches)

    def _column_union(self, transformer, node, rows):
        """The branches of a fitted ColumnTransformer, each on its own columns."""
        names = getattr(rows, "columns", None)
        branches = {}
        weights = transformer.transformer_weights or {}
        for name, step, columns in transformer.transformers_:
            where = transformer.output_indices_[name]
            if where.stop == where.start:  # dropped, or without columns
                continue
            picked = column_positions(columns, names, n_columns(rows))
            part = _branch_rows(rows, columns, picked)
            child = node.starts[0].node(node.columns[picked])
            child, _ = self.through(step, child, part)
            width, weight = where.stop - where.start, weights.get(name, 1.0)
            branches[where.start] = child, width, weight
        # sorted by output column, because the rows of W have this order
        return _side_by_side([branches[start] for start in sorted(branches)])


def _branch_rows(rows, columns, picked):
    """The input of a branch of a ColumnTransformer, ``picked`` by position."""
    if isinstance(columns, str | int):  # a single column goes in as a vector
        named = hasattr(rows, "columns")
        return rows[columns] if named else np.asarray(rows)[:, columns]
    return take_columns(rows, picked)
