"""The optimum near a fit to dense rows with many features, from products with them.

Newton's step ``(X̃ᵀ diag(ω) X̃ + λI)Δw = −(X̃ᵀg + λw)`` by conjugate gradients. The same
matrix with one curvature in the place of all ω, which is remembered in its eigenbasis
(:mod:`._eigenrows`), makes its eigenvalues of one size: some products with the rows
are enough, whatever the units of the features are. Few rows are kept in that basis, in
single precision, and gradients in double correct what such products round.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._eigenrows import Eigenrows
from ._losses import loss_value
from ._newton import first_lower
from ._objective import stationarity
from ._sparse_optimum import conjugate_gradients

# Of the gradient, what conjugate gradients may leave: near the optimum and far from it
_FORCING, _FAR = 0.1, 0.2
# Decrement of the last step, over the objective: of rows that are nearly separated a
# gradient is small long before the optimum. Root mean square of what the AUC of
# leave-one-out is off by, n = 600 to 1500 and P = n/5 to .7 n, five kinds of data:
# .00005 at C = 1, .0003 at 10 and 100, .0013 at 1000; with 3e-3, and .03 and .1 above,
# .00004, .0007, .0007 and .005 after a tenth more products.
_CLOSE = 1e-3
_FEW = 0.6  # of the rows: a copy of so many is made for the products of a step
# Of steps, and of products in one: a Hessian costs P/2
_STEPS, _PRODUCTS = 20, 60


def optimum_near(fit, X, positive, kept: Eigenrows, enough):
    """The fit some Newton steps further.

    Parameters
    ----------
    fit : PenalisedFit
        With a free intercept or none.
    X : ndarray or rows not made, of shape (n, P)
    positive : ndarray of bool of shape (n,)
    kept : Eigenrows
        Of these rows.
    enough : float
        What :func:`~skauc.leave_pair_out._objective.stationarity` must fall below.

    Returns
    -------
    fit : PenalisedFit
        Where the last step led; no step leads up.
    reached : bool
        Whether that is the optimum.
    """
    for _ in range(_STEPS):
        moved = _moved(fit, X, positive, kept)
        if moved is None:
            break
        fit, decrement = moved
        if decrement < _CLOSE and stationarity(X, positive, fit) < enough:
            return fit, True
    return fit, False


def _moved(fit, X, positive, kept):
    """A Newton step further, and what the step promised over the objective.

    In coordinates in which the matrix of one curvature is diagonal.
    """
    z, g, omega = fit.slopes(X, positive)
    total, P = omega.sum(), len(fit.w)
    if not total > 0:
        return None
    diagonal = kept.unit * kept.values * (total / len(omega)) + fit.l2
    unit = 1 / np.append(diagonal, total)
    turned, some, bends = kept.turns(total / len(omega), fit.l2), kept, omega
    if turned:  # a copy of the rows that bend reads fewer, if they are few
        felt = kept.felt(omega, fit.l2)
        if len(felt) <= _FEW * len(omega):
            some, bends = replace(kept, turned=kept.turned[felt]), omega[felt]

    def along(y):  # coefficients, and their scores of the rows and of centred ones
        w = kept.along(y[:P])
        score = X @ w
        return w, score, score - kept.mean @ w + fit.free * y[P]

    def against(g, pull):
        total = g.sum()
        force = np.asarray(g @ X) - total * kept.mean + pull
        return np.append(kept.against(force), fit.free * total)

    def bent(y):
        if not turned:
            w, _, z = along(y)
            return against(omega * z, fit.l2 * w)
        bent = bends * (some.scores_along(y[:P]) + fit.free * y[P])
        force = some.against_scores(bent) + fit.l2 * y[:P]
        return np.append(force, fit.free * bent.sum())

    def objective(t, step=0.0, dz=0.0):
        loss = loss_value(fit.loss, z + t * dz, positive, fit.case_weight)
        w = fit.w + t * step
        return loss + fit.l2 / 2 * (w @ w)

    gradient, start, asked = against(g, fit.l2 * fit.w), objective(0.0), []
    whole = gradient @ (unit * gradient)

    def is_enough(y, rest, size):
        asked.append(size)
        near = -(gradient @ y) < _CLOSE * start
        left = (_FORCING if near else _FAR) ** 2 * whole
        return size <= left or len(asked) > _PRODUCTS

    y = conjugate_gradients(bent, -gradient, unit, is_enough)
    slope, (step, own, dz) = gradient @ y, along(y)
    t = first_lower(lambda t: objective(t, step, dz), float, start, slope)
    if t is None or not slope < 0:
        return None
    # b' = b + x̄ᵀw is the intercept of the centred rows
    b = fit.intercept + t * fit.free * (y[P] - kept.mean @ step)
    found = replace(fit, w=fit.w + t * step, intercept=float(b))
    found.know_scores(X, z - fit.intercept + t * own)
    return found, -slope / start
