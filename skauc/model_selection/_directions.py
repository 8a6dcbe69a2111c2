"""How many directions features have, however many they are.

Features that are all but one tell as much as one, and no unit matters: the eigenvalues
of their correlation matrix say how much of their variance lies along directions of
their own.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..statistics._numerics import even_places

_SOME = 200  # rows and features: of more directions their number hardly matters
_SAME = 1e-4  # of a feature's variance: hundredths of the features


def count_of_directions(Z) -> int:
    """How many directions tell more than rounding to hundredths would.

    Parameters
    ----------
    Z : ndarray of shape (n, P)

    Returns
    -------
    int
        Of as many rows and features as are looked at; 0 if nothing varies.
    """
    rows, columns = (even_places(size, _SOME) for size in Z.shape)
    U = Z[rows][:, columns]
    U = U - U.mean(axis=0)
    spread = U.std(axis=0)
    U = U[:, spread > 0] / spread[spread > 0]
    n, P = U.shape
    if P == 0:
        return 0
    gram = U @ U.T if n < P else U.T @ U
    return int(np.count_nonzero(linalg.eigvalsh(gram) > _SAME * n))
