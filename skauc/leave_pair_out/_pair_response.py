"""Q and F among the rows that form the pairs, and what scores are without a pair.

Q and F: :mod:`._influence`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_ROUNDED, _NOTHING = 1e-14, 1e-280  # of a determinant; one that is 0


@dataclass(frozen=True, eq=False)
class PairResponse:
    """Q and F among the positives i and the negatives j that form the pairs.

    Parameters
    ----------
    Q_ij : ndarray of shape (n_pos, n_neg)
    F_ij, F_ji : ndarray of shape (n_pos, n_neg)
        The column of the negative, and of the positive: F is not symmetric.
    Q_pos, F_pos : ndarray of shape (n_pos,)
        Diagonals; Q_neg, F_neg of shape (n_neg,) likewise.
    """

    Q_ij: np.ndarray
    F_ij: np.ndarray
    F_ji: np.ndarray
    Q_pos: np.ndarray
    Q_neg: np.ndarray
    F_pos: np.ndarray
    F_neg: np.ndarray

    @classmethod
    def of(cls, Q, F, positive):
        """From Q and F among all of the rows, (k, k)."""
        pos, neg = sides(positive)
        if isinstance(pos, slice):  # views, no copies
            blocks = Q[pos, neg], F[pos, neg], F[neg, pos].T
        else:
            blocks = Q[np.ix_(pos, neg)], F[np.ix_(pos, neg)], F[np.ix_(neg, pos)].T
        diagonals = (np.diag(part)[some] for part in (Q, F) for some in (pos, neg))
        return cls(*blocks, *diagonals)

    def of_part(self, part, positive):
        """``F diag(δ) + diag(1 − δ)`` in the place of F: a part δ is left out."""
        if np.all(part == 1):
            return self
        pos, neg = sides(positive)
        return replace(
            self,
            F_ij=self.F_ij * part[neg],
            F_ji=self.F_ji * part[pos][:, None],
            F_pos=self.F_pos * part[pos] + 1 - part[pos],
            F_neg=self.F_neg * part[neg] + 1 - part[neg],
        )

    def margins(self, z, g, positive):
        """``z_i − z_j`` after one Newton step without i and j, shape (n_pos, n_neg)."""
        pos, neg = sides(positive)
        Q_ij, F_ij, F_ji = self.Q_ij, self.F_ij, self.F_ji
        Q_ii, F_ii = self.Q_pos[:, None], self.F_pos[:, None]
        Q_jj, F_jj = self.Q_neg, self.F_neg
        z_i, z_j, g_i, g_j = z[pos][:, None], z[neg], g[pos][:, None], g[neg]
        # (F_SS)⁻¹ = [[F_jj, −F_ij], [−F_ji, F_ii]]/det
        det = F_ii * F_jj
        det -= F_ij * F_ji
        if not are_held(det, self.F_pos, self.F_neg):
            least = _ROUNDED * np.maximum(np.abs(F_ii * F_jj), _NOTHING)
            det[det <= least] = np.inf  # a row that nothing else holds: no step
        # q = Q_SS g_S:  (1, −1)(F_SS)⁻¹q = [(F_jj + F_ji) q_i − (F_ii + F_ij) q_j]/det
        step, q_j = Q_ij * g_j, Q_ij * g_i
        step += Q_ii * g_i
        step *= F_jj + F_ji
        q_j += Q_jj * g_j
        q_j *= F_ii + F_ij
        step -= q_j
        step /= det
        step += z_i - z_j
        return step


@dataclass(frozen=True, eq=False)
class ColumnResponse:
    """The same from both diagonals: ``Q_ij = a_i``, ``F_ij = −a_i ω_j`` beside them.

    Parameters
    ----------
    across, curvature : ndarray of shape (k,)
        a and ω.
    Q, F : ndarray of shape (k,)
    """

    across: np.ndarray
    curvature: np.ndarray
    Q: np.ndarray
    F: np.ndarray

    def in_full(self, positive) -> PairResponse:
        """All of Q and F among the pairs."""
        pos, neg = sides(positive)
        a, omega = self.across, self.curvature
        Q_ij, _ = np.broadcast_arrays(a[pos][:, None], a[neg])
        F_ij = -np.multiply.outer(a[pos], omega[neg])
        F_ji = -np.multiply.outer(omega[pos], a[neg])
        Q, F = self.Q, self.F
        return PairResponse(Q_ij, F_ij, F_ji, Q[pos], Q[neg], F[pos], F[neg])

    def of_part(self, part, positive):
        """See :meth:`PairResponse.of_part`."""
        F = self.F * part + 1 - part
        return replace(self, curvature=self.curvature * part, F=F)

    def margins(self, z, g, positive):
        """See :meth:`PairResponse.margins`: products of few columns, if all are held.

        A fifth of the time: numerator and determinant are sums of so many products of
        what belongs to i and what belongs to j.
        """
        (i, j), (a, omega, F) = sides(positive), (self.across, self.curvature, self.F)
        det = _sum_of_products((F[i], F[j]), (-a[i] * omega[i], a[j] * omega[j]))
        if not are_held(det, F[i], F[j]):
            return self.in_full(positive).margins(z, g, positive)
        p, forced, one = self.Q * g, a * g, np.ones(len(g))
        # (F_j − ω_i a_j)(p_i + a_i g_j) − (F_i − a_i ω_j)(p_j + a_i g_i)
        step = _sum_of_products(
            (p[i], F[j]),
            (a[i], F[j] * g[j] + omega[j] * p[j]),
            (-omega[i] * p[i], a[j]),
            (-omega[i] * a[i], forced[j]),
            (-F[i], p[j]),
            (-F[i] * forced[i], one[j]),
            (a[i] * forced[i], omega[j]),
        )
        step /= det
        step += _sum_of_products((z[i], one[j]), (-one[i], z[j]))
        return step


def _sum_of_products(*pairs):
    """``Σ u vᵀ`` of some columns u and v."""
    U, V = zip(*pairs, strict=True)
    return np.array(U).T @ np.array(V)


def are_held(det, F_pos, F_neg):
    """Whether no determinant is rounding, nor below 0: as a rule, without a look."""
    if not det.size:
        return True
    largest = np.abs(F_pos).max() * np.abs(F_neg).max()
    return det.min() > _ROUNDED * max(largest, _NOTHING)


def sides(positive):
    """Where the positives are, and the negatives: slices if these come first."""
    if np.all(positive[1:] >= positive[:-1]):
        first = len(positive) - np.count_nonzero(positive)
        return slice(first, None), slice(0, first)
    return np.flatnonzero(positive), np.flatnonzero(~positive)


def pair_margins(response, z, g, positive, weight=None):
    """``z_i − z_j`` after one Newton step without i and j, shape (n_pos, n_neg).

    Of a row with the frequency weight f the fraction ``δ = min(1, 1/f)`` is left out.
    """
    if weight is not None and weight.max() > 1:
        # F diag(δ) + diag(1 − δ) and δg in the place of F and g
        part = np.minimum(1.0, 1.0 / weight)
        response, g = response.of_part(part, positive), part * g
    return response.margins(z, g, positive)
