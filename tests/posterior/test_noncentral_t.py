"""``√2 Z = μR + √v N`` with any degrees of freedom, against its definition."""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from skauc import AUCPosterior
from skauc.posterior._noncentral_t import ProbitDistribution

DF = (1e-6, 0.01, 0.5, 1.0, 2.0, 3.0, 9.0)


def distribution(mu, root_v, df):
    return ProbitDistribution(*np.array([[1.0], [mu], [root_v], [df]]))


def below(x, mu, root_v, df):
    """``P(μR + √v N ≤ x)``: ∫ P(√v N ≤ x − μR) over the levels of R, by parts."""
    R = stats.chi(df, scale=df**-0.5)
    # dP(√v N ≤ x − μr)/dr · P(R ≤ r), around the place where μr = x and towards r = 0
    width = root_v / abs(mu)
    ends = x / mu + width * np.arange(-12, 12.1, 2)
    near = width * np.array([1e-9, 1e-6, 1e-3, 0.1, 0.5])
    ends = np.unique(np.maximum(np.concatenate([ends, near]), 0))

    def integrand(r):
        return stats.norm.pdf((x - mu * r) / root_v) / width * R.cdf(r)

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


@pytest.mark.parametrize("mu", [1.3, -0.7])
@pytest.mark.parametrize("share", [1e-3, 0.99, 2.0])
@pytest.mark.parametrize("df", DF)
def test_few_degrees_of_freedom(df, share, mu):
    """N spreads less than R (share < 1) or more; x on both sides of R = 0."""
    root_v = share * abs(mu) / np.sqrt(2 * df)
    Z = distribution(mu, root_v, df)
    for x in (*root_v * np.array([-4.0, 0.0, 0.5, 3.0, 9.5]), -0.4, 2.0):
        z = x / np.sqrt(2)
        assert Z.cdf(z) == pytest.approx(below(x, mu, root_v, df), abs=1e-10)
        # φ of 4 standard deviations is 1e-4; 1e-12 is far out on the empty side
        expected = np.sqrt(2) * density(x, mu, root_v, df)
        assert Z.pdf(z) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_one_degree_of_freedom_of_the_noncentral_t():
    one = AUCPosterior.from_cells(D=1, v=0.25, q=1, df=1)
    # P(D√χ² + √v N ≤ √2 z) = P((N − √2 z/√v)/√χ² ≤ −D/√v)
    z = np.array([-0.3, 0.0, 0.2, 0.8])
    with np.errstate(divide="ignore"):  # before SciPy 1.15
        expected = stats.nct.cdf(-2.0, 1, -2 * np.sqrt(2) * z)
    np.testing.assert_allclose(one.cdf(ndtr(z)), expected, atol=1e-10)


def test_the_tail_below_r_0_has_its_digits():
    """``P(μR + √v N ≤ x)`` far below 0, where only N can lead."""
    mu, root_v, df = 1.0, 0.1, 2.0
    for x in (-0.5, -1.5):
        # s = μR/√v: ∫ Φ(x/√v − s) f(s) ds with Φ ≈ e^{−112} at s = 0
        expected = quad(
            lambda s, x=x: (
                np.exp(stats.norm.logcdf(x / root_v - s) + 312)
                * stats.chi(df, scale=df**-0.5).pdf(root_v * s / mu)
                * (root_v / mu)
            ),
            *(0, 3),
            epsabs=0,
            epsrel=1e-10,
        )[0] * np.exp(-312.0)
        got = distribution(mu, root_v, df).cdf(x / np.sqrt(2))
        # e^{xs/√v} varies faster than the nodes are laid for: 8 digits are left
        assert got == pytest.approx(expected, rel=1e-7, abs=0)


def test_no_normal_part_leaves_r_alone():
    R = stats.chi(3.0, scale=3**-0.5)
    Z = distribution(2.0, 0.0, 3.0)
    for r in (0.1, 0.8, 2.0):
        assert Z.cdf(2 * r / np.sqrt(2)) == pytest.approx(R.cdf(r), rel=1e-10)
        expected = R.pdf(r) / np.sqrt(2)
        assert Z.pdf(2 * r / np.sqrt(2)) == pytest.approx(expected, rel=1e-10)
    assert Z.cdf(-1.0) == Z.pdf(-1.0) == 0
