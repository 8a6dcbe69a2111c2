"""Lanczos' quadrature: what a matrix that is only multiplied by does to some vectors.

k steps from a vector s leave an orthonormal basis Q of span{s, Gs, …, G^{k−1}s} and the
tridiagonal ``QᵀGQ = S diag(θ) Sᵀ``, so that

    f(G) s ≈ |s| Q S (f(θ) ∘ S₁),   sᵀ f(G) s ≈ |s|² Σ_j S₁j² f(θ_j),

S₁ the first row of S. The second is Gauss's rule of the spectral measure of s: exact
for polynomials of degree 2k − 1 (Golub & Meurant 2010, Matrices, Moments and
Quadrature).
The trace of f(G) is the mean over random vectors of ±1 (Ubaru, Chen & Saad 2017,
https://doi.org/10.1137/16M1104974).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import norm

from ._numerics import TINY, parts_of

# Of vectors that are multiplied together, at least 8 of them: fewer take 1.4 times as
# long, more as much memory as the rows
_NUMBERS, _LEAST = 2**15, 8
_BROKEN = 100  # roundings of the first of T: what is left of a vector is not more


@dataclass(frozen=True, eq=False)
class Ritz:
    """Values θ and weights of m vectors after k steps each.

    Parameters
    ----------
    values, first : ndarray of shape (m, k)
        θ, ascending, and S₁.
    vectors : ndarray of shape (m, k, k)
        S.
    basis : ndarray of shape (k, n, m)
        Q, or those of its rows that were asked for.
    length : ndarray of shape (m,)
        |s|.
    """

    values: np.ndarray
    first: np.ndarray
    vectors: np.ndarray
    basis: np.ndarray
    length: np.ndarray

    @property
    def square(self) -> np.ndarray:
        """``(y_jᵀs)²`` of the Ritz vectors y_j, (m, k): they add up to |s|²."""
        return (self.length[:, None] * self.first) ** 2

    def along(self, v, i: int) -> np.ndarray:
        """``y_jᵀv`` of the i-th vector's Ritz vectors, (k,)."""
        return self.vectors[i].T @ (self.basis[:, :, i] @ v)

    def function(self, values, i: int) -> np.ndarray:
        """``f(G) s`` of the i-th vector, ``values`` f at its Ritz values; (n,)."""
        inside = self.vectors[i] @ (values * self.first[i]) * self.length[i]
        return inside @ self.basis[:, :, i]


def lanczos(product, start, steps, rows=None, solved=0.0) -> Ritz:
    """Some steps from every column of ``start``, all orthogonal to all before.

    Parameters
    ----------
    product : callable
        ``V -> G V`` of a symmetric positive semidefinite G, (n, m) to (n, m), column
        by column.
    start : ndarray of shape (n, m)
        Its precision is that of the basis.
    steps : int
    rows : ndarray of int, default=None
        Of the basis, those that are kept; None is all.
    solved : float, default=0
        Share of s at which the steps end: what those of all vectors that are multiplied
        first would leave of ``G x = s``: for what is asked of the inverse in directions
        that all are in s, as in random signs. An s of the leading eigenvectors would
        end them before the others are seen.

    Returns
    -------
    Ritz
        Where a vector spans fewer dimensions the rest are zeros without weight.
    """
    n, m = start.shape
    steps = min(steps, n)
    T, parts = np.zeros((m, steps, steps)), []
    length = norm(start, axis=0)
    unit = np.where(length > 0, length, 1)
    for some in parts_of(m, together(n)):
        q = start[:, some] / unit[some]
        Q = _basis(product, q, T[some], solved)
        T, solved = T[:, : len(Q), : len(Q)], 0.0  # of all vectors as many
        parts.append(Q if rows is None else Q[:, rows])
        del Q  # before there is the next
    values, vectors = np.linalg.eigh(T)
    basis = np.concatenate(parts, axis=2)
    values = np.maximum(values, 0.0)
    return Ritz(values, vectors[:, 0], vectors, basis, length.astype(float))


def together(n: int) -> int:
    """How many vectors of n numbers are multiplied at once."""
    return max(_NUMBERS // n, _LEAST)


def _basis(product, q, T, solved):
    """Q of some vectors of length 1, (k, n, m), and their T, (m, k, k), filled in."""
    (n, m), kind, steps = q.shape, q.dtype, T.shape[1]
    basis = np.empty((m, steps, n), dtype=kind)
    rounding = _BROKEN * np.finfo(kind).eps
    left, pivot = np.ones(m), np.inf
    for j in range(steps):
        basis[:, j] = q.T
        v = product(q)
        here = np.einsum("nm,nm->m", q, v)
        T[:, j, j] = here
        if j == steps - 1:
            break
        before, v = basis[:, : j + 1], np.ascontiguousarray(v.T)[:, None]
        for _ in range(2):  # twice is enough (Kahan & Parlett)
            v = v - (v @ before.transpose(0, 2, 1)) @ before
        size = norm(v[:, 0], axis=1)
        size[size <= rounding * np.maximum(T[:, 0, 0], here)] = 0
        q = v[:, 0].T * np.divide(1, size, out=np.zeros_like(size), where=size > 0)
        if solved:
            # T = LDLᵀ: what x = |s| Q T⁻¹e₁ leaves of s is the product of all β/d
            taken = T[:, j, j - 1] * (T[:, j, j - 1] / pivot)
            pivot = np.maximum(T[:, j, j] - taken, float(rounding) * T[:, j, j] + TINY)
            left *= size.astype(float) / pivot
            if np.all(left < solved):
                return basis[:, : j + 1].transpose(1, 2, 0)
        T[:, j, j + 1] = T[:, j + 1, j] = size
    return basis.transpose(1, 2, 0)


def random_signs(n, m, seed) -> np.ndarray:
    """±1 of n rows and m vectors, the same in every process."""
    return np.random.default_rng(seed).integers(0, 2, (n, m)) * 2.0 - 1.0
