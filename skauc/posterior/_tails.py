"""Tails of Student, noncentral t and χ distributions in full precision (section 6).

All degrees of freedom are 1 or more.
"""

from __future__ import annotations

import numpy as np
from scipy.special import (
    betaln,
    chdtr,
    chdtrc,
    gammaln,
    ndtr,
    roots_laguerre,
    stdtr,
    xlogy,
)

from ..statistics._numerics import TINY

# They leave 1e-12 of P(Z ≤ z) over either source, and 1e-8 of the density's tails
_NODES = 97
_NO_NORMAL = 1e-100  # √v/μ below which only R is left of μR + √v N
# 48 nodes: the logarithm has a relative error below 1e-15 (df from 15 to 1e5, mpmath)
_LAGUERRE = roots_laguerre(48)
_UNDERFLOW = 1e-250  # a Student CDF below it is near the end of float64
_LARGE_DF = 100.0  # both forms of the variance of √χ² have 11 digits here
# ½ − 1/(8 df) − 1/(16 df²) + …: see root_chi2_moments
_ROOT_CHI2_VARIANCE = (1 / 2, -1 / 8, -1 / 16, 5 / 128, 23 / 256, -53 / 1024)


def root_chi2_moments(df):
    """Mean and variance of ``√χ²_df``, elementwise.

    ``m = √2 Γ((df + 1)/2)/Γ(df/2)`` and ``df − m²``, which cancels for large df; there
    the expansion of the squared ratio (Tricomi & Erdélyi 1951) is used,
    ``m² = df − ½ + 1/(8 df) + 1/(16 df²) − …``.
    """
    large = np.maximum(df, _LARGE_DF)
    variance = np.polyval(_ROOT_CHI2_VARIANCE[::-1], 1 / large)
    small = np.minimum(df, _LARGE_DF)
    root = np.sqrt(2) * np.exp(gammaln((small + 1) / 2) - gammaln(small / 2))
    few = df < _LARGE_DF
    mean = np.where(few, root, np.sqrt(large - variance))
    return mean, np.where(few, small - root**2, variance)


def log_stdtr(df, t):
    """Log of the Student-t CDF; finite where the CDF itself underflows.

    Far left, ``T_df(t) = f(t) (t² + df)/2 ∫ e^{−y(df−1)/2}/√((t²+df)e^y − df) dy`` by
    Gauss–Laguerre.
    """
    df, t = np.broadcast_arrays(*np.atleast_1d(df, t))
    value = stdtr(df, t)
    out = np.log(np.maximum(value, TINY))
    out[t == -np.inf] = -np.inf
    far = (value < _UNDERFLOW) & np.isfinite(t)
    if far.any():
        df, t = df[far][:, None], np.abs(t[far])[:, None]
        nodes, weights = _LAGUERRE
        growth = np.expm1(2 * nodes / (df - 1))
        # ((t² + df) e^y − df)^(−½) = (1 + (1 + df/t²)(e^y − 1))^(−½) / t
        integral = ((1 + (1 + df / t**2) * growth) ** -0.5) @ weights
        # f(t) = (1 + t²/df)^{−(df + 1)/2}/(√df B(df/2, ½))
        log_pdf = -(df + 1) / 2 * np.log1p(t**2 / df) - betaln(df / 2, 0.5)
        # (t² + df)/2 · 2/(df − 1) · 1/t, with the nodes x = y(df − 1)/2
        factor = np.log(t + df / t) - np.log(df - 1) - np.log(df) / 2
        out[far] = (log_pdf + factor)[:, 0] + np.log(integral)
    return out


def log_chi2_nodes(df):
    """``log(χ²_df/df)`` at the nodes of a trapezoidal rule, and their weights.

    The density of ``y = log(χ²/df)`` is ∝ exp(−(df/2)(e^y − 1 − y)). For small df it
    falls as e^{(df/2)y} to the left: ``y = w + 1 − e^{−w}`` makes that a fall as fast
    as the one to the right. Both results have shape (n_components, 97).
    """
    # (df/2)(e^y − 1 − y) ≥ 40 at both ends y = −b and y = log(1 + b), b = c + √(2c),
    # (df/2)c = 40: there e^y − 1 − y ≥ c, as e^√(2c) ≥ 1 + √(2c) + c. |w| = log(1 + b)
    # reaches them: y ≥ w on the right and e^{−w} − 1 − w ≥ b on the left
    df = df[:, None]
    c = 80 / df
    w = np.log1p(c + np.sqrt(2 * c)) * np.linspace(-1, 1, _NODES)
    # expm1: for large df all nodes are near 0
    y = w - np.expm1(-w)
    height = np.exp(-df / 2 * (np.expm1(y) - y)) * (1 + np.exp(-w))
    return y, height / height.sum(axis=1, keepdims=True)


