"""Q and F of many rows from one curvature that stands for all.

With ω̄ in the place of the curvatures ω and ``XXᵀ = UΛUᵀ``, once for all models,

    F̄ = U diag(λ/(λ + ω̄Λ)) Uᵀ,   Q̄ = (I − F̄)/ω̄,

of which only the rows S of the pairs are needed. Rows T without curvature (beyond the
margin of a squared hinge) are taken out again, ``Q = Q̄ + ω̄ Q̄_ST F̄_TT⁻¹ Q̄_TS``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics._numerics import TINY, eigenvectors
from ._pair_response import PairResponse

_ITERATIONS = 20  # of ω̄
_STILL = 1e-12  # a relative step after which, of Newton's steps, there is none


def eigen(K):
    """Eigenvalues and vectors of a kernel, in single precision: a half of the work.

    The kernel is in units of its largest square, which single precision may not hold.
    """
    unit = _unit(K.diagonal().max())
    K = (K / unit).astype(np.float32)
    # Rounding may leave eigenvalues of a positive semidefinite kernel below 0
    values, vectors = eigenvectors(K)
    # rows of them are taken for every model
    vectors = np.ascontiguousarray(vectors)
    return unit * np.maximum(values, 0).astype(float), vectors


def _unit(size):
    """A power of four near a size: it and its root divide without rounding."""
    return np.ldexp(1.0, 2 * (int(np.frexp(max(size, TINY))[1]) // 2))


def one_curvature(values, fit, curvature, own):
    """ω̄ that takes as many degrees of freedom as the curvatures of these rows.

    ``Σ α_i ω̄/(1 + ω̄α_i) = Σ α_i ω_i/(1 + ω_iα_i)``. α_i is x̃ᵢᵀH⁻¹x̃ᵢ without the row
    itself: in the ratios of ``own``, and so that ``α_i/(1 + ω̄α_i)`` has the mean of
    Q̄'s diagonal.
    """
    one, n, alpha = np.mean(curvature), len(values), np.maximum(own, TINY)
    alpha = alpha * (np.mean(values) / fit.l2)
    for _ in range(_ITERATIONS):
        q = _mean(values / (fit.l2 + one * values))
        q += 1 / (n * one) if fit.free else 0.0
        # Newton's steps in the logarithms of α and of ω̄
        left = 1 / (1 + one * alpha)
        found = alpha * left
        longer = _step(q - _mean(found), found @ left / len(alpha))
        alpha = alpha * np.exp(longer)
        left = 1 / (1 + one * alpha)
        found = one * alpha * left
        taken = curvature * alpha / (1 + curvature * alpha)
        bent = _step(_mean(taken - found), found @ left / len(alpha))
        one *= np.exp(bent)
        if abs(longer) <= _STILL and abs(bent) <= _STILL:
            break
    return float(one)


def _mean(x):
    return x.sum() / len(x)  # a third of the time of np.mean: vectors are short


def _step(missing, slope):
    return min(max(missing / max(slope, TINY), -1.0), 1.0)


def response_of_one_curvature(values, vectors, fit, curvature, rows, pos, neg, own):
    """Response of some rows, curvatures that are not 0 at the one that stands for all.

    ``pos`` and ``neg`` say which of the rows are; ``own``: the size of every row.
    """
    bent = curvature > 0
    one = one_curvature(values, fit, curvature[bent], own[bent])
    at_one = _OneCurvature.of(values, vectors, fit, one)
    i, j = rows[pos], rows[neg]
    # a row is in one class: none is in both
    Q_ij = at_one.product(i, j, 0.0)
    Q, F = at_one.diagonals(rows)
    flat, on = np.flatnonzero(curvature == 0), curvature[rows] > 0
    if len(flat):
        # Without the curvature ω̄ of the rows T (Woodbury): Q = Q̄ + ω̄ Q̄_ST F̄_TT⁻¹ Q̄_TS
        # and, between rows that keep it, F = F̄ − ω̄² Q̄_ST F̄_TT⁻¹ Q̄_TS
        Q_ST = at_one.product(rows, flat, rows[:, None] == flat)
        inside = np.linalg.solve(at_one.inverse(flat), Q_ST.T)
        more = np.einsum("kt,tk->k", Q_ST, inside)
        Q_ij = Q_ij + one * (Q_ST[pos] @ inside[:, neg])
        # A row without curvature has the column of I
        Q, F = Q + one * more, np.where(on, F - one**2 * more, 1.0)
    F_ij = -one * Q_ij
    F_ji = F_ij if on[pos].all() else F_ij * on[pos][:, None]
    F_ij = F_ij if on[neg].all() else F_ij * on[neg]
    return PairResponse(Q_ij, F_ij, F_ji, Q[pos], Q[neg], F[pos], F[neg])


@dataclass(frozen=True, eq=False)
class _OneCurvature:
    """F̄ and Q̄ of one curvature ω̄: whichever may be small is ``U diag(share) Uᵀ``.

    F̄ where ``is_inverse``. ``common`` is what a free intercept adds to Q̄.
    """

    share: np.ndarray
    vectors: np.ndarray
    one: float
    is_inverse: bool
    common: float

    @classmethod
    def of(cls, values, vectors, fit, one):
        is_inverse = one * values.max() > fit.l2
        share = (fit.l2 if is_inverse else values) / (fit.l2 + one * values)
        # e = F1 is 1: the rows are centred, and the kernel is empty along them
        common = 1 / (one * len(vectors)) if fit.free else 0.0
        return cls(share, vectors, one, is_inverse, common)

    def product(self, a, b, unit):
        """Q̄ between rows, ``unit`` what I is there."""
        if self.is_inverse:
            inside = self._between(a, b, -1 / self.one)
            inside += unit / self.one
        else:
            inside = self._between(a, b)
        inside += self.common
        return inside

    def inverse(self, a):
        """F̄ among rows."""
        inside = self._between(a, a)
        if not self.is_inverse:
            inside = np.eye(len(a)) - self.one * inside
        return inside - self.one * self.common

    def diagonals(self, a):
        """Those of Q̄ and F̄, (k,) each."""
        unit, share = self._shares()
        square = self.vectors[a]
        square *= square
        inside = unit * (square @ share).astype(float)
        Q, F = (1 - inside) / self.one, inside
        if not self.is_inverse:
            Q, F = inside, 1 - self.one * inside
        return Q + self.common, F - self.one * self.common

    def _between(self, a, b, factor=1.0):
        unit, share = self._shares()
        half = self.vectors[a]
        half *= share
        inside = (half @ self.vectors[b].T).astype(float)
        inside *= factor * unit
        return inside

    def _shares(self):
        # they may be beyond what single precision holds
        unit = _unit(self.share.max())
        return unit, (self.share / unit).astype(self.vectors.dtype)
