"""What a fitted transformer is: affine or not, with eyes on y or not."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from contextlib import contextmanager
from threading import Lock

import joblib
import numpy as np
from sklearn import decomposition, preprocessing, random_projection
from sklearn.base import TransformerMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..statistics._block_matrix import BlockMatrix
from ._any_rows import dense, has_columns, n_columns, n_rows, take_rows

# Modules of scikit-learn whose transformers ignore y, but for the exceptions.
_UNSUPERVISED = (
    "sklearn.preprocessing",
    "sklearn.decomposition",
    "sklearn.impute",
    "sklearn.random_projection",
    "sklearn.kernel_approximation",
    "sklearn.feature_extraction",
    "sklearn.cluster",
    "sklearn.manifold",
)
_PRINCIPAL = decomposition.PCA | decomposition.IncrementalPCA
_COMPONENTS = (
    decomposition.TruncatedSVD
    | decomposition.FastICA
    | NeighborhoodComponentsAnalysis
    | random_projection.GaussianRandomProjection
    | random_projection.SparseRandomProjection
)
_PROJECTIONS = _PRINCIPAL | _COMPONENTS | LinearDiscriminantAnalysis
# Modules whose fit_transform gives the rows of transform, but for what sees y.
_REPEATED = (
    "sklearn.preprocessing",
    "sklearn.feature_extraction",
    "sklearn.feature_selection",
    "sklearn.random_projection",
    "sklearn.kernel_approximation",
)
_FIT_AND_TRANSFORM = TransformerMixin.fit_transform  # of classes without their own
_NUMBERS_AT_ONCE = 2**22  # sent through an unknown step: 32 MB
_FIRST_ROWS = 8  # of a step that is not affine hardly any stays on their lines
_SAME = 1e-6  # relative difference that rounding may leave


def transpose_of(step, rows, behind):
    """``W -> A W`` of an affine step ``z = Aᵀ(x − c)``; None if it is not affine.

    Parameters
    ----------
    step : fitted transformer
    rows, behind : array-like, sparse matrix or frame
        In front of it and behind it.

    Returns
    -------
    callable or None
        From directions of shape (P_behind, K) to those of shape (P_front, K).
    """
    if hasattr(step, "get_support"):
        support = step.get_support()
        return lambda W: _spread(W, support)
    if isinstance(step, preprocessing.StandardScaler | preprocessing.RobustScaler):
        return _divided_by(step.scale_)
    if isinstance(step, preprocessing.MaxAbsScaler):
        return _divided_by(step.scale_)
    if isinstance(step, preprocessing.MinMaxScaler):
        # Its z = x · scale_ + min_: the only scaler that multiplies.
        return lambda W: step.scale_[:, None] * W
    if isinstance(step, _PRINCIPAL):
        # z = C(x − x̄), whitened z_k/√λ_k, λ_k the variance of component k: A = (C/√λ)ᵀ
        root = np.sqrt(step.explained_variance_) if step.whiten else 1.0
        components = step.components_ / np.reshape(root, (-1, 1))
        return lambda W: components.T @ W
    if isinstance(step, _COMPONENTS):
        return lambda W: step.components_.T @ W
    if isinstance(step, LinearDiscriminantAnalysis):
        return lambda W: step.scalings_[:, : len(W)] @ W
    return _unknown_transpose(step, rows, behind)


def _spread(W, support):
    out = np.zeros((len(support), W.shape[1]))
    out[support] = W
    return out


def _divided_by(scale):
    return lambda W: W if scale is None else W / scale[:, None]


def _unknown_transpose(step, rows, behind):
    """An unknown step is affine if lines stay lines; then unit rows tell A."""
    if not has_columns(rows):
        return None
    width = n_columns(rows)
    try:
        if not all(_stays_on_lines(step, *part) for part in _parts(rows, behind)):
            return None
        origin = _image(step, np.zeros((1, width)))
    except Exception:  # it refuses such rows: it is no affine map of numbers
        return None

    def transpose(W):
        out = np.empty((width, W.shape[1]))
        for part in _blocks(width, width):
            block = np.zeros((len(part), width))
            block[np.arange(len(part)), part] = 1.0
            # f(e_j) − f(0) is the j-th row of A, a block of rows at a time.
            out[part] = (_image(step, block) - origin) @ W
        return out

    return transpose


def _parts(rows, behind):
    """All rows in front and behind, as blocks of numbers; of rows in blocks some.

    An imputer or a step that cuts off is affine but for the rows that it is for.
    """
    n = n_rows(rows)
    parts = [np.arange(min(_FIRST_ROWS, n))]
    if not isinstance(rows, BlockMatrix):
        parts += _blocks(n, n_columns(rows))
    for part in parts:
        yield tuple(dense(take_rows(X, part)).astype(float) for X in (rows, behind))


def _blocks(n, width):
    """Numbers of n rows, in blocks of two or more: one row is on any line."""
    blocks = n * width // _NUMBERS_AT_ONCE + 1
    return np.array_split(np.arange(n), min(blocks, max(n // 2, 1)))


def _stays_on_lines(step, a, image):
    """Whether ``f(2a − b) = 2f(a) − f(b)``: 2a − b lies on their line, beyond a.

    A missing number is on no line.
    """
    b, image_b = np.roll(a, 1, axis=0), np.roll(image, 1, axis=0)
    beyond, expected = _image(step, 2 * a - b), 2 * image - image_b
    if not np.isfinite(a).all() or beyond.shape != expected.shape:
        return False
    largest = np.abs(expected).max(initial=0.0)
    return np.allclose(beyond, expected, rtol=_SAME, atol=_SAME * largest)


def _image(step, rows):
    """A step of rows that are not the user's: that they lack names is not said."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return dense(step.transform(rows))


