"""What a fitted linear model minimised, as arrays.

An estimator says it with these objects, and nothing here knows the estimator:
:class:`PenalisedFit` for ``Σ c_i loss(z_i) + (λ/2)‖w‖²``, :class:`ElasticNetFit` with
``l1‖w‖₁`` beside it, :class:`Discriminant` for a direction in closed form.

Whether the rows at hand are those that trained the model is not taken on trust: the
gradient of the objective is close to 0 on training rows and of random-walk size on any
others (:func:`stationarity`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from ..statistics._block_matrix import in_memory
from ..statistics._columns import dot_products, made_beside
from ..statistics._moments import project_samples
from ..statistics._numerics import TINY
from ._losses import loss_derivatives, loss_terms

_SCORED = "slopes", "scores"  # under which a fit keeps scores
_SOLVED = 1e-3  # mean slope, over a case weight, that a solver may leave
_NO_SPREAD = 1e-13  # of the mean score: rounding
_WALK_ROWS = 1000  # the size of the random walk is known to 5 % from that many
_GRAM_ROWS = 200  # enough to tell how many directions a sum of squares has
_WALK_FEATURES = 1000  # a mean of squares over so many is known to 5 %
_A_LINE = 8  # numbers that memory hands over together
# Rows, of all numbers, of which a column's curvature is known to its first digit.
_CURVED_ROWS, _CURVED_NUMBERS = 20, 5_000
_EPS = float(np.finfo(float).eps)
_ROUNDING = 64 * _EPS  # of a constant column less its mean
_NO_PENALTY = 1e-12  # of a column's mean curvature: beyond, H⁻¹ has no digits

_ONLY_PENALTY = 1e5  # of the curvature of all columns: beyond, w has its direction
_LEAST_RATIO = 1e-290  # of penalties, whose inverse is a float


def ask_again(name, compute):
    """Keep nothing: compute the value of every name whenever it is asked."""
    return compute()


def made(X):
    """Rows as an array or sparse matrix, if so far only products of them are."""
    X = in_memory(X)
    return X if hasattr(X, "toarray") else np.asarray(X)


def unscaled(X):
    """Rows in front of a scaler that has not scaled them yet, its centre and scale.

    What does not ask for the units of the features is saved the scaled copy.
    """
    P = X.shape[1]
    return X.unscaled() if hasattr(X, "unscaled") else (X, np.zeros(P), np.ones(P))


@dataclass(frozen=True, eq=False)
class PenalisedFit:
    """What a linear model minimised: ``Σ c_i loss(z_i) + (l2/2)‖w‖²``.

    Parameters
    ----------
    loss : {"logistic", "squared", "squared_hinge"}
    l2 : float
        Penalty λ > 0 of the coefficients.
    case_weight : ndarray of shape (n,)
        c: class weight times sample weight.
    w : ndarray of shape (P,)
    intercept : float
        b.
    intercept_scaling : float
        ``inf``: the intercept is free; 0: there is none; otherwise it is penalised as
        the weight of a column of this constant (liblinear).
    """

    loss: str
    l2: float
    case_weight: np.ndarray
    w: np.ndarray
    intercept: float
    intercept_scaling: float
    _last: dict = field(default_factory=dict, init=False, repr=False)

    def slopes(self, X, positive):
        """Score of every row, slope and curvature of its loss; those asked last stay.

        The gradient tells whether these rows trained the model, and the rows left out
        of it start from the same slopes.
        """

        def compute():
            z = self.scores(X)
            return z, *loss_derivatives(self.loss, z, positive, self.case_weight)

        return self.kept("slopes", X, positive, compute)

    def kept(self, name, X, positive, compute):
        """The value that was computed last for these very rows and labels."""
        rows, labels, value = self._last.get(name, (None, None, None))
        if rows is not X or labels is not positive:
            value = compute()
            self.keep(name, X, positive, value)
        return value

    def keep(self, name, X, positive, value):
        """The fit itself, which :meth:`kept` knows this value of."""
        self._last[name] = X, positive, value
        return self

    def scores(self, X):
        """``Xw + b``; of rows of which they are known, without a product."""
        for name in _SCORED:
            rows, _, found = self._last.get(name, (None, None, None))
            if rows is X:
                return found[0]
        return project_samples(X, self.w) + self.intercept

    def know_scores(self, X, score):
        """The fit itself, which is told ``X @ w``."""
        return self.keep("scores", X, None, (score + self.intercept,))

    def with_loss(self, loss):
        """The same w and b under another loss, with the scores that are known."""
        found = replace(self, loss=loss)
        for name in _SCORED:
            if name in self._last:
                X, _, (z, *_) = self._last[name]
                return found.keep("scores", X, None, (z,))
        return found

    @cached_property
    def total_weight(self) -> float:
        """``Σ c_i``."""
        return self.case_weight.sum()

    @property
    def free(self) -> bool:
        """Whether the intercept is not penalised."""
        return np.isinf(self.intercept_scaling)

    @property
    def intercept_penalty(self) -> float:
        """Of b, as λ is of w; 0 where it is free, or there is none."""
        scaling = self.intercept_scaling
        return self.l2 / scaling**2 if 0 < scaling < np.inf else 0.0


@dataclass(frozen=True, eq=False)
class ElasticNetFit(PenalisedFit):
    """What a linear model minimised, with ``l1·‖w‖₁`` beside ``(l2/2)‖w‖²``.

    A penalised intercept ``b = scaling·b'`` has both penalties of b'.
    """

    l1: float = 0.0


def is_l1(objective) -> bool:
    """Whether it has a penalty that makes coefficients 0."""
    return isinstance(objective, ElasticNetFit) and objective.l1 > 0


@dataclass(frozen=True, eq=False)
class Discriminant:
    """A direction ``(Σ_c a_c W_c + Λ)⁻¹ d``, Λ diagonal.

    W_c are the scatter matrices of the classes, d the difference of their means.
    ``left_out`` are the a_c of a fit with one row less in each class: every
    leave-pair-out refit has those, so that only the rows themselves are left to remove.
    """

    a: np.ndarray
    left_out: np.ndarray
    penalty: np.ndarray


def with_optimum(fit: PenalisedFit, Z, positive) -> PenalisedFit | None:
    """The fit with a penalty that is not 0, or None where it has no optimum.

    No penalty is the limit of a tiny one, in units of the curvature of one column.
    Separated rows have no logistic optimum without a penalty. A penalty that dwarfs
    the curvature of all columns (rows in tiny units) makes w small and no more,
    ``λw = −Xᵀg`` with the slopes g of the intercept alone; it is taken for one that
    leaves the scores their digits beside the intercept.

    Parameters
    ----------
    fit : PenalisedFit
        With l2 ≥ 0.
    Z : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    """
    # Separated: the likelihood grows with ‖w‖ for ever
    if fit.l2 == 0 and fit.loss == "logistic":
        z = project_samples(Z, fit.w) + fit.intercept
        if np.all((z > 0) == positive):
            return None
    largest, P = _largest_curvature(fit, Z), Z.shape[1]
    if _NO_PENALTY * largest < fit.l2 <= P * largest:
        return fit
    curvatures = _curvatures(fit, Z)
    column = float(curvatures.mean())
    if fit.l2 > _ONLY_PENALTY * P * column > 0:
        return _less_shrunk(fit, _ONLY_PENALTY * P * column)
    # With more rows than features all are scaled before anything is solved, and the
    # penalty must be tiny beside the smallest of them.
    if P < Z.shape[0] and column > 0:
        column = float(curvatures[curvatures > 0].min())
    return replace(fit, l2=max(fit.l2, _NO_PENALTY * column))


def _less_shrunk(fit, l2):
    """The same direction under a smaller penalty: ``l2 w`` and the intercept stay."""
    l2 = max(l2, _LEAST_RATIO * fit.l2)
    # λw stays, and so does the penalty λ/scaling² of the intercept
    ratio = l2 / fit.l2
    scaling = fit.intercept_scaling * np.sqrt(ratio)
    return replace(fit, l2=l2, w=fit.w / ratio, intercept_scaling=scaling)


def _largest_curvature(fit, Z):
    """Not exceeded by :func:`column_curvature`, in one pass without a copy."""
    some = _some_rows(Z)
    entries = some.data if hasattr(Z, "toarray") else some
    entries = entries.ravel("K")
    # Squares around 0: no less than those around the mean, of column_curvature
    square = np.dot(entries, entries) / some.shape[0]
    return square * fit.total_weight / Z.shape[1]


def _some_rows(Z):
    n, P = Z.shape
    return Z[:: n // max(_CURVED_ROWS, _CURVED_NUMBERS // P) + 1]


def column_curvature(fit: PenalisedFit, Z) -> float:
    """``Σ_i c_i z_ij²`` of an average column: what a penalty is large or small beside.

    Parameters
    ----------
    fit : PenalisedFit
    Z : ndarray or sparse matrix of shape (n, P)
    """
    return float(_curvatures(fit, Z).mean())


def _curvatures(fit, Z):
    """The same of every column; 0 where rounding is all that it is."""
    some = _some_rows(Z)
    if hasattr(Z, "toarray"):
        square = np.asarray(some.multiply(some).mean(axis=0), dtype=float).ravel()
    else:
        mean = some.mean(axis=0)
        centred = some - mean if fit.free else some  # a free intercept takes the mean
        square = (centred**2).mean(axis=0)
        square[square <= (_ROUNDING * mean) ** 2] = 0.0
    return square * fit.total_weight


def on_its_ray(X, positive, fit: PenalisedFit) -> PenalisedFit:
    """The fit with w and b at their optimum along the ray c·w, c ≥ 0.

    At a trained model c = 1; one that was rescaled since is put back, so that the
    estimate depends on the direction alone. Two parameters, Newton with halving.
    """
    score = project_samples(X, fit.w)
    shift = score.mean() if fit.free else 0.0
    score = score - shift
    # squares of very large and very small scores are no floats
    spread = max(score.max(), -score.min())
    if spread <= _NO_SPREAD * abs(shift):  # features that do not vary but for rounding
        spread, score = 0.0, 0.0 * score
    largest = max(spread, TINY)
    score = score / largest
    # The ray's score in units of its root mean square, beside a column of ones
    root = np.sqrt(dot_products((score, score))[0] / len(score)) or 1.0
    size, basis = largest * root, [score / root, np.ones_like(score)]
    # (λ/2)‖c w‖² of θ₀ = c·size, and of liblinear's b' = b/scaling
    of_length = fit.l2 * (linalg.norm(fit.w) / size) ** 2 if spread > 0 else fit.l2
    penalty = np.array([of_length, fit.intercept_penalty])
    if fit.intercept_scaling == 0:
        basis, penalty = basis[:1], penalty[:1]

    def scores(theta):
        return sum(t * column for t, column in zip(theta, basis, strict=True))

    def terms(theta):
        """Of the objective the value; slopes and curvatures of the losses."""
        found = loss_terms(fit.loss, scores(theta), positive, fit.case_weight)
        return found[0] + penalty @ theta**2 / 2, *found[1:]

    theta, upper = np.zeros(len(basis)), np.triu_indices(len(basis))
    value, g, curvature = terms(theta)
    for _ in range(100):
        # Gradient and upper triangle of the 2×2 Hessian, of one pass over the rows
        bent = [(curvature * basis[i], basis[j]) for i, j in zip(*upper, strict=True)]
        sums = dot_products(*((g, column) for column in basis), *bent)
        gradient, H = sums[: len(basis)] + penalty * theta, np.diag(penalty)
        H[upper] += sums[len(basis) :]
        H.T[upper] = H[upper]
        # in half of the time of scipy's
        step = np.linalg.lstsq(H, gradient, rcond=_EPS)[0]
        # Convex: some fraction of a Newton step lowers the objective, or it is rounding
        while (new := terms(theta - step))[0] > value and linalg.norm(step) > 0:
            step = step / 2
        theta, old, (value, g, curvature) = theta - step, value, new
        if old - value <= 1e-15 * abs(value):
            break
    # Back to w and to an intercept of scores that were not shifted
    c = max(theta[0], 0.0) / size
    intercept = float(theta[1] - c * shift) if len(theta) == 2 else 0.0
    return replace(fit, w=c * fit.w, intercept=intercept)


def nearest_optimum(X, positive, fit: PenalisedFit, enough) -> tuple:
    """The fit, or where it is at its optimum on its ray; and the gradient there.

    A trained model is at its optimum as it is. One whose gradient exceeds ``enough``
    may have been rescaled since: it is put back first (:func:`on_its_ray`).

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    fit : PenalisedFit
    enough : float

    Returns
    -------
    near : PenalisedFit
    gradient : float
        As :func:`stationarity` has it.
    """
    gradient = stationarity(X, positive, fit)
    if gradient <= enough:
        return fit, gradient
    near = on_its_ray(X, positive, fit)
    return near, stationarity(X, positive, near)


def stationarity(X, positive, fit: PenalisedFit) -> float:
    """Gradient of the objective in units of its random-walk size; ≪ 1 at the optimum.

    On rows that did not train the model it is of order 1: so training rows are told
    from held-out ones. Root mean square over the features, each in its own unit
    ``Σ g²(x − x̄)²``, so that neither the origin nor the scale of a feature counts. The
    slopes have a floor, what solvers leave when they stop.
    """
    total = len(fit.case_weight)
    unit = fit.total_weight / total or 1.0  # relative weights may be tiny, or huge
    l2 = fit.l2 / unit
    g = fit.slopes(X, positive)[1]
    g = g if unit == 1 else g / unit
    if hasattr(X, "multiply"):
        return _stationarity_of_sparse(X, g, l2, fit)
    X, mean, scale = unscaled(X)
    # Nor need its mean be that over all of very many features.
    every = X.shape[1] // _WALK_FEATURES + 1
    force_of_penalty = (l2 * scale * fit.w)[::every]
    # The size of the walk need not be exact: of very many rows, every k-th.
    k = len(g) // _WALK_ROWS + 1
    pull, dense = None, every > 1 and isinstance(X, np.ndarray)
    if dense and k > 1 and every <= _A_LINE:  # read all the same, and no copy
        pull = (g @ X)[::every]
    if every > 1:
        X, mean = X[:, ::every], mean[::every]
        if dense and pull is None:  # several products read it: one copy for all
            X = np.ascontiguousarray(X)
    if pull is None:
        pull = X.T @ g
    some, pushing = made_beside(X, g, slice(None, None, k))
    some = np.array(some, order="C")  # several products read it
    force = k * (pushing**2 + _SOLVED**2 * total)
    if fit.free:  # far from the origin only the centred products have digits
        mean = np.full(len(pushing), 1 / len(pushing)) @ some
    # Per feature (x − m)/s:  s ∂_j = Σ g (x_j − m_j) + λ s_j w_j
    gradient = pull - mean * g.sum() + force_of_penalty
    some -= mean
    pushed = force @ some
    some *= some
    walk = square = force @ some
    if fit.intercept_scaling > 0:
        # Σ f(x − x̄)² with x̄ = Σ f x/Σ f:  a free intercept takes the mean out
        walk = square - pushed**2 / force.sum()
    return _in_walks(gradient, walk, square)


def _stationarity_of_sparse(X, g, l2, fit):
    """The same of sparse rows, in the columns that have entries in those of the walk.

    Of very many columns a pass over numbers of all takes longer than a product.
    """
    k = len(g) // _WALK_ROWS + 1
    X = X.tocsr()
    some, pushing = (X, g) if k == 1 else (X[::k], g[::k])
    force = k * (pushing**2 + _SOLVED**2 * len(g))
    columns = some.T  # once: its checks take a third of a product
    square = _squared(some, columns) @ force
    there = np.flatnonzero(square > 0)  # of booleans it takes a tenth of the time
    # Σ g x_j − m_j Σ g: a free intercept takes the mean of some rows
    push = g.copy()
    if fit.free:
        push[::k] -= g.sum() / len(pushing)
    whole = columns if k == 1 else X.T
    gradient = (whole @ push).take(there)
    gradient += l2 * fit.w.take(there)
    walk = square = square.take(there)
    if fit.intercept_scaling > 0:
        walk = square - (columns @ force).take(there) ** 2 / force.sum()
    return _in_walks(gradient, walk, square)


def _in_walks(gradient, walk, square):
    """Root mean square of a gradient, each feature in units of its random walk."""
    # A column that does not vary has no walk but rounding
    alive = walk > 1e-12 * square
    if not alive.any():  # rounding, or features without a spread: nothing is told
        return np.nan
    if not alive.all():
        gradient, walk = gradient[alive], walk[alive]
    steps = gradient / np.sqrt(walk)
    return float(linalg.norm(steps) / np.sqrt(len(steps)))


def _squared(X, columns):
    """The squares of sparse rows, transposed as ``columns`` are."""
    if not X.has_canonical_format:  # an entry may be the sum of two
        return X.multiply(X).T
    parts = columns.data**2, columns.indices, columns.indptr
    return type(columns)(parts, shape=columns.shape)


def length_of_gradient(X, positive, fit: PenalisedFit) -> tuple[float, float]:
    """Length of the whole gradient in units of its random walk, and of how many terms.

    A solver stops where the gradient, or its step, is short in the units of the rows.
    Features far from the origin or of unequal sizes have directions of little curvature
    in which it has not arrived by then, though it says so, and :func:`stationarity`
    counts all directions alike. Here they count by their curvature: the length is of
    order 1 on held-out rows, and small wherever a solver stops by itself.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    fit : PenalisedFit or ElasticNetFit
        Beside an L1 penalty the gradient is that of the features with w ≠ 0.

    Returns
    -------
    length : float
        NaN where there is no gradient.
    k : float
        ``(Σλ)²/Σλ²``, λ the eigenvalues of the walk's covariance: on held-out rows the
        square of the length is spread about like ``χ²_k/k``.
    """
    unit = fit.case_weight.mean() or 1.0
    g = fit.slopes(X, positive)[1] / unit
    l1 = getattr(fit, "l1", 0.0)
    gradient = X.T @ g + (fit.l2 * fit.w + l1 * np.sign(fit.w)) / unit
    every = len(g) // _WALK_ROWS + 1
    rows = X[::every]
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=float)
    if l1:
        active = np.flatnonzero(fit.w)
        rows, gradient = rows[:, active], gradient[active]
    if fit.free and fit.loss == "squared":  # such solvers take the means off first
        mean = rows.mean(axis=0)
        rows, gradient = rows - mean, gradient - mean * g.sum()
    elif fit.intercept_scaling > 0:  # b = s·b'; of a free intercept s is 1
        s = 1.0 if fit.free else fit.intercept_scaling
        pull = 0.0 if fit.free else fit.l2 * fit.intercept / s
        pull += 0.0 if fit.free else l1 * np.sign(fit.intercept)
        rows = np.column_stack([rows, np.full(len(rows), s)])
        gradient = np.append(gradient, s * g.sum() + pull / unit)
    largest = np.abs(rows).max(initial=0.0)
    if not largest > 0:
        return np.nan, 1.0
    force = g[::every] ** 2 + _SOLVED**2 * fit.case_weight.sum() / unit
    rows = rows * (np.sqrt(force) / largest)[:, None]  # squares of squares are floats
    square = np.einsum("ij,ij->", rows, rows)
    length = linalg.norm(gradient / largest) / np.sqrt(every * square)
    some = rows[:: len(rows) // _GRAM_ROWS + 1]
    G = some @ some.T
    m, trace = len(G), np.trace(G)
    between = (np.einsum("ij,ij->", G, G) - G.diagonal() @ G.diagonal()) / (m * (m - 1))
    return float(length), float(max((trace / m) ** 2 / max(between, TINY), 1.0))
