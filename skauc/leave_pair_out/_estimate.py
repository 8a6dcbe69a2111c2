"""Leave-pair-out AUC of a penalised linear rule from its single fit.

The fit minimised ``Σ c_i loss(z_i) + (λ/2)‖w‖²`` with ``z = Xw + b``. With
``g_i = c_i loss'(z_i)``, ``ω_i = c_i loss''(z_i)`` and the Hessian H,

    Q = X̃ H⁻¹ X̃ᵀ,   F = I − Q diag(ω),

Q says how scores answer to forces on the scores and F how much of a row's force is
left. One Newton step without the pair S = {i, j} gives

    z_S⁽⁻ˢ⁾ = z_S + (F_SS)⁻¹ Q_SS g_S,

exact for the squared loss, and close elsewhere unless the rows are separated in fewer
dimensions than rows: then a fixed sample of pairs is refitted. The estimate is the
share of pairs with ``z_i⁽⁻ˢ⁾ > z_j⁽⁻ˢ⁾`` (ties ½); its row and column means give a
DeLong-type variance.

In the space of the rows, with ``K = XXᵀ/λ`` and ``B = I + √ω K √ω``,
``Q = K − K√ω B⁻¹ √ωK`` and F comes **from B⁻¹**: for separable rows under a weak
penalty F is of order 1e-6, and the difference I − Qω has no digits left. A free
intercept adds ``e eᵀ/(ωᵀe)`` to Q, ``e = F1``.

A frequency weight f means f equal rows: one of them is left out, the fraction
``δ = min(1, 1/f)`` of the row, which turns ``F`` into ``F diag(δ) + diag(1 − δ)`` and g
into δg.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.special import ndtr

from ..statistics._moments import project_samples
from ._losses import loss_derivatives
from ._objective import PenalisedFit
from ._refits import refit_margins

DUAL_ROWS = 300  # up to here everything happens in the space of the rows
_REFIT_ROWS = 1000  # beyond, separated rows are left to the one Newton step
SMOOTH = 0.25  # bandwidth in units of the spread of the margins
_REFIT_WORK = 3e7  # multiplications of one Newton iteration of all refitted pairs
_HESSIAN_ROWS = 2000  # rows that are enough for the Hessian when n ≫ P
_NEAR = 1e-6  # gap of fitted scores, over their range, at which rows are compared
_SAME = 16 * np.finfo(float).eps  # what a product or two round
PAIR_ROWS = 250  # rows of a class that enter the pairs; a fixed, stratified sample


def class_of_one_row(positive, weight=None) -> str | None:
    """The class of which nothing is left without one of its rows, or None.

    Two rows of positive weight leave one, and a single row does that counts at least
    twice: one of its equal copies stays.
    """
    weight = np.ones(len(positive)) if weight is None else weight
    for name, mask in (("negative", ~positive), ("positive", positive)):
        some = weight[mask & (weight > 0)]
        if len(some) < 2 and some.sum() < 2:
            return name
    return None


def check_pairs(positive, weight=None):
    """Refuse data of which leave-pair-out would leave a class without rows."""
    name = class_of_one_row(positive, weight)
    if name is not None:
        raise ValueError(
            "y_true must hold at least 2 rows of each class for leave-pair-out, got 1 "
            f"in the {name} class: without it nothing is left of that class"
        )


@dataclass(frozen=True)
class LeavePairOut:
    """Leave-pair-out AUC counted, and smoothed, each with its DeLong variance.

    The smooth one replaces the step at 0 by ``Φ(margin/(¼ s))``, s the spread of the
    margins: less variance at hardly more bias.
    """

    auc: float
    variance: float
    smooth_auc: float
    smooth_variance: float


def leave_pair_out(X, positive, fit: PenalisedFit, weight=None) -> LeavePairOut:
    """Leave-pair-out AUC of a fitted rule, without a refit.

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

    Returns
    -------
    LeavePairOut

    Raises
    ------
    ValueError
        If a class has one row: nothing is left of it.

    Notes
    -----
    O(n·min(n, P)²) once, then one 2×2 system a pair. With more than 250 rows in a
    class an even sample of its rows, in the order of their scores, forms the pairs.
    """
    check_pairs(positive, weight)
    weight = np.ones(len(positive)) if weight is None else weight
    keep = np.flatnonzero(weight > 0)
    if len(keep) < len(weight):
        X, positive, weight = X[keep], positive[keep], weight[keep]
        fit = replace(fit, case_weight=fit.case_weight[keep])
    dual = len(positive) <= DUAL_ROWS or X.shape[1] >= len(positive)
    rows, counted, z, Q, F = (_dual if dual else _primal)(X, positive, fit, weight)
    part = np.minimum(1.0, 1.0 / weight[rows])
    g, _ = loss_derivatives(fit.loss, z, positive[rows], fit.case_weight[rows])
    F = F * part
    F[np.diag_indices_from(F)] += 1 - part
    margin = pair_margins(Q, F, z, part * g, positive[rows])
    small = len(positive) <= _REFIT_ROWS
    shape = (weight.sum(), X.shape[1])
    if small and _step_misleads(fit, z, positive[rows], shape):
        # Few rows carry all curvature: a fixed sample of pairs is refitted instead.
        picked, counted = sample_rows(z, positive[rows], counted, _refit_rows(shape))
        rows = rows[picked]
        margin = _refitted(X, positive, fit, weight, rows)
        z = z[picked]
    margin[_equal_rows(X, z, positive, rows)] = 0.0
    sharp, smooth = pair_statistics(
        margin, positive[rows], counted, smooth=(0.0, SMOOTH)
    )
    return LeavePairOut(
        sharp.auc,
        float(sharp.covariance_with(sharp)),
        smooth.auc,
        float(smooth.covariance_with(smooth)),
    )


@dataclass(frozen=True, eq=False)
class PairStatistic:
    """AUC over pairs, with the placements of positives and negatives."""

    auc: float
    v10: np.ndarray
    v01: np.ndarray
    w_pos: np.ndarray
    w_neg: np.ndarray

    def covariance_with(self, other) -> float:
        """DeLong's covariance of two AUCs over the same pairs."""
        return mean_covariance(self.v10, other.v10, self.w_pos) + mean_covariance(
            self.v01, other.v01, self.w_neg
        )


