"""True leave-pair-out refits of a penalised linear model, all pairs at once.

Where the rows are separated and fewer features than rows hold them, a handful of rows
carries all curvature and one Newton step without them is no guide. Then a sample of
pairs is refitted by damped Newton, batched over the pairs.
"""

from __future__ import annotations

import numpy as np

from ..statistics._numerics import TINY
from ._losses import loss_derivatives, loss_value
from ._newton import line_search


def refit_margins(X, positive, theta, loss, penalty, case_weight, weight, rows):
    """``z_i − z_j`` after a refit without i and j, for all pairs of the given rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features, with a column for the intercept if there is one.
    positive : ndarray of bool of shape (n,)
    theta : ndarray of shape (p,)
        The full fit, where every refit starts.
    loss : str
    penalty : ndarray of shape (p,)
        Of each coefficient.
    case_weight, weight : ndarray of shape (n,)
        Weight in the loss, and frequency: one of ``weight`` equal rows is left out.
    rows : ndarray of int
        Rows that form the pairs.

    Returns
    -------
    ndarray of shape (n_pos, n_neg)
    """
    pos, neg = rows[positive[rows]], rows[~positive[rows]]
    i, j = np.repeat(pos, len(neg)), np.tile(neg, len(pos))
    pairs = np.arange(len(i))
    c = np.tile(case_weight, (len(i), 1))
    # A row without copies is gone, of f equal ones 1 − 1/f stay
    for left_out in (i, j):
        c[pairs, left_out] *= 1 - np.minimum(1.0, 1.0 / weight[left_out])
    # A column in units of its curvature: beside one of ones the others may be 1e-12.
    unit = 1 / np.sqrt(np.maximum(case_weight @ X**2 + penalty, TINY))
    start = np.tile(theta / unit, (len(i), 1))
    theta = unit * _newton(X * unit, positive, start, loss, penalty * unit**2, c)
    margin = np.einsum("kp,kp->k", X[i] - X[j], theta)
    return margin.reshape(len(pos), len(neg))


def _newton(X, positive, theta, loss, penalty, c, max_iter=40, tol=1e-7):
    """Minimise every row of theta with its own case weights c."""
    p = X.shape[1]
    # Without a penalty there may be no optimum: a tiny one, in units of a column
    floor = 1e-10 * np.einsum("np,np->", X, X) / p
    penalty = np.where(penalty == 0, floor, penalty)

    def objective(t, part):
        fitted = loss_value(loss, t @ X.T, positive, c[part])
        return fitted + (penalty * t**2).sum(axis=1) / 2

    live = np.arange(len(theta))
    value = objective(theta, live)
    for _ in range(max_iter):
        t, old = theta[live], value[live]
        g, curvature = loss_derivatives(loss, t @ X.T, positive, c[live])
        # gradient Xᵀg + Λθ,   Hessian Xᵀ diag(ω) X + Λ of every pair
        gradient = g @ X + penalty * t
        H = (X.T * curvature[:, None, :]) @ X
        trace = np.trace(H, axis1=1, axis2=2)[:, None]
        H[:, np.arange(p), np.arange(p)] += penalty + 1e-9 * trace / p
        step = np.linalg.solve(H, gradient[:, :, None])[:, :, 0]
        # Newton decrement: twice what the quadratic model says that the step gains
        gain = np.einsum("kp,kp->k", gradient, step)

        def reached(some, length, t=t, step=step, live=live):
            return [objective(t[some] - length[:, None] * step[some], live[some])]

        (value[live],), length = line_search([old], gain, reached)
        theta[live] = t - length[:, None] * step
        live = live[(gain > tol * (1e-3 + np.abs(old))) & (length > 0)]
        if len(live) == 0:
            break
    return theta
