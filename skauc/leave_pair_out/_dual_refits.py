"""Refits of an elastic net on many weightings of fewer rows than features.

Every refit minimises ``Σ c_i loss(z_i) + l1‖w‖₁ + (l2/2)‖w‖²``, ``z = Xw + b``. At its
optimum w is a function of the slopes of the rows (Li, Sun & Toh 2018,
https://doi.org/10.1137/16M1097572),

    α = −g(z),   w = soft(Xᵀα, l1)/l2,   z = Xw + b,   1ᵀα = 0,

so that n scores are all that is unknown, however many features are not 0. A semismooth
Newton step of them, E the features with w ≠ 0 and ω the curvatures at z, solves

    (diag(1/ω) + X_E X_Eᵀ/l2) Δα = z − Xw(α) − b

and lowers the dual objective ``ψ = l2/2 ‖w(α)‖² − Σ (α_i z_i + c_i loss(z_i))``. The
*gap*, what the primal one is above −ψ, bounds how far either is from its optimum. An
intercept is the weight of one more column, so large that its penalty is not felt.

Features enter and leave by thousands in one step, where a working set would grow
tenfold in as many rounds, and the products with the data are sparse if these are. Where
l2 is small the steps are short, because many features turn: then larger ones are
solved first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from ..statistics._moments import project_samples
from ..statistics._numerics import TINY
from ._losses import loss_terms, loss_value
from ._newton import first_lower
from ._objective import ElasticNetFit
from ._smooth_refits import MOST_ROWS, Refits

# Of the objective. 5 refits of 16 designs (text of 300 × 5000, 500 × 50 000; l1_ratio
# from .1 to .99, C from 1 to 100): .632+ is that of a gap of 1e-8 to four digits.
_GAP = 1e-4
_STEPS = 15  # from a neighbour it takes 3 to 9; then larger penalties come first
_MORE_STEPS = 60
_LADDER = 0.3  # of one l2 to the next: 4 to 9 steps each
_LEVEL = 1e3  # of a row's square: the column of an intercept
_JITTER, _ROUNDING = 1e-14, 1e-12
_LEVEL_PENALTY = 1e-4  # of a mean case weight: the penalty of an intercept at most


def suits_dual(fit: ElasticNetFit, X) -> bool:
    """Whether the n scores are fewer unknowns than the coefficients that are not 0.

    A loss with corners has bounds on α, which Newton's steps do not know, and an
    intercept that is penalised an L1 penalty of its own.
    """
    n, smooth = X.shape[0], fit.loss in ("logistic", "squared")
    known = smooth and fit.l2 > 0 and (fit.free or fit.intercept_scaling == 0)
    return known and n <= min(np.count_nonzero(fit.w), MOST_ROWS)


def refit_dual(fit: ElasticNetFit, X, positive, counts) -> Refits | None:
    """Refit an elastic net on every row of counts.

    Parameters
    ----------
    fit : ElasticNetFit
        As :func:`suits_dual` wants it; a fit that stopped early is taken to its
        optimum first.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    counts : ndarray of shape (n_boot, n)

    Returns
    -------
    Refits or None
        None where the optimum of all rows was not reached.
    """
    rows, z = _Rows.of_fit(fit, X), project_samples(X, fit.w) + fit.intercept
    full = _optimum(fit, rows, positive, fit.case_weight, z)
    if full is None:
        return None
    z = rows.scores(full.w, full.b)
    scores, converged = np.zeros(counts.shape), np.zeros(len(counts), dtype=bool)
    for k, c in enumerate(counts * fit.case_weight):
        on = np.flatnonzero(c > 0)
        found = _optimum(fit, rows.drawn(on), positive[on], c[on], z[on])
        if found is not None:
            scores[k], converged[k] = rows.scores(found.w, found.b), True
    return Refits(scores, converged, z, True)


def dual_optimum(fit: ElasticNetFit, X, positive) -> ElasticNetFit | None:
    """The fit at the optimum of its objective, or None where it was not reached."""
    rows, z = _Rows.of_fit(fit, X), project_samples(X, fit.w) + fit.intercept
    found = _optimum(fit, rows, positive, fit.case_weight, z)
    if found is None:
        return None
    # b belongs to centred rows
    return replace(fit, w=found.w, intercept=float(found.b - rows.origin @ found.w))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows less their mean if the intercept is free; sparse ones are not made dense.

    ``mean`` is what is still to be taken off X, ``level`` the square of the column of
    the intercept, 0 if there is none.
    """

    X: np.ndarray | sparse.csr_array
    columns: np.ndarray | sparse.csc_array
    origin: np.ndarray
    mean: np.ndarray
    level: float

    @classmethod
    def of_fit(cls, fit, X):
        origin = np.zeros(X.shape[1])
        if fit.free:
            origin = np.asarray(X.mean(axis=0), dtype=float).ravel()
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            return cls(X, X.tocsc(), origin, origin, _level(fit, X.data))
        # far from the origin only centred rows have digits
        X = X - origin
        return cls(X, X, origin, np.zeros_like(origin), _level(fit, X.ravel("K")))

    def drawn(self, on):
        X = self.X[on]
        return replace(self, X=X, columns=X.tocsc() if sparse.issparse(X) else X)

    def scores(self, w, b):
        return self.X @ w - self.mean @ w + b

    def transposed(self, alpha):
        return self.X.T @ alpha - alpha.sum() * self.mean

    def gram(self, active):
        """``X_E X_Eᵀ``, with the column of the intercept."""
        A, mean = self.columns[:, active], self.mean[active]
        if not sparse.issparse(A):
            return A @ A.T + self.level
        along = A @ mean
        # (x − m)ᵀ(y − m)
        return (A @ A.T).toarray() - along[:, None] - along + (mean @ mean + self.level)


