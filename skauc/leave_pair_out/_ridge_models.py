"""Nine ridge models of a data set with their exact leave-pair-out AUC."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from ._left_out import leave_pair_out
from ._objective import SQUARED, Fit, Objective, optimum

# Penalties in units of the mean within-class eigenvalue
STRENGTHS = np.geomspace(3e-3, 3e2, 9)
MOST = 3e8  # multiplications n min(n, P)² of one model: all of them take half a second


def ridge_models(rows) -> list:
    """Ridge regressions of the labels ±1 on standardised features.

    Parameters
    ----------
    rows : Rows
        At least two rows of each class.

    Returns
    -------
    list of (ndarray of shape (P,), float)
        Coefficients of the unscaled features, and the leave-pair-out AUC, which takes
        rows for independent. Empty where the models would cost too much.
    """
    n, P = rows.shape
    if n * min(n, P) ** 2 > MOST:
        return []
    X, unit = rows.X, rows.standard_unit
    scaled = X.multiply(unit).tocsr() if sparse.issparse(X) else X * unit
    rows, varying = replace(rows, X=scaled, group=None), np.count_nonzero(unit)
    gap, h = rows.class_contrast @ rows.X, rows.n_neg * rows.n_pos / rows.n
    # tr W = tr(scatter) − h|d|²
    within = max(rows.n * varying - h * gap @ gap, 1e-12 * rows.n * varying)
    penalties = STRENGTHS * within / max(min(rows.n - 2, varying), 1)
    start = np.zeros(P)
    fits = [optimum(Fit(Objective(SQUARED, l2), start), rows) for l2 in penalties]
    return [(fit.coef * unit, leave_pair_out(fit, rows)[0]) for fit in fits]
