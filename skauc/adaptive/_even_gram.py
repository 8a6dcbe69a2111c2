"""The Gram matrix of many rows in single precision, where that has the digits.

Half of the time. What the folds are dealt out by keeps double precision: neighbours in
that order differ by little.

Of rows less the means of their classes two eigenvalues are 0, along 1 of each class.
These are lifted above the others, ``G = RRᵀ + μ Σ_c 1_c1_cᵀ/n_c``: then single
precision tells all of them if it does the least beside the largest, and no other
eigenvector is mixed with these two. Deviations from the means of some of the rows stay
what they are.

Posterior means and deviations less those in double precision, over the deviation: 1e-7
to 3e-5 of normal, t(3), log-normal and AR(.9) rows, counts, near copies, 1e-3 at most
with 5 or 30 common factors (420 × 500 to 900 × 3000, C of .0001, .01 and 1); of texts
(420 × 5000 to 1000 × 20 000, tf-idf, zeros and ones, topics) 2e-6. Where the least
eigenvalue hardly exceeds what is asked for, a ridge model's move by .004, those along
the least principal component by .01.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..statistics._numerics import (
    EVEN,
    SINGLE_FEATURES,
    eigenvectors,
    is_even,
    largest_eigenvalue,
    parts_of,
)

_COLUMNS = 1024  # of the rows that are copied in single precision at a time
# Of the largest eigenvalue as a few steps know it, which are a third off at most
_LIFT = 2.0


@dataclass(frozen=True, eq=False)
class EvenGram:
    """G of rows without weights.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    ones : ndarray of shape (2, n)
        ``1_c/√n_c``.
    lift : float
        μ.
    keys : ndarray of shape (n,)
        ``|r|² ± rᵀd``, which folds are dealt out by, in double precision.
    """

    matrix: np.ndarray
    ones: np.ndarray
    lift: float
    keys: np.ndarray

    @classmethod
    def of_rows(cls, R, scores, positive, least) -> EvenGram | None:
        """None where double precision is needed.

        Parameters
        ----------
        R : ndarray of shape (n, P)
            Less the means of their classes.
        scores : ndarray of shape (n,)
            ``Rd``.
        positive : ndarray of bool of shape (n,)
        least : float
            What an eigenvalue is to exceed.
        """
        n = len(R)
        if n < SINGLE_FEATURES:
            return None
        matrix = np.zeros((n, n), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in parts_of(R.shape[1], _COLUMNS):
                some = R[:, part].astype(np.float32)
                matrix += some @ some.T
        squares = np.einsum("np,np->n", R, R)
        return cls._of_matrix(matrix, squares, scores, positive, least)

    @classmethod
    def of_gram(cls, gram, scores, positive, least) -> EvenGram | None:
        """The same from ``RRᵀ`` itself, of double precision."""
        if len(gram) < SINGLE_FEATURES:
            return None
        with np.errstate(over="ignore"):
            matrix = gram.astype(np.float32)
        return cls._of_matrix(matrix, gram.diagonal(), scores, positive, least)

    @classmethod
    def _of_matrix(cls, matrix, squares, scores, positive, least):
        """Of RRᵀ, which becomes G, and its diagonal in double precision."""
        if not least < EVEN * squares.mean() < np.inf:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            lift = _LIFT * largest_eigenvalue(matrix)
            ones = np.array([~positive, positive]).astype(np.float32)
            ones /= np.sqrt(ones.sum(axis=1, keepdims=True))
            matrix += (np.float32(lift) * ones.T) @ ones
            if not is_even(matrix):
                return None
        return cls(matrix, ones, lift, squares + np.where(positive, 1, -1) * scores)

    def of_class(self, mask):
        """Eigenvalues of ``R_cR_cᵀ`` that are not 0, ascending."""
        values = linalg.eigvalsh(self.matrix[np.ix_(mask, mask)]).astype(float)
        return np.delete(values, np.argmin(np.abs(values - self.lift)))

    def eigenvectors(self):
        """Eigenvalues of RRᵀ that are not 0, ascending, and vectors."""
        values, U = eigenvectors(self.matrix.copy())
        lifted = np.sum((self.ones @ U) ** 2, axis=0)
        some = np.sort(np.argsort(lifted)[: len(values) - 2])
        return values[some].astype(float), U[:, some]
