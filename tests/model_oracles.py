"""Slow twins of the spectrum, the slab and the join, from their definitions.

Nothing here imports skauc.
"""

import numpy as np
from scipy import stats
from scipy.integrate import quad


def left_out_spectrum(rows, positive, fold, weight=None):
    """Variances along eigenvectors of the training W (P×P), and in its null space.

    ``rows`` are in scaled features; one left-out row at a time; no pooling of rising
    neighbours, one list of fold results ``(descending values, null, weight)``.
    """
    c = np.ones(len(rows)) if weight is None else weight
    P, parts = rows.shape[1], []
    for k in np.unique(fold):
        train, out = fold != k, fold == k
        mean, n, W = {}, {}, np.zeros((P, P))
        for label in (False, True):
            some = train & (positive == label)
            n[label] = c[some].sum()
            mean[label] = np.average(rows[some], axis=0, weights=c[some])
            for i in np.flatnonzero(some):
                W += c[i] * np.outer(rows[i] - mean[label], rows[i] - mean[label])
        lam, V = np.linalg.eigh(W)
        V = V[:, lam > 1e-10 * lam[-1]][:, ::-1]
        inside, outside = np.zeros(V.shape[1]), 0.0
        for i in np.flatnonzero(out):
            label = bool(positive[i])
            x = (rows[i] - mean[label]) / np.sqrt(1 + 1 / n[label])
            inside += c[i] * (V.T @ x) ** 2
            outside += c[i] * np.sum((x - V @ (V.T @ x)) ** 2)
        total = c[out].sum()
        null = outside / total / max(P - V.shape[1], 1)
        parts.append((inside / total, null, total))
    return parts


def averaged_spectrum(parts, rank):
    """Folds at equal share of the rank, then the best decreasing fit by brute force.

    The isotonic fit is ``min over i ≤ k of max over j ≥ k of mean(values[i..j])``, read
    for a decreasing sequence.
    """
    grid = [(k + 0.5) / rank for k in range(rank)]
    rows = np.array([w for *_, w in parts])
    values = np.zeros(rank)
    for value, _, w in parts:
        share = [(k + 0.5) / len(value) for k in range(len(value))]
        values += w / rows.sum() * np.array([np.interp(g, share, value) for g in grid])
    fitted = [
        min(max(values[i : j + 1].mean() for j in range(k, rank)) for i in range(k + 1))
        for k in range(rank)
    ]
    return np.array(fitted), sum(null * w for _, null, w in parts) / rows.sum()


def symmetric_power(matrix, power):
    """``Σ^p`` by a full P×P decomposition."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(values**power) @ vectors.T


def slab_evidence(omega, h, share, tau):
    """``log Π p(ω̂_j)/p₀(ω̂_j)`` with the marginal by quadrature over ω_j."""
    total = 0.0
    for value in omega:

        def density(w, value=value):
            return stats.norm.pdf(value, w, h**-0.5) * stats.norm.pdf(w, 0, tau**0.5)

        peak = value * tau / (tau + 1 / h)
        wide, _ = quad(
            density, peak - 12 * h**-0.5, peak + 12 * h**-0.5, points=[peak], epsabs=0
        )
        spike = stats.norm.pdf(value, 0, h**-0.5)
        total += np.log((1 - share) * spike + share * wide) - np.log(spike)
    return total


def slab_draws(omega, h, share, tau, rng, size):
    """ω drawn from its prior, weighted by the likelihood of ω̂: (mean, variance)."""
    drawn = rng.normal(0, tau**0.5, size) * (rng.random(size) < share)
    mean, variance = [], []
    for value in omega:
        weight = stats.norm.pdf(value, drawn, h**-0.5)
        mean.append(np.average(drawn, weights=weight))
        variance.append(np.average((drawn - mean[-1]) ** 2, weights=weight))
    return np.array(mean), np.array(variance)


def hanley_mcneil(A, n_neg, n_pos):
    """Hanley & McNeil (1982), as printed."""
    q1, q2 = A / (2 - A), 2 * A**2 / (1 + A)
    top = A * (1 - A) + (n_pos - 1) * (q1 - A**2) + (n_neg - 1) * (q2 - A**2)
    return top / (n_neg * n_pos)


def newcombe(A, n_neg, n_pos):
    """Newcombe (2006), method 5: Hanley & McNeil's with either class as positive."""
    return (hanley_mcneil(A, n_neg, n_pos) + hanley_mcneil(A, n_pos, n_neg)) / 2
