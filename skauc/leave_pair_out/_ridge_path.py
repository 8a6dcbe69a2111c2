"""Nine ridge models of a data set with their exact leave-pair-out AUC.

The reference models that tell how far the adaptive prior and leave-pair-out disagree
on a data set, whatever the user's grid is. In standardised features,
``A = √c (X − x̄)·scale = U√Λ Vᵀ``; the ridge with penalty l leaves

    √c Q √c = U diag(Λ/(Λ + l)) Uᵀ + u uᵀ,   F = U diag(l/(Λ + l)) Uᵀ + rest,

``u = √c/√n`` the intercept and ``rest`` the projection on what neither reaches. One
decomposition serves all penalties; P > n goes through the n×n Gram matrix. Of more than
2000 sparse rows there is none: ``U diag(f(Λ)) Uᵀ t`` comes from Lanczos' steps from the
labels t, the responses from :mod:`._response_by_products`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from ..statistics._columns import columns_at
from ..statistics._lanczos import lanczos
from ..statistics._moments import class_moments, project_samples
from ..statistics._numerics import centred_gram, eigenvalue_cutoff
from ._pair_response import PairResponse, pair_margins
from ._pairs import SMOOTH, check_pairs, pair_statistics, sample_rows
from ._response_by_products import (
    kernel_diagonal,
    response_by_products,
)

# 17 instead of 9 move the mean shift of the model by at most .002 probits (24 simulated
# problems, 30 × 10 to 60 × 500)
STRENGTHS = np.geomspace(3e-3, 3e2, 9)  # penalties over the mean within eigenvalue
# 1500 texts, 50 000 words: the AUC is off by .0004 at most; 1500 × 4862 news, nearly
# all ranked right, by −.03 at the smallest penalty, without their labels by .005
_GRAM_ROWS = 2000
_STEPS = 60  # of Lanczos from the labels: scores to 1e-3 at the smallest penalty


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Directions (P, L), smooth leave-pair-out AUC (L,) and its covariance (L, L)."""

    directions: np.ndarray
    auc: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(cls, directions, found) -> RidgePath:
        """From the directions and the statistic of the pairs under each."""
        auc = np.array([one.auc for one in found])
        covariance = [[one.covariance_with(two) for two in found] for one in found]
        return cls(directions, auc, np.array(covariance))


def ridge_path(X, positive, weight=None) -> RidgePath:
    """Exact leave-pair-out along the ridge path of a data set.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), default=None
        Positive frequency weights.

    Returns
    -------
    RidgePath

    Raises
    ------
    ValueError
        If a class has one row: nothing is left of it.
    """
    check_pairs(positive, weight)
    c = np.ones_like(positive, dtype=float) if weight is None else weight
    dual = X.shape[1] > X.shape[0]
    neg, pos = class_moments(X, positive, weight, featurewise=dual)
    total = neg + pos
    # Features of variance 1 around the mean of all rows; constant ones become 0
    squares = total.scatter if dual else np.diag(total.scatter)
    alive = squares > total.n * (1e-13 * np.abs(total.mean)) ** 2
    scale = np.where(alive, np.sqrt(total.n / np.where(alive, squares, 1.0)), 0.0)
    gap = (pos.mean - neg.mean) * scale
    rows, counted = sample_rows(project_samples(X, scale * gap), positive, c)
    of_class, count = columns_at(rows, positive, c)
    # tr W = tr(total scatter) − h|d|²
    h = neg.n * pos.n / total.n
    A = _Rows(X, total.mean, scale, np.sqrt(c))
    if dual and sparse.issparse(X) and X.shape[0] > _GRAM_ROWS:
        trace = np.sum(squares * scale**2)
        within = max(trace - h * gap @ gap, 1e-12 * trace)
        rank = min(total.n - 2, len(c) - 1, np.count_nonzero(scale))
        penalties = STRENGTHS * within / max(rank, 1)
        return _by_products(A, positive, rows, of_class, c, counted, penalties)
    if dual:
        values, U, target, to_directions = _of_rows(A, positive, rows)
    else:
        values, U, target, to_directions = _of_features(A, neg, pos, rows, count)
    within = max(values.sum() - h * gap @ gap, 1e-12 * values.sum())
    penalties = STRENGTHS * within / max(min(total.n - 2, len(values)), 1)
    # The intercept: centred features leave it the mean of the labels ±1
    middle = (pos.n - neg.n) / total.n
    # With n − 1 dimensions and the intercept nothing is left out of reach
    spanned = len(values) >= len(positive) - 1
    auc = []
    for penalty in penalties:
        # √c z = U diag(Λ/(Λ + l)) Uᵀ(√c t) + √c middle
        # w = V diag(√Λ/(Λ + l)) Uᵀ(√c t)
        fitted = target * values / (values + penalty)
        z = U @ fitted / np.sqrt(count) + middle
        Q, F = _response(U, values, penalty, count, total.n, spanned)
        response = PairResponse.of(Q, F, of_class)
        auc.append(_statistic(response, z, of_class, count, counted))
    coefficients = (target * np.sqrt(values))[:, None] / (values[:, None] + penalties)
    return RidgePath.of(scale[:, None] * to_directions(coefficients), auc)