def sees_y(step, rows, y):
    """Whether the fit of a step looks at y: from its class, or by trying.

    Parameters
    ----------
    step : fitted transformer
    rows : array-like, sparse matrix or frame
        In front of it.
    y : array-like of shape (n,) or None

    Returns
    -------
    bool
        True too where it cannot be found out: a posterior that leaves the second
        source out is wide, one that trusts it is wrong.
    """
    module = type(step).__module__
    if isinstance(step, FrozenEstimator):  # it may have been fitted to these rows
        return sees_y(step.estimator, rows, y)
    if isinstance(step, VarianceThreshold):
        return False
    if module.startswith("sklearn.feature_selection"):
        return True
    if _never_sees_y(step):
        return False
    if get_tags(step).target_tags.required:
        return True
    if isinstance(rows, BlockMatrix):  # it is not refitted there: as if it did
        return True
    key = _question(step, rows, y)
    return _ANSWERS.remember(key, lambda: _depends_on_labels(step, rows, y))


def gives_others(step, rows, y) -> bool:
    """Whether the rows that a step gave in its fit are others than ``transform`` gives.

    Then what stands behind it was trained by rows that nobody has: those of NMF, drawn
    anew by an imputer that samples, out of folds.

    Parameters
    ----------
    step : fitted transformer
    rows : array-like, sparse matrix or frame
        In front of it; that it was fitted to them is not asked.
    y : array-like of shape (n,) or None
    """
    module, own = type(step).__module__, getattr(type(step), "fit_transform", None)
    known = module.startswith("sklearn.")
    if module.startswith(_REPEATED) or isinstance(step, FrozenEstimator):
        return False
    if isinstance(rows, BlockMatrix):
        return False
    if known and (isinstance(step, _PROJECTIONS) or own is _FIT_AND_TRANSFORM):
        return False
    key = "others", _question(step, rows, y)
    return _ANSWERS.remember(key, lambda: _transforms_anew(step, rows, y))


def has_frozen(estimator) -> bool:
    """Whether a part of an estimator is frozen that may have seen y.

    No refit fits it anew: if the rows at hand trained it, none of them is left out.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    bool
    """
    inner: dict = getattr(estimator, "get_params", dict)()
    parts = [estimator, *inner.values()]
    frozen = [part.estimator for part in parts if isinstance(part, FrozenEstimator)]
    return any(map(_may_have_seen_y, frozen))


def _may_have_seen_y(model):
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps if step not in (None, "passthrough")]
        return any(map(_may_have_seen_y, steps))
    return not _never_sees_y(model)


def _never_sees_y(step):
    """Whether the module of its class says so."""
    unsupervised = type(step).__module__.startswith(_UNSUPERVISED)
    return unsupervised and not isinstance(step, preprocessing.TargetEncoder)


class _Answers:
    """Which steps look at y, of the last questions: once a search, not a candidate."""

    _MOST = 256  # booleans and digests

    def __init__(self):
        self._items = OrderedDict()
        self._lock = Lock()

    def remember(self, key, compute):
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        answer = compute()
        with self._lock:
            self._items[key] = answer
            while len(self._items) > self._MOST:
                self._items.popitem(last=False)
        return answer


_ANSWERS = _Answers()


def _question(step, rows, y):
    """Digest of class, parameters and data."""
    kind = type(step)
    try:
        return joblib.hash(
            (kind.__module__, kind.__qualname__, step.get_params(), rows, y)
        )
    except Exception:  # what cannot be pickled is asked every time
        return object()


def _depends_on_labels(step, rows, y):
    """Whether refits on y and on permuted y make something else of the rows."""
    if y is None:
        return True
    permuted = np.random.default_rng(0).permutation(np.asarray(y))

    def of_labels(y):
        return _same_seed(step).fit(rows, y).transform(rows)

    return _differ(lambda: of_labels(y), lambda: of_labels(permuted))


def _transforms_anew(step, rows, y):
    """Whether a clone gives its rows differently later; True if it cannot be tried."""
    # With its own chance: of one seed draws in the fit and later are the same
    copy = clone(step)

    def in_fit():
        if hasattr(copy, "fit_transform"):
            return copy.fit_transform(rows, y)
        return copy.fit(rows, y).transform(rows)  # as a Pipeline does

    return _differ(in_fit, lambda: copy.transform(rows))


def _differ(first, again):
    """Whether two questions, asked in turn, give other rows; True if one cannot be."""
    try:
        with unseen_fits():
            first, again = dense(first()), dense(again())
    except Exception:
        return True
    if first.shape != again.shape:
        return True
    largest = np.abs(first).max(initial=0.0)
    return not np.allclose(first, again, rtol=_SAME, atol=_SAME * largest)


@contextmanager
def unseen_fits():
    """Fits that only answer a question: no number comes of them, whatever they say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _same_seed(step):
    """A clone all of whose chance is fixed: only y may tell two fits apart."""
    copy = clone(step)
    names = [name for name in copy.get_params() if name.endswith("random_state")]
    return copy.set_params(**dict.fromkeys(names, 0))
