"""How many directions features have, however many they are.

Features that are all but one tell as much as one, and no unit matters: the eigenvalues
of their correlation matrix say which shares of their variance lie along directions of
their own.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

_ROWS = 200  # of more rows some
_SAME = 1e-4  # of a feature's variance: hundredths of the features


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
    """How many directions tell more than rounding to hundredths would."""
    return int(np.count_nonzero(spectrum_of_columns(Z) * Z.shape[1] > _SAME))
