"""Firth's penalised likelihood: ℓ plus the logarithm of Jeffreys' prior.

With ``v = w p(1 − p)`` and the leverages ``h_i = v_i x̃ᵢᵀ H⁻¹ x̃ᵢ`` of ``H = X̃ᵀdiag(v)X̃``

    ℓ* = ℓ + ½ log det H,    ∂ℓ*/∂β = X̃ᵀ{w(y − p) + h(½ − p)},

so that each row is joined by h/2 rows of either class, and no coefficient is infinite
(Heinze & Schemper). Standard errors take the information of all these rows,
``X̃ᵀdiag(v + h p(1 − p))X̃``, as the authors' logistf does, and so do steps far from the
maximum. Near it they take the curvature of ℓ*, with ``zᵢ = H^{−½}x̃ᵢ``

    H − ½ X̃ᵀdiag{h(1 − 6p(1 − p))}X̃ + ½ MᵀM,    M = Σ v_i(1 − 2p_i) (zᵢ⊗zᵢ) x̃ᵢᵀ,

without which steps shrink by a constant factor only, near 1 on separated rows. For
dependent features the determinant is that of the row space.

References
----------
Firth (1993), https://doi.org/10.1093/biomet/80.1.27; Heinze & Schemper (2002),
https://doi.org/10.1002/sim.1047
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ._newton_frame import NewtonFrame, Point

# Rank up to which the curvature is formed: M has its cube of numbers, 0.5 MB here, and
# costs that many operations a row. Beyond, rows are many and h is small.
_LARGEST_RANK = 40


@dataclass(frozen=True, eq=False)
class FirthPoint(Point):
    """A point with the negative second derivatives of ℓ*; H is of augmented rows."""

    curvature: np.ndarray


class FirthFrame(NewtonFrame):
    """Coordinates in which ``ℓ + strength · ½ log det H`` is maximised; two classes."""

    @classmethod
    def of(cls, frame, strength):
        """The same coordinates, with the penalty."""
        basis = frame.kept, frame.null
        made = cls(frame.model, None, frame.scale, basis)
        made.strength = strength
        return made

    def evaluate(self, B):
        """ℓ*, its gradient and the information of the augmented rows; and ℓ."""
        point = super().evaluate(B)
        kept = self.kept / self.scale[:, None]
        # H in the row space: RᵀHR = LLᵀ, R orthonormal in scaled coordinates
        try:
            L = linalg.cholesky(kept.T @ point.H @ kept, lower=True)
        except linalg.LinAlgError:  # so far out that no row informs: it was too far
            return FirthPoint(
                **(vars(point) | {"objective": -np.inf}), curvature=point.H
            )
        # h = ‖√v L⁻¹x̃‖²
        root = linalg.solve_triangular(L, kept.T, lower=True).T
        # h does not depend on the unit of the weights, ℓ does: strength = 1/count.
        G, added, bend, M = self.model.sum(_of_leverages, B, root)
        curvature = M.T @ M / 2 - bend if root.shape[1] <= _LARGEST_RANK else added
        # ½ log det(LLᵀ) = Σ log L_ii; the row space's basis adds a constant.
        half_log_det = np.log(np.diag(L)).sum()
        return FirthPoint(
            point.B,
            point.objective + self.strength * half_log_det,
            point.log_likelihood,
            point.G + self.strength * G[:, None],
            point.H + self.strength * added,
            point.H + self.strength * curvature,
        )

    def newton_step(self, point, held=None):
        R = self.free(1, held)
        free = (self.kept if R is None else R) / self.scale[:, None]
        try:
            linalg.cholesky(free.T @ point.curvature @ free)
        except linalg.LinAlgError:  # ℓ* is not concave here
            return super().newton_step(point, held)
        return super().newton_step(replace(point, H=point.curvature), held)


def _of_leverages(model, B, root):
    """The penalty's gradient, ``X̃ᵀdiag(h p(1 − p))X̃`` and two parts of curvature."""
    r = root.shape[1] if root.shape[1] <= _LARGEST_RANK else 0
    G, added = np.zeros(model.size), np.zeros((model.size, model.size))
    bend, M = np.zeros_like(added), np.zeros((r * r, model.size))
    for rows, (q, p), _, weight in model.probabilities(B):
        if model.fit_intercept:
            rows = np.column_stack([rows, np.ones(len(rows))])
        v, Z = weight * p * q, rows @ root
        h = v * np.einsum("ij,ij->i", Z, Z)
        # h(½ − p) x̃,   X̃ᵀdiag(h pq)X̃
        G += (h * (q - p) / 2) @ rows
        added += rows.T @ (rows * (h * p * q)[:, None])
        if r:
            # ½ X̃ᵀdiag{h(1 − 6pq)}X̃,   M = Σ v(1 − 2p) (z⊗z) x̃ᵀ, 1 − 2p = q − p
            bend += rows.T @ (rows * (h * (1 - 6 * p * q) / 2)[:, None])
            squares = np.einsum("ij,ik->ijk", Z, Z).reshape(len(Z), -1)
            M += squares.T @ (rows * (v * (q - p))[:, None])
    return G, added, bend, M
