"""Pairs of groups left out: the AUC of rows whose groups the fit has not seen.

Rows of one group (a patient, a session) depend on each other, so that they are left out
together. Pairs within a group are not compared: new rows come from new groups.
"""

import numpy as np
from scipy import linalg

from ..statistics._levels import balanced_variance, empirical_auc, placements
from ._bootstrap import TIE, won_by
from ._newton import SQUARED_HINGE
from ._refitted import refits

MOST_PAIRS, MOST_ROWS = 10_000, 2000  # pairs of groups in closed form, and rows
FEWEST = 3  # groups of each class: one remains if two are left out
EXACT = 1e8  # multiplications n min(n, P)² of all refits without two groups
# Times the variance of the jackknife, which does not hold the chance of the fit: mean
# squared errors of 12, 40 and 150 groups, 10 to 2000 features, labels by group or not
OF_PAIRS, OF_FOLDS = 2.0, 1.4


def groups_left_out(fit, rows, system) -> tuple[float, float] | None:
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
        or None where no closed form holds, or more than 10 000 pairs or 2000 rows.

    Notes
    -----
    Without the rows S of two groups one Newton step leads to the scores
    ``z_S + F_SS⁻¹ Q_SS g_S``, which are exact for squared losses. Curved losses are
    refitted if that costs less than about half a second.
    """
    loss, (n, P) = fit.objective.loss, rows.shape
    if n > MOST_ROWS:
        return None
    _, codes, sizes = np.unique(rows.group, return_inverse=True, return_counts=True)
    share = np.bincount(codes, rows.positive) / sizes
    # of two groups of one class the sum of the shares is 0 or 2
    both = share[:, None] + share
    pairs = np.argwhere(np.triu((both > 0) & (both < 2), 1))
    if len(pairs) > MOST_PAIRS:
        return None
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    z = fit.score(rows.X) - fit.intercept
    left_out = [np.concatenate([members[a], members[b]]) for a, b in pairs]
    cost = len(pairs) * n * max(min(n, P) ** 2, 50)  # at most 16 MB of weights
    if cost <= EXACT and not loss.quadratic:
        without = _refitted(fit, rows, left_out)
    elif loss is SQUARED_HINGE:
        return None  # its curvature jumps when many rows are left out: errors up to .15
    else:
        without = _one_step(z, left_out, system)
    if without is None:
        return None
    sums, least = np.zeros((2, len(sizes))), TIE * np.ptp(z)
    for (a, b), S, scores in zip(pairs, left_out, without, strict=True):
        in_a, pos, mass = np.arange(len(S)) < sizes[a], rows.positive[S], rows.weight[S]
        for i, j in ((in_a & ~pos, ~in_a & pos), (~in_a & ~pos, in_a & pos)):
            won = mass[i] @ won_by(scores[j] - scores[i][:, None], least) @ mass[j]
            sums[:, [a, b]] += [[won], [mass[i].sum() * mass[j].sum()]]
    return auc_of_groups(sums, rows, OF_PAIRS)


def _one_step(z, left_out, system):
    """Scores of the rows S after one Newton step without them; None if undetermined."""
    found = system()
    if found is None:
        return None
    (g, Q, F), out = found, []
    for S in left_out:
        block = np.ix_(S, S)
        try:
            step = linalg.solve(F[block], Q[block] @ g[S], check_finite=False)
        except linalg.LinAlgError:
            return None
        out.append(z[S] + step)
    return out


def _refitted(fit, rows, left_out):
    """Scores of the rows S under refits without them; None if they do not converge."""
    weight = np.tile(fit.objective.case_weight(rows), (len(left_out), 1))
    for k, S in enumerate(left_out):
        weight[k, S] = 0.0
    found = refits(fit, rows, weight)
    if found is None:
        return None
    return [found[0][S] @ theta for S, theta in zip(left_out, found[1], strict=True)]


def sums_of_scores(score, positive, weight, group) -> np.ndarray:
    """Won mass and mass of each group's pairs with the other groups, (2, G)."""
    G, tested = group.max() + 1, weight > 0
    score, positive, weight, group = (
        values[tested] for values in (score, positive, weight, group)
    )
    n_neg, n_pos = weight @ ~positive, weight @ positive
    if not n_neg * n_pos:
        return np.zeros((2, G))
    pairs, won = np.where(positive, n_neg, n_pos) * weight, np.empty(len(score))
    won[~positive], won[positive] = placements(
        score[~positive], score[positive], weight[~positive], weight[positive]
    )
    sums = np.array([np.bincount(group, w, G) for w in (won * pairs, pairs)])
    for a in np.unique(group):
        mine = group == a
        both = weight[mine] @ positive[mine] * (weight[mine] @ ~positive[mine])
        if both:  # pairs within the group were counted from both sides
            auc = empirical_auc(score[mine], positive[mine], weight[mine])
            sums[:, a] -= 2 * both * np.array([auc, 1.0])
    return sums


def auc_of_groups(sums, rows, factor):
    """AUC of pairs between groups, and ``factor`` times its jackknife variance.

    It grows as that of Student's t if a class comes from few groups.

    Parameters
    ----------
    sums : ndarray of shape (2, G)
        Won mass and mass of the pairs of each group with the others.
    rows : Rows
    factor : float

    Returns
    -------
    auc, variance : float

    Notes
    -----
    ``(G − 1)/G Σ_a (A₍₋ₐ₎ − Ā)²`` with the AUC of the pairs without group a.
    """
    used = sums[:, sums[1] > 0]
    won, mass = used.sum(axis=1) / 2  # every pair counts in both of its groups
    auc, left = float(won / mass), mass - used[1]
    without = (won - used[0])[left > 0] / left[left > 0]
    G = len(without)
    sizes = rows.independent
    fewest = min(sizes)
    factor *= (fewest - 1) / max(fewest - 3, 1)  # the variance of Student's t
    variance = factor * (G - 1) * np.var(without) if G > 1 else 0.0
    if variance < 1e-20:  # all pairs are ordered: the variance of so many groups
        variance = balanced_variance((rows.n * auc + 0.5) / (rows.n + 1), *sizes)
    return auc, variance
