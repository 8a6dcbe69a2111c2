"""The optimum of a squared hinge from the rows inside their margins.

Of more features than rows a weak penalty lets the scores t z pass 1 or come so near to
it that the losses are a tiny part of the objective, of which a Newton decrement tells
nothing: beyond all margins, where no row has curvature, it is 0 wherever w is. But
which rows S are inside tells everything, ``w = X̃ᵀα``,

    (K_SS + λ diag(1/ω)) α_S + b = t_S,   α = 0 elsewhere,   ω = 2c,

with ``1ᵀα = 0`` where the intercept b is free. A row stays in S where t α > 0 and comes
in where t z < 1: whole steps of a semismooth Newton method, which near the optimum
settle in a few.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

# 520 and 600 rows, 600 to 3000 features, normal, noise, 30 factors, AR(.95), λ from
# 10⁻⁶ to 1: 0 to 5 from where damped steps end, which the forces of the rows did not
# hold by .03 (the AUC is off by .005) to .7 (.2) or at all (it is 1).
_STEPS = 20


def settled_rows(K, l2, free, positive, case_weight, z):
    """α and b of the rows that are inside their margins at the optimum.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Of centred rows if the intercept is free.
    l2 : float
    free : bool
    positive : ndarray of bool of shape (n,)
    case_weight : ndarray of shape (n,)
    z : ndarray of shape (n,)
        Scores near the optimum.

    Returns
    -------
    ndarray of shape (n + 1,) or None
        None where the rows do not settle.
    """
    t, there = np.where(positive, 1.0, -1.0), case_weight > 0
    inside = there & (t * z < 1)
    if not inside.any():
        inside = there
    # 1ᵀα = 0: a level adds nothing to Kα, and K is not singular beside it
    level = float(K.diagonal().mean()) if free else 0.0
    for _ in range(_STEPS):
        on = np.flatnonzero(inside)
        alpha, b = _held(K, l2 / (2 * case_weight[on]), free, t, on, level)
        if alpha is None:
            return None
        z = alpha @ K.take(on, axis=0) + b
        now = there & (t * z < 1)
        now[on] = t[on] * alpha > 0
        if np.array_equal(now, inside):
            theta = np.zeros(len(t) + 1)
            theta[on], theta[-1] = alpha, b
            return theta
        inside = now
        if not inside.any():
            return None
    return None


def _held(K, slack, free, t, on, level):
    """α and b that put the rows on their margins, but for their slack."""
    D = K.take(on, axis=0).take(on, axis=1) + level
    D.reshape(-1)[:: len(D) + 1] += slack
    L, info = lapack.dpotrf(D.T, lower=1, overwrite_a=1, clean=0)
    if info:
        return None, 0.0
    sides = np.column_stack([t[on], np.ones(len(on))])
    along, common = lapack.dpotrs(L, sides, lower=1)[0].T
    b = float(along.sum() / common.sum()) if free else 0.0
    return along - b * common, b
