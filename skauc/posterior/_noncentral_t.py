"""Distribution of ``√2 Z = μR + √v N``, ``R = √(χ²_df/df)``, and mixtures of such Z.

``P(Z ≤ z)`` is a noncentral t probability. Here it is one trapezoidal rule over the
source that spreads less, R or N, the other one in closed form: then the integrand is
smooth, the error falls exponentially with the nodes, and neither large samples
(v → 0) nor separable data (μ → ∞) break it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, gammaln, ndtr

_FEW_DF = 8.0  # below, the density of log χ² is skewed and wants more nodes
_STILL_DF = 1e40  # R = 1 ± 1e-20: one node is exact in float64, Z is normal
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
        # Largest error of P(Z ≤ z), against 65537 nodes: 97 nodes 5e-12 (at df = 8,
        # less above); 257 nodes 1e-8 at df = 3, but 7e-5 at df = 1, where R has density
        # at 0: R ≥ 0 then cuts the integrand over N with an edge
        few, still = df < _FEW_DF, df > _STILL_DF
        self._parts = [
            quadrature(*(x[chosen] for x in self._components), nodes)
            for quadrature, side in ((_OverChi, over_chi), (_OverNormal, ~over_chi))
            for chosen, nodes in (
                (side & few, 257),
                (side & ~few & ~still, 97),
                (side & still, 1),
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


class _OverChi:
    """Integrate over R, with the normal distribution in closed form.

    With χ² = df·e^y the density in y is ∝ exp(−(df/2)(e^y − 1 − y)); both ends are
    bounded so that it has fallen below e^−40 there.
    """

    def __init__(self, weight, mu, root_v, df, nodes):
        # e^y − 1 − y ≥ c at y = √(2c), being above y²/2, and at y = −(c + √(2c)): there
        # the exponent is (df/2)c = 40
        c = 80 / df[:, None]
        y = -(c + np.sqrt(2 * c))
        y = y + (c + 2 * np.sqrt(2 * c)) * np.linspace(0, 1, nodes)
        # expm1: for large df all nodes y are near 0
        height = np.exp(-df[:, None] / 2 * (np.expm1(y) - y))
        self._weight = weight[:, None] * height / height.sum(axis=1, keepdims=True)
        # μR = μ e^{y/2}; the normal part is added in closed form
        self._location = mu[:, None] * np.exp(y / 2)
        self._root_v = root_v[:, None]

    def cdf(self, x):
        values = ndtr((x - self._location) / self._root_v)
        return np.vdot(self._weight, values)

    def pdf(self, x):
        argument = (x - self._location) / self._root_v
        values = np.exp(-(argument**2) / 2) / (np.sqrt(2 * np.pi) * self._root_v)
        return np.vdot(self._weight, values)


class _OverNormal:
    """Integrate over N, with the distribution of R in closed form."""

    def __init__(self, weight, mu, root_v, df, nodes):
        # Ten standard deviations: e^−50 of the density's height
        self._normal = 10 * np.linspace(-1, 1, nodes)
        height = np.exp(-(self._normal**2) / 2)
        self._weight = weight[:, None] * height / height.sum()
        self._mu, self._root_v, self._df = mu[:, None], root_v[:, None], df[:, None]

    def _r(self, x):
        # The R with μR + √v N = x; μ is not 0 here, or R would spread less than N
        return (x - self._root_v * self._normal) / self._mu

    def cdf(self, x):
        chi2 = self._df * np.maximum(self._r(x), 0) ** 2
        # P(μR ≤ y) is P(R ≤ r) for μ > 0 and P(R ≥ r) for μ < 0
        below, above = chdtr(self._df, chi2), chdtrc(self._df, chi2)
        return np.vdot(self._weight, np.where(self._mu > 0, below, above))

    def pdf(self, x):
        r, df = np.maximum(self._r(x), np.finfo(float).tiny), self._df
        # f_R(r) = 2 (df/2)^{df/2} r^{df−1} e^{−df r²/2}/Γ(df/2), as a sum of
        # logarithms: for large df every factor over- or underflows
        log_pdf = (df - 1) * np.log(r) - df * r**2 / 2 + df / 2 * np.log(df / 2)
        values = 2 * np.exp(log_pdf - gammaln(df / 2)) / np.abs(self._mu)
        return np.vdot(self._weight, values)
