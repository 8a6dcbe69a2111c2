"""How many directions features have, however many they are.

Features that are all but one tell as much as one, and no unit matters: the eigenvalues
of their correlation matrix say which shares of their variance lie along directions of
their own.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.special import chdtri

_ROWS = 200  # of more rows some
_SAME = 1e-3  # share of a feature's variance: of the features a thirtieth


def spectrum_of_columns(Z) -> np.ndarray:
    """Eigenvalues of the correlation matrix of the columns over P, largest first.

    Of constant ones nothing is said.

    Parameters
    ----------
    Z : ndarray of shape (n, P)

    Returns
    -------
    ndarray
        Their sum is 1, or there are none.
    """
    if len(Z) > _ROWS:
        Z = Z[np.random.default_rng(0).choice(len(Z), _ROWS, replace=False)]
    U = Z - Z.mean(axis=0)
    spread = U.std(axis=0)
    U = U[:, spread > 0] / spread[spread > 0]
    n, P = U.shape
    gram = U @ U.T if n < P else U.T @ U
    values = linalg.eigvalsh(gram)[::-1] / (n * max(P, 1)) if P else np.zeros(0)
    return np.maximum(values, 0.0)


def count_of_directions(Z) -> int:
    """How many directions tell more than rounding to some percent would."""
    return int(np.count_nonzero(spectrum_of_columns(Z) * Z.shape[1] > _SAME))


def least_of_walk(values, often) -> float:
    """Lower quantile of the root mean square of a random walk, of variance 1 a column.

    Parameters
    ----------
    values : ndarray
        Eigenvalues of the correlation matrix over P, of the directions that count.
    often : float
        How often it is below.

    Returns
    -------
    float
    """
    # Σ λ χ²_1 is c χ²_k by its two moments: Σ λ = c k, Σ λ² = c² k
    c = values @ values / values.sum()
    return float(np.sqrt(c * chdtri(values.sum() / c, 1 - often)))
