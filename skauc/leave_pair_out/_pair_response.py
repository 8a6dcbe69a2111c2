"""Q and F among the rows that form the pairs, and what scores are without a pair.

Q and F: :mod:`._influence`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


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

    @classmethod
    def of_columns(cls, across, curvature, Q, F, positive):
        """From both diagonals; beside these ``Q_ij = across_i``, ``F_ij = −Q_ij ω_j``.

        Arguments of shape (k,).
        """
        pos, neg = sides(positive)
        Q_ij, _ = np.broadcast_arrays(across[pos][:, None], across[neg])
        F_ij = -np.multiply.outer(across[pos], curvature[neg])
        F_ji = -np.multiply.outer(curvature[pos], across[neg])
        return cls(Q_ij, F_ij, F_ji, Q[pos], Q[neg], F[pos], F[neg])

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


def sides(positive):
    """Where the positives are, and the negatives: slices if these come first."""
    if np.all(positive[1:] >= positive[:-1]):
        first = len(positive) - np.count_nonzero(positive)
        return slice(first, None), slice(0, first)
    return np.flatnonzero(positive), np.flatnonzero(~positive)


def pair_margins(response: PairResponse, z, g, positive, weight=None):
    """``z_i − z_j`` after one Newton step without i and j, shape (n_pos, n_neg).

    Of a row with the frequency weight f the fraction ``δ = min(1, 1/f)`` is left out.
    """
    if weight is not None:
        # F diag(δ) + diag(1 − δ) and δg in the place of F and g
        part = np.minimum(1.0, 1.0 / weight)
        response, g = response.of_part(part, positive), part * g
    pos, neg = sides(positive)
    Q_ij, F_ij, F_ji = response.Q_ij, response.F_ij, response.F_ji
    Q_ii, F_ii = response.Q_pos[:, None], response.F_pos[:, None]
    Q_jj, F_jj = response.Q_neg, response.F_neg
    z_i, z_j, g_i, g_j = z[pos][:, None], z[neg], g[pos][:, None], g[neg]
    det = F_ii * F_jj
    # (F_SS)⁻¹ = [[F_jj, −F_ij], [−F_ji, F_ii]]/det
    least = 1e-14 * np.maximum(np.abs(det), 1e-280)
    det -= F_ij * F_ji
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
