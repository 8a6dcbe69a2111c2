"""The variance of an empirical AUC as a function of the AUC alone.

References: Hanley & McNeil (1982), https://doi.org/10.1148/radiology.143.1.7063747;
Newcombe (2006), https://doi.org/10.1002/sim.2324.
"""

from __future__ import annotations


def hanley_mcneil_variance(auc, n_neg, n_pos):
    """Variance of the AUC of negative exponential scores; elementwise.

    ``[A(1 − A) + (n₁ − 1)(P_xxy − A²) + (n₀ − 1)(P_xyy − A²)]/(n₀ n₁)`` with
    ``P_xxy = A/(2 − A)``, ``P_xyy = 2A²/(1 + A)``, each written as A(1 − A) times a
    factor.
    """
    # P_xxy − A² = A(1 − A) (1 − A)/(2 − A),   P_xyy − A² = A(1 − A) A/(1 + A)
    factor = 1 + (n_pos - 1) * (1 - auc) / (2 - auc) + (n_neg - 1) * auc / (1 + auc)
    return auc * (1 - auc) * factor / (n_neg * n_pos)


def balanced_variance(auc, n_neg, n_pos):
    """Hanley–McNeil's with ``(n₀ + n₁)/2`` for both sizes: symmetric in the classes."""
    # Exchanging the classes (A → 1 − A, n₀ ↔ n₁) exchanges the two terms of ``shape``
    half = (n_neg + n_pos) / 2
    shape = (1 - auc) / (2 - auc) + auc / (1 + auc)
    return auc * (1 - auc) * (1 + (half - 1) * shape) / (n_neg * n_pos)
