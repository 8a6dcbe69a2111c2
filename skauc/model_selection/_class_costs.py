"""Rows of which those of each class had a weight of their own in the fit.

Costs of the classes are the weights that a fit has most often. Given in the fit alone,
they move its optimum as other rows do, but in one way only: some costs ``c₀, c₁ ≥ 0``
make the gradient 0,

    c₀ Σ_neg g x + c₁ Σ_pos g x = −λ w,

with a row of x for each feature that has a coefficient, and one for the intercept. On
other rows no two numbers solve many equations.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from ..statistics._block_matrix import BlockMatrix
from ._directions import count_of_directions

# Of the penalty's force. Noise and weak signals, 100 × 60 and 300 × 10, costs .2 to 5:
# liblinear and ridge leave 0 to .02 on their own rows, lbfgs .2; other rows .26 to 1.
_SOLVED = 0.02
_EQUATIONS = 6  # so near come other rows by chance in about .02⁴ of the cases


def trained_with_costs(Z, rows, fit) -> bool:
    """Whether costs of the classes make a fit that of these rows.

    Parameters
    ----------
    Z : ndarray or sparse matrix of shape (n, P)
    rows : ndarray of bool of shape (n,)
        True for the second class.
    fit : PenalisedFit or ElasticNetFit
        With a smooth loss.

    Returns
    -------
    bool
    """
    if isinstance(Z, BlockMatrix) or fit.loss == "hinge":
        return False
    l1, active = getattr(fit, "l1", 0.0), np.flatnonzero(fit.w)
    if len(active) + bool(fit.free) < _EQUATIONS:
        return False
    # Features that are nearly one make one equation.
    if isinstance(Z, np.ndarray):
        different = count_of_directions(Z[:, active]) + bool(fit.free)
        if different < _EQUATIONS:
            return False
    g = fit.slopes(Z, rows)[1]
    forces = np.column_stack([Z.T @ (g * ~rows), Z.T @ (g * rows)])
    penalty = fit.l2 * fit.w + l1 * np.sign(fit.w)
    if fit.free:
        forces = np.vstack([forces, [g[~rows].sum(), g[rows].sum()]])
        penalty, active = np.append(penalty, 0.0), np.append(active, len(fit.w))
    forces, penalty = forces[active], penalty[active]
    # Each equation in the unit of its forces: no unit of a feature matters.
    unit = np.linalg.norm(forces, axis=1) + np.abs(penalty)
    if not (np.isfinite(unit).all() and unit.min() > 0):
        return False
    _, rest = nnls(forces / unit[:, None], -penalty / unit)
    return bool(rest < _SOLVED * np.linalg.norm(penalty / unit))
