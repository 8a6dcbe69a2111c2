"""What tells rows from other rows: one random combination of them.

``uᵀX``, u uniform: no entry can change by more than rounding unseen, at the price of
one product. Who asks for scores ``Xw`` as well reads the rows once for both.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse

from ._numerics import block_rows, parts_of

# Blocks of a quarter of the level-2 cache are still there for the second product: both
# of 20 000 × 50 take .40 ms, as two passes .55; of the whole cache .50
_SHARE = 4


@lru_cache(maxsize=1)  # all candidates of a search have as many rows
def _combination(n):
    # One seed for all processes: the same rows have the same sketch in each
    return np.random.default_rng(20190915).random(n)


def sketch_of(X) -> np.ndarray:
    """``uᵀX``, (P,), to the last digit the same whoever asks.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    """
    u = _combination(X.shape[0])
    if sparse.issparse(X):
        return np.ascontiguousarray(u @ X, dtype=float)
    total = np.zeros(X.shape[1])
    for part in _parts(X):
        total += u[part] @ X[part]
    return total


def scores_and_sketch(X, w) -> tuple[np.ndarray, np.ndarray]:
    """``X @ w`` and :func:`sketch_of`, in one pass.

    Parameters
    ----------
    X : ndarray of float64 of shape (n, P)
    w : ndarray of shape (P,)
    """
    u, scores, total = _combination(len(X)), np.empty(len(X)), np.zeros(X.shape[1])
    for part in _parts(X):
        rows = X[part]
        np.dot(rows, w, out=scores[part])
        total += u[part] @ rows
    return scores, total


def _parts(X):
    return parts_of(X.shape[0], block_rows(_SHARE * X.shape[1]))
