"""The joint test of several AUCs under their covariance."""

import numpy as np

_NO_VARIANCE = 1e-12  # share of the trace below which an axis has no variance
_NO_GAP = 1e-9  # without variance, smaller differences are rounding


def chi_square(L, auc, covariance, smaller) -> tuple[float, int]:
    """``(LÂ)ᵀ(LSLᵀ)⁻¹(LÂ)`` and its degrees of freedom, rank(LSLᵀ).

    Parameters
    ----------
    L : ndarray of shape (r, k)
    auc : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
    smaller : float
        The variance of an AUC is at most ``1/(4 smaller)``.

    Returns
    -------
    statistic : float
    df : int
    """
    L = L / np.abs(L).max(axis=1, keepdims=True)  # scaled rows are the same hypothesis
    # LSLᵀ = U diag(spread) Uᵀ; axes that do not vary are left out of its inverse.
    spread, axes = np.linalg.eigh(L @ covariance @ L.T)
    varies = spread > _NO_VARIANCE * np.trace(covariance)
    gap = axes.T @ (L @ auc)  # (LÂ)ᵀ(LSLᵀ)⁻¹(LÂ) = Σ gap²/spread
    statistic, df = (gap[varies] ** 2 / spread[varies]).sum(), int(varies.sum())
    # A difference that does not vary and is not 0 gets, as in section 4, the largest
    # variance that a contrast c of placements can have, (Σ|c|/2)²/m.
    without = axes[:, ~varies] @ gap[~varies]
    length = np.linalg.norm(without)
    if length > _NO_GAP:
        contrast = without / length @ L
        # Each V lies in [0, 1]: Σ cV has a range of Σ|c|, a deviation of at most half
        statistic += smaller * (length / (np.abs(contrast).sum() / 2)) ** 2
        df += 1
    return float(statistic), df
