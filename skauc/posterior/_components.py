"""Mixture components ``Z = (D √(χ²_df/q) + √v N)/√2`` (sections 2, 3 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr, ndtri_exp, roots_legendre, stdtr

from ._tails import (
    OverChi,
    OverNormal,
    log_chi2_nodes,
    log_stdtr,
    root_chi2_moments,
)

# Nodes for the integral of section 5: the error of 32 is 6e-12, of 64 only rounding (t
# up to 30, df from 1 to ∞, compared with 400 nodes)
_LEGENDRE = roots_legendre(64)
_EPS = np.finfo(float).eps
_LOST = 1e-12  # dropped components hold at most this share of a quantile's level


@dataclass(frozen=True, eq=False)
class Components:
    """The distribution of ``Z = Φ⁻¹(AUC)``.

    Parameters
    ----------
    weight, D, v, q, df : ndarray of shape (n_components,)
        Weights that add up to 1; difference of the projected means, ``1/ν₀* + 1/ν₁*``,
        projected scatter and degrees of freedom of each component.
    """

    weight: np.ndarray
    D: np.ndarray
    v: np.ndarray
    q: np.ndarray
    df: np.ndarray

    @property
    def t(self) -> np.ndarray:
        """Argument of the Student CDF whose mixture is the mean of Φ(Z)."""
        # t = D/√((2 + v) q/df)
        return self.D / np.sqrt((2 + self.v) * self.q / self.df)

    @cached_property
    def _integrals(self):
        """Integrals of ``√2 Z = μR + √v N`` over R or N, whichever has less spread.

        The integrand is then smooth, so that the trapezoidal rule holds for large
        samples (v → 0) and for separable data (μ → ∞).
        """
        # μ = D√(df/q), R = √(χ²_df/df), and Var(μR) ≈ μ²/(2 df)
        mu, root_v = self.D * np.sqrt(self.df / self.q), np.sqrt(self.v)
        over_chi = root_v >= np.abs(mu) / np.sqrt(2 * self.df)
        given = self.weight, mu, root_v, self.df
        rules = (OverChi, over_chi), (OverNormal, ~over_chi)
        return [rule(*(a[at] for a in given)) for rule, at in rules if at.any()]

    def mirrored(self) -> Components:
        """The distribution of −Z."""
        return replace(self, D=-self.D)

    def cdf(self, z) -> float:
        """``P(Z ≤ z)``, a noncentral t probability."""
        if np.isinf(z):
            return float(z > 0)
        return float(min(sum(i.cdf(np.sqrt(2) * z) for i in self._integrals), 1.0))

    def pdf(self, z) -> float:
        """Density of Z."""
        if np.isinf(z):
            return 0.0
        return float(np.sqrt(2) * sum(i.pdf(np.sqrt(2) * z) for i in self._integrals))

    def quantile(self, level) -> float:
        """Z with ``P(Z ≤ z) = level``."""
        if level in (0.0, 1.0):
            return np.inf if level else -np.inf
        if level > 0.5:  # the upper tail by symmetry, without cancellation
            return -self.mirrored().quantile(1 - level)
        # dropping components changes the probability by at most their weight
        order = np.argsort(self.weight)
        heavy = order[np.cumsum(self.weight[order]) > _LOST * level]
        given = self.weight, self.D, self.v, self.q, self.df
        mixture, start, step = (
            Components(*(a[heavy] for a in given)),
            self.mean_probit(),
            0.5,
        )

        def excess(z):
            return mixture.cdf(z) - level

        while excess(start - step) > 0 or excess(start + step) < 0:
            step *= 2
        return brentq(excess, start - step, start + step, xtol=1e-12, rtol=1e-12)

    def mean(self) -> float:
        """``E Φ(Z)``, from the smaller of ``E Φ(Z)`` and ``E Φ(−Z)``."""
        # E Φ(Z) = Σ weight T_df(t),  E Φ(−Z) = Σ weight T_df(−t)
        below = self.weight @ stdtr(self.df, self.t)
        above = self.weight @ stdtr(self.df, -self.t)
        return float(below if below <= above else 1 - above)

    def mean_probit(self) -> float:
        """``Φ⁻¹(E Φ(Z))`` without saturating where the mean rounds to 0 or 1."""
        flip = self.mean() > 0.5
        # log Σ weight T_df(t) is finite where T_df underflows
        log_tail = log_stdtr(self.df, -self.t if flip else self.t)
        probit = ndtri_exp(logsumexp(log_tail, b=self.weight))
        return float(-probit if flip else probit)

    def variance(self) -> float:
        """``Var Φ(Z) = E Var(Φ(Z) | component) + Var E[Φ(Z) | component]``."""
        # Var Φ(−Z) = Var Φ(Z): take the smaller of the two means, which rounds less
        tail = self.mirrored() if self.mean() > 0.5 else self
        mean = stdtr(tail.df, tail.t)
        centre = self.weight @ mean
        # E Var(Φ(Z) | χ²) is the integral of section 5 from 0 to v/(2 + v)
        inside = tail._quadrant(np.arcsin(self.v / (2 + self.v)))
        inside = inside + tail._variance_of_chi2(mean)
        variance = self.weight @ (inside + (mean - centre) ** 2)
        # a spread below the distance of two floats is 0
        return float(variance) if variance > (_EPS * centre) ** 2 else 0.0

    def _variance_of_chi2(self, mean):
        """``Var E[Φ(Z) | χ²]`` of each component, given its mean."""
        # E[Φ(Z) | χ²] = Φ(t √(χ²/df))
        y, share = log_chi2_nodes(self.df)
        values = ndtr(self.t[:, None] * np.exp(y / 2))
        variance = np.sum(share * (values - mean[:, None]) ** 2, axis=1)
        # Φ² times the density of χ²/df peaks near 1/(1 + 2t²/df); where the nodes do
        # not reach this point, m(1 − m) − E[Φ(Z)Φ(−Z) | v = 0] is precise enough
        far = (self.t < 0) & (2 * np.log1p(2 * self.t**2 / self.df) > -y[:, 0])
        product = mean * stdtr(self.df, -self.t)
        rest = np.maximum(product - self._quadrant(np.pi / 2), 0.0)
        return np.where(far, rest, variance)

    def _quadrant(self, end):
        """Integral of section 5 from 0, with r = sin θ, which removes the root."""
        # ∫ (1 + 2t²/(df(1 + sin θ)))^(−df/2) dθ/2π
        nodes, weights = _LEGENDRE
        half = np.broadcast_to(end / 2, self.t.shape)
        theta = half[:, None] * (1 + nodes)
        df, t = self.df[:, None], self.t[:, None]
        # log1p: with the df = 1e100 of a normal component 1 + t²/df is 1
        power = np.exp(-df / 2 * np.log1p(2 * t**2 / df / (1 + np.sin(theta))))
        return half * (power @ weights) / (2 * np.pi)

    def component_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of Z in each component."""
        # E Z = D E[χ_df]/√(2q),   2 Var Z = D² Var[χ_df]/q + v
        root, spread = root_chi2_moments(self.df)
        mean = self.D * root / np.sqrt(2 * self.q)
        return mean, (self.D**2 * spread / self.q + self.v) / 2

    def moments(self) -> tuple[float, float]:
        """Mean and variance of Z."""
        mean, variance = self.component_moments()
        # Var Z = E[Var(Z | component)] + Var E[Z | component]
        centre = self.weight @ mean
        return float(centre), float(self.weight @ (variance + (mean - centre) ** 2))

    def draw(self, size, rng):
        """Draws of Φ(Z)."""
        share = self.weight / self.weight.sum()
        try:
            k = rng.choice(len(self.weight), size=size, p=share)
        except (TypeError, ValueError):
            raise ValueError(f"size must be a shape or None, got {size!r}") from None
        chi2 = rng.chisquare(self.df[k])
        normal = rng.standard_normal(size)
        # √2 Z = D √(χ²_df/q) + √v N
        z = self.D[k] * np.sqrt(chi2 / self.q[k]) + np.sqrt(self.v[k]) * normal
        return ndtr(z / np.sqrt(2))
