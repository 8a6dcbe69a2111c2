"""Variance of the AUC of a study that is planned: only sizes and AUCs are known.

Two normal scores a, b with the same variances in both classes have the AUCs ``Φ(h)``
and ``Φ(k)``; r₀ and r₁ are their correlations within the negatives and the positives.
Differences of a positive and a negative row are normal too, and their correlation is
r₁/2 when two pairs share the positive row, r₀/2 when they share the negative one and
(r₀ + r₁)/2 when they share both. With ``c(r) = Φ₂(h, k; r) − Φ(h)Φ(k)``

    Cov(Â_a, Â_b) = [c((r₀ + r₁)/2) + (n₀ − 1) c(r₁/2) + (n₁ − 1) c(r₀/2)]/(n₀ n₁),

which is exact, and the variance of one AUC for k = h, r₀ = r₁ = 1. Plackett's
identity makes c a sum of terms of one sign:

    c(r) = 1/(2π) ∫₀^{asin r} exp{−(h² − 2hk sin t + k²)/(2 cos² t)} dt.

References: Bamber (1975), https://doi.org/10.1016/0022-2496(75)90001-2; Obuchowski
(2004), https://doi.org/10.1373/clinchem.2004.031823; Plackett (1954),
https://doi.org/10.1093/biomet/41.3-4.351.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

# Gauss–Legendre; 64 nodes leave 1e-13 for |r| ≤ ½ and 1e-9 for the one term of r > ½
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def binormal_covariance(auc_a, auc_b, n_neg, n_pos, corr_neg=1.0, corr_pos=1.0):
    """Covariance of the empirical AUCs of two normal scores of the same rows.

    Parameters
    ----------
    auc_a, auc_b : float or ndarray
        True AUCs, inside (0, 1); with the default correlations the same.
    n_neg, n_pos : float or ndarray
    corr_neg, corr_pos : float or ndarray in [-1, 1], default=1
        Correlation of the scores within each class.

    Returns
    -------
    ndarray
    """
    h, k = ndtri(auc_a), ndtri(auc_b)
    both = _concordance(h, k, (corr_neg + corr_pos) / 2)
    same_pos, same_neg = (
        _concordance(h, k, corr_pos / 2),
        _concordance(h, k, corr_neg / 2),
    )
    # A pair meets n₀ − 1 others by its positive row and n₁ − 1 by its negative
    total = both + (n_neg - 1) * same_pos + (n_pos - 1) * same_neg
    return total / (n_neg * n_pos)


def _concordance(h, k, r):
    """``Φ₂(h, k; r) − Φ(h)Φ(k)``, elementwise."""
    h, k, r = (np.asarray(x, dtype=float)[..., None] for x in (h, k, r))
    # ∫₀^{asin r} f(t) dt = (asin r/2) Σ weight f((asin r/2)(1 + node))
    reach = np.arcsin(r) / 2
    t = reach * (1 + _NODES)
    # (h² − 2hk sin t + k²)/2cos² t = hk/(1 + sin t) + (h − k)²/(2 cos² t)
    exponent = h * k / (1 + np.sin(t)) + (h - k) ** 2 / (2 * np.cos(t) ** 2)
    return (reach * np.exp(-exponent) * _WEIGHTS).sum(axis=-1) / (2 * np.pi)


def obuchowski_variance(auc, n_neg, n_pos):
    """Obuchowski's variance, with the two constants as she prints them; elementwise.

    ``0.0099 e^{−a²/2} {5a² + 8 + (a² + 8)/κ}/n₁``, ``a = 1.414 Φ⁻¹(A)``, κ = n₀/n₁:
    of the area under a fitted binormal curve, without the covariance of its two
    parameters, which makes it too large away from A = ½.
    """
    # 1.414 and .0099 are printed so: 1/(32π) = .00995
    a2 = (1.414 * ndtri(auc)) ** 2
    return 0.0099 * np.exp(-a2 / 2) * ((5 * a2 + 8) / n_pos + (a2 + 8) / n_neg)
