"""The optimum of a penalised linear fit to rows in blocks: Newton on sums over them.

The feature space of :mod:`skauc.leave_pair_out._smooth_refits`, for one weighting of
the rows. A pass over the blocks gives the objective, its gradient and its
Hessian at some parameters, so that a step that is taken at once costs one pass, and no
column of n numbers is made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import lapack

from ..statistics._block_column import BlockColumn
from ..statistics._block_matrix import BlockMatrix, MatrixBlocks
from ._losses import RoundedHinge, loss_terms, loss_value
from ._newton import FLAT, optimum_from_afar
from ._objective import PenalisedFit
from ._smooth_refits import FeatureSpace, scaled_penalty


def block_optimum(fit: PenalisedFit, X: BlockMatrix, positive) -> PenalisedFit | None:
    """The fit at the optimum of its objective on rows in blocks.

    Parameters
    ----------
    fit : PenalisedFit
        Its case weights, as ``positive``, a column of the blocks or an array.
    X : BlockMatrix
    positive : BlockColumn or ndarray of bool of shape (n,)

    Returns
    -------
    PenalisedFit or None
        None where it was not reached.
    """
    space = _space(fit, X)
    rows = MatrixBlocks(space.A, _beside(positive, fit.case_weight))
    sums = partial(_Sums, space, rows, fit.case_weight)
    theta = space.start(fit, X, positive)
    if fit.loss == "squared":
        theta = _least_squares(sums("squared"))
    else:
        theta, _, reached = optimum_from_afar(sums, fit.loss, theta[None])
        if not reached[0]:
            return None
        theta = theta[0]
    w, intercept = space.coefficients(theta, X, fit)
    return replace(fit, w=w, intercept=intercept)


def _space(fit, X):
    """Centred and scaled features, and the intercept's if there is one."""
    whole = X.moments()
    origin = whole.mean if fit.free else np.zeros(X.shape[1])
    # Root mean square around the origin: Σ(x − o)²/n = W/n + (x̄ − o)²
    scale = np.sqrt(whole.scatter / whole.n + (whole.mean - origin) ** 2)
    scale = np.where(scale > 0, scale, 1.0)
    ones = fit.intercept_scaling > 0
    A = X.affine(origin, scale, ones=ones)
    return FeatureSpace(A, scaled_penalty(fit, scale), origin, scale, ones)


def _beside(positive, case_weight):
    """Both as columns of the blocks, or in memory if one of them is."""
    if isinstance(positive, BlockColumn) and isinstance(case_weight, BlockColumn):
        return positive.beside(case_weight)
    return np.column_stack([positive, case_weight])


@dataclass(frozen=True, eq=False)
class _Sums:
    """A problem of one system: a pass over the blocks for each θ."""

    space: FeatureSpace
    rows: MatrixBlocks
    case_weight: BlockColumn | np.ndarray
    loss: str | RoundedHinge
    by_products = False

    def at(self, theta):
        """Objective, gradient, ``Aᵀ diag(ω) A`` and Σω."""
        found = self.rows.total(_terms_of_block, self.loss, theta[0])
        loss, slope, square, bent = (np.asarray(part)[None] for part in found)
        pull = self.space.penalty * theta
        # Σ c loss(z) + ½θᵀΛθ,  Aᵀg + Λθ
        return [loss + self.space.inner(pull, theta) / 2, slope + pull, square, bent]

    def nothing(self):
        # z = 0 for every row
        return self.case_weight.sum() * loss_value(self.loss, np.zeros(1), True, 1.0)

    def factors(self, at, systems):
        *_, square, bent = at
        if not bent > 0:  # no row has curvature: a gradient step
            square = self.space.A.gram(FLAT * self.case_weight)[None]
        return self.space.factored(square.copy())

    def step(self, theta, at, factors):
        return lapack.dpotrs(factors[0], -at[1][0], lower=1)[0][None]

    def ray(self, theta, at, step):
        slope = np.einsum("kp,kp->k", at[1], step)
        # What is computed at the new place is the next step's
        return slope, lambda systems, t: self.at(theta + t[:, None] * step)

    def some(self, systems):
        return self

    def value(self, theta):
        pull = self.space.penalty * theta
        loss = self.rows.total(_value_of_block, self.loss, theta[0])
        return loss + self.space.inner(pull, theta) / 2

    def spread(self, theta, at):
        return (self.space.A @ theta[0]).std()


def _terms_of_block(block, loss, theta):
    positive, case_weight = block.y.T
    value, g, curvature = loss_terms(loss, block.X @ theta, positive == 1, case_weight)
    # Aᵀ diag(ω) A = (√ω A)ᵀ(√ω A)
    half = np.sqrt(curvature)[:, None] * block.X
    return value, g @ block.X, half.T @ half, curvature.sum()


def _value_of_block(block, loss, theta):
    positive, case_weight = block.y.T
    return loss_value(loss, block.X @ theta, positive == 1, case_weight)


def _least_squares(sums):
    """The optimum of squares: one step, and one for its rounding."""
    theta = np.zeros_like(sums.space.penalty)[None]
    _, start, square, _ = at = sums.at(theta)
    factors = sums.factors(at, slice(None))
    for _ in range(2):
        # The gradient of squares is linear in θ: no second pass over the blocks
        at[1] = start + theta @ square[0] + sums.space.penalty * theta
        theta = theta + sums.step(theta, at, factors)
    return theta[0]
