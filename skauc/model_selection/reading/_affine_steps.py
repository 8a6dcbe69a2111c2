"""Properties of a fitted transformer: affine, fitted with y, repeatable.

The class of the transformer decides whether it is affine. Whether it uses y is tried on
rows where the class does not show it. This module knows scikit-learn's transformers and
no models.
"""

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.decomposition import PCA, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import RBFSampler
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline
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
from ._estimators import is_known, numeric

# Modules of scikit-learn: whether fits of their transformers ignore y, and whether
# fit_transform returns the rows of transform; TargetEncoder is an exception to both
_TRAITS = {
    "sklearn.preprocessing": (True, True),
    "sklearn.feature_extraction": (True, True),
    "sklearn.random_projection": (True, True),
    "sklearn.kernel_approximation": (True, True),
    "sklearn.decomposition": (True, False),
    "sklearn.impute": (True, False),
    "sklearn.cluster": (True, False),
    "sklearn.manifold": (True, False),
    "sklearn.feature_selection": (False, True),
}
# Modules whose transformers treat each column by itself, or draw their components
_BY_COLUMN = {
    *("sklearn.preprocessing", "sklearn.feature_extraction", "sklearn.impute"),
    *("sklearn.random_projection", "sklearn.feature_selection"),
}
_DIVIDE = StandardScaler, RobustScaler, MaxAbsScaler
# z = C(x − c)
_COMPONENTS = (
    *(PCA, IncrementalPCA, TruncatedSVD, NeighborhoodComponentsAnalysis),
    *(GaussianRandomProjection, SparseRandomProjection),
)
_PROJECTIONS = PCA | FastICA | TruncatedSVD  # fit_transform returns what transform does
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


def projects(step, width, behind) -> bool:
    """Whether the fit of a step makes components of the rows, as PCA does.

    A step of unknown class does if the number of columns behind it is another one.
    """
    if _module(step) in _BY_COLUMN or isinstance(step, FrozenEstimator | RBFSampler):
        return False
    return is_known(type(step)) or width != behind


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
    return _traits(step)[0] or isinstance(step, VarianceThreshold)


def _traits(step):
    """Whether a fit of the step ignores y, and whether it is repeatable."""
    if isinstance(step, TargetEncoder):  # unlike the other encoders of its module
        return False, False
    return _TRAITS.get(_module(step), (False, False))


def _module(step):
    """Module of scikit-learn that has the class of a step."""
    return ".".join(type(step).__module__.split(".")[:2])


def is_repeatable(step) -> bool:
    """Whether ``fit_transform`` is known to return the rows that ``transform`` returns.

    Otherwise (NMF, an imputer that samples, out-of-fold encodings) the rows that the
    model behind the step was fitted to cannot be computed again.
    """
    known = isinstance(step, FrozenEstimator | _PROJECTIONS) or _traits(step)[1]
    own = getattr(type(step), "fit_transform", None)
    inherited = is_known(type(step)) and own is TransformerMixin.fit_transform
    return known or inherited


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
