"""What of a direction is no combination of sparse rows."""

from __future__ import annotations

import numpy as np

from ..leave_pair_out._sparse_optimum import conjugate_gradients

# Where least squares stop: ``|Zr|`` beside ``|Z||r|`` of the rest r.
_SETTLED = 1e-6
_ROUNDS = 3  # of peeling: 2000 texts leave one row to the second


def rest_by_products(Z, w, enough) -> float:
    """Length of ``w − Zᵀα`` by least squares, as far as the answer needs.

    Conjugate gradients of ``ZZᵀα = Zw``: vectors of n numbers; the length falls with
    every step. They start from what features of a single row leave: where each row has
    one, of a combination nothing.

    Parameters
    ----------
    Z : sparse matrix of shape (n, P)
    w : ndarray of shape (P,)
    enough : float
        Of the length of w: what is below may be anything below.

    Returns
    -------
    float
    """
    enough = enough**2 * (w @ w)
    w = _peeled(Z, w)
    square = w @ w
    if square <= enough:
        return np.sqrt(square)
    Zw, columns = Z @ w, Z.T  # whose checks take a third of a product
    largest = Z.data @ Z.data  # no eigenvalue of ZZᵀ is above its trace

    def outside(alpha):
        """``|w − Zᵀα|²``: what is left of Zw is orthogonal to α."""
        return square - alpha @ Zw

    def is_enough(alpha, left, size):
        rest = outside(alpha)
        return rest <= enough or size <= _SETTLED**2 * largest * rest

    alpha = conjugate_gradients(lambda v: Z @ (columns @ v), Zw, 1.0, is_enough)
    return np.sqrt(max(outside(alpha), 0.0))


def _peeled(Z, w):
    """``w − Zᵀα``, α by least squares from features that one of the rows left has.

    Rows that have none wait for the next round, in which there are fewer rows.
    """
    rest, Z, P = w, Z.tocsr(), Z.shape[1]
    for _ in range(_ROUNDS):
        n, single = Z.shape[0], np.bincount(Z.indices, minlength=P) == 1
        at = np.flatnonzero(single.take(Z.indices))
        entry, row = Z.data[at], np.repeat(np.arange(n), np.diff(Z.indptr))[at]
        # α_i = Σ_j Z_ij w_j/Σ_j Z_ij² over the features of row i alone
        square = np.bincount(row, entry * entry, minlength=n)
        found = square > 0
        if not found.any():
            break
        part = np.bincount(row, entry * rest[Z.indices[at]], minlength=n)
        alpha = np.divide(part, square, out=np.zeros(n), where=found)
        rest = rest - Z.T @ alpha
        if found.all():
            break
        Z = Z[~found]
    # of a w that is no combination there may be more than before
    return rest if rest @ rest < w @ w else w
