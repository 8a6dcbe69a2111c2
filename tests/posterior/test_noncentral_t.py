"""``√2 Z = μR + √v N`` with any degrees of freedom, against its definition."""

from itertools import pairwise
from math import exp, pi, sqrt

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammainc, ndtr

from skauc.results import AUCPosterior

DF = (1.0, 2.0, 3.0, 9.0)


def distribution(mu, root_v, df):
    # μ = D√(df/q)
    return AUCPosterior.from_components(D=mu, v=root_v**2, q=df, df=df)


def below(x, mu, root_v, df):
    """``P(μR + √v N ≤ x)``: ∫ P(√v N ≤ x − μR) over the levels of R, by parts."""
    # dP(√v N ≤ x − μr)/dr · P(R ≤ r), around the place where μr = x and towards r = 0
    width = root_v / abs(mu)
    ends = x / mu + width * np.arange(-12, 12.1, 2)
    near = width * np.array([1e-9, 1e-6, 1e-3, 0.1, 0.5])
    ends = np.unique(np.maximum(np.concatenate([ends, near]), 0))

    def integrand(r):
        normal = exp(-(((x - mu * r) / root_v) ** 2) / 2) / sqrt(2 * pi) / width
        return normal * gammainc(df / 2, df * r**2 / 2)  # R² is χ²/df

    parts = [
        quad(integrand, *pair, epsabs=1e-14, epsrel=1e-11)[0] for pair in pairwise(ends)
    ]
    # ∫ P(√v N ≤ x − μr) dF(r) = [F Φ] + sign(μ) ∫ φ F
    return sum(parts) if mu > 0 else 1 - sum(parts)


def density(x, mu, root_v, df):
    """∝ ∫ s^{df−1} e^{−(x/√v − s)²/2 − df v s²/(2μ²)} ds, a parabolic cylinder D."""
    with mp.workdps(50):
        mu, root_v, df, x = map(mp.mpf, (mu, root_v, df, x))
        edge, rho = mp.sign(mu) * x / root_v, root_v / abs(mu)
        width = 1 + df * rho**2
        z = edge / mp.sqrt(width)
        height = 2 * (df / 2) ** (df / 2) / mp.gamma(df / 2) * rho ** (df - 1)
        height *= mp.exp(z**2 / 4 - edge**2 / 2) / mp.sqrt(2 * mp.pi) / abs(mu)
        whole = mp.gamma(df) * mp.pcfd(-df, -z) * width ** (-df / 2)
        return float(height * whole)


@pytest.mark.parametrize("share", [1e-3, 0.99, 2.0])
@pytest.mark.parametrize("df", DF)
def test_few_degrees_of_freedom(df, share):
    """N spreads less than R (share < 1) or more; x on both sides of R = 0."""
    for mu in [1.3, -0.7]:
        root_v = share * abs(mu) / np.sqrt(2 * df)
        posterior = distribution(mu, root_v, df)
        for x in (*root_v * np.array([-4.0, 0.0, 0.5, 3.0, 9.5]), -0.4, 2.0):
            # a probit z > 0 by the other tail of the swapped classes
            z, law = -abs(x) / np.sqrt(2), posterior if x < 0 else posterior.swapped()
            cdf = law.cdf(ndtr(z)) if x < 0 else 1 - law.cdf(ndtr(z))
            assert cdf == pytest.approx(below(x, mu, root_v, df), abs=1e-10)
            # φ of 4 standard deviations is 1e-4; 1e-12 is far out on the empty side
            expected = np.sqrt(2) * density(x, mu, root_v, df)
            pdf = law.pdf(ndtr(z)) * stats.norm.pdf(z)
            assert pdf == pytest.approx(expected, rel=1e-8, abs=1e-12)
