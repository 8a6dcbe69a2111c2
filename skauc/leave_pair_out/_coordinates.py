"""Rows in at most min(n, P) coordinates that keep all inner products of rows.

A model with a ridge penalty depends on the rows only through ``Z Zᵀ``, where
``Z = (X − x̄)·unit``. For P ≤ n the coordinates are Z itself. For P > n they are a
pivoted Cholesky factor of the Gram matrix, ``A Aᵀ = Z Zᵀ`` with as many columns as its
rank; a vector θ of these coordinates is ``w = Z_pᵀ L⁻ᵀ θ`` in the features, L the
triangle of the pivot rows p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from ..statistics._moments import Moments
from ..statistics._row_blocks import dense

_FAR = 1e4  # raw over centred sum of squares: more than four digits cancel
_RANK = 1e-12  # share of the largest diagonal entry below which a pivot is rounding


def gram(rows, centred, unit) -> np.ndarray:
    """``Z Zᵀ`` of all rows, cached; ``unit``, one or (P,), multiplies the features."""

    def compute():
        if not sparse.issparse(rows.X):
            Z = centred_rows(rows, slice(None), centred, unit)
            return Z @ Z.T
        mean, square = rows.spread
        everyone = Moments(rows.n, mean * centred, square)
        group = np.zeros(len(rows.weight), np.int64)
        return centred_gram(rows, [everyone], group, unit)

    return rows.cached(("gram", centred, np.asarray(unit).tobytes()), compute)


def centred_gram(rows, groups, code, unit) -> np.ndarray:
    """``(z_i − z̄)ᵀ(z_j − z̄)`` of sparse rows, which centring would fill.

    Parameters
    ----------
    rows : Rows
    groups : list of Moments
        Moments of the groups around whose means the rows are centred, featurewise.
    code : ndarray of int of shape (n,)
        Number of the group of each row.
    unit : float, or ndarray of shape (P,)
        Factors of the features.
    """
    means = np.array([part.mean for part in groups])
    raw = sum(part.n * part.mean**2 for part in groups)
    # columns far from 0 have few zeros, and their products would cancel
    far = raw > _FAR * sum(part.scatter for part in groups)
    near_unit = np.where(far, 0.0, unit)
    X, centres = rows.X.multiply(near_unit).tocsr(), means * near_unit
    product = (X @ X.T).toarray()
    cross = (X @ centres.T)[:, code]
    product += (centres @ centres.T)[np.ix_(code, code)] - cross - cross.T
    if far.any():
        Z = (rows.X[:, far].toarray() - means[:, far][code]) * (unit * far)[far]
        product += Z @ Z.T
    return product


def centred_rows(rows, which, centred, unit) -> np.ndarray:
    """``Z`` of the selected rows as an ndarray."""
    Z = dense(rows.X[which]) - rows.spread[0] * centred
    Z *= unit
    return Z


@dataclass(frozen=True, eq=False)
class Coordinates:
    """``A`` (n, r) with ``A Aᵀ = Z Zᵀ``, and the maps between w and θ.

    Parameters
    ----------
    A : ndarray of shape (n, r)
    pivot : ndarray of int of shape (r,) or None
        Rows whose triangle of A is L; None where A is Z.
    centred : bool
    unit : float, or ndarray of shape (P,)
    """

    A: np.ndarray
    pivot: np.ndarray | None
    centred: bool
    unit: float | np.ndarray

    @classmethod
    def of(cls, rows, centred, unit) -> Coordinates:
        """Coordinates of all rows; those from a Gram matrix are cached."""
        n, P = rows.shape
        if P <= n:
            Z = centred_rows(rows, slice(None), centred, unit)
            return cls(Z, None, centred, unit)

        def compute():
            K = gram(rows, centred, unit)
            least = _RANK * K.diagonal().max(initial=0.0)
            factor, order, rank, _ = lapack.dpstrf(K, tol=least, lower=1)
            A, order = np.empty((len(K), rank)), order - 1
            A[order] = np.tril(factor)[:, :rank]
            return cls(A, order[:rank], centred, unit)

        key = "coordinates", centred, np.asarray(unit).tobytes()
        return rows.cached(key, compute)

    def forth(self, rows, w) -> np.ndarray:
        """θ with ``A θ = (X − x̄) w``, from the pivot rows: ``L θ = (X_p − x̄) w``."""
        if self.pivot is None:
            return w / self.unit
        score = rows.X[self.pivot] @ w - rows.spread[0] @ w * self.centred
        return linalg.solve_triangular(self.A[self.pivot], score, lower=True)

    def back(self, rows, theta) -> np.ndarray:
        """Coefficients (P,) or (P, k) of the features for θ of shape (r,) or (r, k)."""
        if self.pivot is None:
            return (theta.T * self.unit).T
        alpha = linalg.solve_triangular(self.A[self.pivot], theta, lower=True, trans=1)
        mean = rows.spread[0] * self.centred
        w = rows.X[self.pivot].T @ alpha - np.multiply.outer(mean, alpha.sum(axis=0))
        return (w.T * self.unit**2).T
