"""Products of the Gram matrix of sparse rows with blocks of vectors.

A column of which one row alone has an entry says nothing between rows, so that

    ZZᵀ = SSᵀ + diag(s),

S the columns of two rows or more and s the squares of the others: of 2000 texts of 80
words half of the columns and a tenth of the entries. A product adds up fastest where
neighbouring entries lie in different sums: S by columns, and Sᵀ by rows. Of 16 vectors
both together take .6 of the time of products with rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class SparseGram:
    """``ZZᵀ`` as the text of this module has it.

    Parameters
    ----------
    by_columns : csc_array of shape (n, p)
        S, those columns first that most rows have.
    transposed : csc_array of shape (p, n)
        Sᵀ.
    own : ndarray of shape (n,)
        s.
    """

    by_columns: sparse.csc_array
    transposed: sparse.csc_array
    own: np.ndarray

    @classmethod
    def of_rows(cls, Z):
        """Of a csr_array; both copies are as large as its entries."""
        n, P = Z.shape
        count = np.bincount(Z.indices, minlength=P)
        is_shared = count[Z.indices] > 1
        row = np.repeat(np.arange(n), np.diff(Z.indptr))
        own = np.bincount(
            row[~is_shared], Z.data[~is_shared].astype(float) ** 2, minlength=n
        )
        shared = np.flatnonzero(count > 1)
        shared = shared[np.argsort(-count[shared], kind="stable")]
        place = np.zeros(P, dtype=Z.indices.dtype)
        place[shared] = np.arange(len(shared))
        start = np.append(0, np.cumsum(is_shared))[Z.indptr].astype(Z.indptr.dtype)
        parts = Z.data[is_shared], place[Z.indices[is_shared]], start
        S = sparse.csr_array(parts, shape=(n, len(shared)))
        return cls(S.tocsc(), S.T, own.astype(Z.dtype))

    @property
    def n_rows(self):
        """Number of rows."""
        return len(self.own)

    @property
    def dtype(self):
        """Of the entries."""
        return self.own.dtype

    def product(self, v):
        """``ZZᵀv``, (n, m)."""
        return self.by_columns @ (self.transposed @ v) + (v.T * self.own).T

    def columns(self, rows):
        """``ZZᵀ`` itself, those of its columns; (n, k)."""
        out = self.by_columns @ self.transposed[:, rows].toarray(order="C")
        out[rows, np.arange(len(rows))] += self.own[rows]
        return out


@dataclass(frozen=True, eq=False)
class RowGram:
    """The same from the rows themselves: no copy, where there is no room for one."""

    rows: sparse.csr_array
    transposed: sparse.csc_array

    @classmethod
    def of_rows(cls, Z):
        """Of a csr_array."""
        return cls(Z, Z.T)

    @property
    def n_rows(self):
        """Number of rows."""
        return self.rows.shape[0]

    @property
    def dtype(self):
        """Of the entries."""
        return self.rows.dtype

    def product(self, v):
        """``ZZᵀv``, (n, m)."""
        return self.rows @ (self.transposed @ v)

    def columns(self, rows):
        """``ZZᵀ`` itself, those of its columns; (n, k)."""
        return self.rows @ self.transposed[:, rows].toarray(order="C")
