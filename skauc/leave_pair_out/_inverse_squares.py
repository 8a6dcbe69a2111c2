"""``Σ_k u_k²/(w s_k + λ)`` of many rows and any w and λ, from few numbers a row.

Beside its largest value this is a function of s and of λ/w alone, and as smooth as one
of ``log s − log(λ/w)`` can be: functions ``1/(s + t)`` of every t are combinations of
some ten where s has two decades, and of three times as many where it has ten (the
singular values of such a matrix fall by a constant factor; Beckermann & Townsend 2017,
https://doi.org/10.1137/16M1096426). So the squares of a row are multiplied once by each
of them: as u²/s, which over all rows is the same in every direction, and functions
``s/(w s + λ)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics._numerics import block_rows, parts_of

# Of t: from below the least to above the largest s, so many a decade. Between them the
# functions are combinations to 1e-9, beyond the ends they are the limits to 1e-4.
_A_DECADE, _BEYOND = 4, 1e4
_ROUNDING = 1e-14  # of the largest singular value


@dataclass(frozen=True, eq=False)
class InverseSquares:
    """What is kept of the rows.

    Parameters
    ----------
    values : ndarray of shape (P,)
        s; a direction in which no row varies, with 0, has no part in any.
    functions : ndarray of shape (P, K)
        What every ``s/(w s + λ)`` is a combination of; orthonormal.
    squares : ndarray of shape (m, K)
        u²/s times these.
    """

    values: np.ndarray
    functions: np.ndarray
    squares: np.ndarray

    @classmethod
    def of_rows(cls, turned, rows, values) -> InverseSquares:
        """Of some rows of u (n, P), of any precision."""
        functions, some = _functions(values), values > 0
        into = np.zeros(functions.shape)
        into[some] = functions[some] / values[some, None]
        squares = np.empty((len(rows), functions.shape[1]))
        for part in parts_of(len(rows), block_rows(len(values))):
            squares[part] = turned[rows[part]].astype(float) ** 2 @ into
        return cls(values, functions, squares)

    def sums(self, w, penalty):
        """``Σ_k u_k²/(w s_k + λ)`` of every row."""
        share = self.values * shares(self.values, w, penalty)
        largest = share.max()
        return largest * (self.squares @ (share / largest @ self.functions))


def shares(values, w, penalty):
    """``1/(w s + λ)``, 0 of a direction in which no row varies."""
    some = values > 0
    out = np.zeros(len(values))
    return np.divide(1.0, w * values + penalty, out=out, where=some)


def _functions(values):
    some = values > 0
    s = values[some]
    low, high = s.min() / _BEYOND, s.max() * _BEYOND
    count = int(np.ceil(_A_DECADE * np.log10(high / low)))
    t = np.geomspace(low, high, count)[:, None]
    # over the largest, and the limits of a small and of a large t
    top = s.max()
    smooth = np.vstack([np.ones(len(s)), s * (1 + t / top) / (s + t), s / top])
    _, size, right = np.linalg.svd(smooth, full_matrices=False)
    right = right[size > _ROUNDING * size[0]]
    functions = np.zeros((len(values), len(right)))
    functions[some] = right.T
    return functions
