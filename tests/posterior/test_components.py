"""The mixture that every posterior of the AUC is, against its definition."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from skauc.results import AUCPosterior

# √2 Z = D√(χ²/q) + √v N, of both signs, few and many degrees of freedom
NAMES = "weight", "D", "v", "q", "df"
MIXTURE = AUCPosterior.from_components(
    weight=[0.2, 0.5, 0.3],
    D=[-1.0, 2.0, 0.7],
    v=[0.3, 0.05, 1.2],
    q=[3.0, 40.0, 0.8],
    df=[2.5, 30.0, 4.0],
)


def over_chi2(function, mixture=MIXTURE):
    """Mean of ``f(D√(χ²/q), v)`` over components and χ²."""
    total = 0.0
    for w, D, v, q, df in zip(*map(vars(mixture).get, NAMES), strict=True):
        law = stats.chi2(df)
        total += (
            w
            * quad(
                lambda p, D=D, q=q, v=v, law=law: function(
                    D * np.sqrt(law.ppf(p) / q), v
                ),
                *(0, 1),
                epsabs=1e-11,
                limit=200,
            )[0]
        )
    return total


def test_mean_and_variance_of_the_auc_and_its_probit():
    mean = over_chi2(lambda m, v: ndtr(m / np.sqrt(2 + v)))
    assert MIXTURE.mean() == pytest.approx(mean, rel=1e-8)
    assert MIXTURE.swapped().mean() == pytest.approx(1 - mean, rel=1e-8)
    assert ndtr(MIXTURE.mean_probit()) == pytest.approx(mean, rel=1e-8)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    square = over_chi2(
        lambda m, v: weights @ ndtr((m + np.sqrt(v) * nodes) / np.sqrt(2)) ** 2
    )
    assert MIXTURE.var() == pytest.approx(square - mean**2, rel=1e-7)
    first = over_chi2(lambda m, v: m / np.sqrt(2))
    second = over_chi2(lambda m, v: (m**2 + v) / 2)
    assert MIXTURE.probit_moments() == pytest.approx(
        (first, second - first**2), rel=1e-7
    )


@pytest.mark.parametrize(
    "cell",
    [
        (6 * 2**0.5, 1e-6, 1e6, 1e6),
        (6.0, 1e-8, 1e5, 99999.0),
        (-3.0, 1e-6, 1e4, 1e4),
        (14.0, 1e-6, 100.0, 100.0),
        (8.0, 1e-3, 60.0, 60.0),
        (30.0, 0.2, 1.0, 24.0),
    ],
    ids=str,
)
def test_variance_has_its_digits_in_the_tail(cell):
    """``E Φ(−|Z|)² − m²`` by mpmath, where it is far below m = E Φ(−|Z|), too."""
    with mp.workdps(60):
        D, v, q, df = map(mp.mpf, cell)
        t = abs(D) / mp.sqrt((2 + v) * q / df)
        mean = mp.betainc(df / 2, 0.5, 0, df / (df + t**2), regularized=True) / 2

        def both_sides(theta):
            # P(N₁ ≤ Z, N₂ > Z): section 5 of the folder
            return (1 + 2 * t**2 / (df * (1 + mp.sin(theta)))) ** (-df / 2)

        start = mp.asin(v / (2 + v))
        both = mp.quad(both_sides, [start, 0.5, 1, mp.pi / 2]) / (2 * mp.pi)
        expected = float(mean - both - mean**2)
    got = AUCPosterior.from_components(*cell).var()
    # 1e-32 is the square of the distance of two floats near 1
    assert got == pytest.approx(expected, rel=1e-10, abs=1e-32)


def test_a_spread_below_neighbouring_numbers_is_that_of_a_point():
    """``φ(0)² v/2 = v/4π`` around one half, whose neighbour is 1e-16 away."""
    for v, expected in ((1e-28, 1e-28 / (4 * np.pi)), (1e-36, 0.0)):
        one = AUCPosterior.from_components(D=0.0, v=v, q=1.0, df=1.0)
        assert one.var() == pytest.approx(expected, rel=1e-6, abs=0)


# Almost all of the spread rides on χ²; μ = D√(df/q) below and above 1, and below 0.
ALMOST_CHI = AUCPosterior.from_components([0.5, 2.0, -0.7], 0.01, 5.0, 5.0, 1 / 3)


@pytest.mark.parametrize("mixture", [MIXTURE, ALMOST_CHI], ids=["normal", "chi"])
def test_quantiles_are_the_inverse(mixture):
    for level in (1e-9, 0.1, 0.5, 0.52, 0.9, 1 - 1e-9):
        z = ndtri(mixture.ppf(level))
        z = -ndtri(mixture.swapped().ppf(1 - level)) if z > 0 else z
        below = over_chi2(
            lambda m, v, z=z: ndtr((np.sqrt(2) * z - m) / np.sqrt(v)), mixture
        )
        assert below == pytest.approx(level, abs=1e-9)
    assert (mixture.ppf(0.0), mixture.ppf(1.0)) == (0, 1)
    assert (mixture.cdf(1), mixture.cdf(0)) == pytest.approx((1, 0), abs=1e-15)
