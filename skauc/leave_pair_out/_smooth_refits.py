"""Refits of a penalised linear model on many weightings of its rows, all at once.

Every refit minimises ``Σ c_i loss(z_i) + ½‖w‖²_Λ``, ``z = Xw + b``, with its own
weights c (how often a bootstrap sample drew the row, times its case weight). They are
neighbours of one optimum, so all of them start there and take Newton steps together
in min(n, P) dimensions: products with the data are one matrix product for all samples.

*Row space* (P ≥ n, P ≥ .7 n of samples, or sparse). :mod:`._row_space`.

*Feature space* (else). ``(X̃ᵀ diag(ω) X̃ + Λ)Δθ = −(X̃ᵀg + Λθ)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import lapack

from ..statistics._numerics import TINY
from ._influence import kernel_at_hand, kernel_of, kernels_of
from ._losses import RoundedHinge, loss_terms, loss_value
from ._margin_rows import settled_rows
from ._newton import CLOSE, FLAT, optimum, optimum_from_afar
from ._objective import PenalisedFit, ask_again
from ._row_space import Leading, RowSpace, factor_of
from ._sparse_optimum import KERNEL_ROWS, optimum_by_kernel, optimum_by_products

# Enough where only the AUC is asked: .632+ (104 models of 13 data sets) is right to
# 5e-5, root mean square, and at worst 2.4e-4.
# With few rows a feature the objective may hardly tell how far the end is: rows that
# stand three times, each with its own label, 100 × 300, C = 100: .748 with FOR_AUC,
# .689 with CLOSE, .6885 at the end; 150 × 100, C = 10⁴: .597, .532, .515.
FOR_AUC, FOR_AUC_OF_FEW_ROWS = (1e-5, 1e-3), (1e-9, 1e-7)
_JITTER = 1e-14  # of the largest diagonal: rounding of the products
_BATCH_NUMBERS = 2_000_000  # numbers in the systems of one batch: 16 MB
_SPARSE_ROWS = 2000  # up to here a sparse X with P < n works in row space
MOST_ROWS = 5000  # of a Gram matrix: 200 MB
# Fewer systems, or more features: a product for each is as fast as one a feature.
_FEW_SYSTEMS, _FEW_FEATURES = 5, 48
# A sample has .63 n different rows, of which its system in row space is. 20 of them
# take of the time in feature space, C = 1 and 10⁴: 100 × 95 .88, .75; 150 × 110 .79,
# .77; 200 × 130 .92, .72; 200 × 190 .49, .43; a hinge .9 at 100 × 80, .3 at 490 × 340.
_DRAWN, _DRAWN_FEATURES = 0.7, 100  # of n, and at least so many
# Of a row's mean square: beside a smaller penalty the kernel of drawn rows has lost
# digits. Scores are those of feature space to 1e-9, of a squared hinge to 1e-8.
_DIGITS = 1e-6
_DENSE_NUMBERS = 2e7  # of a sparse X in feature space: 160 MB


@dataclass(frozen=True, eq=False)
class Refits:
    """Scores of all rows under every refit.

    Parameters
    ----------
    scores : ndarray of shape (n_boot, n)
    converged : ndarray of bool of shape (n_boot,)
        Whether the refit stopped at its optimum.
    full : ndarray of shape (n,)
        Scores under the fit to all rows, at its optimum.
    full_converged : bool
    """

    scores: np.ndarray
    converged: np.ndarray
    full: np.ndarray
    full_converged: bool


def refit_smooth(
    fit: PenalisedFit,
    X,
    positive,
    counts,
    remember=ask_again,
    *,
    solved=False,
    tol=CLOSE,
) -> Refits | None:
    """Refit an L2-penalised smooth loss on every row of counts.

    Parameters
    ----------
    fit : PenalisedFit
        Loss, penalty, case weights and the fitted coefficients. A fit that stopped
        early is taken to its optimum first.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    counts : ndarray of shape (n_boot, n)
        How often each sample drew each row.
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone (their kernel) for the next fit.
    solved : bool, default=False
        Whether the fit is known to be at its optimum.
    tol : tuple of float, default=(1e-7, 1e-5)
        As for :func:`~skauc.leave_pair_out._newton.optimum`.

    Returns
    -------
    Refits or None
        None where the n×n Gram matrix, or sparse rows made dense, would be too large.
    """
    if _too_large(X):
        return None
    space = _space(fit, X, remember, many=True)
    theta, full, full_converged = _full(space, fit, X, positive, solved)
    weights = counts * fit.case_weight
    # So many samples at once that their systems fit the memory of a batch
    rows = max(int(_BATCH_NUMBERS // space.system_size(counts)), 1)
    parts = []
    for c in np.split(weights, range(rows, len(counts), rows)):
        refit = partial(_Weighted, space, positive, c)
        start = np.tile(theta, (len(c), 1))
        _, (_, scores, *_), converged = optimum(refit, fit.loss, start, tol)
        parts.append((scores, converged))
    scores, converged = map(np.concatenate, zip(*parts, strict=True))
    return Refits(scores, converged, full, full_converged)


def smooth_optimum(
    fit: PenalisedFit, X, positive, remember=ask_again
) -> PenalisedFit | None:
    """The fit at the optimum of its objective.

    Parameters
    ----------
    fit, X, positive, remember
        As for :func:`refit_smooth`.

    Returns
    -------
    PenalisedFit or None
        None where the matrices would be too large, or it was not reached.
    """
    if hasattr(X, "toarray") and fit.loss != "hinge":
        K = kernel_at_hand(X, fit, remember)
        found = optimum_by_products(fit, X, positive, kernel=K)
        if found is not None:
            return found
    # Beside a small penalty corners may be out of reach of products
    if _too_large(X):
        return None
    if fit.loss == "logistic" and X.shape[1] >= X.shape[0] >= KERNEL_ROWS:
        found = optimum_by_kernel(fit, X, positive, *kernels_of(X, fit, remember))
        if found is not None:
            return found
    space = _space(fit, X, remember)
    theta, _, at_optimum = _full(space, fit, X, positive)
    if not at_optimum:
        return None
    w, intercept = space.coefficients(theta, X, fit)
    return replace(fit, w=w, intercept=intercept)


def _too_large(X):
    """Whether a Gram matrix, or sparse rows made dense, would be."""
    n, P = X.shape
    if uses_rows(X):
        return n > (_SPARSE_ROWS if hasattr(X, "toarray") else MOST_ROWS)
    return hasattr(X, "toarray") and n * P > _DENSE_NUMBERS


def _full(space, fit, X, positive, solved=False):
    """The optimum of all rows: parameters, scores and whether it was reached."""
    theta = space.start(fit, X, positive)
    if solved:
        return theta, space.scores(theta[None])[0], True
    all_rows = partial(_Weighted, space, positive, fit.case_weight[None])
    theta, (_, z, *_), converged = optimum_from_afar(all_rows, fit.loss, theta[None])
    theta, z, at_optimum = theta[0], z[0], bool(converged[0])
    if fit.loss == "squared_hinge" and isinstance(space, RowSpace):
        rows = positive, fit.case_weight, z
        settled = settled_rows(space.K, fit.l2, fit.free, *rows)
        if settled is not None:
            return settled, space.scores(settled[None])[0], True
    return theta, z, at_optimum


def uses_rows(X) -> bool:
    """Whether refits work in the span of the rows."""
    n, P = X.shape
    return P >= n or (hasattr(X, "toarray") and n <= _SPARSE_ROWS)


def _draws_fewer(fit, X, remember):
    """Whether samples draw so few rows that their refits work in the span of these."""
    n, P = X.shape
    # squares take one step, and what is rounded in it stays
    if n > MOST_ROWS or P < max(_DRAWN * n, _DRAWN_FEATURES) or fit.loss == "squared":
        return False
    return fit.l2 >= _DIGITS * kernel_of(X, fit, remember).trace() / n


def _space(fit, X, remember, many=False):
    """The smaller one; ``many`` refits are worth a decomposition of the kernel."""
    if not uses_rows(X) and not (many and _draws_fewer(fit, X, remember)):
        return FeatureSpace.of_fit(fit, X)
    K = kernel_of(X, fit, remember)
    name = len(K), fit.intercept_scaling
    keep = remember if len(K) <= _SPARSE_ROWS else ask_again  # beside larger kernels
    root = keep(("factor of kernel", *name), lambda: factor_of(K))
    leading = None
    if many and fit.loss == "logistic":
        leading = remember(("spectrum of kernel", *name), lambda: Leading.of_kernel(K))
    return RowSpace(K, root, fit.l2, fit.free, leading)


@dataclass(frozen=True, eq=False)
class _Weighted:
    """A loss and the penalty in a space, with weights of the rows for every system."""

    space: RowSpace | FeatureSpace
    positive: np.ndarray
    c: np.ndarray
    loss: str | RoundedHinge

    def at(self, theta):
        """Objective, scores, slope and curvature of the losses."""
        z = self.space.scores(theta)
        pull = self.space.pull(theta, z)
        return self._state(z, self.space.inner(pull, theta) / 2, self.c)

    def _state(self, z, penalty, c):
        loss, g, curvature = loss_terms(self.loss, z, self.positive, c)
        return [loss + penalty, z, g, curvature]

    def nothing(self):
        # z = 0 for every row
        return self.c.sum(axis=1) * loss_value(self.loss, np.zeros(1), True, 1.0)

    def factors(self, at, systems):
        curvature = at[3][systems]
        bent = curvature.any(axis=1, keepdims=True)
        return self.space.factors(np.where(bent, curvature, FLAT * self.c[systems]))

    @property
    def by_products(self):
        return self.space.by_products

    def step(self, theta, at, factors):
        _, _, g, curvature = at
        return self.space.solve(factors, theta, g, curvature)

    def ray(self, theta, at, step):
        _, z, g, _ = at
        inner, dz = self.space.inner, self.space.scores(step)
        pull, dpull = self.space.pull(theta, z), self.space.pull(step, dz)
        # ½‖θ + tΔθ‖²_Λ = ½θᵀΛθ + t ΔθᵀΛθ + (t²/2) ΔθᵀΛΔθ
        start, bend = inner(pull, theta) / 2, inner(dpull, step) / 2
        slope = inner(pull, step)

        def reached(some, t):
            penalty = start[some] + t * slope[some] + t**2 * bend[some]
            return self._state(z[some] + t[:, None] * dz[some], penalty, self.c[some])

        return np.einsum("kn,kn->k", g, dz) + slope, reached

    def some(self, systems):
        return replace(self, c=self.c[systems])

    def value(self, theta):
        return self.at(theta)[0]

    def spread(self, theta, at):
        return at[1].std(axis=1)


def scaled_penalty(fit, scale):
    """Λ of the scaled features, and of the intercept if there is one."""
    # λ‖w‖² = Σ λθ_j²/scale_j², θ = scale·w
    penalty = fit.l2 / scale**2
    if fit.intercept_scaling == 0:
        return penalty
    return np.append(penalty, fit.intercept_penalty)


class FeatureSpace:
    """Parameters θ of centred, scaled features, and the intercept's if there is one."""

    by_products = False

    def __init__(self, A, penalty, origin, scale, with_intercept):
        self.A, self.penalty = A, penalty
        self.origin, self.scale, self.with_intercept = origin, scale, with_intercept

    @classmethod
    def of_fit(cls, fit, X):
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        (n, P), with_intercept = X.shape, fit.intercept_scaling > 0
        origin = X.mean(axis=0) if fit.free else np.zeros(P)
        A = np.ones((n, P + with_intercept))
        features = np.subtract(X, origin, out=A[:, :P])
        scale = np.sqrt(np.einsum("np,np->p", features, features) / n)
        scale = np.where(scale > 0, scale, 1.0)
        features /= scale
        return cls(A, scaled_penalty(fit, scale), origin, scale, with_intercept)

    def system_size(self, counts):
        return self.A.shape[1] ** 2

    def start(self, fit, X, positive):
        theta = fit.w * self.scale
        if not self.with_intercept:
            return theta
        # b + x̄ᵀw: the intercept of centred features
        return np.append(theta, fit.intercept + self.origin @ fit.w)

    def coefficients(self, theta, X, fit):
        w = theta[: len(self.scale)] / self.scale
        return w, float(theta[-1] - self.origin @ w) if self.with_intercept else 0.0

    def scores(self, theta):
        return theta @ self.A.T

    def pull(self, theta, z):
        """``Λθ``."""
        return self.penalty * theta

    def inner(self, pull, theta):
        return np.einsum("kp,kp->k", pull, theta)

    def factors(self, curvature):
        """Cholesky factor of the Hessian of every system."""
        return self.factored(self._curved(curvature))

    def factored(self, H):
        """The same from upper triangles of ``Aᵀ diag(ω) A``, which are overwritten."""
        diagonal = np.einsum("kpp->kp", H)  # a view
        tiny = _JITTER * diagonal.max(axis=1, keepdims=True) + TINY
        diagonal += self.penalty + tiny
        steepest = np.sqrt(diagonal + tiny)  # where rounding leaves no factor
        found = np.empty(len(H), dtype=object)
        for k, upper in enumerate(H):
            L, info = lapack.dpotrf(upper.T, lower=1, overwrite_a=1, clean=0)
            found[k] = L if info == 0 else np.diag(steepest[k])
        return found

    def _curved(self, curvature):
        """``Aᵀ diag(ω) A`` of every system, its upper triangle."""
        P = self.A.shape[1]
        H = np.empty((len(curvature), P, P))
        if len(curvature) < _FEW_SYSTEMS or P > _FEW_FEATURES:
            for k, row in enumerate(curvature):
                on = np.flatnonzero(row > 0)
                B = self.A[on]
                B *= np.sqrt(row[on])[:, None]
                H[k] = B.T @ B
        else:  # a row of all of them at once
            for j in range(P):
                H[:, j, j:] = (curvature * self.A[:, j]) @ self.A[:, j:]
        return H

    def solve(self, factors, theta, g, curvature):
        # Aᵀg + Λθ
        gradient = g @ self.A + self.penalty * theta
        step = np.empty_like(theta)
        for k, L in enumerate(factors):
            step[k], _ = lapack.dpotrs(L, -gradient[k], lower=1)
        return step