def _of_rows(A, positive, rows):
    """Λ, U of some rows, Uᵀ(√c t) and ``x -> V x``, from the n×n Gram matrix."""
    values, left = _eigh(*A.gram())

    def to_directions(coefficients):
        return A.transposed(left @ (coefficients / np.sqrt(values)[:, None]))

    target = left.T @ (A.root * np.where(positive, 1.0, -1.0))
    return values, left[rows], target, to_directions


def _of_features(A, neg, pos, rows, count):
    """The same from the P×P scatter, of rows with these weights."""
    values, vectors = _eigh((neg + pos).scatter * A.scale * A.scale[:, None])
    block = A.X[rows].toarray() if sparse.issparse(A.X) else A.X[rows]
    block = np.sqrt(count)[:, None] * (block - A.mean) * A.scale
    # Uᵀ(√c t) = Λ^(−½) Vᵀ Aᵀ(√c t), with Aᵀ(√c t) = Σ c t (x − x̄)·scale, t = ±1
    signed = pos.n * (pos.mean - A.mean) - neg.n * (neg.mean - A.mean)
    U, target = block @ vectors, vectors.T @ (signed * A.scale)
    root = np.sqrt(values)
    return values, U / root, target / root, lambda coefficients: vectors @ coefficients


def _by_products(A, positive, rows, of_class, c, counted, penalties):
    """The same of more sparse rows, from products with them."""
    t = np.where(positive, 1.0, -1.0)
    middle = np.average(t, weights=c)
    # √c z = G(G + l)⁻¹ √c(t − middle) + √c middle,  w = Aᵀ(G + l)⁻¹ √c(t − middle)
    ritz = lanczos(A.kernel, (A.root * (t - middle))[:, None], _STEPS)
    shares = 1 / (ritz.values[0] + penalties[:, None])
    alpha = np.array([ritz.function(share, 0) for share in shares])
    diagonal, auc = kernel_diagonal(A.X, rows, A.scale), []
    for penalty, share in zip(penalties, shares, strict=True):
        fitted = ritz.function(ritz.values[0] * share, 0)
        z = (fitted / A.root)[rows] + middle
        response = response_by_products(diagonal, rows, c / penalty, penalty)
        auc.append(_statistic(response, z, of_class, c[rows], counted))
    return RidgePath.of(A.scale[:, None] * A.transposed(alpha.T), auc)


def _response(U, values, penalty, c, n, spanned):
    kept = values / (values + penalty)
    root, u = np.sqrt(c), np.sqrt(c / n)
    # √c Q √c and √c F √c⁻¹ of the module's text
    Q = U @ (kept[:, None] * U.T) + np.outer(u, u)
    F = U @ ((1 - kept)[:, None] * U.T)
    if not spanned:
        F += np.eye(len(U)) - U @ U.T - np.outer(u, u)
    return Q / np.outer(root, root), F * (root / root[:, None])


def _statistic(response, z, positive, c, counted):
    g = c * (z - np.where(positive, 1.0, -1.0))  # slope of the squared loss
    margin = pair_margins(response, z, g, positive, c)
    return pair_statistics(margin, positive, counted, smooth=(SMOOTH,))[0]


def _eigh(matrix, rounding=0.0):
    values, vectors = linalg.eigh(matrix)
    keep = values > eigenvalue_cutoff(values, rounding=rounding)
    return values[keep], vectors[:, keep]


@dataclass(frozen=True, eq=False)
class _Rows:
    """``root · (X − mean) · scale``, sparse X left sparse."""

    X: np.ndarray | sparse.csr_array
    mean: np.ndarray
    scale: np.ndarray
    root: np.ndarray

    def gram(self):
        """``AAᵀ``, and what it may have lost."""
        return centred_gram(self.X, self.mean, root=self.root, scale=self.scale)

    def transposed(self, left):
        """``Aᵀ left``."""
        weighted = self.root[:, None] * left
        # The mean is taken off the product, not off sparse rows
        out = self.X.T @ weighted - np.outer(self.mean, weighted.sum(axis=0))
        return self.scale[:, None] * out

    def kernel(self, left):
        """``AAᵀ left``."""
        x = self.scale[:, None] * self.transposed(left)
        return self.root[:, None] * (self.X @ x - self.mean @ x)
