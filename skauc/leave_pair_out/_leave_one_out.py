"""Leave-one-out scores of all rows of a penalised linear fit, for n ≫ P.

With g and ω the slope and curvature of a row's loss and ``H = Aᵀ diag(ω) A + Λ`` the
Hessian in features A less their ω-weighted mean, the leverage ``h_i = a_iᵀH⁻¹a_i``
gives the score of a row under the fit without it,

    z_i + h_i g_i/(1 − ω_i h_i),

up to what the intercept does: without the row a free intercept moves by another
``g_i/Σω``, down for a positive and up for a negative. Between two rows left out
*together*, as in leave-pair-out, that part cancels: it moves both. So it is left out
here, and the pooled scores have none of the pessimism of leave-one-out (which grows
with imbalance). What remains of the pair's interaction averages to 0 over pairs.

The steps are of order P/n. Of very many rows an even sample tells what they take off
the AUC, and all rows tell the AUC that it is taken off.

An L1 penalty leaves the features with w ≠ 0 (Rad & Maleki 2020,
https://doi.org/10.1111/rssb.12374).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..statistics._moments import project_samples
from ..statistics._numerics import block_rows
from ..statistics._ranks import delong_covariance, placements
from ._losses import loss_derivatives
from ._pairs import sample_rows

# Rows of a sample, and at least so many a feature, which knows H to √(1/20). AUC of the
# sample less that of all rows, root mean square over 20 data sets and 3 values of C:
# SAMPLETABLE
_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE = 2000, 20
_JITTER = 1e-13  # of a unit diagonal: rounding of the sums


def leave_one_out_auc(fit, X, positive, weight):
    """AUC of the rows, each under the fit without it, and DeLong's variance.

    Parameters
    ----------
    fit, X, positive
        As for :func:`leave_one_out_scores`.
    weight : ndarray of shape (n,)
        Frequency weights, positive.

    Returns
    -------
    auc, variance : float

    Notes
    -----
    O(nP²), and O(nP) beyond some thousand rows.
    """
    z = project_samples(X, fit.w) + fit.intercept
    limit = max(_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE * X.shape[1])
    if len(z) <= 2 * limit:
        left_out = z + _steps(fit, X, z, positive, weight)
        return _auc_and_variance(left_out, positive, weight)
    rows, counted = sample_rows(z, positive, weight, limit // 2)
    sample = z[rows], positive[rows], weight[rows]
    part = replace(fit, case_weight=fit.case_weight[rows])
    stands_for = _stands_for(fit, z, positive, weight, rows, counted)
    steps = _steps(part, X[rows], *sample, stands_for)
    auc, variance = _auc_and_variance(z, positive, weight)
    before, after = (
        _auc_and_variance(score, positive[rows], counted)[0]
        for score in (z[rows], z[rows] + steps)
    )
    return min(max(auc + after - before, 0.0), 1.0), variance


def leave_one_out_scores(fit, X, positive, weight=None):
    """Scores of the rows, each under the fit without it.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
        With a smooth loss, at its optimum.
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Frequency weights f: of f equal rows one is left out.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    O(nP²), in blocks of rows, and one P×P matrix, P the features with w ≠ 0 if the
    penalty is L1. A row that nothing else holds (``ω_i h_i = 1``) keeps its score.
    """
    z = project_samples(X, fit.w) + fit.intercept
    weight = np.ones(len(z)) if weight is None else weight
    return z + _steps(fit, X, z, positive, weight)


def _steps(fit, X, z, positive, weight, stands_for=None):
    """``h_i g_i/(1 − ω_i h_i)``, 0 where nothing else holds a row."""
    g, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    part = np.minimum(1.0, 1 / np.maximum(weight, 1e-300))
    h = leverages(fit, X, curvature, stands_for)
    left = 1 - part * curvature * h
    return np.where(left > 1e-10, part * h * g / np.maximum(left, 1e-10), 0.0)


def _stands_for(fit, z, positive, weight, rows, counted):
    """How many rows each of a sample stands for: those of a class in their curvature.

    Rows of weight f are drawn f times as often, and are f times as curved.
    """
    _, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    share, sampled = counted / weight[rows], positive[rows]
    stands_for = np.zeros(len(rows))
    for all_, some in ((positive, sampled), (~positive, ~sampled)):
        there = share[some] @ curvature[rows[some]]
        if there > 0:
            stands_for[some] = share[some] * (curvature[all_].sum() / there)
    return stands_for


def _auc_and_variance(score, positive, weight):
    neg, pos = score[~positive], score[positive]
    if np.all(weight == 1):  # the variance does not ask which row is which
        v01, v10 = placements(np.sort(neg), np.sort(pos))
        variance = delong_covariance(v01[None], v10[None])
        return float(v10.mean()), float(variance[0, 0])
    w_neg, w_pos = weight[~positive], weight[positive]
    v01, v10 = placements(neg, pos, w_neg, w_pos)
    variance = delong_covariance(v01[None], v10[None], w_neg, w_pos)
    auc = np.average(v10, weights=w_pos)
    return min(float(auc), 1.0), float(variance[0, 0])


def leverages(fit, X, curvature, stands_for=None):
    """``h_i`` of every row, without what a free intercept adds.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray or sparse matrix of shape (n, P)
    curvature : ndarray of shape (n,)
    stands_for : ndarray of shape (n,), default=None
        How many rows of the fit each stands for; None is one.

    Returns
    -------
    ndarray of shape (n,)
    """
    X = _active_features(fit, X)
    n, P = X.shape
    mass = curvature if stands_for is None else stands_for * curvature
    if P == 0 or not mass.any():
        return np.zeros(n)
    mean = np.zeros(P)
    if fit.intercept_scaling > 0:
        # a penalised intercept is a column like the others, and moves both rows as well
        mean = np.asarray(mass @ X).ravel() / mass.sum()
    step = block_rows(P)
    blocks = [slice(start, start + step) for start in range(0, n, step)]
    root = _inverse_root(_hessian(X, mean, mass, blocks) + fit.l2 * np.eye(P))
    # h_i = ‖H^{-1/2} a_i‖²
    half = (_dense(X[rows], mean) @ root.T for rows in blocks)
    return np.concatenate([np.einsum("np,np->n", part, part) for part in half])


def _active_features(fit, X):
    if getattr(fit, "l1", 0.0) == 0:
        return X
    active = np.flatnonzero(fit.w)
    return X.tocsc()[:, active].tocsr() if hasattr(X, "tocsc") else X[:, active]


def _dense(rows, mean):
    return (rows.toarray() if hasattr(rows, "toarray") else rows) - mean


def _hessian(X, mean, mass, blocks):
    """``Aᵀ diag(ω) A``."""
    H = np.zeros((X.shape[1],) * 2)
    for rows in blocks:
        A = _dense(X[rows], mean) * np.sqrt(mass[rows])[:, None]
        H += A.T @ A
    return H


def _inverse_root(H):
    """L⁻¹ of ``H = LLᵀ``, features in units of their own curvature."""
    unit = 1 / np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
    H = H * unit * unit[:, None] + _JITTER * np.eye(len(H))
    return np.linalg.solve(np.linalg.cholesky(H), np.diag(unit))
