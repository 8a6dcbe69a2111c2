"""Pointwise credible band of the ROC curve of two normal scores."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

_INNER = ndtr(np.linspace(-4, 4, 201))  # false positive rates, dense in both corners
GRID = np.concatenate([[0.0], _INNER, [1.0]])
_DRAWS = 4000  # quantiles of the band to about 1/100 of its width


def credible_band(neg, pos, confidence_level):
    """Pointwise credible band ``(fpr, low, high)``; None where there is no spread."""
    if min(neg.scatter, pos.scatter) <= 0 or min(neg.n, pos.n) <= 1:
        return None
    # σ_c² = W_c/χ²_{n_c−1}, μ_c ~ N(x̄_c, σ_c²/n_c)
    rng = np.random.default_rng(0)  # the same data, the same band
    means, deviations = [], []
    for part in (neg, pos):
        sigma = np.sqrt(part.scatter / rng.chisquare(part.n - 1, _DRAWS))
        normal = rng.standard_normal(_DRAWS)
        means.append(part.mean + sigma * normal / np.sqrt(part.n))
        deviations.append(sigma[:, None])
    # Φ⁻¹(ROC(u)) = (μ₁ − μ₀ + σ₀Φ⁻¹(u))/σ₁
    gap = (means[1] - means[0])[:, None]
    z = (gap + deviations[0] * ndtri(_INNER)) / deviations[1]
    tail = (1 - confidence_level) / 2
    limits = ndtr(np.quantile(z, [tail, 1 - tail], axis=0))
    low, high = np.pad(limits, [(0, 0), (1, 1)], constant_values=[(0, 0), (0, 1)])
    return GRID, low, high