def pair_statistics(margin, positive, weight, smooth):
    """One :class:`PairStatistic` for each smoothing, over all pairs of the rows."""
    w_pos, w_neg = weight[positive], weight[~positive]
    share_pos, share_neg = w_pos / w_pos.sum(), w_neg / w_neg.sum()
    centre = share_pos @ margin @ share_neg
    spread = np.sqrt(np.pi / 2) * (share_pos @ np.abs(margin - centre) @ share_neg)
    out = []
    for bandwidth in smooth:
        if bandwidth * spread > 0:
            won = ndtr(margin / (bandwidth * spread))
        else:
            tie = 1e-9 * np.abs(margin).max()  # what is 0 by symmetry, but for rounding
            won = (margin > tie) + 0.5 * (np.abs(margin) <= tie)
        v10, v01 = won @ share_neg, share_pos @ won
        auc = min(float(v10 @ share_pos), 1.0)  # a sum of shares may round past 1
        out.append(PairStatistic(auc, v10, v01, w_pos, w_neg))
    return out


def pair_margins(Q, F, z, g, positive):
    """``z_i − z_j`` after one Newton step without i and j, shape (n_pos, n_neg)."""
    if np.all(positive[1:] >= positive[:-1]):  # neg before pos: views, no copies
        first = len(positive) - np.count_nonzero(positive)
        pos, neg = slice(first, None), slice(0, first)
        Q_ij, F_ij, F_ji = Q[pos, neg], F[pos, neg], F[neg, pos].T
    else:
        pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        Q_ij, F_ij = Q[np.ix_(pos, neg)], F[np.ix_(pos, neg)]
        F_ji = F[np.ix_(neg, pos)].T
    Q_diagonal, F_diagonal = np.diag(Q), np.diag(F)
    z_i, z_j, g_i, g_j = z[pos][:, None], z[neg], g[pos][:, None], g[neg]
    Q_ii, Q_jj = Q_diagonal[pos][:, None], Q_diagonal[neg]
    F_ii, F_jj = F_diagonal[pos][:, None], F_diagonal[neg]
    both = F_ii * F_jj
    det = both - F_ij * F_ji
    lost = det <= 1e-14 * np.maximum(np.abs(both), 1e-280)
    det[lost] = np.inf  # a row that nothing else holds: no step
    q_i, q_j = Q_ii * g_i + Q_ij * g_j, Q_ij * g_i + Q_jj * g_j
    step = ((F_jj + F_ji) * q_i - (F_ii + F_ij) * q_j) / det
    return z_i - z_j + step


