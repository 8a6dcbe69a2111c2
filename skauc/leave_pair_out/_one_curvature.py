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
# Of ω̄, where its steps end. Logistic, 1000 × 1200, C from .004 to .3: of normal, t(3)
# and log-normal rows one step is enough, 30 common factors and 3 or 8 clusters take two
# or three. The AUC less that of every row's own curvature is .0004 (root mean square;
# .0013 at most), with Q̄ of all rows from all eigenvalues .0003 (.0009), and of the
# first step alone up to .024.
_NEAR, _ROUNDS = 5e-3, 8
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


def response_of_one(respond, alpha, curvature, rows, pos, neg):
    """The response of some rows at ω̄, whose α it says itself.

    Parameters
    ----------
    respond : callable ``ω̄ -> PairResponse``
        Of the rows, with this curvature in the place of those that are not 0.
    alpha : ndarray of shape (n,)
        About ``α_i = x̃ᵢᵀH₋ᵢ⁻¹x̃ᵢ``. Where few directions hold most of the rows they are
        too small; their ratios are kept.
    curvature : ndarray of shape (n,)
    rows : ndarray of int of shape (k,)
    pos, neg
        Which of the rows are of either class.

    Returns
    -------
    PairResponse
    """
    bent, alpha = curvature > 0, np.maximum(alpha, TINY)
    on = np.concatenate([rows[pos], rows[neg]])
    one = one_curvature(alpha[bent], curvature[bent])
    for _ in range(_ROUNDS):
        found = respond(one)
        Q = np.concatenate([found.Q_pos, found.Q_neg])[bent[on]]
        alpha = alpha * _longer(alpha[on[bent[on]]], one, Q)
        before, one = one, one_curvature(alpha[bent], curvature[bent])
        if abs(one - before) <= _NEAR * before:
            break
    return found


def one_curvature(alpha, curvature):
    """ω̄ that takes as many degrees of freedom as the curvatures of these rows.

    ``Σ α_i ω̄/(1 + ω̄α_i) = Σ α_i ω_i/(1 + ω_iα_i)``.
    """
    one = np.mean(curvature)
    taken = _mean(curvature * alpha / (1 + curvature * alpha))
    for _ in range(_ITERATIONS):
        # Newton's steps in the logarithm of ω̄
        left = 1 / (1 + one * alpha)
        found = one * alpha * left
        bent = _step(taken - _mean(found), found @ left / len(alpha))
        one *= np.exp(bent)
        if abs(bent) <= _STILL:
            break
    return float(one)


def _longer(alpha, one, Q):
    """So many times α that ``α_i/(1 + ω̄α_i)`` has the mean of Q_ii."""
    if not len(Q):
        return 1.0
    times = 1.0
    for _ in range(_ITERATIONS):
        left = 1 / (1 + one * times * alpha)
        found = times * alpha * left
        longer = _step(_mean(Q - found), found @ left / len(alpha))
        times *= np.exp(longer)
        if abs(longer) <= _STILL:
            break
    return times


def _mean(x):
    return x.sum() / len(x)  # a third of the time of np.mean: vectors are short


def _step(missing, slope):
    return min(max(missing / max(slope, TINY), -1.0), 1.0)


def response_of_one_curvature(values, vectors, fit, one, curvature, rows, pos, neg):
    """Response of some rows, curvatures that are not 0 at the one that stands for all.

    ``pos`` and ``neg`` say which of the rows are.
    """
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
