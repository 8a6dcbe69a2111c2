"""Few strong signals: a spike and a slab on correlation-adjusted differences.

Section 5 of :mod:`skauc.adaptive`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..statistics._numerics import TINY

# m moves by 5e-4 probits with 128 knots, by less than 5e-5 with 2048 (as for GAMMAS)
_KNOTS = 512


def power_of_covariance(power, ell, null, x, filtered) -> np.ndarray:
    """``Σ̂^p x = ℓ₀^p x + V diag(ℓ^p − ℓ₀^p) Vᵀx``.

    Parameters
    ----------
    power : float
        p.
    ell : ndarray of shape (r,) or (r, m)
        Of m covariances with the same eigenvectors a column each.
    null : float or ndarray of shape (m,)
        ℓ₀; 0 where there is no null space: then x is V a.
    x : ndarray of shape (P,)
    filtered : callable
        ``g -> V diag(g) Vᵀx``, (r,) to (P,) or (r, m) to (P, m): one product with the
        rows for P > n.

    Returns
    -------
    ndarray of shape (P,) or (P, m)
    """
    # Σ̂^p = V diag(ℓ^p) Vᵀ + ℓ₀^p (I − VVᵀ)
    if not np.any(null):
        return filtered(ell**power)
    root = null**power
    beside = filtered(ell**power - root)
    if np.ndim(root) == 0:
        return root * x + beside
    whole = np.empty((len(x), len(root)))
    for column, one in zip(whole.T, root, strict=True):
        np.multiply(x, one, out=column)  # faster than an outer product of few columns
    whole += beside
    return whole


@dataclass(frozen=True, eq=False)
class Knots:
    """Values at which functions of ω̂_j are computed, and where each ω̂_j lies.

    Sums ``Σ_j x_j f(ω̂_j)`` are taken of f interpolated between 512 knots, dense near
    0, where there are more features: then a function costs the same for any P. The
    error is below ``f'' 10⁻⁴/h`` where ``|ω̂|√h < 5``.

    Parameters
    ----------
    value : ndarray of shape (K,)
    order : ndarray of int of shape (P,), or None
        The features by the knot below; None where each has its own.
    above : ndarray of shape (P,)
        Share of the knot above, in that order.
    start, below : ndarray of int of shape (k,)
        Where another knot begins, and which.
    """

    value: np.ndarray
    order: np.ndarray | None
    above: np.ndarray
    start: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, omega, h) -> Knots:
        """Knots of P values; the values themselves where there are few."""
        if len(omega) <= _KNOTS:
            nothing = np.zeros(0, dtype=int)
            return cls(omega, None, np.zeros(0), nothing, nothing)
        # Even in asinh(√h ω): even near 0, in units of the noise, geometric far out
        low, high = (np.arcsinh(np.sqrt(h) * end) for end in (omega.min(), omega.max()))
        value = np.sinh(np.linspace(low, high, _KNOTS)) / np.sqrt(h)
        place = np.clip(np.searchsorted(value, omega) - 1, 0, _KNOTS - 2)
        step = np.maximum(value[place + 1] - value[place], TINY)
        above = np.clip((omega - value[place]) / step, 0, 1).astype(np.float32)
        order = np.argsort(place, kind="stable")
        start = np.flatnonzero(np.diff(place[order], prepend=-1))
        below = place[order[start]]
        return cls(value, order.astype(np.int32), above[order], start, below)

    def gather(self, x):
        """Weights (K,) of f at the knots whose sum is ``Σ_j x_j f(ω̂_j)``."""
        if self.order is None:
            return x
        # Σ_j x_j [(1 − above_j) f(knot_j) + above_j f(knot_{j+1})]; the last knot is
        # nobody's place. Of sorted features runs are summed in half of the time
        x = x.take(self.order)
        above = np.add.reduceat(x * self.above, self.start)
        sums = np.zeros(len(self.value))
        sums[self.below] = np.add.reduceat(x, self.start) - above
        sums[self.below + 1] += above
        return sums


@dataclass(frozen=True, eq=False)
class Slab:
    """Cells of (π, u) of one Σ̂.

    Parameters
    ----------
    knots : Knots
        Of ω̂ of the features that are not constant.
    h : float
        ``n₀n₁/n``.
    share, tau, log_evidence : ndarray of shape (n_cells,)
        π, τ, and the log evidence relative to no signal.
    cell_of_u : ndarray of int of shape (n_cells,)
        Which attainable AUC a cell has.
    """

    knots: Knots
    h: float
    share: np.ndarray
    tau: np.ndarray
    log_evidence: np.ndarray
    cell_of_u: np.ndarray

    def moments(self, cells) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and variance of ω at the knots, each (n_cells, K)."""
        share, tau = (x[cells][..., None] for x in (self.share, self.tau))
        noise, omega = 1 / self.h, self.knots.value
        k = tau / (tau + noise)
        # r = π N₁/((1 − π) N₀ + π N₁), in logarithms because either density underflows
        r = expit(_log_odds(share) + _log_ratio(omega, tau, noise))
        # E ω = r kω̂,   Var ω = r k/h + r(1 − r)(kω̂)²
        assumed = k * omega
        return r * assumed, r * k * noise + r * (1 - r) * assumed**2

    def posterior(self, cells) -> SlabPosterior:
        """What is known of ω in some cells."""
        return SlabPosterior(self.knots, *self.moments(np.asarray(cells)))


