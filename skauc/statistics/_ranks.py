"""AUC of rows that are in order; the older place of the functions of ``_levels``."""

from __future__ import annotations

import numpy as np

from ._levels import (
    Levels,
    clustered_covariance,
    delong_covariance,
    empirical_auc,
    placements,
)

__all__ = [
    "auc_in_order",
    "bamber_variance",
    "clustered_covariance",
    "delong_covariance",
    "empirical_auc",
    "placements",
]


def bamber_variance(neg, pos, weight_neg=None, weight_pos=None) -> float:
    """Return :attr:`Levels.bamber_variance`."""
    return Levels.of(neg, pos, weight_neg, weight_pos).bamber_variance


def auc_in_order(positive, weight_neg=1.0, weight_pos=1.0):
    """AUC and DeLong's variance of rows in ascending order of scores without ties.

    No search is needed, and one class tells of both: ``a_k = n₀ + k − i`` negatives are
    above the k-th positive, which is row i. A negative has the first b positives below
    it, and ``b² = Σ_{k<b} (2k + 1)``: so ``Σ_neg b² = Σ_k a_k (2k + 1)``.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Class of the rows; both are there.
    weight_neg, weight_pos : float, default=1.0
        How often each row of a class counts.

    Returns
    -------
    auc, variance : float
        NaN for the variance where a class counts once or less.
    """
    places = np.flatnonzero(positive)
    n_pos, n_neg = len(places), len(positive) - len(places)
    k = np.arange(n_pos, dtype=float)
    # pairs in the wrong order: they keep their digits where the AUC is near 1
    above = n_neg + k - places
    wrong = float(above.sum())
    square_pos, square_neg = float(above @ above), 2 * float(above @ k) + wrong
    variance = 0.0
    for square, n, others, weight in (
        (square_neg, n_neg, n_pos, weight_neg),
        (square_pos, n_pos, n_neg, weight_pos),
    ):
        # Σ w (V − A)²/(W(W − 1)),  W = nw
        spread, total = max(square - wrong**2 / n, 0.0) / others**2, n * weight
        variance += weight * spread / (total * (total - 1)) if total > 1 else np.nan
    return 1 - wrong / (n_neg * n_pos), variance
