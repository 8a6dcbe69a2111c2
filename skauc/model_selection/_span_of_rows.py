"""What of a direction is no combination of sparse rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..leave_pair_out._objective import ask_again
from ..leave_pair_out._sparse_optimum import conjugate_gradients

# Where least squares stop: ``|Zr|`` beside ``|Z||r|`` of the rest r.
_SETTLED = 1e-6
_ROUNDS = 3  # of peeling: 2000 texts leave one row to the second


def rest_by_products(Z, w, enough, remember=ask_again) -> float:
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
    remember : callable ``(name, compute) -> value``, default computes every time
        Keeps what depends on the rows alone for the next direction.

    Returns
    -------
    float
    """
    Z, enough = Z.tocsr(), enough**2 * (w @ w)
    w = _peeled(Z, w, remember("own features", lambda: OwnFeatures.of(Z)))
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


@dataclass(frozen=True, eq=False)
class OwnFeatures:
    """Entries of features that no other row has: their places, and their rows."""

    entry: np.ndarray
    row: np.ndarray

    @classmethod
    def of(cls, Z):
        """Of a csr matrix."""
        single = np.bincount(Z.indices, minlength=Z.shape[1]) == 1
        entry = np.flatnonzero(single.take(Z.indices)).astype(Z.indptr.dtype)
        row = np.repeat(np.arange(Z.shape[0], dtype=entry.dtype), np.diff(Z.indptr))
        return cls(entry, row[entry])


def _peeled(Z, w, own=None, rounds=_ROUNDS):
    """``w − Zᵀα``, α by least squares from features that one of the rows left has.

    Rows that have none wait for the next round, in which there are fewer rows.
    """
    n, own = Z.shape[0], own or OwnFeatures.of(Z)
    entry, row = Z.data.take(own.entry), own.row
    # α_i = Σ_j Z_ij w_j/Σ_j Z_ij² over the features of row i alone
    square = np.bincount(row, entry * entry, minlength=n)
    found = square > 0
    if not found.any():
        return w
    of_entry = w.take(Z.indices.take(own.entry))
    part = np.bincount(row, entry * of_entry, minlength=n)
    rest = w - Z.T @ np.divide(part, square, out=np.zeros(n), where=found)
    if rounds > 1 and not found.all():
        left = Z[~found]
        columns, place = np.unique(left.indices, return_inverse=True)
        parts, shape = (left.data, place, left.indptr), (left.shape[0], len(columns))
        left = sparse.csr_array(parts, shape=shape)
        rest[columns] = _peeled(left, rest[columns], rounds=rounds - 1)
    # of a w that is no combination there may be more than before
    return rest if rest @ rest < w @ w else w