@dataclass(frozen=True, eq=False)
class SlabPosterior:
    """Posterior mean and variance of ω at the knots, each (n_cells, K)."""

    knots: Knots
    mean: np.ndarray
    variance: np.ndarray

    def difference(self, x_tilde) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and variance of xᵀδ in the cells; ``x̃ = Σ̂^{1/2}x``."""
        gather = self.knots.gather
        return self.mean @ gather(x_tilde), self.variance @ gather(x_tilde**2)


def slab(omega, h, probit) -> Slab:
    """Evidence of every (π, u).

    Parameters
    ----------
    omega : ndarray of shape (P,)
        ``Σ̂^{−1/2}d`` of the features that are not constant.
    h : float
    probit : ndarray of shape (n_u,)
        Φ⁻¹(u) of the attainable AUCs.

    Returns
    -------
    Slab
    """
    P = len(omega)
    # ½, ¼, … and the last one 1/(2P)
    shares = 2.0 ** -np.arange(1, int(np.log2(2 * P)) + 2)
    shares = np.unique(np.maximum(shares, 0.5 / P))  # at least half a feature
    share, u = (
        x.ravel() for x in np.meshgrid(shares, np.arange(len(probit)), indexing="ij")
    )
    # πPτ = 2Φ⁻¹(u)²
    tau = 2 * probit[u] ** 2 / (share * P)
    knots = Knots.of(omega, h)
    count = knots.gather(np.ones(P))
    # Σ_j log[1 − π + π N(ω̂_j; 0, τ + 1/h)/N(ω̂_j; 0, 1/h)], how often each knot counts,
    # is Σ_j [log(1 − π) + log(1 + e^x)], x the log odds that ω_j is of the slab
    odds = _log_odds(share)[:, None] + _log_ratio(knots.value, tau[:, None], 1 / h)
    # log(1 + e^x) = max(x, 0) + log(1 + e^−|x|), a fifth of the time of logaddexp
    log_sum = np.log1p(np.exp(-np.abs(odds)))
    log_sum += np.maximum(odds, 0.0)
    log_evidence = np.log1p(-share) * P + log_sum @ count
    return Slab(knots, h, share, tau, log_evidence, u)


def _log_ratio(omega, tau, noise):
    """``log N(ω̂; 0, τ + noise) − log N(ω̂; 0, noise)``."""
    # ½ω²(1/noise − 1/wide) − ½ log(wide/noise), whose near equal numbers would cancel
    curved = tau / (noise * (tau + noise))
    return omega**2 * (curved / 2) - np.log1p(tau / noise) / 2


def _log_odds(share):
    return np.log(share) - np.log1p(-share)
