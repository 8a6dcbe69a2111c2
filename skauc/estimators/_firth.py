"""Firth's penalised likelihood: ℓ plus the logarithm of Jeffreys' prior.

With ``v = w p(1 − p)`` and the leverages ``h_i = v_i x̃ᵢᵀ H⁻¹ x̃ᵢ`` of ``H = X̃ᵀdiag(v)X̃``

    ℓ* = ℓ + ½ log det H,    ∂ℓ*/∂β = X̃ᵀ{w(y − p) + h(½ − p)},

so that each row is joined by h/2 rows of either class, and no coefficient is infinite
(Heinze & Schemper). Newton's steps and the standard errors take the information of all
these rows, ``X̃ᵀdiag(v + h p(1 − p))X̃``, as the authors' logistf does. For dependent
features the determinant is that of the row space.

References
----------
Firth (1993), https://doi.org/10.1093/biomet/80.1.27; Heinze & Schemper (2002),
https://doi.org/10.1002/sim.1047
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from ._newton_frame import NewtonFrame


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
        try:
            L = linalg.cholesky(kept.T @ point.H @ kept, lower=True)
        except linalg.LinAlgError:  # so far out that no row informs: it was too far
            return replace(point, objective=-np.inf)
        # h = ‖√v L⁻¹x̃‖²
        root = linalg.solve_triangular(L, kept.T, lower=True).T
        G, H = self._of_leverages(B, root)
        half_log_det = np.log(np.diag(L)).sum()
        return replace(
            point,
            objective=point.objective + self.strength * half_log_det,
            G=point.G + self.strength * G,
            H=point.H + self.strength * H,
        )

    def _of_leverages(self, B, root):
        """``X̃ᵀh(½ − p)`` and ``X̃ᵀdiag(h p(1 − p))X̃``, in one pass."""
        model = self.model
        P, G = model.n_features, np.zeros(model.size)
        H = np.zeros((model.size, model.size))
        for rows, (q, p), _, weight in model.probabilities(B):
            Z = rows @ root[:P]
            if model.fit_intercept:
                Z += root[P]
                rows = np.column_stack([rows, np.ones(len(rows))])
            h = weight * p * q * np.einsum("ij,ij->i", Z, Z)
            G += (h * (q - p) / 2) @ rows
            H += rows.T @ (rows * (h * p * q)[:, None])
        return G[:, None], H
