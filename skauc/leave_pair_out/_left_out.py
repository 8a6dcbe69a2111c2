"""Leave-pair-out AUC of a penalised linear model from its single fit.

Pairs left out cost no refit of the estimator. They are not used where min(n, P) > 2000
or a class has one row. A loss that is not quadratic needs refits by Newton's method if
the cost of a class is more than ten times that of the other and one class has a weight
below P: one Newton step without a row that carries so much of the costs is too rough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import linalg

from ..statistics._levels import TIE, won_by
from ._coordinates import centred_rows, gram
from ._groups import groups_left_out
from ._objective import NUMBERS, at_optimum, can_refit, departure, optima, optimum

MOST = 2000  # of rows or features: the system that is factorised
COSTLY = 10  # ratio of the costs of the classes beyond which a small class is costly
PAIR_ROWS, FEW_PAIR_ROWS = 250, 100  # most rows of a class that form the pairs
MANY_ROWS = 40  # with more rows per feature, 100 rows of a class are enough
LARGE = 50_000  # intervals of so many rows are too narrow for 100 rows per class
HESSIAN_ROWS = 2000  # least number of rows in a sampled Hessian
DUAL = 0.7  # for P/n beyond it the Gram matrix of the rows is factorised
_MOST_SHIFT = 1e8  # largest shift in units of the mean kernel: a nearly free intercept
_FLAT = 1e-9  # least curvature times mean kernel, below which Q loses its digits
# Most multiplications n min(n, P)² for all pairs: about .1 s
EXACT = 1e7
# Change of a slope in units of its linear change. From 1.3 to 2 the errors are the same
# (30 to 60 rows, 3 to 60 features, C from .01 to 1e4, 40 × 20 000)
_MOST_GROWTH = 1.6
_LEAST_DETERMINANT = 0.1  # of the system of a pair, below which ρ extrapolates


@dataclass(frozen=True)
class Source:
    """AUC of a fitted model on rows that were left out.

    Parameters
    ----------
    auc : float
    variance : float
        Variance of the AUC over data sets.
    method : str
        ``"leave-pair-out"``, ``"group pairs"``, ``"out-of-bag"``, ``"refits"``,
        ``"folds"``, ``"group folds"`` or ``"empirical"``.
    departure : float, default=0.0
        :func:`departure` of the model from the optimum that rows were left out of.
    alone : bool, default=False
        Whether the model of the data set is wrong, so that it is not joined.
    """

    auc: float
    variance: float
    method: str
    departure: float = 0.0
    alone: bool = False


def second_source(fit, rows, gradient=None, *, moved=False) -> Source | None:
    """AUC of a model on rows left out of it, without a fit of the estimator.

    Parameters
    ----------
    fit : Fit
        The model with its objective; it is moved to the optimum.
    rows : Rows
        The rows that trained it.
    gradient : float, default=None
        Stationarity of the fit by its own slopes, if it is known.
    moved : bool, default=False
        Whether a scaler in front moved the rows by the mean of all of them. Without two
        rows it would have another mean, which a direction beside a free intercept does
        not see, but any other does. So the intercept is made free (noise, 60 × 150,
        classes of deviations 1 and 2, was .88 for ``LinearSVC()``).

    Returns
    -------
    Source or None
        None where pairs cannot be left out, or the fit has no optimum.

    Notes
    -----
    Neither the order of the rows nor the names of the classes matter, and a row of
    weight 2 counts as two equal rows.
    """
    if min(rows.shape) > MOST or not _can_leave_out(fit.objective, rows):
        return None
    return pairs_left_out(fit, rows, gradient, moved=moved)


def pairs_left_out(fit, rows, gradient=None, *, moved=False) -> Source | None:
    """:func:`second_source` of any size, and however few rows a class has."""
    try:
        end = at_optimum(fit, rows, gradient)
        left_out_of = _beside_free_intercept(end, rows) if moved else end
        auc, variance = leave_pair_out(left_out_of, rows)
    except linalg.LinAlgError:
        return None
    method = "leave-pair-out" if rows.group is None else "group pairs"
    return Source(auc, variance, method, departure(fit, end, rows))


def _beside_free_intercept(fit, rows):
    """The optimum with a free intercept, of rows of which a copy can be made."""
    if fit.objective.free or rows.shape[0] * min(rows.shape) > NUMBERS:
        return fit
    objective = replace(fit.objective, column=1.0, free=True)
    return optimum(replace(fit, objective=objective), rows)


def _can_leave_out(objective, rows):
    """Whether no class depends on one row, or on a few costly ones; no L1 penalty."""
    distinct = rows.positive.sum(), (~rows.positive).sum()
    sizes = rows.n_pos, rows.n_neg
    if objective.l1 or min(map(max, distinct, sizes)) < 2:
        return False
    low, high = sorted(objective.class_weight)
    exact = objective.loss.quadratic or can_refit(rows) or high <= COSTLY * low
    return exact or min(sizes) >= rows.shape[1]


@dataclass(frozen=True, eq=False)
class PairRows:
    """An even sample of rows of each class, ``neg`` and ``pos``, and their masses.

    The masses of a class add up to its weight. Small classes are complete.
    """

    neg: np.ndarray
    pos: np.ndarray
    mass_neg: np.ndarray
    mass_pos: np.ndarray

    @property
    def both(self) -> np.ndarray:
        """Negative rows, then positive ones."""
        return np.concatenate([self.neg, self.pos])

    @property
    def shares(self) -> tuple:
        """Shares of the negative rows, and of the positive ones, in their classes."""
        neg, pos = self.mass_neg, self.mass_pos
        return neg / neg.sum(), pos / pos.sum()


def even_sample(order, codes, weight, limit) -> list:
    """:func:`even_rows` of each class, taken in the given order of all rows."""
    classes = (order[codes[order] == code] for code in np.unique(codes))
    return [even_rows(rows, weight, limit) for rows in classes]


def even_rows(rows, weight, limit):
    """Rows in the middles of equal shares of the weight, and the mass of each.

    All of them, with their weights, if there are at most ``limit``.
    """
    weight = weight[rows]
    total = weight.sum()
    if max(len(rows), total) <= limit:
        return rows, weight
    middle = (np.arange((limit + 1) // 2) + 0.5) / limit * total
    # the lower half from either end: the reversed order has the same sample
    low = np.cumsum(weight).searchsorted(middle)
    high = np.cumsum(weight[::-1]).searchsorted(middle[: limit // 2])
    at = np.concatenate([low, len(rows) - 1 - high[::-1]])
    return rows[np.clip(at, 0, len(rows) - 1)], np.full(limit, total / limit)


def auc_of_pairs(margin, z, pairs, rows, everyone):
    """AUC of all rows less the loss of pairs that are left out, and its variance.

    Parameters
    ----------
    margin : ndarray of shape (k_neg, k_pos)
        ``z_j − z_i`` of each pair under the fit without it.
    z : ndarray of shape (k_neg + k_pos,)
        Scores of the rows of the pairs.
    pairs : PairRows
    rows : Rows
    everyone : float
        AUC of all rows under the fit to them.

    Returns
    -------
    auc, variance : float
    """
    k = len(pairs.neg)
    least = TIE * np.ptp(z)
    share_neg, share_pos = pairs.shares
    # placements of the rows: means over their pairs
    won = won_by(margin, least)
    of_neg, of_pos = won @ share_pos, share_neg @ won
    # A = A(fit, all rows) − [A(fit, sample) − A(left out, sample)]
    lost = won_by(z[k:] - z[:k, None], least) - won
    auc = float(np.clip(everyone - share_neg @ lost @ share_pos, 0.0, 1.0))
    return auc, of_placements(auc, of_neg, of_pos, pairs, rows)


def of_placements(auc, of_neg, of_pos, pairs, rows):
    """Variance of an AUC from the placements of the rows of the pairs."""
    share_neg, share_pos = pairs.shares
    # DeLong, DeLong & Clarke-Pearson (1988): var(V₀₁)/n₀ + var(V₁₀)/n₁
    variance = _of_mean(of_neg, share_neg, rows.n_neg)
    variance += _of_mean(of_pos, share_pos, rows.n_pos)
    # that of few rows is itself uncertain: at least Hanley and McNeil's
    return max(variance, rows.auc_variance(auc))


def _of_mean(values, share, n):
    """Variance of the mean of n values, estimated from a sample of them."""
    mean = share @ values
    return float(share @ (values - mean) ** 2 / max(n - 1, 1))


def leave_pair_out(fit, rows):
    """Leave-pair-out AUC of a fit at its optimum.

    Parameters
    ----------
    fit : Fit
    rows : Rows
        The rows that trained it, at least two of each class.

    Returns
    -------
    auc, variance : float

    Raises
    ------
    LinAlgError
        If no closed form holds, as where the system of the rows has no Cholesky factor.

    Notes
    -----
    O(n min(n, P)²) for one fit. At most 250 rows of a class form the pairs (100 where
    40 P ≤ n < 50 000), evenly in the order of their scores.
    """
    if rows.group is not None:
        S = np.arange(rows.shape[0])
        return groups_left_out(fit, rows, partial(_system, fit, rows, S, S))
    score = fit.score(rows.X) - fit.intercept
    few = MANY_ROWS * rows.shape[1] <= rows.n < LARGE
    limit = FEW_PAIR_ROWS if few else PAIR_ROWS
    order = np.argsort(score)
    sample = even_sample(order, rows.positive, rows.weight, limit)
    (neg, mass_neg), (pos, mass_pos) = sample
    pairs = PairRows(neg, pos, mass_neg, mass_pos)
    if fit.objective.loss.quadratic or not can_refit(rows):
        margin = _one_step(fit, rows, pairs, order)
    else:
        margin = _refitted(fit, rows, pairs)
    return auc_of_pairs(margin, score[pairs.both], pairs, rows, rows.auc(score))


def _one_step(fit, rows, pairs, order):
    """``z_j − z_i`` after one Newton step without negative i and positive j."""
    S, k = pairs.both, len(pairs.neg)
    g, Q, F = _system(fit, rows, S, order)
    # the share 1/f of a row of weight f is left out: F diag(one) + I − diag(one)
    one = np.minimum(1.0, 1 / rows.weight[S])
    g, own = one * g, F.diagonal() * one + 1 - one
    alone = Q.diagonal() * g
    q_i = alone[:k, None] + Q[:k, k:] * g[k:]
    q_j = Q[:k, k:] * g[:k, None] + alone[k:]
    F_ii, F_jj = own[:k, None], own[k:]
    # F is not symmetric: F_ij is the response of negative i to positive j
    F_ij, F_ji = F[:k, k:] * one[k:], F[k:, :k].T * one[:k, None]
    # (F_SS)⁻¹ = [[F_jj, −F_ij], [−F_ji, F_ii]]/det
    det = F_ii * F_jj - F_ij * F_ji
    lost = det <= 1e-14 * np.abs(F_ii * F_jj)
    det = np.where(lost, np.inf, det)  # undetermined without the row: no step
    step = ((F_ii + F_ij) * q_j - (F_jj + F_ji) * q_i) / det
    z = fit.score(rows.X)[S] - fit.intercept
    return z[k:] - z[:k, None] + step


def _system(fit, rows, S, order):
    """Slopes g, ``Q = A_S H⁻¹ A_Sᵀ`` and ``F = I − QΩ`` of the rows S."""
    objective, (n, P) = fit.objective, rows.shape
    z, sign = fit.score(rows.X), rows.sign
    c = objective.case_weight(rows)
    curvature = c * objective.loss.curvature(z, sign)
    build = _by_gram if P > DUAL * n else _by_hessian
    Q, F = build(objective, rows, curvature, S, order)
    return c[S] * objective.loss.slope(z[S], sign[S]), Q, F


def _by_hessian(objective, rows, curvature, S, order):
    """Q and F of the rows S; H from an even sample."""
    n, P = rows.shape
    most = min(max(HESSIAN_ROWS, MANY_ROWS * P), max(NUMBERS // P, HESSIAN_ROWS))
    T, omega = slice(None), curvature
    if n > 2 * most:  # rows of a rare class with a high cost are drawn more often
        T, omega = even_rows(order, curvature, int(most))
    A_T, penalty = objective.design(
        centred_rows(rows, T, objective.free, objective.unit)
    )
    A_S, _ = objective.design(centred_rows(rows, S, objective.free, objective.unit))
    # H = AᵀΩA + diag(penalty) = LLᵀ,   Q = (L⁻¹A_Sᵀ)ᵀ(L⁻¹A_Sᵀ)
    half = A_T * np.sqrt(omega)[:, None]
    H = half.T @ half
    H.flat[:: len(H) + 1] += penalty
    factor = linalg.cholesky(H, lower=True, overwrite_a=True)
    half = linalg.solve_triangular(factor, A_S.T, lower=True)
    Q = half.T @ half
    return Q, np.eye(len(S)) - Q * curvature[S]


def _by_gram(objective, rows, curvature, S, order):
    """Q and F of the rows S from ``G = B⁻¹ − v vᵀ/t``.

    ``B = I + Ω^½ K Ω^½``, ``v = B⁻¹Ω^½1``, ``t = 1ᵀΩ^½v``; the v-term only for a free
    intercept. ``Ω^½ Q Ω^½ = I − G`` and ``Ω^½ F Ω^−½ = G``: under a weak penalty
    I − QΩ would lose its digits.
    """
    K = gram(rows, objective.free, objective.unit) / objective.strength
    size = K.diagonal().mean()
    # the shift is liblinear's constant column. With a free intercept any shift will do,
    # because K of centred rows is 0 along 1
    shift = min(objective.column**2 / objective.strength, _MOST_SHIFT * size)
    shift = size if objective.free else shift
    root = np.sqrt(np.maximum(curvature, _FLAT / max(size + shift, 1e-300)))
    B = (K + shift) * root
    B *= root[:, None]
    B.flat[:: len(B) + 1] += 1.0
    factor = linalg.cholesky(B, lower=True, overwrite_a=True)
    chosen = np.zeros((len(B), len(S) + 1))
    chosen[S, np.arange(len(S))] = 1.0
    chosen[:, -1] = root
    half = linalg.solve_triangular(factor, chosen, lower=True)
    G = half.T @ half
    v, t, G = G[:-1, -1], G[-1, -1], G[:-1, :-1]
    if objective.free:
        G -= np.outer(v, v) / t
    root = root[S]
    Q = (np.eye(len(S)) - G) / np.outer(root, root)
    return Q, G * (root / root[:, None])


# ------------------------------------------------------------------ Newton's method


def _refitted(fit, rows, pairs) -> np.ndarray:
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
