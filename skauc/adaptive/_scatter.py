"""The within-class scatter of standardised features, and its eigenvectors (section 1).

With more features than rows no P×P matrix is formed: the eigenvectors are linear
combinations of the rows, ``V = Z̃ᵀT``, so that products with the rows suffice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from ..statistics._moments import group_moments

# Rounding moves the eigenvalues of a scatter matrix by less than this share of the
# largest one; smaller eigenvalues are directions in which the rows do not vary.
RANK = 1e-10
_CONSTANT = 1e-14  # variance over squared mean below which a feature is constant


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction of unit length in the eigenbasis.

    Parameters
    ----------
    x : ndarray of shape (P,)
        The direction in standardised features.
    size : float
        Length of the direction before it was scaled to 1.
    along : ndarray of shape (r,)
        Coordinates along the eigenvectors.
    difference : float
        ``xᵀd``, d the difference of the class means.
    """

    x: np.ndarray
    size: float
    along: np.ndarray
    difference: float

    @property
    def squares(self) -> np.ndarray:
        """Squared coordinates; the last one is the squared length in the null space."""
        squares = self.along**2
        return np.append(squares, max(1 - squares.sum(), 0.0))


@dataclass(frozen=True, eq=False)
class Scatter:
    """``W = V diag(λ) Vᵀ`` of standardised features, and the mean difference d.

    Parameters
    ----------
    inverse_scale : ndarray of shape (P,)
        One over the standard deviation of each feature; 0 for constant features.
    d : ndarray of shape (P,)
        Standardised difference of the class means, positive less negative.
    values : ndarray of shape (r,)
        The eigenvalues λ > 0.
    basis : ndarray of shape (P, r) or (n, r)
        V, or T with ``V = Z̃ᵀT`` if ``by_rows``, Z̃ the standardised rows.
    by_rows : bool
    b : ndarray of shape (r,)
        ``Vᵀd``.
    n_neg, n_pos : float
    traces : ndarray of shape (2,)
        Traces of the standardised scatters of both classes.
    standardize : bool
        Whether each feature was divided by its own standard deviation.
    unseen : int, default=0
        Further dimensions in which the rows do not vary.
    """

    inverse_scale: np.ndarray
    d: np.ndarray
    values: np.ndarray
    basis: np.ndarray
    by_rows: bool
    b: np.ndarray
    n_neg: float
    n_pos: float
    traces: np.ndarray
    standardize: bool
    unseen: int = 0

    @classmethod
    def of(cls, rows, standardize=True) -> Scatter:
        """Decompose the scatter of rows in memory."""
        n, P = rows.shape
        classes = ~rows.positive, rows.positive
        neg, pos = group_moments(rows.X, classes, rows.weight, featurewise=P >= n)
        if P < n:
            return cls.of_moments(neg, pos, standardize)
        means = np.array([neg.mean, pos.mean])
        squares = np.array([neg.scatter, pos.scatter])
        inverse_scale = _inverse_scale(means, squares, rows.n, standardize)
        # RRᵀ and W = RᵀR have the same eigenvalues; RRᵀ is n×n
        R = centred(rows, means, inverse_scale)
        G = _gram(R)
        values, U = linalg.eigh(G, overwrite_a=True, check_finite=False)
        values, U = _positive(values, U)
        # V = Rᵀ U Λ^{−½}, R with the roots of the weights
        T = np.sqrt(rows.weight)[:, None] * U / np.sqrt(values)
        d = (means[1] - means[0]) * inverse_scale
        # b = Vᵀd = TᵀZ̃d
        b = T.T @ (rows.X @ (inverse_scale * d))
        traces = np.array([(s * inverse_scale**2).sum() for s in squares])
        along = inverse_scale, d, values, T, True, b
        return cls(*along, neg.n, pos.n, traces, standardize)

    @classmethod
    def of_moments(cls, neg, pos, standardize=True, unseen=0) -> Scatter:
        """Decompose the scatter of both classes, given as their moments."""
        means = np.array([neg.mean, pos.mean])
        squares = np.array([np.diag(neg.scatter), np.diag(pos.scatter)])
        inverse_scale = _inverse_scale(means, squares, neg.n + pos.n, standardize)
        W = (neg.scatter + pos.scatter) * inverse_scale * inverse_scale[:, None]
        values, V = linalg.eigh(W, overwrite_a=True, check_finite=False)
        values, V = _positive(values, V)
        d = (pos.mean - neg.mean) * inverse_scale
        # tr W_c of the standardised features
        traces = np.array([(s * inverse_scale**2).sum() for s in squares])
        along = inverse_scale, d, values, V, False, V.T @ d
        return cls(*along, neg.n, pos.n, traces, standardize, unseen)

    @property
    def spread(self) -> np.ndarray:
        """``tr Σ_c / tr Σ`` for both classes; 1 for a class of one row."""
        sizes = np.array([self.n_neg, self.n_pos])
        pooled = self.traces.sum() / max(self.n - 2, 1)
        # tr Σ_c is unknown for a class of one row
        own = self.traces / np.where(sizes > 1, sizes - 1, 1.0) / pooled
        return np.where(sizes > 1, own, 1.0)

    @property
    def excess(self) -> float:
        """Variance of a standardised difference of a noise feature, in nominal units.

        ``ν/(ν − 2)``, because the standard deviation is estimated, too.
        """
        # with one feature its standard deviation cancels in every AUC
        if not self.standardize or len(self.d) == 1:
            return 1.0
        return 1 + 2 / max(self.n - 4, 1)

    @property
    def n(self) -> float:
        """Sum of the weights."""
        return self.n_neg + self.n_pos

    @property
    def n_features(self) -> int:
        """Number of features that vary plus unseen dimensions."""
        return int(np.count_nonzero(self.inverse_scale)) + self.unseen

    @property
    def multiplicity(self) -> np.ndarray:
        """1 for each eigenvector, and the dimension of the null space."""
        r = len(self.values)
        return np.append(np.ones(r), self.n_features - r)

    @property
    def energy(self) -> np.ndarray:
        """Squares of d along the eigenvectors, and its square in the null space."""
        squares = self.b**2
        rest = 0.0
        if self.n_features > len(self.values):
            rest = max(self.d @ self.d - squares.sum(), 0.0)
        return np.append(squares, rest)

    def direction(self, w, score) -> Direction | None:
        """Unit direction of the scores ``X @ w``; None if they are constant."""
        varies = self.inverse_scale > 0
        x = np.zeros(len(w))
        np.divide(w, self.inverse_scale, out=x, where=varies)
        size = linalg.norm(x)
        if not size > 0:
            return None
        x /= size
        if self.by_rows:  # Vᵀx = Tᵀ Z̃ x, and Z̃ x are the scores
            centre = score.mean()
            along = self.basis.T @ ((score - centre) / size)
        else:
            along = self.basis.T @ x
        return Direction(x, float(size), along, float(x @ self.d))

    def combine(self, g, rows) -> np.ndarray:
        """``V g`` for coefficients g of shape (r,) or (r, k)."""
        if not self.by_rows:
            return self.basis @ g
        scale = self.inverse_scale.reshape(-1, *[1] * (g.ndim - 1))
        return (rows.X.T @ (self.basis @ g)) * scale


