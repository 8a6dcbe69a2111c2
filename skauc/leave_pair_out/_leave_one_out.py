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

An L1 penalty leaves the features with w ≠ 0 (Rad & Maleki 2020,
https://doi.org/10.1111/rssb.12374).
"""

from __future__ import annotations

import numpy as np

from ..statistics._moments import project_samples
from ..statistics._numerics import block_rows
from ._losses import loss_derivatives

_HESSIAN_ROWS = 20_000  # an even sample of them is enough: h itself is of order P/n
_JITTER = 1e-13  # of a unit diagonal: rounding of the sums


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
    g, curvature = loss_derivatives(fit.loss, z, positive, fit.case_weight)
    part = 1.0 if weight is None else np.minimum(1.0, 1 / np.maximum(weight, 1e-300))
    h = leverages(fit, X, curvature)
    left = 1 - part * curvature * h
    return z + np.where(left > 1e-10, part * h * g / np.maximum(left, 1e-10), 0.0)


def leverages(fit, X, curvature):
    """``h_i`` of every row, without what a free intercept adds.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray or sparse matrix of shape (n, P)
    curvature : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (n,)
    """
    X = _active_features(fit, X)
    n, P = X.shape
    if P == 0 or not curvature.any():
        return np.zeros(n)
    mean = np.zeros(P)
    if fit.intercept_scaling > 0:
        # a penalised intercept is a column like the others, and moves both rows as well
        mean = np.asarray(curvature @ X).ravel() / curvature.sum()
    step = block_rows(P)
    blocks = [slice(start, start + step) for start in range(0, n, step)]
    root = _inverse_root(_hessian(X, mean, curvature, blocks) + fit.l2 * np.eye(P))
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


def _hessian(X, mean, curvature, blocks):
    """``Aᵀ diag(ω) A``, of very many rows from every k-th that is curved."""
    every = np.count_nonzero(curvature) // _HESSIAN_ROWS + 1
    H, seen = np.zeros((X.shape[1],) * 2), 0.0
    for rows in blocks:
        some = rows.start + np.flatnonzero(curvature[rows])[::every]
        A = _dense(X[some], mean)
        H += (A.T * curvature[some]) @ A
        seen += curvature[some].sum()
    return H * (curvature.sum() / seen)


def _inverse_root(H):
    """L⁻¹ of ``H = LLᵀ``, features in units of their own curvature."""
    unit = 1 / np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
    H = H * unit * unit[:, None] + _JITTER * np.eye(len(H))
    return np.linalg.solve(np.linalg.cholesky(H), np.diag(unit))
