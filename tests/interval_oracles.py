"""Slow and obvious: intervals, comparisons and Cortes–Mohri from their definitions.

Nothing here imports skauc.
"""

from fractions import Fraction
from itertools import combinations
from math import comb

import mpmath as mp
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betaln

# --------------------------------------------------------------------------- ranks


def psi(neg, pos):
    """1, ½, 0 for each pair (positive, negative), as whole quarters would be."""
    pos, neg = np.asarray(pos)[:, None], np.asarray(neg)[None, :]
    return np.where(pos > neg, 1.0, np.where(pos == neg, 0.5, 0.0))


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


def sum_over_false_positives(m, n, k):
    """The definition, exact: total variance over x false positives."""
    weight = first = second = within = Fraction(0)
    for x in range(max(0, k - m), min(n, k) + 1):
        y = k - x
        M = m - y + x
        p = comb(M, x) * comb(m + n - M, y)
        weight += p
        first += p * x
        second += p * x * x
        within += p * ((m - y) * x * (M + 1) + (n - x) * y * (m + n - M + 1))
    mean_x = first / weight
    spread = second / weight - mean_x**2
    mean = 1 - (mean_x / n + (k - mean_x) / m) / 2
    variance = within / weight / (12 * m**2 * n**2)
    variance += spread * (Fraction(1, n) - Fraction(1, m)) ** 2 / 4
    return mean, variance


def mp_sum_over_false_positives(m, n, k):
    """The same with 60 digits and ratios of neighbours, for large numbers."""
    with mp.workdps(60):
        low, high = max(0, k - m), min(n, k)
        p = mp.mpf(1)
        weight = first = second = within = mp.mpf(0)
        for x in range(low, high + 1):
            y = k - x
            M = m - y + x
            Mp = m + n - M
            weight += p
            first += p * x
            second += p * x * x
            within += p * ((m - y) * x * (M + 1) + (n - x) * y * (Mp + 1))
            if x < high:
                # C(M + 2, x + 1)/C(M, x) · C(M' − 2, y − 1)/C(M', y)
                p *= mp.mpf((M + 2) * (M + 1)) / ((x + 1) * (M + 1 - x))
                p *= mp.mpf(y * (Mp - y)) / (Mp * (Mp - 1))
        mean_x = first / weight
        spread = second / weight - mean_x**2
        mean = 1 - (mean_x / n + (k - mean_x) / m) / 2
        variance = within / weight / (12 * mp.mpf(m) ** 2 * n**2)
        variance += spread * (mp.mpf(1) / n - mp.mpf(1) / m) ** 2 / 4
        return mean, variance


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


def moments_in_whole_numbers(m, n, k):
    """Cortes & Mohri's mean and variance, rounded once, for N up to some 10⁷.

    The generating functions of section 6 of ``skauc.intervals``, but G₁ summed in whole
    numbers of 2^−bits, and the recurrence run upwards with as many bits as it can lose.
    """
    shift_x, shift_y = max(k - m, 0), max(k - n, 0)
    alpha, d = abs(k - m), abs(k - m) + abs(k - n)
    L, N = k - shift_x - shift_y, m + n
    bits = 128 + 6 * (d + 1).bit_length() + 3 * L.bit_length()
    one = 1 << bits
    total = term = one  # 1/G₁ = Σ_{j≤L} C(N + 1, j)/C(N, L)
    j = L
    while term and j:
        term = term * j // (N + 2 - j)
        total += term
        j -= 1
    G = [0, one * one * (N + 1 - L) // ((N + 1) * total), one]
    for p in range(1, 5):
        G.append(G[p] + (2 * L * G[p] - d * (G[p + 1] - G[p])) // p)
    i1 = Fraction(G[4] + alpha * G[3] - (alpha + 1) * G[2], 2 * one)
    i2 = Fraction(
        3 * G[6]
        + 3 * alpha * G[5]
        + (alpha**2 - 2 * alpha - 4) * G[4]
        - alpha * (2 * alpha + 3) * G[3]
        + (alpha + 1) ** 2 * G[2],
        4 * one,
    )
    x1 = i1 + shift_x
    x2 = i2 + 2 * shift_x * i1 + shift_x**2
    # 12 m² n² Var[A|x] = x (x − a)(2x − a + 1) + (n − x)(k − x)(b + 1 − 2x),
    # a = k − m, b = n + k: the cubes cancel
    a, b = k - m, n + k
    square, linear = 3 * (b - a) + 2, a * (a - 1) - 2 * n * k - b * (b + 1)
    within = square * x2 + linear * x1 + n * k * (b + 1)
    between = 3 * (m - n) ** 2 * (x2 - x1**2)
    mean = 1 - (Fraction(k, m) + x1 * Fraction(m - n, m * n)) / 2
    return float(mean), float((within + between) / (12 * m**2 * n**2))


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
