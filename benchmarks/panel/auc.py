"""AUC of many score vectors at once, its DeLong and Hanley–McNeil variances, .632+."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata


def placements(neg, pos):
    """Shares of the other class below the positives, above the negatives; ties ½."""
    n_neg, n_pos = neg.shape[-1], pos.shape[-1]
    ranks = rankdata(np.concatenate([neg, pos], axis=-1), axis=-1)
    above = 1 - (ranks[..., :n_neg] - rankdata(neg, axis=-1)) / n_pos
    return above, (ranks[..., n_neg:] - rankdata(pos, axis=-1)) / n_neg


def delong_variance(*placements):
    """DeLong's variance from the placements of both classes."""
    return sum(v.var(axis=-1, ddof=1) / v.shape[-1] for v in placements)


def delong(y, scores):
    """AUC and its DeLong variance of scores (m, n).

    Within ¼ row of 0 or 1 DeLong's variance is nought and says nothing: Hanley and
    McNeil's at that distance stands in for it.
    """
    n_pos, n_neg = int(y.sum()), int((~y).sum())
    neg, pos = placements(scores[:, ~y], scores[:, y])
    value, variance = pos.mean(axis=-1), delong_variance(neg, pos)
    edge = 0.25 / min(n_pos, n_neg)
    floor = hanley_mcneil(np.clip(value, edge, 1 - edge), n_pos, n_neg)
    near = (value < edge) | (value > 1 - edge)
    return value, np.where(near, np.maximum(variance, floor), variance)


def hanley_mcneil(A, n_pos, n_neg):
    """Hanley & McNeil (1982): variance of the empirical AUC where the true one is A."""
    q1, q2 = A / (2 - A), 2 * A**2 / (1 + A)
    spread = A * (1 - A) + (n_pos - 1) * (q1 - A**2) + (n_neg - 1) * (q2 - A**2)
    return spread / (n_pos * n_neg)


def plus_632(resubstitution, out_of_bag):
    """Efron & Tibshirani (1997) for the error 1 − AUC, no-information rate ½."""
    error, error_1 = 1 - resubstitution, np.minimum(1 - out_of_bag, 0.5)
    gap = np.maximum(0.5 - error, 1e-12)
    overfit = np.clip((error_1 - error) / gap, 0, 1)
    weight = 0.632 / (1 - 0.368 * overfit)
    return 1 - ((1 - weight) * error + weight * error_1)
