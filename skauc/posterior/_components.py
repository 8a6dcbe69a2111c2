"""Mixture components ``Z = (D √(χ²_df/q) + √v N)/√2`` (sections 2, 3, 5 and 6).

All degrees of freedom are 1 or more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special
from scipy.optimize import brentq

from ..statistics._levels import normal_pdf

# Nodes for the integral of section 5: the error of 32 is 6e-12, of 64 only rounding (t
# up to 30, df from 1 to ∞, compared with 400 nodes)
_LEGENDRE = special.roots_legendre(64)
# 48 nodes: the logarithm has a relative error below 1e-15 (df from 15 to 1e5, mpmath)
_LAGUERRE = special.roots_laguerre(48)
_UNDERFLOW = 1e-250  # a Student CDF below it is near the end of float64
_NODES = 97  # of the trapezoidal rule over R: they leave 1e-12 of a mean over R
_MOST_NODES = 2**18  # most nodes of all components together: 2 MB
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

    @property
    def mu(self) -> np.ndarray:
        """The factor of ``R = √(χ²_df/df)`` in ``√2 Z = μR + √v N``."""
        return self.D * np.sqrt(self.df / self.q)

    @cached_property
    def _normals(self):
        """Weights, means and deviations of normal distributions whose mixture is √2 Z.

        They are given R, at the nodes of a trapezoidal rule over R.
        """
        y, share = log_chi2_nodes(self.df)
        # near the mode of R the means μR move by so much from node to node; the sum
        # over nodes is smooth if N spreads at least twice as much
        gap = np.abs(self.mu) * np.diff(y)[:, _NODES // 2] / 2
        finest = max(_MOST_NODES // y.size, 1)
        width = np.maximum(np.sqrt(self.v), 2 * gap / finest)
        finer = int(np.ceil(np.max(2 * gap / width)))
        if finer > 1:
            y, share = log_chi2_nodes(self.df, finer * _NODES)
        weight = self.weight[:, None] * share
        return weight, self.mu[:, None] * np.exp(y / 2), width[:, None]

    def mirrored(self) -> Components:
        """The distribution of −Z."""
        return replace(self, D=-self.D)

    def cdf(self, z) -> float:
        """``P(Z ≤ z)``, a noncentral t probability."""
        weight, mean, deviation = self._normals
        below = np.vdot(weight, special.ndtr((np.sqrt(2) * z - mean) / deviation))
        return float(np.clip(below, 0, 1))

    def pdf(self, z) -> float:
        """Density of Z."""
        weight, mean, deviation = self._normals
        density = normal_pdf((np.sqrt(2) * z - mean) / deviation) / deviation
        return float(np.sqrt(2) * np.vdot(weight, density))

    def quantile(self, level) -> float:
        """Z with ``P(Z ≤ z) = level``."""
        if level in (0.0, 1.0):
            return np.inf if level else -np.inf
        if level > 0.5:  # the upper tail by symmetry, without cancellation
            return -self.mirrored().quantile(1 - level)
        # dropping components changes the probability by at most their weight
        heavy = self.weight > _LOST * level / len(self.weight)
        given = self.weight, self.D, self.v, self.q, self.df
        mixture = Components(*(a[heavy] for a in given))
        start, step = self.mean_probit(), 0.5

        def excess(z):
            return mixture.cdf(z) - level

        while excess(start - step) > 0 or excess(start + step) < 0:
            step *= 2
        return brentq(excess, start - step, start + step, xtol=1e-12, rtol=1e-12)

    def mean(self) -> float:
        """``E Φ(Z)``, from the smaller of ``E Φ(Z)`` and ``E Φ(−Z)``."""
        # E Φ(Z) = Σ weight T_df(t),  E Φ(−Z) = Σ weight T_df(−t)
        below = self.weight @ special.stdtr(self.df, self.t)
        above = self.weight @ special.stdtr(self.df, -self.t)
        return float(below if below <= above else 1 - above)

    def mean_probit(self) -> float:
        """``Φ⁻¹(E Φ(Z))`` without saturating where the mean rounds to 0 or 1."""
        flip = self.mean() > 0.5
        # log Σ weight T_df(t) is finite where T_df underflows
        log_tail = log_stdtr(self.df, -self.t if flip else self.t)
        probit = special.ndtri_exp(special.logsumexp(log_tail, b=self.weight))
        return float(-probit if flip else probit)

    def variance(self) -> float:
        """``Var Φ(Z) = E Var(Φ(Z) | component) + Var E[Φ(Z) | component]``."""
        # Var Φ(−Z) = Var Φ(Z): take the smaller of the two means, which rounds less
        tail = self.mirrored() if self.mean() > 0.5 else self
        mean = special.stdtr(tail.df, tail.t)
        centre = self.weight @ mean
        # E Var(Φ(Z) | χ²) is the integral of section 5 from 0 to v/(2 + v)
        inside = tail._quadrant(np.arcsin(self.v / (2 + self.v)))
        # Var E[Φ(Z) | χ²] of each component, with E[Φ(Z) | χ²] = Φ(t √(χ²/df))
        y, share = log_chi2_nodes(tail.df)
        values = special.ndtr(tail.t[:, None] * np.exp(y / 2))
        inside = inside + np.sum(share * (values - mean[:, None]) ** 2, axis=1)
        variance = self.weight @ (inside + (mean - centre) ** 2)
        # a spread below the distance of two floats is 0
        return float(variance) if variance > (_EPS * centre) ** 2 else 0.0

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

    def moments(self) -> tuple:
        """Mean and variance of Z."""
        weight, means, _ = self._normals
        mean = np.vdot(weight, means)
        # Var √2Z = Var E[√2Z | χ², component] + E v
        variance = np.vdot(weight, (means - mean) ** 2) + self.weight @ self.v
        return float(mean / np.sqrt(2)), float(variance / 2)

    def draw(self, size, rng):
        """Draws of Φ(Z)."""
        share = self.weight / self.weight.sum()
        k = rng.choice(len(self.weight), size=size, p=share)
        chi2 = rng.chisquare(self.df[k])
        normal = rng.standard_normal(size)
        # √2 Z = D √(χ²_df/q) + √v N
        z = self.D[k] * np.sqrt(chi2 / self.q[k]) + np.sqrt(self.v[k]) * normal
        return special.ndtr(z / np.sqrt(2))


def log_stdtr(df, t):
    """Log of the Student-t CDF; finite where the CDF itself underflows.

    Far left, ``T_df(t) = f(t) (t² + df)/2 ∫ e^{−y(df−1)/2}/√((t²+df)e^y − df) dy`` by
    Gauss–Laguerre.
    """
    df, t = np.broadcast_arrays(*np.atleast_1d(df, t))
    value = special.stdtr(df, t)
    out = np.log(np.maximum(value, np.finfo(float).tiny))
    out[t == -np.inf] = -np.inf
    far = (value < _UNDERFLOW) & np.isfinite(t)
    if far.any():
        df, t = df[far][:, None], np.abs(t[far])[:, None]
        nodes, weights = _LAGUERRE
        growth = np.expm1(2 * nodes / (df - 1))
        # ((t² + df) e^y − df)^(−½) = (1 + (1 + df/t²)(e^y − 1))^(−½) / t
        integral = ((1 + (1 + df / t**2) * growth) ** -0.5) @ weights
        # f(t) = (1 + t²/df)^{−(df + 1)/2}/(√df B(df/2, ½))
        log_pdf = -(df + 1) / 2 * np.log1p(t**2 / df) - special.betaln(df / 2, 0.5)
        # (t² + df)/2 · 2/(df − 1) · 1/t, with the nodes x = y(df − 1)/2
        factor = np.log(t + df / t) - np.log(df - 1) - np.log(df) / 2
        out[far] = (log_pdf + factor)[:, 0] + np.log(integral)
    return out


def log_chi2_nodes(df, n_nodes=_NODES):
    """``log(χ²_df/df)`` at the nodes of a trapezoidal rule, and their weights.

    The density of ``y = log(χ²/df)`` is ∝ exp(−(df/2)(e^y − 1 − y)). For small df it
    falls as e^{(df/2)y} to the left: ``y = w + 1 − e^{−w}`` makes that a fall as fast
    as the one to the right. Both results have shape (n_components, n_nodes).
    """
    # (df/2)(e^y − 1 − y) ≥ 40 at both ends y = −b and y = log(1 + b), b = c + √(2c),
    # (df/2)c = 40: there e^y − 1 − y ≥ c, as e^√(2c) ≥ 1 + √(2c) + c. |w| = log(1 + b)
    # reaches them: y ≥ w on the right and e^{−w} − 1 − w ≥ b on the left
    df = df[:, None]
    c = 80 / df
    w = np.log1p(c + np.sqrt(2 * c)) * np.linspace(-1, 1, n_nodes)
    # expm1: for large df all nodes are near 0
    y = w - np.expm1(-w)
    height = np.exp(-df / 2 * (np.expm1(y) - y)) * (1 + np.exp(-w))
    return y, height / height.sum(axis=1, keepdims=True)
