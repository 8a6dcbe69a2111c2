"""Student and χ tails with all their digits."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, gammaln, roots_laguerre, stdtr

from ..statistics._numerics import TINY

# 48 nodes: the logarithm has a relative error below 1e-15 (df from 15 to 1e5, mpmath)
_LAGUERRE = roots_laguerre(48)
_LARGE_DF = 100.0  # both forms of the variance of √χ² have 11 digits here
# ½ − 1/(8 df) − 1/(16 df²) + …: see root_chi2_moments
_ROOT_CHI2_VARIANCE = (1 / 2, -1 / 8, -1 / 16, 5 / 128, 23 / 256, -53 / 1024)
_UNDERFLOW = 1e-250  # a Student CDF below it is near the end of float64
_LOG_POWER = 40.0  # (df/t²) e^{…} < e^−80: beyond it the power of t is all there is


def root_chi2_moments(df):
    """Mean and variance of ``√χ²_df`` of each of an array of df.

    ``m = √2 Γ((df + 1)/2)/Γ(df/2)`` and ``df − m²``. For large df the logarithms of
    both gammas, and then df and m², agree in more digits than there are; the expansion
    of their ratio (Tricomi & Erdélyi 1951), squared, has them all:
    ``m² = df − ½ + 1/(8 df) + 1/(16 df²) − …``.
    """
    large = np.maximum(df, _LARGE_DF)
    variance = 0.0
    for coefficient in reversed(_ROOT_CHI2_VARIANCE):  # Horner's scheme
        variance = variance / large + coefficient
    mean = np.sqrt(large - variance)
    few = df < _LARGE_DF
    if few.any():  # of a mixture it may be one component
        small = df[few]
        # m = √2 Γ((df + 1)/2)/Γ(df/2)
        root = np.sqrt(2) * np.exp(gammaln((small + 1) / 2) - gammaln(small / 2))
        mean[few], variance[few] = root, small - root**2
    return mean, variance


def log_stdtr(df, t):
    """Log of the Student-t CDF; finite where the CDF itself underflows.

    Far left, ``T_df(t) = f(t) (t² + df)/2 ∫ e^{−y(df−1)/2}/√((t²+df)e^y − df) dy`` by
    Gauss–Laguerre; where t² dwarfs df, its leading term ``∝ |t|^−df``.
    """
    df, t = np.broadcast_arrays(*np.atleast_1d(df, t))
    value = stdtr(df, np.maximum(t, -1e100))
    out = np.log(np.maximum(value, TINY))
    out[t == -np.inf] = -np.inf
    with np.errstate(divide="ignore"):
        log_t = np.log(-np.minimum(t, 0.0))
    power = (log_t > 0.5 * np.log(df) + _LOG_POWER) & np.isfinite(log_t)
    # T_df(t) ≈ df^{df/2 − 1} |t|^{−df}/B(df/2, ½), as t² + df is t² in float64
    lead = df[power] / 2 * np.log(df[power]) - df[power] * log_t[power]
    out[power] = lead - np.log(df[power]) - betaln(df[power] / 2, 0.5)
    # Here |t|^−df < 1e-250 with |t| < e^40 √df: df > 14, so that df − 1 below is not 0
    far = (value < _UNDERFLOW) & ~power & np.isfinite(t)
    if far.any():
        df, t = df[far][:, None], np.abs(t[far])[:, None]
        nodes, weights = _LAGUERRE
        growth = np.expm1(2 * nodes / (df - 1))
        # ((t² + df) e^y − df)^(−½) = (1 + (1 + df/t²)(e^y − 1))^(−½) / t
        integral = ((1 + (1 + df / t**2) * growth) ** -0.5) @ weights
        # f(t) = (1 + t²/df)^{−(df + 1)/2}/(√df B(df/2, ½))
        log_pdf = -(df + 1) / 2 * np.log1p(t**2 / df) - betaln(df / 2, 0.5)
        log_pdf = log_pdf - np.log(df) / 2
        # (t² + df)/2 · 2/(df − 1) · 1/t, with the nodes x = y(df − 1)/2
        factor = np.log(t + df / t) - np.log(df - 1)
        out[far] = (log_pdf + factor)[:, 0] + np.log(integral)
    return out
