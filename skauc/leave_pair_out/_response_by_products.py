"""How scores of sparse rows answer when rows are taken out, by products alone.

For P ≥ n > 1000 the kernel K of the rows, less their mean, is neither formed nor
decomposed. Of two rows left out together nearly all is known from the diagonal of

    F = (I + D K D)⁻¹,   D = diag(√(ω/λ)),   q_i = (1/F_ii − 1) λ/ω_i,

q_i being what row i would gain of a unit of force *without* itself in the model: it
does not depend on its own ω_i, and on those of all others by their common size. Beside
the diagonal F has the mean that centred rows give it, ``F1 = 0``.

Every score that is left out is the small difference of a score and of what its own row
has pulled, so that the mean of q_i must be right to 1e-3, each q_i to 2e-2:

- the 500 rows S of the pairs are the same for all models. Their ``(K^j)_ii``, j ≤ 4,
  are computed; p(K), the polynomial nearest to F, has an exact diagonal;
- what is left, F − p(K), comes from random signs z: ``E z ∘ (F − p(K)) z``
  (Hutchinson), by Lanczos' quadrature for any ω/λ; single rows are drawn to a
  regression on the
  ``(K^j)_ii`` as far as they are noise.

Error of the AUC against the kernel's inverse: the test of this module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..statistics._lanczos import Ritz, lanczos, random_signs

PRODUCT_ROWS = 1000  # of more sparse rows a kernel is formed only where it is needed
# The mean of q is right to (root mean square, four draws of 16, 32 and 64 vectors)
# .00002 of 1500 × 50 000 texts; of 1500 × 4862 news .0018, .0009 and .0005 at ω/λ = 1,
# .008, .006 and .0015 at 10. With 24 steps not better
_NUMBERS, _LEAST, _STEPS, _SEED = 48_000, 16, 14, 1989
_DEGREE = 4
_COLUMNS = 16  # of rows that are multiplied at once


@dataclass(frozen=True, eq=False)
class CentredKernel:
    """Products with the Gram matrix K of rows less their mean.

    In single precision: a product reads memory, and no more than four digits are asked.

    Parameters
    ----------
    X : sparse array of shape (n, P)
        Of float32.
    """

    X: sparse.csr_array

    def product(self, v):
        """``K v`` of a v whose mean is 0; (n, m)."""
        v = self.X @ (self.X.T @ v)
        return v - v.mean(axis=0)

    def moments(self, rows):
        """``(K^j)_ii`` of some rows, j = 0 to 4, less the mean direction; (k, 5)."""
        n = self.X.shape[0]
        out = np.full((len(rows), _DEGREE + 1), 1 - 1 / n)
        transposed = self.X.T.tocsr()
        mean = self.X @ (self.X.T @ np.full(n, 1 / n, dtype=self.X.dtype))
        for start in range(0, len(rows), _COLUMNS):
            some = rows[start : start + _COLUMNS]
            at = np.arange(len(some))
            # K (e_i − 1/n), of sparse rows
            once = (self.X[some] @ transposed).toarray().T - mean[:, None]
            once -= once.mean(axis=0)
            twice = self.product(once)
            out[start + at, 1] = once[some, at]
            out[start + at, 2] = np.einsum("nk,nk->k", once, once)
            out[start + at, 3] = np.einsum("nk,nk->k", once, twice)
            out[start + at, 4] = np.einsum("nk,nk->k", twice, twice)
        return out


@dataclass(frozen=True, eq=False)
class KernelDiagonal:
    """What the diagonal of a function of a kernel is computed from, at some rows.

    Parameters
    ----------
    moments : ndarray of shape (k, 5)
    ritz : Ritz
        Of random signs; its basis at these rows only.
    signs : ndarray of shape (k, m)
    """

    moments: np.ndarray
    ritz: Ritz
    signs: np.ndarray

    @classmethod
    def of_rows(cls, kernel: CentredKernel, rows, unit):
        """Of the kernel times ``unit``."""
        # the moments first: their copy of the rows is gone before the basis is there
        moments = kernel.moments(rows) * unit ** np.arange(_DEGREE + 1)
        n = kernel.X.shape[0]
        # to the rows in an order of their own: how a caller sorts them does not matter
        order = np.argsort(kernel.X @ (kernel.X.T @ np.ones(n)), kind="stable")
        m = max(min(_NUMBERS // n, 64), _LEAST)
        signs = np.empty((n, m))
        signs[order] = random_signs(n, m, _SEED)
        start = (signs - signs.mean(axis=0)).astype(kernel.X.dtype)
        ritz = lanczos(kernel.product, start, _STEPS)
        at_rows = Ritz(
            unit * ritz.values,
            ritz.first,
            ritz.vectors,
            ritz.basis[:, rows].copy(),
            ritz.length,
        )
        return cls(moments, at_rows, signs[rows])

    def mean(self, theta):
        """Mean of ``(1 + θκ)⁻¹`` over the eigenvalues κ of the kernel."""
        share = self.ritz.first**2 / len(self.ritz.first)
        return np.sum(share / (1 + theta * self.ritz.values))

    def inverse(self, theta):
        """Diagonal of ``(I + θK)⁻¹`` less the mean direction, at the rows, (k,)."""
        values = self.ritz.values
        f = 1 / (1 + theta * values)
        # p nearest to f where the eigenvalues are
        unit = values.max() or 1.0
        powers = np.vander((values / unit).ravel(), _DEGREE + 1, increasing=True)
        share = np.abs(self.ritz.first).ravel()
        c = np.linalg.lstsq(powers * share[:, None], f.ravel() * share, rcond=None)[0]
        rest = f - (powers @ c).reshape(f.shape)
        # z ∘ (f − p)(K) z of every vector
        inside = np.einsum("mij,mj->mi", self.ritz.vectors, rest * self.ritz.first)
        at_rows = np.einsum("ikm,mi->km", self.ritz.basis, inside)
        each = self.signs * at_rows * self.ritz.length
        found, noise = (
            each.mean(axis=1),
            each.var(axis=1, ddof=1).mean() / each.shape[1],
        )
        moments = self.moments / unit ** np.arange(_DEGREE + 1)
        usual = moments @ np.linalg.lstsq(moments, found, rcond=None)[0]
        own = found - usual
        # of what rows differ by, the part that is no noise
        believed = max(0.0, 1 - noise / max(own.var(), np.finfo(float).tiny))
        return moments @ c + usual + believed * own


def kernel_diagonal(X, rows, scale=None) -> KernelDiagonal:
    """What sparse rows, their columns times ``scale``, say at some of them."""
    X = X.tocsr()
    data = X.data if scale is None else X.data * scale[X.indices]
    # In units of the largest entry, whose squares single precision may not hold
    unit = np.abs(data).max(initial=0.0) or 1.0
    entries = (data / unit).astype(np.float32), X.indices, X.indptr
    kernel = CentredKernel(sparse.csr_array(entries, shape=X.shape))
    return KernelDiagonal.of_rows(kernel, rows, unit**2)


def response_by_products(diagonal: KernelDiagonal, rows, theta, l2):
    """Q and F among the rows of the pairs, from the diagonal of F and its mean.

    Parameters
    ----------
    diagonal : KernelDiagonal
    rows : ndarray of int of shape (k,)
    theta : ndarray of shape (n,)
        ω/λ of all rows.
    l2 : float
        λ.

    Returns
    -------
    Q, F : ndarray of shape (k, k)
    """
    k, n = len(rows), len(theta)
    if not theta.any():
        return np.zeros((k, k)), np.eye(k)
    common = common_curvature(diagonal, theta)
    at_common, mean = diagonal.inverse(common), diagonal.mean(common)
    # q_i = (1/F_ii − 1)/θ, which does not depend on the own θ_i: F_ii = 1/(1 + θ_i q_i)
    q = (1 / at_common - 1) / common
    own = 1 / (1 + theta[rows] * q)
    # F1 = 0: beside the diagonal it is −F/(n − 1) on the average, and Q = (I − F)/ω
    beside = mean / (n - 1)
    F, Q = np.full((k, k), -beside), np.full((k, k), beside / (common * l2))
    F[np.diag_indices(k)], Q[np.diag_indices(k)] = own, q * own / l2
    return Q, F


def common_curvature(diagonal: KernelDiagonal, theta):
    """One ω/λ in the place of all: equal mean answers of rows that are left out."""
    # mean_j 1/(1/θ_j + q) = 1/(1/θ + q),  q = (1/F − 1)/θ at the mean F of θ
    on = theta > 0
    common = np.exp(np.mean(np.log(theta[on])))
    for _ in range(50):
        F = diagonal.mean(common)
        q = (1 / F - 1) / common
        answer = np.sum(1 / (1 / theta[on] + q)) / len(theta)
        common, last = 1 / (1 / answer - q), common
        if abs(common - last) <= 1e-9 * last:
            break
    return common
