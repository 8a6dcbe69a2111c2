"""A normal probit against scipy, mpmath and simulation."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from skauc.results import AUCPosterior

CASES = [(0.8, 0.04), (-0.3, 1.5), (0.0, 1e-6), (6.0, 0.3), (1.2, 25.0)]
cases = pytest.mark.parametrize(("mean_probit", "variance"), CASES)


def probit(mean_probit, variance):
    """Z, whose Φ has the wanted mean."""
    return stats.norm(mean_probit * np.sqrt(1 + variance), np.sqrt(variance))


def integral(function, mean_probit, variance):
    """``E function(Z)`` by mpmath."""
    with mp.workdps(30):
        s = mp.sqrt(variance)
        m = mp.mpf(mean_probit) * mp.sqrt(1 + mp.mpf(variance))
        ends = [m + k * s for k in range(-16, 17)]
        return mp.quad(lambda z: function(z) * mp.npdf(z, m, s), ends)


@pytest.mark.slow
@cases
def test_mean_and_variance(mean_probit, variance):
    posterior = AUCPosterior.normal(mean_probit, variance)
    mean = integral(mp.ncdf, mean_probit, variance)
    rest = integral(lambda z: mp.ncdf(-z), mean_probit, variance)
    square = integral(lambda z: (mp.ncdf(z) - mean) ** 2, mean_probit, variance)
    assert posterior.mean() == pytest.approx(float(mean), rel=1e-12)
    assert posterior.swapped().mean() == pytest.approx(float(rest), rel=1e-11)
    assert posterior.mean_probit() == pytest.approx(mean_probit, rel=1e-11, abs=1e-13)
    # the variance is a difference: its absolute error is that of mean · (1 − mean)
    assert posterior.var() == pytest.approx(float(square), rel=1e-9, abs=1e-15)


@cases
def test_distribution_and_quantiles(mean_probit, variance):
    posterior = AUCPosterior.normal(mean_probit, variance)
    Z = probit(mean_probit, variance)
    levels = np.array([1e-8, 0.025, 0.5, 0.8, 1 - 1e-4])
    z = Z.ppf(levels)
    inside = (np.abs(z) < 5) & (np.abs(z) > 0)  # Φ keeps the digits of z there
    x = stats.norm.cdf(z[inside])
    np.testing.assert_allclose(posterior.ppf(levels), stats.norm.cdf(z), rtol=1e-9)
    np.testing.assert_allclose(posterior.cdf(x), levels[inside], rtol=1e-5)
    np.testing.assert_allclose(posterior.sf(x), 1 - levels[inside], rtol=1e-5)
    density = Z.pdf(z[inside]) / stats.norm.pdf(z[inside])
    np.testing.assert_allclose(posterior.pdf(x), density, rtol=1e-5)
    assert posterior.interval(0.95)[0] == pytest.approx(stats.norm.cdf(z[1]), rel=1e-9)
    assert posterior.median() == pytest.approx(stats.norm.cdf(z[2]), rel=1e-9)


@cases
def test_moments_of_the_probit_are_exact(mean_probit, variance):
    mean, got = AUCPosterior.normal(mean_probit, variance).probit_moments()
    Z = probit(mean_probit, variance)
    assert mean == pytest.approx(Z.mean(), rel=1e-14)
    assert got == pytest.approx(variance, rel=1e-14)


def test_what_entered_is_kept():
    posterior = AUCPosterior.normal(
        0.5, 0.1, choice_probit=0.4, leave_pair_out=0.7, second_source=".632+",
        warnings=("few rows",),
    )  # fmt: skip
    assert posterior.choice("probit") == 0.4
    other = posterior.swapped()
    assert other.choice("probit") == -0.4
    assert other.leave_pair_out == pytest.approx(0.3)
    assert (other.second_source, other.warnings) == (".632+", ("few rows",))


def test_errors():
    with pytest.raises(ValueError, match="mean_probit must be finite"):
        AUCPosterior.normal(np.inf, 1.0)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match=f"variance must be .* > 0, got {bad}"):
            AUCPosterior.normal(0.0, bad)