def _level(fit, entries):
    """Of a column beside which its own penalty ``l2/level`` is not felt."""
    if not fit.free:
        return 0.0
    n, unit = len(fit.case_weight), max(fit.case_weight.mean(), TINY)
    return max(_LEVEL * (entries @ entries) / n, fit.l2 / (_LEVEL_PENALTY * unit), TINY)


@dataclass(frozen=True, eq=False)
class _Point:
    """Scores of the rows, what follows from them, and both objectives there."""

    z: np.ndarray
    alpha: np.ndarray
    curvature: np.ndarray
    w: np.ndarray
    b: float
    fitted: np.ndarray  # Xw + b
    dual: float
    primal: float

    @property
    def solved(self):
        return self.primal + self.dual <= _GAP * self.primal


def _optimum(fit, rows, positive, c, z):
    """The point where the gap is closed, from the scores z, or None."""
    problem = _Problem(rows, positive, c, fit.loss, fit.l1)
    nothing = problem.at(np.zeros(len(c)), fit.l2)
    start = problem.at(z, fit.l2)
    # w = 0 costs the loss of no scores: a solver may have gone astray
    if not start.primal <= loss_value(fit.loss, np.zeros(len(c)), positive, c):
        start = nothing
    found = problem.newton(start, fit.l2, _STEPS)
    if found is not None:
        return found
    # from where the first scores are of the size of a margin
    first = fit.l2 * np.abs(nothing.fitted - nothing.b).max()
    point = nothing
    for l2 in _ladder(first, fit.l2):
        point = problem.newton(problem.at(point.z, l2), l2, _MORE_STEPS)
        if point is None:
            return None
    return point


def _ladder(first, last):
    """Penalties from the first, if it is larger, to the last in equal ratios."""
    if not first > last:
        return [last]
    n = int(np.ceil(np.log(first / last) / -np.log(_LADDER)))
    return np.geomspace(first, last, n + 1)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The rows with their labels and case weights, all > 0, the loss and l1."""

    rows: _Rows
    positive: np.ndarray
    c: np.ndarray
    loss: str
    l1: float

    def at(self, z, l2) -> _Point:
        value, g, curvature = loss_terms(self.loss, z, self.positive, self.c)
        alpha = -g
        u = self.rows.transposed(alpha)
        # w = soft(Xᵀα, l1)/l2
        w = np.sign(u) * np.maximum(np.abs(u) - self.l1, 0.0) / l2
        b = self.rows.level * alpha.sum() / l2
        fitted = self.rows.scores(w, b)
        penalty = l2 / 2 * (w @ w) + b * alpha.sum() / 2
        # ψ = l2/2 ‖w‖² − Σ (αz + c loss(z))
        dual = penalty - alpha @ z - value
        loss = loss_value(self.loss, fitted, self.positive, self.c)
        primal = loss + self.l1 * np.abs(w).sum() + penalty
        return _Point(z, alpha, curvature, w, b, fitted, dual, primal)

    def newton(self, point, l2, steps):
        """The optimum after at most so many steps, or None."""
        for _ in range(steps):
            if point.solved:
                return point
            new = self._lower(point, *self._step(point, l2), l2)
            if new is None:
                return None
            point = new
        return point if point.solved else None

    def _step(self, point, l2):
        """Δz of Newton's step, and the slope of ψ along it."""
        K, s = self.rows.gram(np.flatnonzero(point.w)), np.sqrt(point.curvature)
        residual = point.z - point.fitted
        # (1/ω + K/l2)⁻¹ = l2 s (l2 + sKs)⁻¹ s,  s = √ω
        D = K * s * s[:, None]
        D.flat[:: len(D) + 1] += l2 + _JITTER * D.diagonal().max() + TINY
        L, info = lapack.dpotrf(D, lower=1, overwrite_a=0, clean=0)
        if info:
            return -residual, 0.0
        dalpha = l2 * s * lapack.dpotrs(L, s * residual, lower=1)[0]
        # z + Δz is what Xw + b would be if no feature turned
        return K @ dalpha / l2 - residual, -(residual @ dalpha)

    def _lower(self, point, dz, slope, l2):
        """The first of ever shorter steps that lowers ψ."""

        def reached(t):
            return self.at(point.z + t * dz, l2)

        # ψ is a difference of larger numbers
        start = point.dual + _ROUNDING * abs(point.primal)
        return first_lower(lambda new: new.dual, reached, start, slope)
