"""Eigenvectors of a Gram matrix whose eigenvalues are of one size, in half of the time.

Single precision keeps four of its seven digits where the least eigenvalue is a
thousandth of the largest or more; of 500 × 50 000 texts posterior means move by 1e-6.
"""

from __future__ import annotations

import numpy as np

from ..statistics._numerics import eigenvectors

_ROWS = 200  # of less nothing is saved
_EVEN = 1e-3  # the least beside the largest
_MEAN = 0.1  # of the largest diagonal: rows of less even length are not tried


def even_eigenvectors(gram):
    """Eigenvalues, ascending, and vectors, but those of the two class means.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Of rows less their class means, each of weight 1.

    Returns
    -------
    tuple of ndarray of shape (n - 2,) and (n, n - 2), or None
        None where double precision is needed, or costs no more.
    """
    n, largest = len(gram), gram.diagonal().max(initial=0.0)
    if n < _ROWS or not np.trace(gram) > _MEAN * n * largest:
        return None
    # in units of the largest: single precision may not hold the numbers themselves
    values, vectors = eigenvectors((gram / largest).astype(np.float32))
    if not values[2] > _EVEN * values[-1]:
        return None
    return largest * values[2:].astype(float), vectors[:, 2:].astype(float)