class OverChi:
    """Integrate ``μR + √v N`` over R, with the normal distribution in closed form."""

    def __init__(self, weight, mu, root_v, df):
        y, share = log_chi2_nodes(df)
        self._weight, self._root_v = weight[:, None] * share, root_v[:, None]
        self._location = mu[:, None] * np.exp(y / 2)  # μR

    def cdf(self, x):
        return np.vdot(self._weight, ndtr((x - self._location) / self._root_v))

    def pdf(self, x):
        density = normal_pdf((x - self._location) / self._root_v) / self._root_v
        return np.vdot(self._weight, density)


class OverNormal:
    """Integrate ``μR + √v N`` over N, with the distribution of R in closed form.

    R ≥ 0 bounds ``N = x/√v − s, s = μR/√v``, by s ≥ 0, where the distribution of R
    starts as s^df. In t with ``s = log(1 + e^t)`` that is a tail e^{df t}, and for
    large s, where no bound is near, t is s.
    """

    def __init__(self, weight, mu, root_v, df):
        # −μR + √v N is the mirror image of μR + √v N
        self._weight, self._positive = weight, mu > 0
        self._mu, self._df = np.abs(mu)[:, None], df[:, None]
        # μ is not 0 here, or R would spread less than N
        self._root_v = np.maximum(root_v[:, None], _NO_NORMAL * self._mu)

    def _nodes(self, x):
        """``x/√v``, and N, R and the weights ds at the nodes of N."""
        edge = np.where(self._positive, x, -x)[:, None] / self._root_v
        # From nine standard deviations below 0, or the edge if that is lower, to nine
        # above, or across the edge to where φ(edge) e^t has fallen to e^−40 φ(0)
        low = np.minimum(edge, 0) - 9
        high = np.minimum(edge, 9) + (81 - np.clip(edge, 0, 9) ** 2) / 2
        at = low + (high - low) * np.linspace(0, 1, _NODES)
        t = edge - at
        # s = log(1 + e^t) = t + log(1 + e^{−t}), which does not overflow
        beyond = np.log1p(np.exp(-np.abs(t)))
        s = np.maximum(t, 0) + beyond
        # N = edge − s, which would cancel where both are large
        N = np.where(t > 0, at - beyond, edge - s)
        # ds = dt/(1 + e^{−t}) = e^{t − s} dt
        ds = (high - low) / (_NODES - 1) * np.exp(t - s)
        return edge, N, self._root_v * s / self._mu, ds

    @np.errstate(over="ignore")  # squares of distant thresholds
    def cdf(self, x):
        edge, N, r, ds = self._nodes(x)
        chi2, up = self._df * r**2, self._positive[:, None]
        # P(μR ≤ y) is P(R ≤ r) for μ > 0 and P(R ≥ r) for μ < 0
        values = np.where(up, chdtr(self._df, chi2), chdtrc(self._df, chi2))
        values = np.sum(normal_pdf(N) * values * ds, axis=1)
        # For μ < 0 every R is allowed for N beyond the edge
        return self._weight @ (values + np.where(up, 0.0, ndtr(-edge))[:, 0])

    @np.errstate(over="ignore", divide="ignore")
    def pdf(self, x):
        _, N, r, ds = self._nodes(x)
        df = self._df
        # f_R(r) = 2 (df/2)^{df/2} r^{df−1} e^{−df r²/2}/Γ(df/2), as a sum of
        # logarithms: for large df every factor over- or underflows
        log_pdf = xlogy(df - 1, r) - df * r**2 / 2
        log_pdf += df / 2 * np.log(df / 2) - gammaln(df / 2)
        density = 2 * np.exp(log_pdf) / self._mu
        return self._weight @ np.sum(normal_pdf(N) * density * ds, axis=1)


def normal_pdf(x):
    """``φ(x)``."""
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
