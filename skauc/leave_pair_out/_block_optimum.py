"""The optimum of a penalised linear fit to rows in blocks: Newton on sums over them.

The steps of :mod:`skauc.leave_pair_out._smooth_refits` in feature space, for one
weighting of the rows. A pass over the blocks gives the objective, its gradient and its
Hessian at some parameters, so that a step that is taken at once costs one pass, and no
column of n numbers is made.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from ..statistics._block_column import BlockColumn
from ..statistics._block_matrix import BlockMatrix, MatrixBlocks
from ._losses import RoundedHinge, loss_terms, loss_value
from ._newton import ARMIJO, FLAT, HALVINGS
from ._objective import PenalisedFit
from ._smooth_refits import (
    CLOSE,
    CORNERS,
    MAX_ITER,
    RESOLVED,
    ROUNDS,
    SHRINKS,
    STUCK,
    WIDTHS,
    FeatureSpace,
    scaled_penalty,
)


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
    sums = _Sums(space, positive, fit.case_weight)
    theta = space.start(fit, X, positive)
    if fit.loss == "squared":
        theta, reached = _least_squares(sums), True
    else:
        for _ in range(ROUNDS):
            theta, reached = _refit(sums, fit.loss, theta)
            if reached:
                break
    if not reached:
        return None
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


class _Sums:
    """The objective at parameters θ, from one pass over the blocks for each θ."""

    def __init__(self, space, positive, case_weight):
        self.space, self.case_weight = space, case_weight
        lazy = isinstance(positive, BlockColumn) and isinstance(
            case_weight, BlockColumn
        )
        columns = (
            positive.beside(case_weight)
            if lazy
            else np.column_stack([positive, case_weight])
        )
        self.rows = MatrixBlocks(space.A, columns)

    def at(self, loss, theta, sharper=None):
        """Objective, gradient, ``Aᵀ diag(ω) A`` and whether any row has curvature.

        ``sharper`` narrows the corner of a rounded hinge around the rows in it: slope
        and curvature there are those of the sharper loss.
        """
        found = self.rows.total(_terms_of_block, loss, theta, sharper)
        value, gradient, square, bent = found
        pull = self.space.penalty * theta
        # Loss + ½θᵀΛθ,  Aᵀg + Λθ
        return value + pull @ theta / 2, gradient + pull, square, bent > 0

    def value(self, loss, theta):
        """The objective alone."""
        pull = self.space.penalty * theta
        return self.rows.total(_value_of_block, loss, theta) + pull @ theta / 2

    def factor(self, square, bent):
        """Cholesky factor of the Hessian."""
        if not bent:  # no row has curvature: a gradient step
            square = self.space.A.gram(FLAT * self.case_weight)
        (factor,) = self.space.factored(square[None].copy())
        return factor


def _terms_of_block(block, loss, theta, sharper):
    positive, case_weight = block.y.T
    z = block.X @ theta
    value, g, curvature = loss_terms(loss, z, positive == 1, case_weight)
    if sharper is not None:
        # In the corner slope and curvature, −tu/width and 1/width, grow as it sharpens
        scale = np.where(curvature > 0, loss.width / sharper.width, 1.0)
        g, curvature = scale * g, scale * curvature
    # Aᵀ diag(ω) A = (√ω A)ᵀ(√ω A)
    half = np.sqrt(curvature)[:, None] * block.X
    return value, g @ block.X, half.T @ half, curvature.sum()


def _value_of_block(block, loss, theta):
    positive, case_weight = block.y.T
    return loss_value(loss, block.X @ theta, positive == 1, case_weight)


def _least_squares(sums):
    """The optimum of squares: one step, and one for its rounding."""
    theta = np.zeros(sums.space.A.shape[1])
    _, start, square, bent = sums.at("squared", theta)
    factor = sums.factor(square, bent)
    for _ in range(2):
        # The gradient of squares is linear in θ: no second pass over the blocks
        gradient = start + square @ theta + sums.space.penalty * theta
        theta = theta + lapack.dpotrs(factor, -gradient, lower=1)[0]
    return theta


def _refit(sums, loss, theta):
    """Newton on the loss, or on ever sharper roundings of the hinge."""
    if loss != "hinge":
        smooth = loss in ("logistic", "squared")
        return _newton(sums, loss, theta, CLOSE if smooth else CORNERS)
    wider = None
    for sharp in map(RoundedHinge, WIDTHS):
        if wider is not None:
            theta = _sharpened(sums, wider, sharp, theta)
        theta, converged = _newton(sums, sharp, theta, CORNERS)
        wider = sharp
    # scores of one size as the rounding: w is 0 but for it, and has no direction
    resolved = (sums.space.A @ theta).std() > RESOLVED * sharp.width
    return theta, converged and resolved


def _sharpened(sums, wider, sharp, theta):
    """Where the optimum goes if the rows in the rounded corner stay in it."""
    _, gradient, square, _ = sums.at(wider, theta, sharp)
    factor = sums.factor(square, True)
    moved = theta + lapack.dpotrs(factor, -gradient, lower=1)[0]
    lower = sums.value(sharp, moved) < sums.value(sharp, theta)
    return moved if lower else theta


def _newton(sums, loss, theta, tol):
    """Minimise the objective; parameters, and whether they are its optimum."""
    at = sums.at(loss, theta)
    # The objective at θ = 0 is the loss of a score of 0 for every row
    nothing = sums.case_weight.sum() * loss_value(loss, np.zeros(1), True, 1.0)
    if at[0] > nothing:  # a solver that went astray: nothing is a better start
        theta = np.zeros_like(theta)
        at = sums.at(loss, theta)
    old_tol, new_tol = tol
    last, stale = np.inf, True
    for _ in range(MAX_ITER):
        value, gradient, square, bent = at
        if stale:
            factor = sums.factor(square, bent)
        step = lapack.dpotrs(factor, -gradient, lower=1)[0]
        # Newton decrement
        gain = -gradient @ step
        theta, at, moved = _line_search(sums, loss, theta, at, step, gain)
        value = at[0]
        done = abs(gain) <= (new_tol if stale else old_tol) * value
        stuck = stale and not moved
        if done or stuck:
            return theta, done or abs(gain) <= STUCK * value
        # The decrement shrinks less than tenfold: the next step factorises anew
        stale, last = gain > SHRINKS * last, gain
    return theta, False


def _line_search(sums, loss, theta, at, step, gain):
    """Halve the step until the objective falls enough."""
    t = 1.0
    for _ in range(HALVINGS):
        new = sums.at(loss, theta + t * step)
        # Armijo; what was computed at the new place is the next step's
        if new[0] <= at[0] - ARMIJO * t * gain:
            return theta + t * step, new, True
        t /= 2
    return theta, at, False
