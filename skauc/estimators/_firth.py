"""Firth's penalised likelihood: ℓ plus the logarithm of Jeffreys' prior.

With ``v = w p(1 − p)`` and the leverages ``h_i = v_i x̃ᵢᵀ H⁻¹ x̃ᵢ`` of ``H = X̃ᵀdiag(v)X̃``

    ℓ* = ℓ + ½ log det H,    ∂ℓ*/∂β = X̃ᵀ{w(y − p) + h(½ − p)},

as if h/2 rows of each class were added to each row, so that coefficients are finite
(Heinze & Schemper 2002, https://doi.org/10.1002/sim.1047; Firth 1993,
https://doi.org/10.1093/biomet/80.1.27). Standard errors, and steps far from the
maximum, use the information of all these rows, ``X̃ᵀdiag(v + h p(1 − p))X̃``, as the
authors' logistf does. Steps near it use the curvature of ℓ*, with ``zᵢ = H^{−½}x̃ᵢ``

    H − ½ X̃ᵀdiag{h(1 − 6p(1 − p))}X̃ + ½ MᵀM,    M = Σ v_i(1 − 2p_i) (zᵢ⊗zᵢ) x̃ᵢᵀ.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ._newton import Objective, Point

# Largest rank r for which the curvature is formed: M has r³ entries (0.5 MB here) and
# costs r³ operations per row. With more features there are many rows, and h is small.
_LARGEST_RANK = 40


@dataclass(frozen=True, eq=False)
class FirthObjective(Objective):
    """``ℓ + ½ log det H`` of two classes, with the information H of θ."""

    concave = False

    def at(self, theta) -> Point:
        """ℓ* at θ; its information is that of the augmented rows."""
        point = super().at(theta)
        H, by_theta = point.information, self.coordinates.by_theta
        try:
            L = linalg.cholesky(H, lower=True)
        except linalg.LinAlgError:  # no row has information so far out: halve the step
            return replace(point, objective=-np.inf)
        # h = ‖√v rootᵀx̃‖², whose columns are the B of the rows of L⁻¹
        inverse = linalg.solve_triangular(L, np.eye(len(L)), lower=True)
        root = self.coordinates.parameters(inverse.ravel())
        G, added, bend, M = self.sums(_leverage_terms, theta, root)
        bend = M.T @ M / 2 - bend if root.shape[1] <= _LARGEST_RANK else added
        added = by_theta(added)
        return replace(
            point,
            # ½ log det(LLᵀ) = Σ log L_ii
            objective=point.log_likelihood + np.log(np.diag(L)).sum(),
            gradient=point.gradient + by_theta(G),
            information=H + added,
            curvature=H + by_theta(bend),
        )


def _leverage_terms(block, coding, B, root):
    """The penalty's gradient, ``X̃ᵀdiag(h p(1 − p))X̃`` and two parts of curvature."""
    size, r = root.shape
    r = r if r <= _LARGEST_RANK else 0
    G, added, bend = np.zeros(size), np.zeros((size, size)), np.zeros((size, size))
    M = np.zeros((r * r, size))
    for rows, (q, p), _, weight in coding.probabilities(block, B):
        # √v first: far out v underflows where Z² overflows
        Z = np.sqrt(weight * p * q)[:, None] * (rows @ root)
        h = np.einsum("ij,ij->i", Z, Z)
        # h(½ − p) x̃,   X̃ᵀdiag(h pq)X̃
        G += (h * (q - p) / 2) @ rows
        added += rows.T @ (rows * (h * p * q)[:, None])
        if r:
            # ½ X̃ᵀdiag{h(1 − 6pq)}X̃,   M = Σ (1 − 2p) (z⊗z) x̃ᵀ with z = √v Z
            bend += rows.T @ (rows * (h * (1 - 6 * p * q) / 2)[:, None])
            squares = np.einsum("ij,ik->ijk", Z, Z).reshape(len(Z), -1)
            M += squares.T @ (rows * (q - p)[:, None])
    return G, added, bend, M
