"""Pairs of groups left out: the AUC of rows whose groups the fit has not seen.

Rows of one group (a patient, a session) depend on each other, so that they are left out
together. Pairs within a group are not compared: new rows come from new groups.
"""

import numpy as np
from scipy.linalg import LinAlgError

from ..statistics._levels import (
    TIE,
    balanced_variance,
    empirical_auc,
    row_placements,
    won_by,
)
from ..statistics._row_blocks import parts_of
from ..statistics._rows import class_units
from ._objective import SQUARED_HINGE, optima

MOST_PAIRS, MOST_ROWS = 10_000, 2000  # pairs of groups in closed form, and rows
FEWEST = 3  # groups of each class: one remains if two are left out
EXACT = 1e8  # multiplications n min(n, P)² of all refits without two groups
# Times the variance of the jackknife, which does not hold the chance of the fit: on
# noise it is as large as that of the rows. 12, 40 and 150 groups, 10 to 2000 features
_OF_FIT = 2.0
_BATCH = 2**18  # numbers of the systems that are solved at once


def groups_left_out(fit, rows, system) -> tuple:
    """AUC of pairs of rows under the fit without the groups of both, and its variance.

    Parameters
    ----------
    fit : Fit
        At its optimum.
    rows : Rows
    system : callable
        ``system()`` returns slopes g, ``Q = A H⁻¹Aᵀ`` and ``F = I − QΩ`` of the rows.

    Returns
    -------
    auc, variance : float

    Raises
    ------
    LinAlgError
        If no closed form holds, or for more than 10 000 pairs or 2000 rows.

    Notes
    -----
    Without the rows S of two groups one Newton step leads to the scores
    ``z_S + F_SS⁻¹ Q_SS g_S``, which are exact for squared losses. Curved losses are
    refitted if that costs less than about half a second.
    """
    loss, (n, P) = fit.objective.loss, rows.shape
    if n > MOST_ROWS:  # and perhaps as many groups
        raise LinAlgError("the system of so many rows is too large")
    _, codes, sizes = np.unique(rows.group, return_inverse=True, return_counts=True)
    share = np.bincount(codes, rows.positive) / sizes
    # of two groups of one class the sum of the shares is 0 or 2
    both = share[:, None] + share
    pairs = np.argwhere(np.triu((both > 0) & (both < 2), 1))
    cost = len(pairs) * n * max(min(n, P) ** 2, 50)  # at most 16 MB of weights
    exact = loss.quadratic or cost <= EXACT
    # the curvature of the hinge jumps when many rows are left out: errors up to .15
    jumps = loss is SQUARED_HINGE and not exact
    if len(pairs) > MOST_PAIRS or jumps:
        raise LinAlgError("no closed form holds for these groups")
    z = fit.score(rows.X) - fit.intercept
    if exact and not loss.quadratic:
        scores = _refitted(fit, rows, codes, pairs)
    else:
        scores = _one_step(z, *system())
    sums, least = np.zeros((2, len(sizes))), TIE * np.ptp(z)
    for which, S in _batches(pairs, codes, sizes):
        kept = _won_and_mass(scores(which, S), S, codes, rows, least)
        for side in pairs[which].T:
            sums += [np.bincount(side, mass, len(sizes)) for mass in kept]
    return auc_of_groups(sums, rows)


