"""The span of the rows: n coordinates stand for P > n features.

With Z the rows less a centre (and divided by scales), ``Z = U diag(σ) Vᵀ``, row i has
coordinates ``σ U_i`` in the orthonormal basis V. Inner products and lengths in the
span are those of the features, so a penalty ‖coef‖² is one on the coordinates, and of
all coefficients with the same ``Z @ coef`` those in the span are the shortest.

V is never formed: ``V = ZᵀU/σ``, and U and σ come from the n×n triangle of
``Zᵀ = QR``, built up from blocks of columns (TSQR) in O(n²P). Unlike the Gram matrix
ZZᵀ, whose eigenvalues are σ², it keeps directions down to rounding of the longest.

References
----------
Demmel, Grigori, Hoemmen & Langou (2012), https://doi.org/10.1137/080731992
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from ._numerics import block_rows

_EPS = np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Orthonormal coordinates of rows in their own span.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n, P)
    centre : ndarray of shape (P,)
        The point with coordinates 0.
    scale : ndarray of shape (P,) or float
        What the features are divided by.
    shares : ndarray of shape (n,) or None
        Weights adding up to 1 around whose mean the rows are centred once more,
        after rounding of ``centre``; None leaves them.
    coordinates : ndarray of shape (n, r)
    dual : ndarray of shape (n, r)
        ``U/σ``.
    """

    X: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    shares: np.ndarray | None
    coordinates: np.ndarray
    dual: np.ndarray

    @classmethod
    def of_rows(cls, X, centre, scale, shares) -> RowSpace:
        """Decompose the rows; parameters as of the class."""
        n, P = X.shape
        X = X.tocsc() if sparse.issparse(X) else X
        space = cls(X, centre, scale, shares, np.empty((n, 0)), np.empty((n, 0)))
        R = np.zeros((0, n))
        for Z in space._blocks():
            # [R₁; Z₂ᵀ] = Q R₂: the triangle so far and the next block have that of both
            R = linalg.qr(np.vstack([R, Z.T]), mode="r", overwrite_a=True)[0][:n]
        # Zᵀ = QR and R = A diag(σ) Uᵀ give Z = U diag(σ) (QA)ᵀ: Q and A are not needed
        _, sigma, Ut = linalg.svd(R, full_matrices=False)
        # numpy.linalg.matrix_rank's bound: rounding of a P×n matrix.
        kept = sigma > P * _EPS * sigma[0]
        kept[0] = True  # one coordinate of zeros if all rows are the centre
        U, sigma = Ut[kept].T, sigma[kept]
        inverse = 1 / np.where(sigma > 0, sigma, np.inf)
        return cls(X, centre, scale, shares, U * sigma, U * inverse)

    def _blocks(self):
        """Columns of Z, at least n at a time."""
        n, P = self.X.shape
        width = block_rows(n, least=n)
        scale = np.broadcast_to(self.scale, P)
        for start in range(0, P, width):
            part = slice(start, start + width)
            block = self.X[:, part]
            block = block.toarray() if sparse.issparse(block) else block
            block = (block - self.centre[part]) / scale[part]
            yield block if self.shares is None else block - self.shares @ block

    def enter(self, coef):
        """Coordinates of ``Z @ coef``'s coefficients, of shape (r,) or (r, k)."""
        scaled, start = (coef.T * self.scale).T, 0
        decision = np.zeros((len(self.coordinates), *coef.shape[1:]))
        for Z in self._blocks():
            decision += Z @ scaled[start : start + Z.shape[1]]
            start += Z.shape[1]
        # Vᵀcoef = diag(1/σ) Uᵀ (Z coef)
        return self.dual.T @ decision

    def leave(self, theta):
        """Coefficients of the features, of shape (P,) or (P, k)."""
        # V θ = Zᵀ (U/σ) θ
        dual = self.dual @ theta
        coef = np.concatenate([Z.T @ dual for Z in self._blocks()])
        return (coef.T / self.scale).T