def _equal_rows(X, z, positive, rows):
    """Places (i, j) of the pairs whose two rows are the same.

    No rule tells them apart, however few digits a weak penalty leaves their margin:
    so ties are read off the rows. Only pairs of almost equal fitted scores are looked
    at, and what a product rounds (rows behind a PCA) is no difference.
    """
    pos, neg = rows[positive[rows]], rows[~positive[rows]]
    z_pos, z_neg = z[positive[rows]], z[~positive[rows]]
    near = np.abs(z_pos[:, None] - z_neg) <= _NEAR * np.ptp(z)
    places = []
    for i in np.flatnonzero(near.any(axis=1)):
        there = np.flatnonzero(near[i])
        row, others = X[[pos[i]]], X[neg[there]]
        if hasattr(X, "toarray"):
            row, others = row.toarray(), others.toarray()
        gap = np.abs(others - row).max(axis=1)
        places += [(i, j) for j in there[gap <= _SAME * np.abs(row).max()]]
    return tuple(np.array(places, dtype=int).reshape(-1, 2).T)


def mean_covariance(a, b, weight):
    """Covariance of the weighted means of two placements of the same rows."""
    n = weight.sum()
    if n <= 1:
        return 0.25  # one row says nothing about its spread: the largest there can be
    a, b = a - weight @ a / n, b - weight @ b / n
    return float((weight * a) @ b / (n - 1) / n)


def sample_rows(score, positive, weight, limit=PAIR_ROWS):
    """Rows that form the pairs, neg before pos, and how much each counts.

    At most ``limit`` a class, even in the order of the score; a frequency weight is
    that many equal rows. A sample speaks for no more rows than it has.
    """
    parts, counts = [], []
    for mask in (~positive, positive):
        rows = np.flatnonzero(mask)
        count = weight[rows]
        if max(len(rows), count.sum()) > limit:
            order = rows[np.argsort(score[rows], kind="stable")]
            reach = np.cumsum(weight[order])
            places = (np.arange(limit) + 0.5) / limit * reach[-1]
            rows = order[np.searchsorted(reach, places).clip(max=len(order) - 1)]
            count = np.full(limit, min(reach[-1] / limit, 1.0))
        parts.append(rows)
        counts.append(count)
    return np.concatenate(parts), np.concatenate(counts)


def _step_misleads(fit, z, positive, shape):
    """Whether separated rows leave too little curvature for one Newton step."""
    n, P = shape
    sign = np.where(positive, 1.0, -1.0)
    separated = np.all(sign * z > 0)
    if fit.loss == "logistic":
        return P < n - 1 and separated
    if fit.loss == "squared_hinge":
        return P < 1.5 * n and (separated or np.sum(sign * z < 1) < P + 3)
    return False


def _refit_rows(shape):
    n, P = shape
    return int(np.clip(np.sqrt(_REFIT_WORK / (n * (P + 1) ** 2)), 5, 30))