def centred(rows, means, inverse_scale):
    """Deviations from the class means, standardised, times the roots of the weights.

    Sparse rows stay sparse: they are returned with the means, classes and roots.
    """
    code, root = rows.positive.astype(int), np.sqrt(rows.weight)[:, None]
    if sparse.issparse(rows.X):
        X = rows.X.multiply(inverse_scale).tocsr()
        return X, means * inverse_scale, code, root
    R = (rows.X - means[code]) * inverse_scale
    R *= root
    return R


def _gram(R):
    """``R Rᵀ`` of centred rows, which are dense or as :func:`centred` leaves them."""
    if isinstance(R, np.ndarray):
        return R @ R.T
    X, means, code, root = R
    # (x_i − m_i)ᵀ(x_j − m_j) from products of the sparse rows
    G = (X @ X.T).toarray()
    cross = (X @ means.T)[:, code]
    G += (means @ means.T)[np.ix_(code, code)] - cross - cross.T
    return G * root * root.T


def _inverse_scale(means, squares, n, standardize):
    """One over the pooled standard deviation; 0 for features that do not vary."""
    # pooled within-class variance Σ_c W_c/(n − 2)
    variance = squares.sum(axis=0) / max(n - 2, 1)
    varies = variance > _CONSTANT * (means**2).max(axis=0)
    varies &= variance > np.finfo(float).tiny
    if not varies.any():
        raise ValueError(
            "X must have a feature that varies within a class for the adaptive prior, "
            "by more than 1e-7 of its mean, got none"
        )
    # without standardisation one common scale keeps numbers near 1
    if not standardize:
        variance = np.full(len(variance), variance[varies].mean())
    inverse = np.zeros(len(variance))
    inverse[varies] = 1 / np.sqrt(variance[varies])
    return inverse


def _positive(values, vectors):
    """Eigenvalues beyond rounding, with their eigenvectors."""
    keep = values > RANK * values[-1]
    return values[keep], np.ascontiguousarray(vectors[:, keep])
