"""Nine ridge models of a data set with their exact leave-pair-out AUC."""

import numpy as np

from ..statistics._moments import positive_eigen
from ._coordinates import Coordinates
from ._left_out import PAIR_ROWS, PairRows, auc_of_pairs, margins_without

# Penalties in units of the mean within-class eigenvalue
STRENGTHS = np.geomspace(3e-3, 3e2, 9)
MOST = 600  # largest order of the matrix that is decomposed


def ridge_models(rows):
    """Ridge regressions of the labels ±1 on standardised features.

    Parameters
    ----------
    rows : Rows
        At least two rows of each class.

    Returns
    -------
    directions : ndarray of shape (P, 9)
        Coefficients of the unscaled features.
    auc : ndarray of shape (9,)
        Leave-pair-out AUC of each.

    or None where both n and P exceed 600.
    """
    n, P = rows.shape
    if min(max(n, rows.n), P) > MOST:
        return None
    unit = rows.standard_unit
    gap = unit * (rows.class_contrast @ rows.X)
    pairs = PairRows.of(np.argsort(rows.X @ (unit * gap)), rows, PAIR_ROWS)
    space = Coordinates.of(rows, True, unit)
    root = np.sqrt(rows.weight)
    Z = space.A * root[:, None]
    # √c X = Z W, W with orthonormal rows, and Z = U √Λ Vᵀ, so that ZᵀZ = V Λ Vᵀ
    values, V = positive_eigen(Z.T @ Z)
    U = Z[pairs.both] @ V / np.sqrt(values)
    target = V.T @ (Z.T @ (root * rows.sign)) / np.sqrt(values)
    h = rows.n_neg * rows.n_pos / rows.n
    # tr W = tr(scatter) − h|d|²
    within = max(values.sum() - h * gap @ gap, 1e-12 * values.sum())
    penalties = STRENGTHS * within / max(min(rows.n - 2, len(values)), 1)
    # w = V diag(√Λ/(Λ + l)) Uᵀ√c t
    shares = (target * np.sqrt(values))[:, None] / (values[:, None] + penalties)
    directions = space.back(rows, V @ shares)
    auc = []
    for penalty, score in zip(penalties, (rows.X @ directions).T, strict=True):
        auc.append(_auc(rows, pairs, values, U, target, penalty, rows.auc(score)))
    return directions, np.array(auc)


def _auc(rows, pairs, values, U, target, penalty, everyone):
    """Leave-pair-out AUC of one ridge model."""
    S, k = pairs.both, len(pairs.neg)
    c, t = rows.weight[S], rows.sign[S]
    kept = values / (values + penalty)
    root, u = np.sqrt(c), np.sqrt(c / rows.n)
    # √c Q √c = U diag(Λ/(Λ + l)) Uᵀ + u uᵀ
    Q, q = _blocks(U, kept, u, k)
    # √c F √c⁻¹ = I − √c Q √c; where U and u span all rows, the difference would cancel
    # and is U diag(l/(Λ + l)) Uᵀ
    if len(values) < rows.shape[0] - 1:
        F, f = -Q, 1 - q
    else:
        F, f = _blocks(U, 1 - kept, 0 * u, k)
    Q, q = Q / root[:k, None] / root[k:], q / c
    F_ij, F_ji = F * (root[k:] / root[:k, None]), F * (root[:k, None] / root[k:])
    # z = (X − x̄)w + t̄ with t̄ = (n₁ − n₀)/n
    z = U @ (target * kept) / root + (rows.n_pos - rows.n_neg) / rows.n
    g, one = c * (z - t), np.minimum(1.0, 1 / c)
    margin = margins_without(Q, F_ij, F_ji, q, f, z=z, g=g, one=one)
    return auc_of_pairs(margin, z, pairs, rows, everyone)[0]


def _blocks(U, share, u, k):
    """``U diag(share) Uᵀ + u uᵀ``: block of k rows and the others, and the diagonal."""
    half = U * share
    block = half[:k] @ U[k:].T + np.outer(u[:k], u[k:])
    return block, np.einsum("ir,ir->i", half, U) + u**2
