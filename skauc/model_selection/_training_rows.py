"""Which rows are at hand: those that trained the model, or held-out ones.

Of the rows that trained it a model is judged with a prior on all features; of held-out
rows its score is one feature. They are told apart by what the model carries:

1. its support vectors, or the class means it keeps, are those of the rows, or not;
2. the gradient of what it minimised is 0 on training rows and of random-walk size on
   others, also as the solver sees it, in the units of the rows;
3. the column means that a step in front of it keeps, or its least values if all differ;
4. with more features than rows, w is a combination of the rows that trained it;
5. a solver that stopped early: going on to the optimum of these rows hardly changes
   the scores on training rows, and changes them altogether on others.

Rows of which only some trained the model (it was fitted to a part of them, or to them
resampled) are neither, and no "held-out" ones: their empirical AUC is too high. Means
that are nearer than those of other rows show them, least values of which some are
equal (3), rows on the margin of a hinge, and with more features than rows a w that is
their combination (4).

Behind a step that saw y and is not affine the whole estimator is fitted to the rows:
that tells whether they trained it (:mod:`skauc.model_selection._refits`). So it is done
where rows look held out behind a step whose ``transform`` is not what its fit gave the
model (NMF, an imputer that samples): on noise, 100 rows, 20 features, a third of the
numbers missing, their AUC was said to be .65 and .68. Of more than two classes all rows
are asked at once (:mod:`skauc.model_selection._rows_of_classes`).
Where nothing tells, training rows are assumed, and said so. Weights of the fit that are
not given move the optimum as other rows do: rows whose means a step in front keeps are
never held-out ones, nor are those that costs of the classes explain
(:mod:`skauc.model_selection._class_costs`); "held-out" by the optimum alone says so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

import numpy as np
from scipy import linalg, sparse
from scipy.spatial import cKDTree
from scipy.special import chdtri, pdtrc
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline

from ..adaptive._cache import CACHE
from ..leave_pair_out._discriminant_refits import ridge_of_discriminant
from ..leave_pair_out._losses import RoundedHinge
from ..leave_pair_out._objective import PenalisedFit, length_of_gradient, stationarity
from ..leave_pair_out._optimum import at_optimum
from ..statistics._block_matrix import BlockMatrix
from ..statistics._columns import dot_products
from ..statistics._moments import class_moments, project_samples
from ..statistics._numerics import TINY
from ._affine_steps import gives_others
from ._any_estimator import has_known_fit
from ._any_rows import numeric, take_rows
from ._class_costs import trained_with_costs
from ._directions import count_of_directions
from ._entered_features import branches
from ._linear_model import stages_of
from ._refit_objective import discriminant_objective
from ._scored_model import ScoredModel
from ._span_of_rows import rest_by_products
from ._training_objective import (
    PARALLEL,
    correlation,
    largest_gradient,
    leave_pair_out_estimate,
)

ROWS = ("auto", "training", "held-out")
_SHARED = "neither"  # some of the rows trained the model, others perhaps did not
# Correlation of the scores with those of the optimum. A solver that says it has
# converged leaves 1 % of their spread, one that was stopped some percent; on other rows
# of the same source the share is √(2P/n) or more.
_CONVERGED, _STOPPED = 0.9995, 0.99
_SPAN_ROWS = 2000  # of a Gram matrix: 32 MB
_RIDGE = 1e-11  # of the largest square of a row
_DEPENDENT = 1e-10  # of the trace: features that are sums of few others, rounded
_IN_SPAN = 1e-3  # of the length of w; a stranger has √(1 − n/P) outside
_TOLD = 0.9  # of that: rounding of what is outside does not count
# Of solvers that were stopped, on training rows (12 designs each, n × P = 40 × 20 to
# 60 × 300, scales over four decades): the best length along w is at least .46 of w's,
# on held-out rows mostly 0 to .5; after 100 steps the correlation above is .97 or more,
# on held-out rows -.5 to .95.
_SHORTER, _MANY_STEPS, _FAR = 0.4, 50, 0.9
LEAST_OF_ONE = largest_gradient((2, 2))  # of one direction
_ROUNDED_32 = float(np.finfo(np.float32).eps)  # relative
# Combinations of the columns, of variance 1: of n other vectors and rows n² 1e-12 are
# as near as rows that were rounded to three digits. Of fewer columns more are: of the
# distance from row to row, a hundredth has one in fifty of them even along a line.
_COMBINATIONS, _ROUNDED, _NEARER = 4, 1e-3, 0.01
_ROWS_ASKED = 200  # of how far rows are apart, and of how columns vary together
# Standard errors: another sample's means are off by √2 of them, root mean square.
_SAME_MEAN, _OTHER_MEAN = 0.01, 0.5
_NO_MEAN = 1e-6  # of the deviation of scores: rounding
# How often held-out rows may be called neither. Gradients: weighted training rows
# without their weights .34 to .44, two thirds of the training rows .53 to .68, held-out
# rows .91 to 1.5 (60 × 30 to 500 × 200); the bound is .5 at 10 features, .75 at 60.
_UNTOLD = 0.02
# The same of means, less often: every fold of a cross-validation is asked. Of .02, .005
# and .002 as the bound (150 × 5, 20, 60) a model fitted to .8 of the rows was told in
# .75, .50 and .33 of the cases of 5 features, and in all of 20 and 60.
_NEAR = 0.005
# Length of the gradient where nine solvers stopped by themselves, 200 × 20, features
# around 0 to 1e4, of scales from 1e-8 to 1e8, one or many: up to .01, and once .08.
_AT_REST = 0.05
# Where lbfgs was stopped after 50 steps or more, 100 × 20, scales over four, six and
# eight decades: up to .27, on held-out rows .65 to 2.2.
_STOPPED_ANYWHERE = 0.5
_COARSE = 1e-3  # tolerance from which on a solver stops anywhere
# LinearSVC, 100 × 3 to 500 × 20, C = .01 to 100, tol = 1e-4: so near to the margin are
# 3 to 38 of its training rows, or none where all are inside of it; of others none or 1.
_ON_MARGIN = 1e-3


def told_rows(scored: ScoredModel, by_objective=None) -> str | None:
    """Tell training rows from held-out rows.

    Parameters
    ----------
    scored : ScoredModel
    by_objective : callable, default=None
        ``scored -> str or None``; what the objective tells where it is not that of a
        model of two classes.

    Returns
    -------
    {"training", "held-out"} or None
        None where nothing tells them apart.
    """
    if scored.broken_by is not None:  # what the model saw need not be these rows
        return None
    if scored.model is None:
        return _unless_shared(_by_steps(scored))
    told = (
        _by_support_vectors(scored)
        or _by_class_means(scored)
        or _by_steps_taken(scored)
    )
    if told is None:
        told = (by_objective or _by_objective)(scored)
        # of features that are nearly one the gradient is small on other rows, too
        if told == "training" and _has_other_means(scored):
            return None
    if told == "training":
        return told
    steps = _by_steps(scored)
    if steps == "training":  # weights of the fit, or permuted columns, keep the means
        return None if told == "held-out" else steps
    told = told or steps or _by_span(scored)
    if told != "held-out":
        return _unless_shared(told)
    # A fit of somebody's own need not lead to the optimum, nor keep what is known.
    unknown = not has_known_fit(scored.model) and steps != "held-out"
    # With more features than rows no others span w: some of them trained it.
    shared = steps == _SHARED or _by_span(scored) == "training"
    if unknown or shared:
        return None
    fit = scored.objective
    if fit is None or steps == "held-out":
        return told
    if not trained_with_costs(scored.floats, scored.second_class, fit):
        return told
    return "training"


def _unless_shared(told):
    return None if told == _SHARED else told


def are_training_rows_of_steps(scored: ScoredModel) -> bool:
    """Whether a step in front keeps the means of these very rows."""
    return _by_steps(scored) == "training"


def are_made_anew(stages, y) -> bool:
    """Whether a step in front has given the model other rows than it gives now.

    Parameters
    ----------
    stages : tuple of (fitted transformer, rows in front, rows behind)
    y : array-like of shape (n,)
    """
    inner = chain.from_iterable(_fitted_steps(*stage[:2]) for stage in stages)
    return any(gives_others(step, rows, y) for step, rows in inner)


def weights_may_tell(scored: ScoredModel) -> bool:
    """Whether rows told to be held out may be training rows of unknown weights.

    No weights of the fit move its support vectors or its count of rows to those of
    other rows; they do move its optimum. Nor do a part of the rows tell themselves by
    the means of their classes.
    """
    if scored.weight is not None:  # given
        return False
    told = _by_support_vectors(scored) or _by_steps_taken(scored)
    return told is None and _by_steps(scored) != "held-out"


def _by_support_vectors(scored):
    model = scored.model
    if not hasattr(model, "support_vectors_"):
        return None
    rows = set(_row_keys(scored.rows))
    found = [key in rows for key in _row_keys(model.support_vectors_)]
    if not any(found):
        rounded = _rounded_ones(model.support_vectors_, scored.rows)
        found = rounded if np.mean(rounded) > 0.5 else found  # few are by chance
    if all(found):
        return "training"
    return None if any(found) else "held-out"


def _rounded_ones(vectors, rows):
    """Which vectors are rows but for rounding, as of float32 or a file."""
    if sparse.issparse(rows):
        return [False]
    spread = np.std(rows.astype(float), axis=0)
    some = spread > 0
    Q = np.random.default_rng(0).normal(size=(np.count_nonzero(some), _COMBINATIONS))
    Q /= spread[some, None] * np.sqrt(max(len(Q), 1))
    points = rows[:, some].astype(float) @ Q
    there = cKDTree(points)
    apart = np.median(there.query(_some_rows(points), k=2)[0][:, 1])
    near = min(_ROUNDED, _NEARER * apart)
    return there.query(vectors[:, some].astype(float) @ Q)[0] < near


def _some_rows(X):
    most = min(len(X), _ROWS_ASKED)
    return X[np.random.default_rng(0).choice(len(X), most, replace=False)]


def _row_keys(X):
    """What every row holds, as bytes."""
    if sparse.issparse(X):
        X = X.tocsr().astype(float).sorted_indices()
        for start, stop in pairwise(X.indptr):
            indices = X.indices[start:stop].astype(np.int64)
            yield indices.tobytes() + X.data[start:stop].tobytes()
    else:
        for row in np.asarray(X, dtype=float) + 0.0:  # -0 is 0
            yield row.tobytes()


def _by_class_means(scored):
    means = np.asarray(getattr(scored.model, "means_", None), dtype=float)
    if means.shape != (2, scored.front.shape[1]):
        return None
    rows = scored.second_class
    found = class_moments(scored.samples, rows, scored.weight, featurewise=True)
    return _by_moments(scored, means, found)


def told_by_means_of_classes(scored: ScoredModel, means, masks) -> str | None:
    """What the class means of a discriminant tell, of more than two classes.

    Parameters
    ----------
    scored : ScoredModel
        Of the rows of all classes.
    means : ndarray of shape (K, P)
    masks : list of ndarray of bool of shape (n,)

    Returns
    -------
    {"training", "held-out"} or None
    """
    rows = scored.samples, scored.weight
    found = [
        class_moments(rows[0], mask, rows[1], featurewise=True)[1] for mask in masks
    ]
    return _by_moments(scored, means, found)


def _by_moments(scored, means, found):
    # SE x̄_c = √(W_c/n_c)/√n_c = √W_c/n_c of each feature
    error = np.array([np.sqrt(m.scatter) / m.n for m in found])
    allowed = _rounding(scored.front) * np.abs(means)
    gap = np.maximum(np.abs(means - [m.mean for m in found]) - allowed, 0.0)
    some = error > 0
    if not some.any():
        return None
    # Root mean square over the features, in standard errors.
    apart = np.sqrt(np.mean((gap[some] / error[some]) ** 2))
    if apart < _SAME_MEAN:
        return "training"
    others = apart > max(_least_of_others(scored.samples, len(means)), _OTHER_MEAN)
    return "held-out" if scored.weight is None and others else None


def _by_objective(scored):
    Z, rows = scored.floats, scored.second_class
    fit = scored.objective
    if fit is None or not fit.w.any():
        return _by_leave_pair_out(scored) if fit is None else None
    stopped, near = was_stopped(scored.model), None
    if type(fit) is PenalisedFit and fit.loss != "hinge":
        near, gradient, least, strange = _gradient_and_bounds(scored)
        if gradient <= least:
            return "training"
        if not stopped:
            return "held-out" if gradient > strange and _is_long(scored) else None
    told = _by_steps(scored) or _by_span(scored)
    if told not in (None, _SHARED):
        return told
    Z = scored.samples.astype(float, copy=False)
    optimum = at_optimum(fit, Z, rows)
    if optimum is None or not optimum.w.any():
        return None
    scores = project_samples(Z, fit.w), project_samples(Z, optimum.w)
    same = correlation(*scores, fit.case_weight)
    if not stopped:
        if same > _CONVERGED:
            return "training"
        return "held-out" if _is_long(scored) else None
    if same > _STOPPED:
        return "training"
    # far from its optimum a model may be on training rows too
    strange = _cannot_be_training(scored.model, fit, near, same)
    return "held-out" if strange and _is_long(scored, _STOPPED_ANYWHERE) else None


def _gradient_and_bounds(scored):
    """The fit whose gradient tells, that, and the bounds of training and held-out rows.

    The length of w is fitted: of one feature, or many that are all but one, every
    direction is at its optimum then, and the length must tell.
    """
    Z, rows, fit = scored.floats, scored.second_class, scored.objective
    k = min(Z.shape) - 1
    if k == 0:
        return fit, stationarity(Z, rows, fit), *_bounds(1)
    near, gradient = scored.near
    bounds = largest_gradient(Z.shape), _strange(k)
    # as small it is on no other rows, however few the directions
    surely = near is fit and gradient <= LEAST_OF_ONE
    if surely or gradient > bounds[0] or not isinstance(Z, np.ndarray):
        return near, gradient, *bounds
    k = min(count_of_directions(Z) - 1, k)
    if k < 1:
        return fit, stationarity(Z, rows, fit), *_bounds(1)
    return near, gradient, *_bounds(k)


def bounds_of_gradient(Z, n_classes) -> tuple[float, float]:
    """Gradient up to which rows are training rows, and from which on others.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P)
    n_classes : int
        Whose mean square it is: all but one of their gradients are free.
    """
    k = min(Z.shape) - 1
    if isinstance(Z, np.ndarray):
        k = min(count_of_directions(Z) - 1, k)
    return _bounds(max(k, 1), n_classes - 1)


def _bounds(k, m=1):
    """Of k directions, m times."""
    return largest_gradient((k + 1, k + 1)), _strange(k, m)


def _strange(k, m=1):
    """Gradient, in units of its random walk, from which on rows are other rows.

    Of k directions, m times. Between, rows may be a part of the training rows, or were
    weighted there.
    """
    k = max(k, 1)
    # √(χ²_{km, .02}/{(k + 1)m}), as in largest_gradient
    return np.sqrt(chdtri(k * m, 1 - _UNTOLD) / ((k + 1) * m))


def _is_long(scored, least=_AT_REST):
    """Whether a solver that says it has arrived would not have stopped here."""
    Z, rows, fit = scored.floats, scored.second_class, scored.objective
    if fit.loss == "hinge":
        if _has_margin(Z, rows, fit):  # their forces are not known
            return False
        fit = replace(fit, loss=RoundedHinge(_ON_MARGIN))
    return is_long(Z, rows, fit, least)


def is_long(Z, rows, fit, least=_AT_REST) -> bool:
    """Whether the gradient of a smooth loss is longer than solvers leave it."""
    length, k = length_of_gradient(Z, rows, fit)
    return length > max(_strange(k), least)


def _has_margin(Z, rows, fit):
    """Whether more rows than by chance lie on the margin of a hinge, ``tz = 1``.

    Its optimum puts rows there that trained it, up to one a feature and the intercept.
    """
    gap = np.abs(1 - (2.0 * rows - 1.0) * (project_samples(Z, fit.w) + fit.intercept))
    counts = fit.case_weight > 0
    on, near = (((gap < size) & counts).sum() for size in (_ON_MARGIN, 10 * _ON_MARGIN))
    # Poisson: as many or more, where a tenth of those near are expected
    return on > 0 and pdtrc(on - 1, near / 10) < _UNTOLD


def _cannot_be_training(model, fit, near, same):
    """Whether no solver that stopped on these rows would leave such a model."""
    if hasattr(model, "t_") or near is None:
        return False
    # Coordinates of the dual: no descent of w, and slow where features are large.
    if getattr(model, "dual", False):
        return False
    # A descent from 0 ends short of the best length along w, not far beyond it.
    if np.linalg.norm(near.w) < _SHORTER * np.linalg.norm(fit.w):
        return True
    slow = getattr(model, "solver", None) in ("sag", "saga")
    return not slow and np.max(model.n_iter_) >= _MANY_STEPS and same < _FAR


def _by_leave_pair_out(scored):
    """Discriminants are solved again on these rows: the same direction, or not."""
    if isinstance(scored.front, BlockMatrix):
        return _by_direction(scored)
    question = scored.model, scored.rows, scored.second_class, scored.weight
    return None if leave_pair_out_estimate(*question) is None else "training"


def _by_direction(scored):
    """The same without a row left out: rows in blocks are too many."""
    rows, weight = scored.second_class, scored.weight
    rule = discriminant_objective(scored.model, scored.front.shape, weight)
    if rule is None:
        return None
    weight = np.ones_like(rows, dtype=float) if weight is None else weight
    ridge = ridge_of_discriminant(rule, scored.front, rows, weight)
    found = None if ridge is None else at_optimum(ridge[1], ridge[0], rows)
    if found is None or not found.w.any():
        return None
    score = project_samples(ridge[0], found.w)
    same = np.corrcoef(score, scored.own_score)[0, 1]
    return "training" if same >= PARALLEL else None


def _by_span(scored):
    """With more features than rows: w is a combination of the rows that trained it.

    So it is after any number of steps of any solver that starts at 0, as long as
    nothing works feature by feature (an L1 penalty): no combination tells nothing.
    """
    n, P = scored.front.shape
    Z, w = scored.floats, scored.w_front
    if n + 1 >= P or (n > _SPAN_ROWS and not sparse.issparse(Z)):
        return None
    if sparse.issparse(Z):
        rest = rest_by_products(Z, w, _TOLD * _IN_SPAN, partial(_kept, scored))
    else:
        rest = linalg.norm(_out_of_span(scored.rows.astype(float, copy=False), w))
    if not rest < _IN_SPAN * np.linalg.norm(w):
        return None
    return "training" if sparse.issparse(Z) or _are_independent(scored.rows) else None


def _kept(scored, name, compute):
    """What depends on the rows in front alone, for the next candidate."""
    if scored.sketch is None or scored.Z is not scored.front:
        return compute()
    rows = scored.front
    key = name, rows.shape, rows.nnz, hash(scored.sketch.tobytes())
    return CACHE.remember(key, compute)


def _are_independent(rows):
    """Whether different rows are, but for their mean: else any rows span the same."""
    different = {key: i for i, key in enumerate(_row_keys(rows))}
    rows = rows[list(different.values())].astype(float)
    largest = np.abs(rows).max(axis=0)  # no unit of rows or columns matters
    rows = rows[:, largest > 0] / largest[largest > 0]
    length = np.linalg.norm(rows, axis=1)
    unit = rows[length > 0] / length[length > 0, None]
    K = unit @ unit.T
    rank = np.linalg.matrix_rank(K, tol=_DEPENDENT * np.trace(K), hermitian=True)
    return rank >= len(K) - 1


def _out_of_span(Z, w):
    """What of w is no combination of the rows: w − Zᵀ(ZZᵀ)⁻¹Zw."""
    K = Z @ Z.T
    # a ridge, so that equal rows do no harm; ten rounded digits are left of α
    K[np.diag_indices(len(K))] += _RIDGE * K.diagonal().max() + TINY
    alpha = linalg.solve(K, project_samples(Z, w), assume_a="pos", overwrite_a=True)
    return w - Z.T @ alpha


def was_stopped(model):
    """Whether a solver may have stopped before its optimum."""
    if hasattr(model, "t_"):  # stochastic: it stops anywhere
        return True
    n_iter, most = getattr(model, "n_iter_", None), getattr(model, "max_iter", None)
    if n_iter is None:  # a closed form
        return False
    if getattr(model, "tol", 0.0) > _COARSE:
        return True
    return most is not None and bool(np.max(n_iter) >= most)


def _by_steps_taken(scored):
    """A stochastic solver counts its steps: a whole number of passes over its rows."""
    model = scored.model
    if not hasattr(model, "t_") or not hasattr(model, "n_iter_"):
        return None
    if scored.weight is not None:  # it counts rows of weight 0, which may not be here
        return None
    passes = np.max(model.n_iter_)
    if passes == 1:  # as partial_fit has left it, whose rows may be any of these
        return None
    # scikit-learn counts from 1.
    return None if model.t_ - 1 == passes * len(scored.positive) else "held-out"


def _by_steps(scored):
    """The first step in front that keeps means or ranges of its training rows."""
    if scored.weight is not None:
        return None
    inner = chain.from_iterable(_fitted_steps(*stage[:2]) for stage in scored.stages)
    for step, rows in inner:
        if isinstance(step, FrozenEstimator):  # fitted to rows of its own
            return None
        mean = getattr(step, "mean_", None)
        lowest = getattr(step, "data_min_", None)
        if mean is None and lowest is None:
            continue
        X = numeric(rows)
        known = isinstance(X, BlockMatrix)
        if not known and (
            sparse.issparse(X) or X.dtype.kind not in "fiub" or not np.all(X == X)
        ):
            continue
        if mean is not None:
            return _by_means(step, X, np.asarray(mean))
        return _by_least_values(X, np.asarray(lowest))
    return None


def _has_other_means(scored):
    """Whether a step in front keeps the means of other rows.

    A pass over the rows, but where the scores have the mean 0 that a scaler has left
    them: then these are the rows whose means it took.
    """
    if isinstance(scored.objective, PenalisedFit):
        mean = scored.score.mean()
        (square,) = dot_products((scored.score, scored.score))
        # beside a mean that is next to nothing the mean square is the variance
        if mean**2 < _NO_MEAN**2 * square / len(scored.score):
            return False
    return _by_steps(scored) == "held-out"


def _by_least_values(X, lowest):
    """An equal least value is that of a shared row; other rows have none.

    In columns without ties, and without a floor at 0: counts, and sizes of what may be
    missing, have the least value 0 in every sample.
    """
    some = np.sort(take_rows(X, np.arange(min(len(X), _ROWS_ASKED))), axis=0)
    free = np.all(some[1:] != some[:-1], axis=0) & (lowest != 0)
    if not free.any():
        return None
    same = np.isclose(X.min(axis=0), lowest, rtol=_ROUNDED_32, atol=0)
    return _SHARED if same[free].any() else "held-out"


def _fitted_steps(step, rows):
    """A step with the rows in front of it; of a union those of its branches."""
    if isinstance(step, Pipeline):
        for inner, front, _ in stages_of(step.steps, rows):
            yield from _fitted_steps(inner, front)
    elif isinstance(step, FeatureUnion | ColumnTransformer):
        for inner, part in branches(step, rows):
            yield from _fitted_steps(inner, part)
    else:
        yield step, rows


def _by_means(step, X, mean):
    """The same means are those of the same rows, means far from these of others."""
    apart = _standard_errors(X, mean)
    if apart < _SAME_MEAN:
        return "training"
    # Of n rows beside m others the gap has the variance σ²(1/n + 1/m), in units of σ²/n
    seen = np.max(getattr(step, "n_samples_seen_", np.inf))
    stranger = np.sqrt(1 + len(X) / seen) * _least_of_others(X)
    return "held-out" if apart >= stranger else _SHARED


def _least_of_others(X, n_means=1):
    """Gap of means, in its standard deviations, below which rows hardly are others.

    They share rows then. The root mean square of k independent gaps, so many a column,
    is below with the probability ``_NEAR``.
    """
    # √(χ²_{k, .005}/k)
    k = n_means * _independent_columns(X)
    return float(np.sqrt(chdtri(k, 1 - _NEAR) / k))


def _independent_columns(X):
    """How many independent columns vary as much together: P²/Σ r²_jk, at least 1.

    Of some rows: the products of all would take longer than many a fit.
    """
    if isinstance(X, BlockMatrix) or sparse.issparse(X):
        return 1.0
    X = _some_rows(X)
    n = len(X)
    centre, spread = _centre_and_spread(X)
    some = spread > 0
    P = np.count_nonzero(some)
    U = (X[:, some].astype(float) - centre[some]) / spread[some]
    gram = U @ U.T if n < P else U.T @ U
    # Of independent columns r² is 1/n by chance.
    squares = np.sum((gram / n) ** 2) - P * (P - 1) / n
    return float(P**2 / max(squares, P)) if P else 1.0


def _standard_errors(X, mean):
    allowed = _rounding(X) * np.abs(mean)
    centre, spread = _centre_and_spread(X)
    some = spread > 0
    if not some.any():
        return 0.0
    gap = np.maximum(np.abs(centre - mean) - allowed, 0.0)
    # In standard errors s/√n; then the root mean square over the columns.
    apart = gap[some] / spread[some] * np.sqrt(len(X))
    return np.sqrt(np.mean(apart**2))


def _centre_and_spread(X):
    """Mean and standard deviation of each column."""
    if isinstance(X, BlockMatrix):
        whole = X.moments()
        return whole.mean, np.sqrt(whole.scatter / whole.n)
    X = X.astype(float)
    return X.mean(axis=0), X.std(axis=0)


def _rounding(X):
    """Relative rounding that a mean of the rows may have."""
    dtype = X.dtype if X.dtype.kind == "f" else np.dtype(float)
    return X.shape[0] * np.finfo(dtype).eps
