"""Ranks of the scores: placements, the empirical AUC, DeLong's covariance (MATH 7).

``V₁₀`` of a positive is the share of negatives below it, ``V₀₁`` of a negative the
share of positives above it, ties counted ½. Both come from midranks in O(n log n);
their mean is the Mann–Whitney estimate of the AUC and their covariances are
DeLong's (DeLong, DeLong & Clarke-Pearson 1988; Sun & Xu 2014 for the midranks).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata


def placements(neg, pos):
    """Placements ``V₀₁`` of the negatives and ``V₁₀`` of the positives.

    Parameters
    ----------
    neg : ndarray of shape (n_neg,)
    pos : ndarray of shape (n_pos,)
        Scores; ±inf are allowed, NaN is not.

    Returns
    -------
    v01 : ndarray of shape (n_neg,)
    v10 : ndarray of shape (n_pos,)
    """
    both = rankdata(np.concatenate([neg, pos]))
    below_neg = both[: len(neg)] - rankdata(neg)
    below_pos = both[len(neg) :] - rankdata(pos)
    return 1 - below_neg / len(pos), below_pos / len(neg)


def empirical_auc(neg, pos, weight_neg=None, weight_pos=None) -> float:
    """Share of pairs in which the positive scores higher, ties ½.

    Parameters
    ----------
    neg, pos : ndarray of shape (n_neg,), (n_pos,)
    weight_neg, weight_pos : ndarray, default=None
        A pair weighs the product of its two rows.

    Returns
    -------
    float
    """
    if weight_neg is None:
        return float(placements(neg, pos)[1].mean())
    order = np.argsort(neg, kind="stable")
    cumulative = np.concatenate([[0.0], np.cumsum(weight_neg[order])])
    below = cumulative[np.searchsorted(neg[order], pos, side="left")]
    up_to = cumulative[np.searchsorted(neg[order], pos, side="right")]
    return float(weight_pos @ (below + up_to) / (2 * cumulative[-1] * weight_pos.sum()))