def _batches(pairs, codes, sizes):
    """Numbers of pairs whose groups have equal sizes, and their rows, (k, m)."""
    order, start = np.argsort(codes, kind="stable"), np.cumsum(sizes) - sizes
    kinds, kind = np.unique(sizes[pairs], axis=0, return_inverse=True)
    for k, size in enumerate(kinds):
        alike = np.flatnonzero(kind.ravel() == k)
        for part in parts_of(len(alike), max(_BATCH // size.sum() ** 2, 1)):
            first, second = start[pairs[alike[part]]].T[..., None]
            sides = [first + np.arange(size[0]), second + np.arange(size[1])]
            yield alike[part], order[np.concatenate(sides, axis=1)]


def _won_and_mass(scores, S, codes, rows, least):
    """Won mass and mass of the pairs of rows of different groups, (2, k)."""
    mass, positive, group = rows.weight[S], rows.positive[S], codes[S]
    between = group[:, :, None] != group[:, None]
    pairs = (mass * ~positive)[:, :, None] * (mass * positive)[:, None] * between
    won = won_by(scores[:, None] - scores[:, :, None], least) * pairs
    return won.sum(axis=(1, 2)), pairs.sum(axis=(1, 2))


def _one_step(z, g, Q, F):
    """Scores of the rows S of pairs after one Newton step without them."""

    def scores(which, S):
        block = S[:, :, None], S[:, None]
        return z[S] + np.linalg.solve(F[block], Q[block] @ g[S][..., None])[..., 0]

    return scores


def _refitted(fit, rows, codes, pairs):
    """Scores of the rows S under refits without them."""
    kept = (codes != pairs[:, :1]) & (codes != pairs[:, 1:])
    A, theta, _ = optima(fit, rows, fit.objective.case_weight(rows) * kept)
    return lambda which, S: (A[S] @ theta[which][..., None])[..., 0]


def sums_of_scores(score, positive, weight, group, *, sole=False) -> np.ndarray:
    """Won mass and mass of each group's pairs with the other groups, (2, G).

    With ``sole`` pairs within a group count if all rows of positive weight are in it.
    """
    G, tested = group.max() + 1, weight > 0
    score, positive, weight, group = (
        values[tested] for values in (score, positive, weight, group)
    )
    n_neg, n_pos = weight @ ~positive, weight @ positive
    if not n_neg * n_pos:
        return np.zeros((2, G))
    pairs = np.where(positive, n_neg, n_pos) * weight
    won = row_placements(score, positive, weight)
    sums = np.array([np.bincount(group, w, G) for w in (won * pairs, pairs)])
    if sole and np.ptp(group) == 0:
        return sums
    for a in np.unique(group):
        mine = group == a
        both = weight[mine] @ positive[mine] * (weight[mine] @ ~positive[mine])
        if both:  # pairs within the group were counted from both sides
            auc = empirical_auc(score[mine], positive[mine], weight[mine])
            sums[:, a] -= 2 * both * np.array([auc, 1.0])
    return sums


def without_each(sums) -> tuple:
    """AUC of the pairs, their mass, and the AUC without each group, NaN if undefined.

    ``sums`` are those of :func:`sums_of_scores`.
    """
    won, mass = sums.sum(axis=1) / 2  # every pair counts in both of its groups
    left = np.where(mass > sums[1], mass - sums[1], np.nan)
    return float(won / mass) if mass else np.nan, float(mass), (won - sums[0]) / left


def of_few_groups(positive, group) -> float:
    """Variance of Student's t for the groups of the class that has fewer of them."""
    fewest = min(class_units(positive, group))
    return (fewest - 1) / max(fewest - 3, 1)


def auc_of_groups(sums, rows):
    """AUC of pairs between groups, and twice its jackknife variance.

    It grows as that of Student's t if a class comes from few groups.

    Parameters
    ----------
    sums : ndarray of shape (2, G)
        Won mass and mass of the pairs of each group with the others.
    rows : Rows

    Returns
    -------
    auc, variance : float

    Notes
    -----
    ``(G − 1)/G Σ_a (A₍₋ₐ₎ − Ā)²`` with the AUC of the pairs without group a.
    """
    auc, _, without = without_each(sums[:, sums[1] > 0])
    without = without[np.isfinite(without)]
    G, sizes = len(without), rows.independent
    factor = _OF_FIT * of_few_groups(rows.positive, rows.group)
    variance = factor * (G - 1) * np.var(without) if G > 1 else 0.0
    if variance < 1e-20:  # all pairs are ordered: the variance of so many groups
        variance = balanced_variance((rows.n * auc + 0.5) / (rows.n + 1), *sizes)
    return auc, variance
