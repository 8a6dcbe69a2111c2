"""Leave-pair-out AUC of a penalised linear model from its single fit.

One Newton step without the pair S = {i, j} gives, with Q and F of
:mod:`skauc.leave_pair_out._influence`,

    z_S⁽⁻ˢ⁾ = z_S + (F_SS)⁻¹ Q_SS g_S,

exact for the squared loss, and close elsewhere unless the rows are separated in fewer
dimensions than rows: then a fixed sample of pairs is refitted. The estimate is the
share of pairs with ``z_i⁽⁻ˢ⁾ > z_j⁽⁻ˢ⁾``.

A frequency weight f means f equal rows: one of them is left out, the fraction
``δ = min(1, 1/f)`` of the row, which turns ``F`` into ``F diag(δ) + diag(1 − δ)`` and g
into δg.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ._influence import influence
from ._losses import loss_derivatives
from ._objective import PenalisedFit, ask_again
from ._pair_refits import refit_margins
from ._pair_response import pair_margins
from ._pairs import SMOOTH, check_pairs, equal_rows, pair_statistics, sample_rows

_REFIT_ROWS = 1000  # beyond, separated rows are left to the one Newton step
_REFIT_WORK = 3e7  # multiplications of one Newton iteration of all refitted pairs


@dataclass(frozen=True, eq=False)
class LeavePairOut:
    """Leave-pair-out AUC counted, and smoothed, each with its DeLong variance.

    The smooth one replaces the step at 0 by ``Φ(margin/(¼ s))``, s the spread of the
    margins: less variance at hardly more bias. Either is computed when it is asked.

    Parameters
    ----------
    margin : ndarray of shape (n_pos, n_neg)
        ``z_i − z_j`` of every pair, fitted without it.
    positive, weight : ndarray of shape (n_pos + n_neg,)
        Class of the rows, and how much each counts.
    """

    margin: np.ndarray
    positive: np.ndarray
    weight: np.ndarray

    @cached_property
    def _sharp(self):
        return self._statistic(0.0)

    @cached_property
    def _smooth(self):
        return self._statistic(SMOOTH)

    def _statistic(self, bandwidth):
        (found,) = pair_statistics(
            self.margin, self.positive, self.weight, smooth=(bandwidth,)
        )
        return found

    @property
    def auc(self) -> float:
        """Counted."""
        return self._sharp.auc

    @property
    def variance(self) -> float:
        """Of :attr:`auc`."""
        return self._sharp.covariance_with(self._sharp)

    @property
    def smooth_auc(self) -> float:
        """Smoothed."""
        return self._smooth.auc

    @property
    def smooth_variance(self) -> float:
        """Of :attr:`smooth_auc`."""
        return self._smooth.covariance_with(self._smooth)


def leave_pair_out(
    X, positive, fit: PenalisedFit, weight=None, remember=ask_again
) -> LeavePairOut | None:
    """Leave-pair-out AUC of a fitted model, without a refit.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
        The rows that trained the model.
    positive : ndarray of bool of shape (n,)
    fit : PenalisedFit
    weight : ndarray of shape (n,), default=None
        Frequency weights: of a row that counts more than once, one copy is left out,
        any other row as a whole. So relative weights are those of at most 1; only the
        variances need counts.
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone for the next fit of them.

    Returns
    -------
    LeavePairOut or None
        None where rounding leaves no factor of the kernel: equal rows, far from all
        others, beside hardly a penalty.

    Raises
    ------
    ValueError
        If a class has one row: nothing is left of it.

    Notes
    -----
    O(n·min(n, P)²) once, then one 2×2 system a pair. Of more than 1000 sparse rows with
    more features products with the rows take the place of their kernel, unless up to
    2000 of them differ much in their curvature: the AUC is off by .001, at a weak
    penalty by up to .005 (with .05 rows without curvature) or .02 (curvatures that
    differ by .7 of their mean; 1500 × 4862 news without their labels). With more than
    250 rows in a class an even sample of its rows, in the order of their scores, forms
    the pairs; of 500 rows or more with more features one of 150, in the order of what
    their scores are about without them; of more than 1000 sparse rows in that of the
    class means' difference, the same for all models.
    """
    check_pairs(positive, weight)
    weight = np.ones(len(positive)) if weight is None else weight
    keep = np.flatnonzero(weight > 0)
    if len(keep) < len(weight):
        X, positive, weight = X[keep], positive[keep], weight[keep]
        fit = replace(fit, case_weight=fit.case_weight[keep])
    try:
        rows, counted, z, response = influence(X, positive, fit, weight, remember)
    except np.linalg.LinAlgError:
        return None
    g, _ = loss_derivatives(fit.loss, z, positive[rows], fit.case_weight[rows])
    margin = pair_margins(response, z, g, positive[rows], weight[rows])
    small = len(positive) <= _REFIT_ROWS
    shape = (weight.sum(), X.shape[1])
    if small and _step_misleads(fit, z, positive[rows], shape):
        # Few rows carry all curvature: a fixed sample of pairs is refitted instead.
        picked, counted = sample_rows(z, positive[rows], counted, _refit_rows(shape))
        rows = rows[picked]
        margin = _refitted(X, positive, fit, weight, rows)
        z = z[picked]
    # Equal rows tie under every model, whatever rounding says
    margin[equal_rows(X, z, positive, rows)] = 0.0
    return LeavePairOut(margin, positive[rows], counted)


def _step_misleads(fit, z, positive, shape):
    """Whether separated rows leave too little curvature for one Newton step."""
    n, P = shape
    sign = np.where(positive, 1.0, -1.0)
    separated = np.all(sign * z > 0)
    if fit.loss == "logistic":
        # Fewer dimensions than rows separate: p(1 − p) is far from 0 at few rows only
        return P < n - 1 and separated
    if fit.loss == "squared_hinge":
        # Rows inside the margin alone bend: P + 2 of them hardly hold P coefficients
        return P < 1.5 * n and (separated or np.sum(sign * z < 1) < P + 3)
    return False


def _refit_rows(shape):
    n, P = shape
    # k² pairs cost k² n (P + 1)² an iteration
    return int(np.clip(np.sqrt(_REFIT_WORK / (n * (P + 1) ** 2)), 5, 30))


def _refitted(X, positive, fit, weight, rows):
    """Margins of the pairs of the given rows from true refits."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)
    theta, penalty = fit.w, np.full(len(fit.w), float(fit.l2))
    if fit.intercept_scaling > 0:
        centre = X.mean(axis=0) if fit.free else np.zeros(X.shape[1])
        X = np.column_stack([X - centre, np.ones(len(X))])
        theta = np.append(theta, fit.intercept + centre @ fit.w)
        penalty = np.append(penalty, fit.intercept_penalty)
    return refit_margins(
        X, positive, theta, fit.loss, penalty, fit.case_weight, weight, rows
    )