def _refitted(X, positive, fit, weight, rows):
    """Margins of the pairs of the given rows from true refits."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)
    theta, penalty = fit.w, np.full(len(fit.w), float(fit.l2))
    if fit.intercept_scaling > 0:
        centre = X.mean(axis=0) if fit.free else np.zeros(X.shape[1])
        X = np.column_stack([X - centre, np.ones(len(X))])
        theta = np.append(theta, fit.intercept + centre @ fit.w)
        penalty = np.append(
            penalty, 0.0 if fit.free else fit.l2 / fit.intercept_scaling**2
        )
    return refit_margins(
        X, positive, theta, fit.loss, penalty, fit.case_weight, weight, rows
    )


def _dual(X, positive, fit, weight):
    """Rows, scores, Q and F through the n×n kernel."""
    K = _gram(X, centred=fit.free) / fit.l2
    if 0 < fit.intercept_scaling < np.inf:
        K += fit.intercept_scaling**2 / fit.l2
    z = project_samples(X, fit.w) + fit.intercept
    _, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    Q, F = _response(K, curvature, fit.free)
    rows, counted = sample_rows(z, positive, weight)
    block = np.ix_(rows, rows)
    return rows, counted, z[rows], Q[block], F[block]


def _gram(X, centred):
    if centred and not hasattr(X, "toarray"):
        X = X - X.mean(axis=0)  # far from the origin the products have no digits left
    K = X @ X.T
    K = np.asarray(K.toarray() if hasattr(K, "toarray") else K, dtype=float)
    if centred:
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
    return K


def _response(K, curvature, free):
    """Q and F from the kernel; F from B⁻¹, so that it keeps its digits."""
    on = np.flatnonzero(curvature > 0)
    if len(on) == 0:
        return K.copy(), np.eye(len(K))
    root = np.sqrt(curvature[on])
    B = root[:, None] * K[np.ix_(on, on)] * root
    B[np.diag_indices_from(B)] += 1.0
    factor = linalg.cho_factor(B, lower=True, check_finite=False)
    half = root[:, None] * K[on]
    Q = K - half.T @ linalg.cho_solve(factor, half, check_finite=False)
    F = np.eye(len(K))
    F[:, on] -= Q[:, on] * curvature[on]
    inverse = linalg.cho_solve(factor, np.eye(len(on)), check_finite=False)
    F[np.ix_(on, on)] = inverse * (root / root[:, None])
    if free:
        e = F.sum(axis=1)
        total = curvature @ e
        if total > 0:
            Q = Q + np.outer(e, e) / total
            F = F - np.outer(e, e * curvature) / total
    return Q, F


def _primal(X, positive, fit, weight):
    """Rows, scores, Q and F through the (P + 1)×(P + 1) Hessian, for n ≫ P.

    The correction itself vanishes like P/n: for very many rows the Hessian is that of
    an even sample of them, in the order of the scores.
    """
    z = project_samples(X, fit.w) + fit.intercept
    (rows, counted), some = sample_rows(z, positive, weight), np.arange(len(z))
    most = max(_HESSIAN_ROWS, 20 * X.shape[1])
    if len(z) > 2 * most:
        order = np.argsort(z, kind="stable")
        some = order[np.linspace(0, len(z) - 1, most).round().astype(int)]
    _, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    penalty = np.full(X.shape[1], float(fit.l2))
    centre = np.asarray(X[some].mean(axis=0)).ravel() if fit.free else 0.0
    if fit.intercept_scaling > 0:
        share = 0.0 if fit.free else fit.l2 / fit.intercept_scaling**2
        penalty = np.append(penalty, share)

    def block(which):
        part = X[which].toarray() if hasattr(X, "toarray") else X[which].astype(float)
        part = part - centre
        if fit.intercept_scaling > 0:
            part = np.column_stack([part, np.ones(len(part))])
        return part

    A = block(some)
    H = (A.T * (curvature[some] * (len(z) / len(some)))) @ A + np.diag(penalty)
    unit = 1 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    H = H * unit * unit[:, None] + 1e-13 * np.eye(len(H))
    # numpy's solver throughout: its threads and scipy's get into each other's way.
    half = np.linalg.solve(np.linalg.cholesky(H), (block(rows) * unit).T)
    Q = half.T @ half
    F = Q * -curvature[rows]
    F[np.diag_indices_from(F)] += 1
    return rows, counted, z[rows], Q, F
