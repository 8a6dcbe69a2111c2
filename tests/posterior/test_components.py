"""The mixture that every posterior of the AUC is, against its definition."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from skauc.posterior._components import Components

# √2 Z = D√(χ²/q) + √v N, of both signs, few and many degrees of freedom
MIXTURE = Components(
    weight=np.array([0.2, 0.5, 0.3]),
    D=np.array([-1.0, 2.0, 0.7]),
    v=np.array([0.3, 0.05, 1.2]),
    q=np.array([3.0, 40.0, 0.8]),
    df=np.array([2.5, 30.0, 4.0]),
)


def over_chi2(function, mixture=MIXTURE):
    """Mean of ``f(D√(χ²/q), v)`` over components and χ²."""
    total = 0.0
    for w, D, v, q, df in zip(*vars(mixture).values(), strict=True):
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
    assert MIXTURE.mirrored().mean() == pytest.approx(1 - mean, rel=1e-8)
    assert ndtr(MIXTURE.mean_probit()) == pytest.approx(mean, rel=1e-8)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    square = over_chi2(
        lambda m, v: weights @ ndtr((m + np.sqrt(v) * nodes) / np.sqrt(2)) ** 2
    )
    assert MIXTURE.variance() == pytest.approx(square - mean**2, rel=1e-7)
    first = over_chi2(lambda m, v: m / np.sqrt(2))
    second = over_chi2(lambda m, v: (m**2 + v) / 2)
    assert MIXTURE.moments() == pytest.approx((first, second - first**2), rel=1e-7)


@pytest.mark.parametrize(
    "cell",
    [
        (6 * 2**0.5, 1e-6, 1e6, 1e6),
        (6.0, 1e-8, 1e5, 99999.0),
        (-3.0, 1e-6, 1e4, 1e4),
        (14.0, 1e-6, 100.0, 100.0),
        (8.0, 1e-3, 60.0, 60.0),
        (30.0, 0.2, 1.0, 24.0),
        (3.0, 1e-3, 0.2, 0.5),
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
    got = Components(*np.array([[1.0], *([x] for x in cell)])).variance()
    assert got == pytest.approx(expected, rel=1e-10, abs=0)


def test_a_spread_below_neighbouring_numbers_is_that_of_a_point():
    """``φ(0)² v/2 = v/4π`` around one half, whose neighbour is 1e-16 away."""
    for v, expected in ((1e-28, 1e-28 / (4 * np.pi)), (1e-36, 0.0)):
        one = Components(*np.array([[1.0], [0.0], [v], [1.0], [1.0]]))
        assert one.variance() == pytest.approx(expected, rel=1e-6, abs=0)


def test_a_mean_never_exceeds_1():
    weight = np.array([0.1, 0.7, 0.2])[[1, 2, 0]]
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1], [0, 2, 1], [1, 2, 0]):
        for extra in np.spacing(1.0) * np.arange(3):
            parts = weight[order] + np.array([extra, 0, 0])
            sure = Components(
                parts, *np.array([[1e3], [1.0], [1.0], [9.0]]).repeat(3, 1)
            )
            assert sure.mean() <= 1


@pytest.mark.parametrize("scale", [0.7, 1.0, 2.5])
@pytest.mark.parametrize("target", [-0.8, 0.1, 1.3])
def test_every_component_is_shifted_and_scaled(target, scale):
    wide = Components(
        MIXTURE.weight, MIXTURE.D, MIXTURE.v + 40.0, MIXTURE.q, MIXTURE.df
    )
    moved = wide.with_mean_and_scale(target, scale)
    assert moved.mean_probit() == pytest.approx(target, abs=1e-12)
    mean, variance = wide.cell_moments()
    got, spread = moved.cell_moments()
    np.testing.assert_allclose(spread, scale**2 * variance, rtol=1e-12)
    shift = got - scale * mean
    np.testing.assert_allclose(shift, shift[0], rtol=1e-9, atol=1e-12)


def test_a_hundredth_of_the_normal_part_stays():
    """Where χ² alone makes more than the wanted spread."""
    one = Components(*np.array([[1.0], [0.1], [0.001], [5.0], [5.0]]))
    moved = one.with_mean_and_scale(3.0, 0.5)
    assert moved.v[0] == pytest.approx(0.01 * 0.5**2 * 0.001, rel=1e-12)
    assert moved.mean_probit() == pytest.approx(3, abs=1e-12)


# Almost all of the spread rides on χ²; μ = D√(df/q) below and above 1, and below 0.
ALMOST_CHI = Components(*np.array([[1 / 3], [0.5], [0.01], [5.0], [5.0]]).repeat(3, 1))
ALMOST_CHI.D[:] = 0.5, 2.0, -0.7


@pytest.mark.parametrize("mixture", [MIXTURE, ALMOST_CHI], ids=["normal", "chi"])
def test_quantiles_are_the_inverse(mixture):
    for level in (1e-9, 0.1, 0.5, 0.52, 0.9, 1 - 1e-9):
        z = mixture.quantile(level)
        below = over_chi2(
            lambda m, v, z=z: ndtr((np.sqrt(2) * z - m) / np.sqrt(v)), mixture
        )
        assert below == pytest.approx(level, abs=1e-9)
    assert (mixture.quantile(0.0), mixture.quantile(1.0)) == (-np.inf, np.inf)
    assert mixture.distribution.cdf(np.inf) == 1
    assert mixture.distribution.cdf(-np.inf) == 0
    assert mixture.distribution.pdf(np.inf) == 0


def test_draws_follow_the_distribution():
    draws = MIXTURE.draw(20_000, np.random.default_rng(0))
    for z in (-1.0, 0.0, 0.5, 1.5):
        expected = over_chi2(lambda m, v, z=z: ndtr((np.sqrt(2) * z - m) / np.sqrt(v)))
        assert np.mean(draws <= ndtr(z)) == pytest.approx(expected, abs=0.015)
