"""The within-class scatter of standardised features, and its eigenvectors (section 1).

With more features than rows no P×P matrix is formed: the eigenvectors are linear
combinations of the rows, ``V = Z̃ᵀT``, so that products with the rows suffice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from ..leave_pair_out._coordinates import centred_gram
from ..statistics._moments import class_moments, positive_eigen

# Eigenvectors made from those of the Gram matrix of the rows, ``RᵀUΛ^−½``, lose the
# digits of (λ_max/λ)^1.5: .1 at 1e-10
GRAM_RANK = 1e-8
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
    spread : ndarray of shape (2,)
        ``tr Σ_c / tr Σ`` for both classes; 1 for a class of one row.
    """

    inverse_scale: np.ndarray
    d: np.ndarray
    values: np.ndarray
    basis: np.ndarray
    by_rows: bool
    b: np.ndarray
    n_neg: float
    n_pos: float
    spread: np.ndarray

    @classmethod
    def of(cls, rows) -> Scatter:
        """Decompose the scatter of rows in memory."""
        n, P = rows.shape
        by_rows = P >= n
        weight = rows.weight if rows.weighted else None
        neg, pos = class_moments(rows.X, rows.positive, weight, featurewise=by_rows)
        neg, pos = _uncertain(neg, pos)
        inverse_scale, d, spread = _standardised(neg, pos)
        if by_rows:
            # RRᵀ and W = RᵀR have the same eigenvalues; RRᵀ is n×n
            G = _gram(rows, [neg, pos], inverse_scale)
            values, U = positive_eigen(G, GRAM_RANK)
            # V = Rᵀ U Λ^{−½}, R with the roots of the weights;  b = Vᵀd = TᵀZ̃d
            basis = np.sqrt(rows.weight)[:, None] * U / np.sqrt(values)
            b = basis.T @ (rows.X @ (inverse_scale * d))
        else:
            W = (neg.scatter + pos.scatter) * inverse_scale * inverse_scale[:, None]
            values, basis = positive_eigen(W)
            b = basis.T @ d
        return cls(inverse_scale, d, values, basis, by_rows, b, neg.n, pos.n, spread)

    @property
    def excess(self) -> float:
        """Variance of a standardised difference of a noise feature, in nominal units.

        ``ν/(ν − 2)``, because the standard deviation is estimated, too.
        """
        # with one feature its standard deviation cancels in every AUC
        if len(self.d) == 1:
            return 1.0
        return 1 + 2 / max(self.n - 4, 1)

    @property
    def n(self) -> float:
        """Sum of the weights."""
        return self.n_neg + self.n_pos

    @property
    def n_features(self) -> int:
        """Number of features that vary."""
        return int(np.count_nonzero(self.inverse_scale))

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
            along = self.basis.T @ ((score - score.mean()) / size)
        else:
            along = self.basis.T @ x
        return Direction(x, float(size), along, float(x @ self.d))

    def combine(self, g, rows) -> np.ndarray:
        """``g Vᵀ`` for coefficients g of shape (k, r)."""
        product = g @ self.basis.T
        return product @ rows.X * self.inverse_scale if self.by_rows else product


def _gram(rows, classes, inverse_scale):
    """``R Rᵀ``, R the standardised deviations of the rows times roots of weights."""
    root = np.sqrt(rows.weight)[:, None]
    if sparse.issparse(rows.X):
        code = rows.positive.astype(np.int64)
        return centred_gram(rows, classes, code, inverse_scale) * root * root.T
    neg, pos = (part.mean for part in classes)
    R = rows.X - np.where(rows.positive[:, None], pos, neg)
    R *= inverse_scale
    return R @ R.T * root * root.T


def _uncertain(neg, pos):
    """The moments, as if in a feature that separates the classes a row did not.

    A feature that is constant in both classes, with different values, gets half of the
    squared difference as sum of squares in each of them.
    """
    *_, varies = _squares(neg, pos)
    if varies.all() or not varies.any():
        return neg, pos
    added = np.where(varies, 0.0, (pos.mean - neg.mean) ** 2 / 2)
    added = np.diag(added) if neg.scatter.ndim == 2 else added
    return [replace(part, scatter=part.scatter + added) for part in (neg, pos)]


def _squares(neg, pos):
    """Sums of squares (2, P), pooled variances, and which features vary in a class."""
    classes = neg.scatter, pos.scatter
    squares = np.array([np.diag(W) if W.ndim == 2 else W for W in classes])
    # pooled within-class variance Σ_c W_c/(n − 2)
    variance = squares.sum(axis=0) / max(neg.n + pos.n - 2, 1)
    varies = variance > _CONSTANT * np.maximum(neg.mean**2, pos.mean**2)
    return squares, variance, varies


def _standardised(neg, pos):
    """One over the deviation of each feature, the mean difference d, ``spread``.

    A feature that does not vary has 0 in place of one over its deviation.
    """
    squares, variance, varies = _squares(neg, pos)
    varies &= variance > np.finfo(float).tiny
    if not varies.any():
        raise ValueError(
            "X must have a feature that varies within a class for the adaptive prior, "
            "by more than 1e-7 of its mean, got none (for a model that is not linear, "
            "its scores stand for X)"
        )
    inverse = np.zeros(len(variance))
    inverse[varies] = 1 / np.sqrt(variance[varies])
    sizes, traces = np.array([neg.n, pos.n]), squares @ inverse**2
    pooled = traces.sum() / max(sizes.sum() - 2, 1)
    # tr Σ_c is unknown for a class of one row
    own = traces / np.where(sizes > 1, sizes - 1, 1.0) / pooled
    return inverse, (pos.mean - neg.mean) * inverse, np.where(sizes > 1, own, 1.0)
