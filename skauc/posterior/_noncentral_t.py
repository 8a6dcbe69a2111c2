"""Distribution of ``√2 Z = μR + √v N``, ``R = √(χ²_df/df)``, and mixtures of such Z.

``P(Z ≤ z)`` is a noncentral t probability. Here it is one trapezoidal rule over the
source that spreads less, R or N, the other one in closed form: then the integrand is
smooth, the error falls exponentially with the nodes, and neither large samples
(v → 0) nor separable data (μ → ∞) nor few degrees of freedom break it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, gammaln, ndtr

# Over R 97 nodes leave 5e-12 of the density at df = .01, rounding from .1 on; log χ²
# of even less freedom spreads so far that it wants more
_FEW_DF = 0.01
_STILL_DF = 1e40  # R = 1 ± 1e-20: one node is exact in float64, Z is normal
_NO_NORMAL = 1e-100  # √v/μ below which nothing but R is left of μR + √v N
_LOST = 1e-12  # share of a quantile's level that dropped components may hold


class ProbitDistribution:
    """Mixture of ``Z = (μR + √v N)/√2``; quadrature nodes are laid once.

    Parameters
    ----------
    weight, mu, root_v, df : ndarray of shape (n_components,)
        Weights of the components, ``μ = D√(df/q)``, √v and degrees of freedom.
    """

    def __init__(self, weight, mu, root_v, df):
        self._components = weight, mu, root_v, df
        # Var(μR) = μ²/(2 df) nearly: integrate over the source that spreads less
        over_chi = (root_v >= np.abs(mu) / np.sqrt(2 * df)) | (df > _STILL_DF)
        # Over N 97 nodes leave 1e-13 of P(Z ≤ z), and of the density 1e-8 in its tails
        # (df from 1e-10 to 100), with the edge at R = 0 inside or outside
        few, still = df < _FEW_DF, df > _STILL_DF
        self._parts = [
            quadrature(*(x[chosen] for x in self._components), nodes)
            for quadrature, chosen, nodes in (
                (_OverChi, over_chi & few, 257),
                (_OverChi, over_chi & ~few & ~still, 97),
                (_OverChi, over_chi & still, 1),
                (_OverNormal, ~over_chi, 97),
            )
            if chosen.any()
        ]

    def cdf(self, z) -> float:
        """``P(Z ≤ z)``."""
        if np.isinf(z):
            return float(z > 0)
        return float(min(sum(part.cdf(np.sqrt(2) * z) for part in self._parts), 1.0))

    def pdf(self, z) -> float:
        """Density of Z."""
        if np.isinf(z):
            return 0.0
        return float(np.sqrt(2) * sum(part.pdf(np.sqrt(2) * z) for part in self._parts))

    def quantile(self, level, start) -> float:
        """Z with ``P(Z ≤ z) = level``, by bracketing from a starting point."""
        # A component that is left out moves the probability by no more than its weight
        heavy = self._without_light_components(_LOST * level)

        def excess(z):
            return heavy.cdf(z) - level

        # Steps that double, from half a probit on, until the level lies between
        low = high = start
        step = 0.5
        while excess(low) > 0:
            low, step = low - step, 2 * step
        step = 0.5
        while excess(high) <= 0:
            high, step = high + step, 2 * step
        return brentq(excess, low, high, xtol=1e-12, rtol=1e-12)

    def _without_light_components(self, mass):
        weight = self._components[0]
        # From the lightest on, as long as they hold no more than the mass together
        order = np.argsort(weight)
        heavy = order[np.cumsum(weight[order]) > mass]
        return ProbitDistribution(*(x[heavy] for x in self._components))


def log_chi2_nodes(df, nodes):
    """``log(χ²_df/df)`` at the nodes of a trapezoidal rule, and their weights.

    The density of ``y = log(χ²/df)`` is ∝ exp(−(df/2)(e^y − 1 − y)). For small df it
    falls as e^{(df/2)y} to the left: ``y = w + 1 − e^{−w}`` makes that a fall as fast
    as the one to the right.

    Parameters
    ----------
    df : ndarray of shape (n_components,)
    nodes : int

    Returns
    -------
    y, weight : ndarray of shape (n_components, nodes)
    """
    # (df/2)(e^y − 1 − y) ≥ 40 at both ends y = −b and y = log(1 + b), b = c + √(2c),
    # (df/2)c = 40: there e^y − 1 − y ≥ c, as e^√(2c) ≥ 1 + √(2c) + c. |w| = log(1 + b)
    # reaches them: y ≥ w on the right and e^{−w} − 1 − w ≥ b on the left
    df = df[:, None]
    c = 80 / df
    w = np.log1p(c + np.sqrt(2 * c)) * np.linspace(-1, 1, nodes)
    # expm1: for large df all nodes are near 0
    y = w - np.expm1(-w)
    height = np.exp(-df / 2 * (np.expm1(y) - y)) * (1 + np.exp(-w))
    return y, height / height.sum(axis=1, keepdims=True)


class _OverChi:
    """Integrate over R, with the normal distribution in closed form."""

    def __init__(self, weight, mu, root_v, df, nodes):
        y, share = log_chi2_nodes(df, nodes)
        self._weight = weight[:, None] * share
        # μR = μ e^{y/2}; the normal part is added in closed form
        self._location = mu[:, None] * np.exp(y / 2)
        self._root_v = root_v[:, None]

    def cdf(self, x):
        values = ndtr((x - self._location) / self._root_v)
        return np.vdot(self._weight, values)

    def pdf(self, x):
        values = _normal_pdf((x - self._location) / self._root_v) / self._root_v
        return np.vdot(self._weight, values)


class _OverNormal:
    """Integrate over N, with the distribution of R in closed form.

    R ≥ 0 bounds ``N = x/√v − s, s = μR/√v``, by s ≥ 0, where the distribution of R
    starts as s^df. In t with ``s = log(1 + e^t)`` that is a tail e^{df t}, and for
    large s, where no bound is near, t is s.
    """

    def __init__(self, weight, mu, root_v, df, nodes):
        # −μR + √v N is the mirror image of μR + √v N
        self._weight, self._positive, self._df = weight, mu > 0, df[:, None]
        self._mu = np.abs(mu)[:, None]
        # μ is not 0 here, or R would spread less than N
        self._root_v = np.maximum(root_v[:, None], _NO_NORMAL * self._mu)
        self._even = np.linspace(0, 1, nodes)

    def _nodes(self, x):
        """``x/√v``, and N, s, R and the weights ds at the nodes of N."""
        edge = np.where(self._positive, x, -x)[:, None] / self._root_v
        # From nine standard deviations below 0, or the edge if that is lower, to nine
        # above, or across the edge to where φ(edge) e^t has fallen to e^−40 φ(0)
        low = np.minimum(edge, 0) - 9
        high = np.minimum(edge, 9) + (81 - np.clip(edge, 0, 9) ** 2) / 2
        t = edge - (low + (high - low) * self._even)
        # s = log(1 + e^t) = t + log(1 + e^{−t}): for either sign what cannot overflow
        beyond = np.log1p(np.exp(-np.abs(t)))
        s = np.maximum(t, 0) + beyond
        # N = edge − s, without their digits where both are large
        N = np.where(t > 0, low + (high - low) * self._even - beyond, edge - s)
        # ds = dt/(1 + e^{−t}) = e^{t − s} dt
        ds = (high - low) / (len(self._even) - 1) * np.exp(t - s)
        return edge, N, s, self._root_v * s / self._mu, ds

    @np.errstate(over="ignore")  # squares of what is far out
    def cdf(self, x):
        edge, N, _, r, ds = self._nodes(x)
        chi2, up = self._df * r**2, self._positive
        values = np.empty(r.shape)
        # P(μR ≤ y) is P(R ≤ r) for μ > 0 and P(R ≥ r) for μ < 0
        values[up] = chdtr(self._df[up], chi2[up])
        values[~up] = chdtrc(self._df[~up], chi2[~up])
        values = np.sum(_normal_pdf(N) * values * ds, axis=1)
        # For μ < 0 every R is allowed for N beyond the edge
        return self._weight @ (values + np.where(up, 0.0, ndtr(-edge[:, 0])))

    @np.errstate(over="ignore")
    def pdf(self, x):
        edge, N, s, r, ds = self._nodes(x)
        df = self._df
        # f_R(r) = 2 (df/2)^{df/2} r^{df−1} e^{−df r²/2}/Γ(df/2), as a sum of
        # logarithms: for large df every factor over- or underflows
        log_pdf = (df - 1) * np.log(r) - df * r**2 / 2
        log_pdf += df / 2 * np.log(df / 2) - gammaln(df / 2)
        f_R = 2 * np.exp(log_pdf) / self._mu
        total = np.sum(_normal_pdf(N) * f_R * ds, axis=1)
        # The density is E φ(edge − s)/√v over R. Where f_R has a pole the tail e^{df t}
        # is endless; φ(edge) e^{−s²/2} has the same one and a mean of closed form,
        # E e^{−s²/2} = (1 + μ²/(df v))^{−df/2}: only what differs is summed
        pole = np.flatnonzero(df < 1)
        if len(pole):
            edge, s, df, root_v = (z[pole] for z in (edge, s, df, self._root_v))
            twin = np.sum(np.exp(-(s**2) / 2) * f_R[pole] * ds[pole], axis=1)
            mean = np.exp(-df / 2 * np.log1p((self._mu[pole] / root_v) ** 2 / df))
            total[pole] += _normal_pdf(edge[:, 0]) * ((mean / root_v)[:, 0] - twin)
        return self._weight @ total


def _normal_pdf(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
