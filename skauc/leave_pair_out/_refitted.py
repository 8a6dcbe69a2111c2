"""Pairs left out of a curved loss by Newton's method: refits without pairs, or rows.

Few pairs are left out one by one. Otherwise single rows are, and ``z_k + E_ki`` is the
score of row k under the fit without row i. A pair is more than the sum of its rows:
without j, the slope of i changes by the factor 1 + κ_ij, and what is left out with i
grows likewise. With factors ρ on both rows of the pair,

    z_k⁽⁻ⁱʲ⁾ = z_k + ρ_i E_ki + ρ_j E_kj,   ρ_i = 1 + κ_ij ρ_j,   ρ_j = 1 + κ_ji ρ_i.

It is exact for squared losses, whose κ_ij is ``ω_i E_ij/g_i``. For others κ_ij is
``g_i(z_i + E_ij)/g_i(z_i) − 1``, at most 1.6 times as large, because the other rows of
separated classes answer a slope that grows exponentially.
"""

import numpy as np

from ._objective import optima

# Most multiplications n min(n, P)² for all pairs: about .1 s
EXACT = 1e7
# Change of a slope in units of its linear change. From 1.3 to 2 the errors are the same
# (30 to 60 rows, 3 to 60 features, C from .01 to 1e4, 40 × 20 000)
_MOST_GROWTH = 1.6
_LEAST_DETERMINANT = 0.1  # of the system of a pair, below which ρ extrapolates


def refitted_margins(fit, rows, pairs) -> np.ndarray:
    """``z_j − z_i`` of negative i and positive j under the fit without both.

    Parameters
    ----------
    fit : Fit
    rows : Rows
    pairs : PairRows

    Returns
    -------
    ndarray of shape (k_neg, k_pos)
    """
    S, k = pairs.both, len(pairs.neg)
    n_pairs = k * len(pairs.pos)
    if n_pairs * rows.shape[0] * min(rows.shape) ** 2 > EXACT:
        scores = _scores_without(fit, rows, S, np.arange(len(S))[:, None])
        return _joined(fit, rows, S, k, scores)
    i, j = np.divmod(np.arange(n_pairs), len(pairs.pos))
    pair = np.column_stack([i, k + j])
    scores = _scores_without(fit, rows, S, pair)[1:]
    return np.diff(np.take_along_axis(scores, pair, axis=1)).reshape(k, -1)


def _scores_without(fit, rows, S, left_out):
    """Scores of the rows S under the fit, then under m refits, (m + 1, len(S)).

    ``left_out`` (m, 1 or 2) has the places in S of the rows that each refit leaves out,
    one copy of each.
    """
    kept = 1 - np.minimum(1.0, 1 / rows.weight[S])
    weight = np.tile(fit.objective.case_weight(rows), (len(left_out) + 1, 1))
    for place in left_out.T:
        weight[np.arange(1, len(weight)), S[place]] *= kept[place]
    A, theta, _ = optima(fit, rows, weight)
    return theta @ A[S].T


def _joined(fit, rows, S, k, scores):
    """Margins of pairs of the k negatives and the positives, from single rows."""
    z, E = scores[0], (scores[1:] - scores[0]).T
    sign = rows.sign[S][:, None]
    change = _change_of_slopes(z[:, None], E, sign, fit.objective.loss)
    kappa_i, kappa_j = change[:k, k:], change[k:, :k].T
    determinant = np.maximum(1 - kappa_i * kappa_j, _LEAST_DETERMINANT)
    rho_i, rho_j = (1 + kappa_i) / determinant, (1 + kappa_j) / determinant
    own = E.diagonal()
    by_i, by_j = E[k:, :k].T - own[:k, None], own[k:] - E[:k, k:]
    return z[k:] - z[:k, None] + rho_i * by_i + rho_j * by_j


def _change_of_slopes(z, E, sign, loss):
    """κ: relative change of the slopes at z, when the scores change by E."""
    slope = loss.slope(z, sign)
    steep = np.abs(slope) > np.finfo(float).tiny
    inverse = np.divide(1.0, slope, out=np.zeros_like(slope), where=steep)
    most = _MOST_GROWTH * np.abs(loss.curvature(z, sign) * E * inverse)
    return np.clip((loss.slope(z + E, sign) - slope) * inverse, -most, most)
