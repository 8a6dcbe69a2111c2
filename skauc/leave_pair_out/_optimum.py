"""A fit taken to the optimum of its objective, where its solver stopped before.

The hinge has no curvature: a rounded corner stands for its sharp one.
"""

from __future__ import annotations

from dataclasses import replace

from ..statistics._block_column import made_column
from ..statistics._block_matrix import BlockMatrix, in_memory
from ._block_optimum import block_optimum
from ._eigenrows import eigenrows
from ._influence import is_held, kernel_at_hand
from ._losses import RoundedHinge
from ._objective import PenalisedFit, ask_again, is_l1, stationarity
from ._preconditioned_optimum import optimum_near
from ._proximal_refits import sparse_optimum
from ._smooth_refits import smooth_optimum
from ._sparse_optimum import optimum_by_products

MANY_ROWS = 500  # from which on more features are wide
CLOSED_FORM = ("logistic", "squared", "squared_hinge")
# Of the gradient's random walk: w is right to 1 % of its error. With many rows more is
# right enough: the AUC moves by less than gradient · P/n (50 fits, 600 × 50 to
# 100 000 × 20), here by 2e-4, and every step would read all rows again.
AT_OPTIMUM, _SETTLED, _LOOSEST = 1e-2, 2e-4, 1e-1
# The hinge has no curvature to leave a row out of; a corner as wide as its margin has.
# MAE .017 (500 × 20), .030 (500 × 150), .021 (1000 × 50); .632+: .016, .025, .024.
_ROUNDED = RoundedHinge(1.0)
# Of many rows with more features a narrower one stands for the sharp one, which costs
# 20 factorisations of n²: the scores correlate to .996 or more (500 and 2000 rows of
# text, C from .005 to 50), those of width 1 to .989.
_NARROW = RoundedHinge(0.3)
_SOON = 1e-5  # of the objective: 1 less the correlation of the scores is below 2e-6


def is_wide(n, P) -> bool:
    """Whether there are many rows, and no fewer features."""
    return P >= n >= MANY_ROWS


def at_optimum(
    fit: PenalisedFit, X, positive, gradient=None, remember=ask_again, weight=None
) -> PenalisedFit | None:
    """The fit at the optimum of its objective on these rows.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    gradient : float, default=None
        Its :func:`~skauc.leave_pair_out._objective.stationarity`, if it is known.
    remember : callable, default computes every time
        As for :func:`~skauc.leave_pair_out._second_source.second_source`.
    weight : ndarray of shape (n,), default=None
        Frequency weights.

    Returns
    -------
    PenalisedFit or None
        The same object where its gradient is small already; None where the optimum
        was not reached, or costs too much memory.
    """
    if is_l1(fit):
        if fit.loss == "hinge":
            return None
        return fit.kept(
            "optimum", X, positive, lambda: _optimum_of_l1(fit, X, positive)
        )
    n = len(positive) if weight is None else weight.sum()
    if fit.loss == "hinge" and is_wide(n, X.shape[1]):
        found = _narrow_optimum(fit, X, positive, remember)
        if found is not None:
            return found
    if fit.loss in CLOSED_FORM:
        if gradient is None:
            gradient = stationarity(X, positive, fit)
        rows_a_feature = n / X.shape[1]
        # The AUC moves by less than gradient · P/n: right to 2e-4
        enough = min(max(_SETTLED * rows_a_feature, AT_OPTIMUM), _LOOSEST)
        settled = gradient < enough
        wide = is_wide(n, X.shape[1])
        if settled and (not wide or is_held(fit, X, positive, remember)):
            return fit
        # without a penalty of the intercept, which has no part in the eigenbasis
        free = fit.intercept_penalty == 0
        kept = eigenrows(fit, X, positive, weight, remember) if free else None
        if kept is not None:
            fit, reached = optimum_near(fit, X, positive, kept, enough)
            if reached:
                return fit
    if isinstance(X, BlockMatrix):
        return block_optimum(fit, X, positive)
    found = smooth_optimum(fit, X, positive, remember)
    if found is None or fit.loss == "hinge" or not is_wide(n, X.shape[1]):
        return found
    return found if is_held(found, X, positive, remember) else None


def _narrow_optimum(fit, X, positive, remember):
    """Of a hinge of many sparse rows: that of a narrow corner; None elsewhere."""
    if not hasattr(X, "toarray"):
        return None
    wide = rounded_optimum(fit, X, positive, remember)
    narrow, K = (wide or fit).with_loss(_NARROW), kernel_at_hand(X, fit, remember)
    found = optimum_by_products(narrow, X, positive, _SOON, K)
    if found is None:
        return None
    found = replace(found, loss="hinge")
    # it has the penalty, and so the rounded optimum, of this one
    return found.keep("rounded", X, positive, wide)


def rounded_optimum(fit, X, positive, remember):
    """Of a hinge whose corner is as wide as its margin; None if it was not reached."""

    def compute():
        rounded = fit.with_loss(_ROUNDED)
        if not hasattr(X, "toarray"):
            return at_optimum(rounded, X, positive, remember=remember)
        K = kernel_at_hand(X, fit, remember)
        found = optimum_by_products(rounded, X, positive, kernel=K)
        return found or at_optimum(rounded, X, positive, remember=remember)

    return fit.kept("rounded", X, positive, compute)


def _optimum_of_l1(fit, X, positive):
    # its working sets are columns of X: with it in memory, these are there too
    positive, case_weight = map(made_column, (positive, fit.case_weight))
    at_hand = replace(fit, case_weight=case_weight)
    found = sparse_optimum(at_hand, in_memory(X), positive)
    return found and replace(found, case_weight=fit.case_weight)
