"""Maximise the Gaussian AUC of a direction: a Rayleigh quotient.

Section 2 of :mod:`skauc.estimators`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import minimize

from ..statistics._moments import Moments, around, class_moments
from ..statistics._row_space import RowSpace

_EPS = np.finfo(float).eps
_BLOCK_BYTES = 2**21  # rows are centred in blocks that stay in cache
_SMALLEST_DEVIATION = 1e-8  # of the gap between the class means; less is rounding
_OUTSIDE = 1e-6  # share of μ outside the range of Σ that is more than rounding
_MANY_ROWS = 1e70  # its square, times that of a large feature, is a number


@dataclass(frozen=True, eq=False)
class RayleighProblem:
    """Class moments in working coordinates, and the way there and back.

    Parameters
    ----------
    neg, pos : Moments
        In working coordinates.
    origin : ndarray of shape (P,)
        The point of feature space with working coordinates 0.
    enter, leave : callable
        From coefficients of the features to θ, and back.
    fourth_powers : callable or None
        Returns ``Σ w ‖z − z̄_c‖⁴/(n_c − 1)²`` of the rows, if they are at hand.
    n_extra_dimensions : int, default=0
        Features that vary beyond as many as there are working coordinates.
    """

    neg: Moments
    pos: Moments
    origin: np.ndarray
    enter: Callable
    leave: Callable
    fourth_powers: Callable | None
    n_extra_dimensions: int = 0

    @classmethod
    def of_moments(cls, neg, pos, standardize, fourth_powers=None):
        """Problem in the coordinates ``(x − x̄)/s``.

        Parameters
        ----------
        neg, pos : Moments
            Of the features, with full scatter.
        standardize : bool
            Whether s is the root of the diagonal of Σ or 1.
        fourth_powers : callable, default=None
            Of the rows that the moments were made of: called with ``neg, pos`` and the
            units of the features, returns ``Σ w ‖(x − x̄_c)/s‖⁴/(n_c − 1)²``.
        """
        origin, scale = _centre_and_scale(neg, pos, standardize)

        def working(part):
            scatter = part.scatter / scale / scale[:, None]
            # Around the grand mean first: x̄/s − origin/s would cancel far from 0.
            return Moments(part.n, around(part, origin).mean / scale, scatter)

        return cls(
            working(neg),
            working(pos),
            origin,
            enter=lambda coef: coef * scale,
            leave=lambda theta: theta / scale,
            fourth_powers=fourth_powers and partial(fourth_powers, neg, pos, scale),
        )

    @classmethod
    def of_rows(cls, X, positive, weight, standardize):
        """Problem in the span of the rows, for P > n.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, P)
        positive : ndarray of bool of shape (n,)
        weight : ndarray of shape (n,) or None
        standardize : bool
        """
        if weight is not None:
            kept = weight > 0
            X, positive, weight = X[kept], positive[kept], weight[kept]
        neg, pos = class_moments(X, positive, weight, featurewise=True)
        origin, scale = _centre_and_scale(neg, pos, standardize)
        varies = (neg.scatter + pos.scatter > 0) | (neg.mean != pos.mean)
        shares = np.ones(len(positive)) if weight is None else weight
        space = RowSpace.of_rows(X, origin, scale, shares / shares.sum())
        z, rank = space.coordinates, space.coordinates.shape[1]
        neg, pos = class_moments(z, positive, weight)
        fourth = partial(fourth_powers, z, positive, weight, neg, pos, np.ones(rank))
        extra = max(int(np.count_nonzero(varies)) - rank, 0)
        return cls(neg, pos, origin, space.enter, space.leave, fourth, extra)

    @property
    def n_features(self) -> int:
        """P, also when the working coordinates are fewer."""
        return len(self.origin)

    @property
    def mu(self):
        """``x̄₁ − x̄₀``."""
        return self.pos.mean - self.neg.mean

    @property
    def sigma(self):
        """``Σ̂₀ + Σ̂₁``."""
        return self.neg.covariance + self.pos.covariance

    def shrunk(self, alpha):
        """``(1 − α)Σ + ατI``."""
        # P also in the span of the rows: tr Σ there is that of all features.
        sigma = self.sigma
        tau = np.trace(sigma) / self.n_features
        if alpha > 0:
            sigma *= 1 - alpha
            np.einsum("ii->i", sigma)[:] += alpha * tau
        return sigma

    def project(self, theta):
        """Moments ``neg, pos`` of the scores; spreads below rounding are 0."""
        neg, pos = self.neg.project(theta), self.pos.project(theta)
        # a scatter of n rows below n times that of the smallest deviation is rounding
        smallest = (_SMALLEST_DEVIATION * (pos.mean - neg.mean)) ** 2
        return tuple(
            Moments(c.n, c.mean, c.scatter if c.scatter > smallest * c.n else 0.0)
            for c in (neg, pos)
        )

    def unit_deviation(self, theta):
        """θ scaled to pooled within-class deviation 1 (or to a very large gap)."""
        neg, pos = self.project(theta)
        # (W₀ + W₁)/(n − 2), and not less than the rounding of the gap of the means
        variance = (neg.scatter + pos.scatter) / (neg.n + pos.n - 2)
        smallest = _SMALLEST_DEVIATION * abs(pos.mean - neg.mean)
        deviation = max(np.sqrt(variance), smallest)
        return theta / deviation if deviation > 0 else theta


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates u on the range of Σ, ``θ = Au`` with ``AᵀΣA = I``.

    Parameters
    ----------
    rank : int
        Of Σ.
    transposed, times : callable
        ``Aᵀx`` of a vector x, and ``Au``.
    """

    rank: int
    transposed: Callable
    times: Callable

    @classmethod
    def by(cls, A):
        """Of a matrix of shape (P, rank)."""
        return cls(A.shape[1], lambda x: A.T @ x, lambda u: A @ u)


