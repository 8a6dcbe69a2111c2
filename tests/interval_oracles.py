"""Slow and obvious: intervals, comparisons and Cortes–Mohri from their definitions.

Nothing here imports skauc.
"""

from fractions import Fraction
from itertools import combinations

import mpmath as mp
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betaln

# --------------------------------------------------------------------------- ranks


def psi(neg, pos):
    """1, ½, 0 for each pair (positive, negative), as whole quarters would be."""
    pos, neg = np.asarray(pos)[:, None], np.asarray(neg)[None, :]
    return np.where(pos > neg, 1.0, np.where(pos == neg, 0.5, 0.0))


def rows_of_auc(n_neg, n_pos, auc):
    """Labels and scores whose empirical AUC is this, to half a pair."""
    won = round(auc * n_neg * n_pos)
    above = np.full(n_pos, won // n_pos)
    above[: won % n_pos] += 1
    score = np.concatenate([np.arange(n_neg), above - 0.5])
    return np.repeat([0, 1], [n_neg, n_pos]), score


def newcombe_variance(auc, n_neg, n_pos):
    """Hanley and McNeil's three terms with (n₀ + n₁)/2 in place of both sizes."""
    others = (n_neg + n_pos) / 2 - 1
    two_pos, two_neg = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    terms = auc * (1 - auc) + others * (two_pos + two_neg - 2 * auc**2)
    return terms / (n_neg * n_pos)


def loop_delong(negs, poss):
    """DeLong's covariance of k scores by loops over scores and rows."""
    k = len(negs)
    kernels = [psi(a, b) for a, b in zip(negs, poss, strict=True)]
    out = np.zeros((k, k))
    for r in range(k):
        for s in range(k):
            n1, n0 = kernels[r].shape
            ar, as_ = kernels[r].mean(), kernels[s].mean()
            s10 = sum(
                (kernels[r][i].mean() - ar) * (kernels[s][i].mean() - as_)
                for i in range(n1)
            ) / (n1 - 1)
            s01 = sum(
                (kernels[r][:, j].mean() - ar) * (kernels[s][:, j].mean() - as_)
                for j in range(n0)
            ) / (n0 - 1)
            out[r, s] = s10 / n1 + s01 / n0
    return out


def loop_obuchowski(score, positive, group):
    """Obuchowski (1997), eqs. for S10, S01, S11, cluster by cluster."""
    kernel = psi(score[~positive], score[positive])
    n1, n0 = kernel.shape
    auc = kernel.mean()
    v10 = dict(zip(np.flatnonzero(positive), kernel.mean(axis=1), strict=True))
    v01 = dict(zip(np.flatnonzero(~positive), kernel.mean(axis=0), strict=True))
    clusters = sorted(set(group))
    t10 = {c: sum(v10[i] - auc for i in v10 if group[i] == c) for c in clusters}
    t01 = {c: sum(v01[i] - auc for i in v01 if group[i] == c) for c in clusters}
    i10 = len({group[i] for i in v10})
    i01 = len({group[i] for i in v01})
    i = len(clusters)
    s10 = i10 / ((i10 - 1) * n1) * sum(t10[c] ** 2 for c in clusters)
    s01 = i01 / ((i01 - 1) * n0) * sum(t01[c] ** 2 for c in clusters)
    s11 = i / (i - 1) * sum(t10[c] * t01[c] for c in clusters)
    return s10 / n1 + s01 / n0 + 2 * s11 / (n1 * n0)


def loop_hand_till(y, scores):
    """Mean of A(i|j) over ordered pairs, each by all pairs of rows."""
    classes = sorted(set(y))
    parts = [
        psi(scores[y == cj, i], scores[y == ci, i]).mean()
        for i, ci in enumerate(classes)
        for cj in classes
        if ci != cj
    ]
    return np.mean(parts)


# --------------------------------------------------------------------- Cortes–Mohri


def enumerate_rankings(m, n):
    """Mean and variance of the AUC for each k, over all rankings and thresholds."""
    N = m + n
    total, first, second = (
        [0] * (N + 1),
        [Fraction(0)] * (N + 1),
        [Fraction(0)] * (N + 1),
    )
    for places in combinations(range(N), m):
        is_pos = [i in places for i in range(N)]
        won = sum(sum(not is_pos[q] for q in range(p)) for p in places)
        auc = Fraction(won, m * n)
        for t in range(N + 1):
            k = sum(is_pos[:t]) + sum(not b for b in is_pos[t:])
            total[k] += 1
            first[k] += auc
            second[k] += auc**2
    means = [a / c for a, c in zip(first, total, strict=True)]
    variances = [b / c - e**2 for b, c, e in zip(second, total, means, strict=True)]
    return means, variances


def mp_published(m, n, k):
    """Propositions 2 and 3 through moments of X ~ Bin(N + 1, ½) given X ≤ k.

    Right for k ≤ min(m, n) only; 60 digits, because it cancels.
    """
    with mp.workdps(60):
        N, D = m + n, mp.mpf(m - n) ** 2
        w = total = mp.mpf(1)
        j1 = j2 = mp.mpf(0)
        for j in range(1, k + 1):
            w *= mp.mpf(k - j + 1) / (N + 1 - k + j)
            total += w
            j1 += w * j
            j2 += w * j * j
            if w < total * mp.mpf(10) ** -55:
                break
        mu, square = j1 / total, j2 / total
        mean = 1 - (k * N + D * mu) / (4 * mp.mpf(m) * n)
        d2 = mp.mpf(N + 2) / 2 * (square + mu) + D / 2 * (square - mu)
        variance = (
            3 * D * (d2 - D * mu**2)
            + (3 * N + 2) * d2
            + 2 * D * mu * (k + N + 1)
            + 2 * mp.mpf(k) * (m**2 + n**2 + N)
            - mp.mpf(k) ** 2 * (N + 2)
        ) / (48 * mp.mpf(m) ** 2 * n**2)
        return mean, variance


def adaptive_interval_over_every_k(m, n, k0, level, moments):
    """Section 6 of the paper with every k in every step; ``moments(m, n, k)``."""
    N = m + n
    rate = (k0 + 0.5) / (N + 1)
    sd = np.sqrt(N * rate * (1 - rate))
    k = np.arange(max(0, int(k0 - 12 * sd - 12)), min(N, int(k0 + 12 * sd + 12)) + 1)
    log_binomial = -betaln(k + 1, N - k + 1) - np.log(N + 1)
    law = np.exp(log_binomial + k * np.log(rate) + (N - k) * np.log1p(-rate))
    mean, variance = moments(m, n, k)

    def limits(width):
        half_square = ((k - k0) / width) ** 2 / 2

        def risk(log_a0):
            return np.exp(np.minimum(log_a0 + half_square, 0))

        log_a0 = brentq(lambda a: (1 - risk(a)) @ law - level, -690, 0, xtol=1e-10)
        kept = (risk(log_a0) < 1) | (k == k0)
        reach = np.sqrt(variance[kept] / risk(log_a0)[kept])
        return max(np.min(mean[kept] - reach), 0), min(np.max(mean[kept] + reach), 1)

    def length(log_width):
        low, high = limits(np.exp(log_width))
        return high - low

    bounds = np.log(sd / 10), np.log(sd * 10)
    return limits(np.exp(minimize_scalar(length, bounds=bounds, method="bounded").x))
