"""Refits in the span of the rows: parameters α and b, ``w = Xᵀα``, ``z = Kα + b``.

With ``K = XXᵀ``, slope g and curvature ω of the weighted losses and ``r = λα + g``
Newton's step solves

    λΔα + ω∘(KΔα + Δb) = −r,   1ᵀ(α + Δα) = 0.

*By factors.* With ``s = √ω`` and ``D = λI + sKs`` (of the drawn rows; s is 0 elsewhere)
the matrix on the left, ``A = λI + diag(ω)K``, has ``A⁻¹ = (I − sD⁻¹sK)/λ`` and
``A⁻¹ω = sD⁻¹s``: a Cholesky factor of D a sample.

*By products.* Rows without curvature step by ``Δα₀ = −r/λ``, the others by s∘u,

    D u + s Δb = −r/s − sKΔα₀,   sᵀu = −1ᵀ(α + Δα₀).

Conjugate gradients take a product with K for all samples together an iteration. There
are few of them where the kernel is r directions V and a level τ beside them, as that of
many features is:

    K ≈ VVᵀ + τI,   M = λI + τω + sVVᵀs,   E = (λI + τω)⁻¹,
    M⁻¹ = E − EsV(I + VᵀsEsV)⁻¹VᵀsE.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..statistics._numerics import TINY

_RIDGE = 1e-11  # of the largest diagonal: K of centred rows is singular
_JITTER = 1e-14  # of the largest diagonal: rounding of the products
# Eigenvalues of the kernel beside their median: what stands out as a direction, how
# many rows there must be for each, and what is too small for a level. 20 samples of 60
# to 300 rows, 14 data sets, C from 10⁻⁴ to 10⁴: by products 1.2 to 4 times as fast with
# them; with 18 to 40 directions of 60 to 200 rows, or rows that stand three times, as
# fast or slower, and not always at an optimum.
_LEADS, _ROWS_A_DIRECTION, _NO_LEVEL = 4.0, 6, 1e-3
# And what is so large that rows left out tell what products leave along it: features
# far from the origin without a free intercept, or of one common size, 60 × 66 and
# 100 × 110, C = 100 and 10⁴: at 10⁴ to 5·10⁴ medians the AUC is right to 5e-4 and the
# time that of factors, from 3·10⁵ on it is off by up to .06 in 1.1 to 1.8 times that.
_DWARFS = 1e4
# Of the residual, in the norm of M⁻¹, what may be left: with .1 an AUC of 36 was off
# by 5e-5, with .03 none.
_LEFT = 0.03
_PRODUCTS = 20  # as long as a factorisation of 40 to 130 rows


def factor_of(K):
    """A Cholesky factor of the kernel: only for starts ``α = K⁻¹(z − b)``."""
    ridge = K + np.eye(len(K)) * (_RIDGE * K.diagonal().max() + TINY)
    return lapack.dpotrf(ridge.T, lower=1, overwrite_a=1, clean=0)[0]


@dataclass(frozen=True, eq=False)
class Leading:
    """``K ≈ VVᵀ + τI``.

    Parameters
    ----------
    V : ndarray of shape (n, r)
    squares : ndarray of shape (n, r * r)
        Products of any two columns of V.
    level : float
        τ.
    """

    V: np.ndarray
    squares: np.ndarray
    level: float

    @classmethod
    def of_kernel(cls, K):
        """None where many eigenvalues, or one by far, stand out from their median."""
        values, U = np.linalg.eigh(K)
        n, median = len(values), np.median(values)
        large, small = values > _LEADS * median, values < _NO_LEVEL * median
        # Centred rows have an eigenvalue of 0
        few = _ROWS_A_DIRECTION * large.sum() <= n and small.sum() <= 1
        if not few or values[-1] > _DWARFS * median:
            return None
        level = values[~large].mean()
        V = U[:, large] * np.sqrt(values[large] - level)
        squares = (V[:, :, None] * V[:, None]).reshape(n, -1)
        return cls(V, squares, float(level))

    def inverse(self, l2, curvature):
        """``x ↦ M⁻¹x`` of systems with these curvatures."""
        s, E = np.sqrt(curvature), 1 / (l2 + self.level * curvature)
        unit = np.eye(self.V.shape[1])
        # I + VᵀsEsV
        inside = unit + ((curvature * E) @ self.squares).reshape(len(s), *unit.shape)
        inside, Es = np.linalg.inv(inside), E * s

        def solve(x):
            y = inside @ ((Es * x) @ self.V)[:, :, None]
            return E * x - Es * (y[:, :, 0] @ self.V.T)

        return solve


def projected_gradients(D, near, right, s, missing):
    """Solve ``Du + sΔb = right``, ``sᵀu = missing``, of each row.

    Preconditioned conjugate gradients that never leave the constraint (Gould, Hribar &
    Nocedal 2001, https://doi.org/10.1137/S1064827598345667), until the residual is
    small beside the first or the products cost more than a factorisation.

    Parameters
    ----------
    D, near : callable
        ``u ↦ Du``, and about its inverse.
    right, s : ndarray of shape (k, n)
        s of 0: no constraint.
    missing : ndarray of shape (k,)

    Returns
    -------
    u : ndarray of shape (k, n)
    db : ndarray of shape (k,)
    """
    toward = near(s)
    size = _inner(s, toward) + TINY

    def divided(rest):  # what Δb takes, so that sᵀM⁻¹ of the rest is 0
        db = _inner(toward, rest) / size
        return rest - s * db[:, None], db

    u = toward * (missing / size)[:, None]
    rest, db = divided(right - D(u))
    along = scaled = near(rest)
    left = _inner(rest, scaled)
    enough = _LEFT**2 * left
    for _ in range(_PRODUCTS):
        if np.all(left <= enough):
            break
        bent = D(along)
        t = (left / (_inner(along, bent) + TINY))[:, None]
        u = u + t * along
        rest, more = divided(rest - t * bent)
        scaled, db = near(rest), db + more
        last, left = left, _inner(rest, scaled)
        along = scaled + (left / (last + TINY))[:, None] * along
    return u, db


def _inner(a, b):
    return np.einsum("kn,kn->k", a, b)


class RowSpace:
    """Parameters (α, b): ``w = Xᵀα``. The last entry is b, 0 unless it is free."""

    def __init__(self, K, root, l2, free, leading=None):
        self.K, self.root, self.l2, self.free = K, root, l2, free
        self.leading = leading

    @property
    def by_products(self):
        """Whether steps without a factorisation are worth a trial."""
        return self.leading is not None

    def system_size(self, counts):
        return np.count_nonzero(counts, axis=1).max() ** 2

    def start(self, fit, X, positive):
        """``α = K⁻¹(z − b)``: the fitted scores, whether at their optimum or not.

        ``−g/λ`` would be exact at the optimum, and anything elsewhere.
        """
        z = fit.scores(X)
        b = z.mean() if self.free else 0.0
        return np.append(lapack.dpotrs(self.root, z - b, lower=1)[0], b)

    def scores(self, theta):
        return theta[:, :-1] @ self.K + theta[:, -1:]

    def pull(self, theta, z):
        """``λKα``: what the penalty's product with α needs."""
        return self.l2 * (z - theta[:, -1:])

    def coefficients(self, theta, X, fit):
        """``w = X̃ᵀα`` and the intercept that goes with X."""
        alpha, b = theta[:-1], theta[-1]
        w = np.asarray(X.T @ alpha).ravel()
        if not self.free:
            # The kernel holds scaling² for the intercept's column: b = scaling² Σα
            return w, float(fit.intercept_scaling**2 * alpha.sum())
        mean = np.asarray(X.T @ np.full(len(alpha), 1 / len(alpha))).ravel()
        # w = Σ α_i (x_i − x̄), b of raw rows less x̄ᵀw
        w = w - alpha.sum() * mean
        return w, float(b - mean @ w)

    def inner(self, pull, theta):
        return np.einsum("kn,kn->k", pull, theta[:, :-1])

    def factors(self, curvature):
        """Of every system: drawn rows, s, Cholesky factor of D, ``A⁻¹ω = sD⁻¹s``."""
        found = np.empty(len(curvature), dtype=object)
        found[:] = [self._factor(row) for row in curvature]
        return found

    def _factor(self, curvature):
        on = np.flatnonzero(curvature > 0)
        s = np.sqrt(curvature[on])
        D = self.K.take(on, axis=0).take(on, axis=1)
        D *= s
        D *= s[:, None]
        # D = λI + sKs of the rows with curvature
        diagonal = D.reshape(-1)[:: len(on) + 1]
        diagonal += self.l2 + _JITTER * diagonal.max(initial=0.0)
        L, info = lapack.dpotrf(D.T, lower=1, overwrite_a=1, clean=0)
        # D = λI: the step is that of the gradient, Δα = −r/λ
        if info or not len(on):
            return on[:0], s[:0], L, s[:0]
        return on, s, L, s * lapack.dpotrs(L, s, lower=1)[0]

    def solve(self, factors, theta, g, curvature):
        """Newton's (Δα, Δb), by products for systems without a factorisation."""
        none = np.array([factor is None for factor in factors])
        if none.all():
            return self._by_products(theta, g, curvature)
        if not none.any():
            return self._by_factors(factors, theta, g)
        step = np.empty_like(theta)
        step[none] = self._by_products(theta[none], g[none], curvature[none])
        step[~none] = self._by_factors(factors[~none], theta[~none], g[~none])
        return step

    def _by_products(self, theta, g, curvature):
        alpha, bent, s = theta[:, :-1], curvature > 0, np.sqrt(curvature)
        r = self.l2 * alpha + g
        # Rows without curvature: Δα₀ = −r/λ, so written −α of rows that were not drawn
        flat = np.where(bent, 0.0, -alpha - g / self.l2)
        right = np.divide(-r, s, out=np.zeros_like(r), where=bent)
        if flat.any():  # not any more after a whole step
            right -= s * (flat @ self.K)

        def product(u):
            return self.l2 * u + s * ((s * u) @ self.K)

        near = self.leading.inverse(self.l2, curvature)
        # sᵀu = −1ᵀ(α + Δα₀) of a free intercept, 0 = 0 of none
        some = float(self.free)
        missing = -some * (alpha + flat).sum(axis=1)
        u, db = projected_gradients(product, near, right, some * s, missing)
        return np.column_stack([flat + s * u, db])

    def _by_factors(self, factors, theta, g):
        r = self.l2 * theta[:, :-1] + g
        Kr, down, db = r @ self.K, r, np.zeros(len(r))  # down becomes λA⁻¹r
        # λA⁻¹r = r − x with x = sD⁻¹s(Kr), and 1ᵀ(α + Δα) = 0 gives
        # λΔb = (λ1ᵀα − 1ᵀr + 1ᵀx)/(1ᵀ sD⁻¹s);  λΔα = −(r − x + λΔb sD⁻¹s)
        excess = theta[:, :-1].sum(axis=1) * self.l2 - r.sum(axis=1)
        for k, (on, s, L, toward) in enumerate(factors):
            if len(on) == 0:
                continue
            x = s * lapack.dpotrs(L, s * Kr[k].take(on), lower=1)[0]
            if self.free:
                db[k] = (excess[k] + x.sum()) / toward.sum()
                x -= db[k] * toward
            down[k, on] -= x
        return np.column_stack([down / -self.l2, db / self.l2])