def whitening(sigma, mu):
    """Whitening of Σ; if it is singular, on its range only.

    Parameters
    ----------
    sigma : ndarray of shape (P, P)
    mu : ndarray of shape (P,)

    Returns
    -------
    whitened : Whitening
    piling : ndarray of shape (P,) or None
        The part of μ outside the range of Σ, where there is no spread at all; None
        if there is no such part.
    """
    # Correlations: the rank does not depend on the units of the features.
    root = np.sqrt(np.diag(sigma))
    root[root == 0] = 1.0
    correlation = sigma / root / root[:, None]
    try:
        L = linalg.cholesky(correlation, lower=True)
    except linalg.LinAlgError:
        L = np.zeros((1, 1))
    # a pivot of the Cholesky factor below rounding: decide the rank by eigenvalues
    if np.diag(L).min() ** 2 > 16 * len(mu) * _EPS:
        # Σ = D LLᵀ D ⇒ A = D⁻¹L⁻ᵀ
        solve = partial(linalg.solve_triangular, L, lower=True)
        return Whitening(
            len(mu), lambda x: solve(x / root), lambda u: solve(u, trans=1) / root
        ), None
    values, V = linalg.eigh(correlation)
    kept = values > 16 * len(mu) * _EPS * values[-1]
    null, scaled = V[:, ~kept], mu / root
    outside = null @ (null.T @ scaled)
    # Σ = D VλVᵀ D ⇒ A = D⁻¹Vλ^{−½} on the range
    A = V[:, kept] / np.sqrt(values[kept])
    if np.linalg.norm(outside) > _OUTSIDE * np.linalg.norm(scaled):
        return Whitening.by(A / root[:, None]), outside / root
    return Whitening.by(A / root[:, None]), None


def maximise(m, start, tol, max_iter):
    """Maximise ``r = uᵀm/‖u‖`` by BFGS.

    Φ(r) is flat beyond r = 8; ``1 − r/‖m‖ = ½‖u/‖u‖ − m/‖m‖‖²`` is a monotone
    transform of it that keeps its digits near the maximum. The start is reversed if
    it is nearer to the minimiser, −m.

    Parameters
    ----------
    m, start : ndarray of shape (k,)
    tol : float
    max_iter : int

    Returns
    -------
    u : ndarray of shape (k,)
    n_iter : int
    converged : bool
    """
    m = m / np.linalg.norm(m)
    start = start / (np.linalg.norm(start) or 1.0)
    start = -start if start @ m < 0 else start
    if not start.any():
        start = m

    def loss_and_gradient(u):
        # ∇ ½‖u/‖u‖ − m‖² = (I − ûûᵀ)(û − m)/‖u‖
        length = np.linalg.norm(u)
        unit = u / length
        away = unit - m  # loss ½‖away‖² = 1 − r/‖m‖
        return away @ away / 2, (away - unit * (unit @ away)) / length

    result = minimize(
        loss_and_gradient,
        start,
        jac=True,
        method="BFGS",
        options={"gtol": tol, "maxiter": max_iter},
    )
    # BFGS may stop for lack of digits short of its goal: ten times tol is accepted
    angle = np.linalg.norm(loss_and_gradient(result.x)[1])
    return result.x, max(int(result.nit), 1), bool(angle <= max(10 * tol, 1e-12))


def _centre_and_scale(neg, pos, standardize):
    """Grand mean, and the root of the diagonal of Σ (1 where it is 0)."""
    for name, part in (("negative", neg), ("positive", pos)):
        if part.n <= 1:
            raise ValueError(
                "each class must hold more than 1 row (or weights that add up to more "
                f"than 1) for its own covariance, got {part.n:g} in the {name} class"
            )
        if part.n > _MANY_ROWS:
            raise ValueError(
                f"sample_weight must add up to at most {_MANY_ROWS:g} (weights are "
                f"counts of rows here), got {part.n:.3g} in the {name} class"
            )
    share = pos.n / (neg.n + pos.n)
    # Σ w x/Σ w over both classes
    origin = (1 - share) * neg.mean + share * pos.mean
    if not standardize:
        return origin, np.ones(len(origin))
    variance = neg.covariance + pos.covariance
    variance = np.diag(variance) if variance.ndim == 2 else variance
    return origin, np.where(variance > 0, np.sqrt(variance), 1.0)


def fourth_powers(X, positive, weight, neg, pos, scale) -> float:
    """``Σ w ‖(x − x̄_c)/s‖⁴/(n_c − 1)²`` over all rows, block by block.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, P)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,) or None
    neg, pos : Moments
        Of the classes, of which the rows may be a part.
    scale : ndarray of shape (P,)
        Units of the features.
    """
    total = 0.0
    step = max(_BLOCK_BYTES // (8 * X.shape[1]), 1)
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        block = X[part].toarray() if sparse.issparse(X) else X[part]
        own = positive[part]
        shares = np.ones(len(own)) if weight is None else weight[part]
        for moments, mask in ((neg, ~own), (pos, own)):
            z = (block[mask] - moments.mean) / scale
            square = np.einsum("ij,ij->i", z, z) / (moments.n - 1)
            total += float(shares[mask] @ square**2)
    return total
