"""The AUC of rows left out, by the method that suits the model and the rows.

==================  =============================================  ===============
method              where                                          cost
==================  =============================================  ===============
``leave-pair-out``  n ≥ 500, except where a class is rare;         n min(n, P)²
                    squares without a penalty, .3 n ≤ P ≤ .6 n;
                    weights below 1 on average
``.632+``           other n < 500; rare: P < n < 5000 and a class  5 to 20 refits
                    of fewer than max(20, P/5) rows                by Newton steps
None                min(n, P) > 2000; a class of one row; refits
                    that do not converge
==================  =============================================  ===============
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._bootstrap import Samples, bootstrap_estimate
from ._left_out import leave_pair_out
from ._newton import minimise
from ._objective import Setting, at_optimum

MOST = 2000  # of rows or features: the system that is factorised
MANY_ROWS = 500  # .632+ is too high by .01 to .03 from so many rows on
SAMPLES, FEWER_SAMPLES, ENOUGH_ROWS = 20, 5, 200  # fewer from so many rows on
CLASS_ROWS, CLASS_ROWS_A_FEATURE = 20, 0.2  # a class with fewer rows is rare
RARE_ROWS = 5000  # with so many rows no class is rare
FREE_WORK = 4e6  # n min(n, P)²: beyond it, scorers rank as well without rows left out
REFIT_WORK = 2e8  # n P² of refits that take about a second
INTERPOLATES = 0.3, 0.6  # P/n at which unpenalised refits nearly interpolate


@dataclass(frozen=True)
class Source:
    """AUC of a fitted model on rows that were left out.

    Parameters
    ----------
    auc : float
    variance : float
        Variance of the AUC over data sets.
    method : {"leave-pair-out", ".632+"}
    """

    auc: float
    variance: float
    method: str


def second_source(fit, rows, gradient=None) -> Source | None:
    """AUC of a model on rows left out of it, without a fit of the estimator.

    Parameters
    ----------
    fit : Fit
        The model with its objective; it is moved to the optimum if it stopped early.
    rows : Rows
        The rows that trained it.
    gradient : float, default=None
        Stationarity of the fit, if it is known.

    Returns
    -------
    Source or None
        None where no method of the table above applies.

    Notes
    -----
    Neither the order of the rows nor the names of the classes matter, and a row of
    weight 2 counts as two equal rows.
    """
    if min(rows.shape) > MOST or not _can_leave_out(rows):
        return None
    if _uses_pairs(fit.objective, rows):
        fit = at_optimum(fit, rows, gradient)
        found = None if fit is None else leave_pair_out(fit, rows)
        return None if found is None else Source(found[0], found[1], "leave-pair-out")
    return _by_bootstrap(fit, rows)


def is_free(shape) -> bool:
    """Whether rows of this shape (n, P) are left out at about the price of a score."""
    return shape[0] * min(shape) ** 2 <= FREE_WORK


def _can_leave_out(rows):
    """Whether each class still has a row when one is left out."""
    distinct = rows.positive.sum(), (~rows.positive).sum()
    sizes = rows.n_pos, rows.n_neg
    return all(k >= 2 or n >= 2 for k, n in zip(distinct, sizes, strict=True))


def _uses_pairs(objective, rows):
    """Whether the first line of the table applies."""
    P = rows.shape[1]
    if rows.n < rows.shape[0]:  # a fraction of a row cannot be drawn
        return True
    if rows.n < MANY_ROWS:
        low, high = INTERPOLATES
        between = low * rows.n <= P <= high * rows.n
        return (
            between and objective.loss.quadratic and objective.nearly_unpenalised(rows)
        )
    least = max(CLASS_ROWS, CLASS_ROWS_A_FEATURE * P)
    is_rare = P < rows.n < RARE_ROWS and min(rows.n_neg, rows.n_pos) < least
    return not is_rare or rows.n * P**2 > REFIT_WORK


def _by_bootstrap(fit, rows):
    """The .632+ estimate from refits of all samples at once."""
    objective = fit.objective.with_penalty(rows)
    K = SAMPLES if rows.n < ENOUGH_ROWS else FEWER_SAMPLES
    samples = Samples.balanced(rows, K)
    neg, pos = objective.class_weight
    cost = np.where(rows.positive, pos, neg)
    # the first problem is the fit to all rows, the others are the samples
    setting = Setting.of(objective, rows)
    theta, _, converged = minimise(
        setting.A,
        rows.positive,
        np.vstack([rows.weight, samples.drawn]) * cost,
        objective.loss,
        setting.penalty,
        setting.start(fit, rows),
    )
    if not converged.all():
        return None
    # an AUC needs no intercept, and a large one would round the scores
    z = theta[:, :-1] @ setting.A[:, :-1].T
    auc, variance = bootstrap_estimate(z[1:], samples, rows, z[0])
    return Source(auc, variance, ".632+") if np.isfinite(auc) else None
