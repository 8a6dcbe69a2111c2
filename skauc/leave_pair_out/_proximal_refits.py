"""Refits of L1 and elastic-net models on many weightings of their rows, all at once.

Every refit minimises ``Σ c_i loss(z_i) + l1‖w‖₁ + (l2/2)‖w‖²`` with its own weights c.
Only features of a *working set* enter: those of the fit, and those that any sample
asks for. On it, two-metric projection (Gafni & Bertsekas 1984,
https://doi.org/10.1137/0322061; Schmidt 2010, section 2.3.1): with the steepest
subgradient

    p_j = ∂_j + l1 sign(w_j)   where w_j ≠ 0,
          soft(∂_j, l1)        where w_j = 0,

a Newton step −H⁻¹p of the features with w_j ≠ 0 or p_j ≠ 0 alone, projected on the
orthant of w (of −p where w is 0) and halved until the objective falls. The features
that the step would turn around become 0. A solution of all samples on the working set
is one of the whole problem when ``|∂_j| ≤ l1`` everywhere else; if not, the working
set grows.

Products with the data are one matrix product for all samples; the Newton systems, of
a few features each, are one a sample. An elastic net with more features than rows is
solved in the dimension of the rows (:mod:`._dual_refits`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from ..statistics._numerics import TINY
from ._dual_refits import dual_optimum, refit_dual, suits_dual
from ._losses import loss_derivatives, loss_value
from ._newton import ARMIJO, FLAT
from ._objective import ElasticNetFit
from ._smooth_refits import Refits

# predicted decrease over the objective, for ever larger working sets
_TOLS = (1e-3, 1e-5, *(1e-7,) * 30)
_KKT = 1e-3  # of l1: by how much a feature outside may ask to come in
# 20 samples of 60 × 10 to 100 × 1000 rows, C from .001 to 10⁴, take at most 48 steps
_MAX_ITER = 200
_STEPS = ("Newton", 40), ("slope", 40)  # and how often they are halved
_HAIR = 1e-12
_ENTERS = 0.5  # of the largest |p| among zeros: who leaves 0 in the same step
_JITTER, _DAMPING = 1e-12, 1e-6  # of the mean diagonal; beyond n features
_DENSE_NUMBERS = 2e7  # a working set of a sparse X may not be larger: 160 MB
_STEP_PRODUCTS = 1e10  # of a Newton step of all samples: a refit of them takes seconds


def refit_elastic_net(fit: ElasticNetFit, X, positive, counts) -> Refits | None:
    """Refit an L1 or elastic-net model on every row of counts.

    Parameters
    ----------
    fit : ElasticNetFit
        A smooth loss, both penalties, case weights and the fitted coefficients; a fit
        that stopped early is taken to its optimum first.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    counts : ndarray of shape (n_boot, n)

    Returns
    -------
    Refits or None
        None where X is sparse and the working set would be too large a dense block,
        or a step of all samples would cost more than 10¹⁰ products.
    """
    refits = refit_dual(fit, X, positive, counts) if suits_dual(fit, X) else None
    if refits is not None:
        return refits
    problem = _Problem(fit, X, positive)
    # The fit to all rows first: every sample starts from it
    c = np.vstack([fit.case_weight[None], counts * fit.case_weight])
    solved = _solve(problem, c[:1], *problem.start(fit))
    if solved is None:
        return None
    work, beta, full, at_optimum = solved
    solved = _solve(problem, c[1:], work, np.tile(beta, (len(counts), 1)))
    if solved is None:
        return None
    return Refits(solved[2], solved[3], full[0], bool(at_optimum[0]))


def sparse_optimum(fit: ElasticNetFit, X, positive) -> ElasticNetFit | None:
    """The fit at the optimum of its objective, or None as :func:`refit_elastic_net`."""
    found = dual_optimum(fit, X, positive) if suits_dual(fit, X) else None
    if found is not None:
        return found
    problem = _Problem(fit, X, positive)
    solved = _solve(problem, fit.case_weight[None], *problem.start(fit))
    if solved is None or not solved[3][0]:
        return None
    work, beta = solved[0], solved[1][0]
    w, intercept = np.zeros(X.shape[1]), 0.0
    w[work] = beta[: len(work)] / problem.scale[work]
    if problem.intercept:
        intercept = float(beta[-1] - problem.origin @ w)
    return replace(fit, w=w, intercept=intercept)


def _solve(problem, c, work, beta):
    """Grow the working set until no sample asks for more of it."""
    z = beta @ problem.block(work)[0]
    solved = np.inf
    for tol in _TOLS:
        # The tolerance tightens as the set grows: early sets are not worth an optimum
        wanted = problem.wanted(c, z, work, np.count_nonzero(beta, axis=1))
        if len(wanted) == 0 and solved == _TOLS[-1]:
            break
        beta = np.insert(beta, [len(work)] * len(wanted), 0.0, axis=1)
        work = np.concatenate([work, wanted])
        if problem.too_large(work) or _products(beta, z) > _STEP_PRODUCTS:
            return None
        block = problem.block(work)
        beta, z, converged = _two_metric(block, problem, c, beta, tol)
        solved = tol
    else:
        converged[:] = False
    return work, beta, z, converged


def _products(beta, z):
    """Of a Newton step of all samples: ``k n min(k, n)`` of one with k features."""
    # k features, or rows if fewer: k² n products for the matrix of the smaller side
    sizes, n = np.count_nonzero(beta, axis=1), z.shape[1]
    return n * (sizes * np.minimum(sizes, n)).sum(dtype=float)


class _Problem:
    """The data, the loss and the penalties; the intercept is the last column.

    Columns are in units of their own size, and with them their coefficients and
    penalties: what a step may ignore beside the largest column is not small beside
    another one.
    """

    def __init__(self, fit, X, positive):
        self.X, self.positive, self.loss = X, positive, fit.loss
        self.l1, self.l2 = fit.l1, fit.l2
        self.sparse = hasattr(X, "toarray")
        self.columns = X.tocsc() if self.sparse else X
        scaling = fit.intercept_scaling
        self.intercept = scaling > 0
        self.b_penalties = (fit.l1 / scaling, fit.l2 / scaling**2) if scaling else ()
        self.origin = np.zeros(X.shape[1])
        if fit.free:
            self.origin = np.asarray(X.mean(axis=0), dtype=float).ravel()
        self.scale = self._sizes(X)

    def _sizes(self, X):
        """Root mean square of every column less its origin."""
        if self.sparse:
            mean = np.asarray(X.mean(axis=0), dtype=float).ravel()
            square = np.asarray(X.multiply(X).mean(axis=0), dtype=float).ravel()
            size = np.sqrt(
                np.maximum(square - self.origin * (2 * mean - self.origin), 0)
            )
        else:
            size = np.array(
                [linalg.norm(X[:, j] - o) for j, o in enumerate(self.origin)]
            )
            size /= np.sqrt(len(X))
        return np.where(size > 0, size, 1.0)

    def start(self, fit):
        """Working set and coefficients of the fit, or of nothing if that is nearer."""
        work = np.flatnonzero(fit.w)
        if len(work) > self.X.shape[0] or not self._leads_on(fit, work):
            work = work[:0]  # not sparse, or not yet
        return work, self._coefficients(fit, work)[None]

    def _coefficients(self, fit, work):
        beta = fit.w[work] * self.scale[work]
        if not self.intercept:
            return beta
        # b + x̄ᵀw: the intercept of centred features
        shift = self.origin[work] @ fit.w[work]
        return np.append(beta, fit.intercept + shift if len(work) else 0)

    def _leads_on(self, fit, work):
        """Whether the fit costs less than w = 0, and some row bends its loss.

        Stochastic gradients on large numbers may end with scores of thousands: from
        there a Newton step has no length.
        """
        A, l1, l2 = self.block(work)
        c, beta = fit.case_weight, self._coefficients(fit, work)
        z = beta @ A
        cost = _objective(self, z, c, beta, l1, l2)
        _, curvature = loss_derivatives(self.loss, z, self.positive, c)
        nothing = loss_value(self.loss, np.zeros_like(z), self.positive, c)
        return cost <= nothing and curvature.any()

    def too_large(self, work):
        return self.sparse and len(work) * self.X.shape[0] > _DENSE_NUMBERS

    def block(self, work):
        """Columns of the working set, one a row, and both penalties of each."""
        A = self.columns[:, work]
        A = (A.toarray() if self.sparse else A.astype(float)).T
        scale = self.scale[work]
        A = (A - self.origin[work][:, None]) / scale[:, None]
        l1, l2 = self.l1 / scale, self.l2 / scale**2
        if self.intercept:
            A = np.vstack([A, np.ones(A.shape[1])])
            l1 = np.append(l1, self.b_penalties[0])
            l2 = np.append(l2, self.b_penalties[1])
        return A, l1, l2

    def wanted(self, c, z, work, sizes):
        """Features outside whose slope is above l1, the steepest of every sample."""
        g, _ = loss_derivatives(self.loss, z, self.positive, c)
        # Σ g (x_j − x̄_j): at an optimum no larger than l1 where w_j = 0
        slope = np.abs(g @ self.X - g.sum(axis=1)[:, None] * self.origin)
        slope[:, work] = 0.0
        bound = self.l1 * (1 + _KKT)
        wanted = np.zeros(self.X.shape[1], dtype=bool)
        for row, size in zip(slope, sizes, strict=True):
            asks = np.flatnonzero(row > bound)
            # At most twice as many and ten: too large a set costs more than a round
            most = 10 + size
            if len(asks) > most:
                steepest = np.argpartition(-row[asks] / self.scale[asks], most)
                asks = asks[steepest[:most]]
            wanted[asks] = True
        return np.flatnonzero(wanted)


def _two_metric(block, problem, c, beta, tol):
    """Minimise every row of beta over the working set."""
    A, l1, l2 = block
    z = beta @ A
    converged, live = np.zeros(len(c), dtype=bool), np.arange(len(c))
    for _ in range(_MAX_ITER):
        g, curvature = loss_derivatives(
            problem.loss, z[live], problem.positive, c[live]
        )
        p = _steepest(g @ A.T + l2 * beta[live], beta[live], l1)
        moved = np.zeros(len(live), dtype=bool)
        for i, k in enumerate(live):
            free = _free(beta[k], p[i])
            part = A[free], l1[free], l2[free]
            moved[i], converged[k], beta[k, free], z[k] = _step(
                part, problem, c[k], beta[k, free], z[k], p[i, free], curvature[i], tol
            )
        live = live[moved & ~converged[live]]
        if len(live) == 0:
            break
    return beta, z, converged


def _step(part, problem, c, beta, z, p, curvature, tol):
    """The first step of the free features of one sample that lowers its objective.

    Returns whether there is one, whether Newton's was as short as tol, the
    coefficients and the scores.
    """
    A, l1, l2 = part
    if len(A) == 0:
        return False, True, beta, z
    value = _objective(problem, z, c, beta, l1, l2)
    # of a squared hinge whose margin holds no row the penalty alone is left
    curvature = curvature if curvature.any() else FLAT * c
    # On the orthant |w| is linear, so that Newton's step is one of a smooth function
    orthant = np.where(beta != 0, np.sign(beta), -np.sign(p))
    done = False
    for kind, halvings in _STEPS:
        if kind == "Newton":
            step = _into_orthant(part, curvature, p, np.where(beta == 0, orthant, 0.0))
            # Newton decrement pᵀH⁻¹p beside the objective
            done = -(p @ step) <= tol * value and np.all((step != 0) | (p == 0))
        else:
            # The trace bounds the largest eigenvalue: 1/trace is never too long a step
            step = -p / (np.einsum("pn,pn,n->", A, A, curvature) + l2.sum() + TINY)
        # The first turn in its place among the halves: a coefficient next to 0 turns
        # soon, and a step that ends there is hardly one
        turn, halves = _first_turn(beta, step, l1), 0.5 ** np.arange(halvings)
        for t in np.unique(np.append(halves, turn))[::-1]:
            tried = beta + t * step
            # Coefficients that would leave the orthant stop at its edge
            tried[(l1 > 0) & (np.sign(tried) != orthant)] = 0.0
            new = tried @ A
            # Armijo along the projected step
            bound = value + ARMIJO * min(p @ (tried - beta), 0.0)
            if _objective(problem, new, c, tried, l1, l2) <= bound:
                return bool(np.any(tried != beta)), done, tried, new
        if done:
            break
    return False, done, beta, z


def _objective(problem, z, c, beta, l1, l2):
    loss = loss_value(problem.loss, z, problem.positive, c)
    return loss + np.abs(beta) @ l1 + beta**2 @ l2 / 2


def _steepest(slope, beta, l1):
    """The subgradient of least norm."""
    # soft(∂, l1)
    at_zero = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0.0)
    return np.where(beta != 0, slope + l1 * np.sign(beta), at_zero)


def _free(beta, p):
    """Features that are not 0, and zeros that ask the most to leave it."""
    asks = np.where(beta == 0, np.abs(p), 0.0)
    return np.flatnonzero((beta != 0) | (asks > _ENTERS * asks.max(initial=0.0)))


def _into_orthant(part, curvature, p, side):
    """``−H⁻¹p`` of the features that it does not send to the wrong side of 0.

    A feature at 0 that would go to the other side of it than its slope says stays, and
    the others step without it: of features that are nearly parallel the rest of a joint
    step is no step downwards. ``side`` is ±1 for features at 0, and 0 for others.
    """
    A, l1, l2 = part
    bent = np.flatnonzero(curvature > 0)
    B = A[:, bent] * np.sqrt(curvature[bent])
    H = B @ B.T if len(B) <= len(bent) else None
    step, on = np.zeros(len(p)), np.arange(len(p))
    while len(on):
        square = None if H is None else H[np.ix_(on, on)]
        moved = -_newton_step(B[on], square, l2[on], p[on])
        right = (moved * side[on] >= 0) | (l1[on] == 0)
        if right.all() or not right.any():
            step[on] = moved
            break
        on = on[right]
    return step


def _first_turn(beta, step, l1):
    """The part of a step at which the first coefficient is 0, 1 if none is sooner."""
    turned = (l1 > 0) & (beta * (beta + step) < 0)
    if not turned.any():
        return 1.0
    # a hair further, so that rounding leaves nothing of it
    return min(np.min(-beta[turned] / step[turned]) * (1 + _HAIR), 1.0)


def _newton_step(B, H, l2, p):
    """``(BBᵀ + diag(l2))⁻¹ p``, in the smaller of the two dimensions.

    B are the columns times the roots of the curvatures, and H is BBᵀ if they are few.
    """
    size = np.einsum("pn,pn->", B, B) / len(B)
    if H is not None:
        H.reshape(-1)[:: len(H) + 1] += l2 + _JITTER * size + TINY
        return lapack.dposv(H, p, lower=1, overwrite_a=1)[1]
    # (BBᵀ + D)⁻¹ = D⁻¹ − D⁻¹B(I + BᵀD⁻¹B)⁻¹BᵀD⁻¹
    D = np.maximum(l2, _DAMPING * size + TINY)
    half = B / D[:, None]
    inner = B.T @ half
    inner.reshape(-1)[:: len(inner) + 1] += 1.0
    x = lapack.dposv(inner, half.T @ p, lower=1, overwrite_a=1)[1]
    return p / D - half @ x
