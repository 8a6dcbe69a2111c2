"""Steps of rows that are left out, where those near them bend.

Without row i the fit moves along ``H⁻¹a_i``, and row k by ``t h_ik``. Newton's step is
``t_i = g_i/(1 − ω_i(h_i + e))``. Where rows are near each other, as those of a level of
a category, these move as far as row i does, and their slopes are no straight lines. So
t is where the objective without row i has its minimum on that line:

    t (h_i + e) + Σ_k' (h_ik + e) r_k(t) = δ (g_i + ω_i t (h_i + e)) (h_i + e),
    r_k(t) = g_k(z_k + t (h_ik + e)) − g_k − ω_k t (h_ik + e),

Σ' over the rows that stay. Those that hardly move bend hardly: their r is 0.
"""

from __future__ import annotations

import numpy as np

from ..statistics._block_column import made_column
from ..statistics._numerics import TINY
from ._losses import loss_derivatives

_FAR = 0.1  # the step of a score from which on its slope bends; of .02 the AUC is equal
_STEPS, _SETTLED = 6, 1e-3  # of Newton; of a score
_STEEP = 1e-2  # of the first curvature: steps are no longer than that allows


def bends(rows, between, positive, count, total, e):
    """How far slopes of rows near those left out are no straight lines, of a step.

    The mean of ``Σ_k ω_k |t_i| (h_ik + e)³`` over that of ``h_i + e``: the slope's
    second derivative is at most ω. Where the rows are not near, cubes cancel.

    Parameters
    ----------
    rows : LeftOutRows
        Some of them, m,
    between : ndarray of shape (m₁, m₀)
        their :func:`~._left_out_pairs.between_classes`,
    positive : ndarray of bool of shape (m,)
        class,
    count : ndarray of shape (m,)
        and how often each of them counts.
    total : float
        How often all rows count.
    e : float
        :func:`of_intercept`.

    Returns
    -------
    float
    """
    sides = positive, ~positive
    share = [count[c] / count[c].sum() for c in sides]
    push, curvature = (
        [f * x[c] for f, c in zip(share, sides, strict=True)]
        for x in (np.abs(rows.push), rows.curvature)
    )
    h = sum(f @ rows.leverage[c] + e for f, c in zip(share, sides, strict=True))
    near = between + e
    cube = near * near * near  # a tenth of the time of a power
    bent = push[0] @ cube @ curvature[1] + curvature[0] @ cube @ push[1]
    return total * bent / max(h, TINY)


def bent_push(fit, X, columns, held, rows, some, half, e):
    """The t of few rows.

    Parameters
    ----------
    fit : PenalisedFit or ElasticNetFit
    X : ndarray or sparse matrix of shape (n, P)
    columns : tuple of ndarray of shape (n,)
        Scores, slopes and curvatures of all rows, and their class.
    held : InverseRoot
    rows : LeftOutRows
        The few, m,
    some : ndarray of int of shape (m,)
        their places,
    half : ndarray of shape (m, P)
        and their :meth:`InverseRoot.half`.
    e : float
        :func:`of_intercept`.

    Returns
    -------
    ndarray of shape (m,)
    """
    h, push = rows.leverage + e, rows.push
    moved = []
    for part, near in held.between(X, half):
        near += e
        k, i = np.nonzero(np.abs(near * push) > _FAR)
        moved.append((k + part.start, i, near[k, i]))
    k, i, near = (np.concatenate(column) for column in zip(*moved, strict=True))
    case_weight = np.broadcast_to(made_column(fit.case_weight), X.shape[0])
    z, g, curvature, positive, case_weight = (c[k] for c in (*columns, case_weight))
    # of f equal rows f − 1 stay
    stay = np.where(k == some[i], 1 - rows.part[i], 1.0) * near
    for _ in range(_STEPS):
        step = near * push[i]
        slope, bent = loss_derivatives(fit.loss, z + step, positive, case_weight)
        rest = np.bincount(i, stay * (slope - g - curvature * step), len(h))
        bend = np.bincount(i, stay * near * (bent - curvature), len(h))
        # freed times the equation, which is linear but for r
        steep = np.maximum(h + rows.freed * bend, _STEEP * h + TINY)
        change = (h * (push - rows.push) + rows.freed * rest) / steep
        push = push - change
        if np.abs(h * change).max() < _SETTLED:
            break
    return push
