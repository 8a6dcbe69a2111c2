"""χ and Student tails against mpmath."""

import mpmath as mp
import numpy as np
import pytest

from skauc.posterior._student_t import log_stdtr, root_chi2_moments


@pytest.mark.parametrize(
    "df", [0.3, 1.0, 2.5, 30.0, 99.9, 100.0, 120.0, 300.0, 1e3, 1e6, 1e12]
)
def test_moments_of_the_root_of_chi2(df):
    with mp.workdps(60):
        k = mp.mpf(df)
        mean = mp.sqrt(2) * mp.exp(mp.loggamma((k + 1) / 2) - mp.loggamma(k / 2))
        expected = float(mean), float(k - mean**2)
    got = [float(part[0]) for part in root_chi2_moments(np.array([df]))]
    assert got[0] == pytest.approx(expected[0], rel=1e-13)
    # below 100 the variance is a difference of two numbers of size df; the first term
    # left out of the expansion is 0.3/df⁶
    rounding = 1e-10 if df < 100 else max(0.6 / df**6, 1e-15)
    assert got[1] == pytest.approx(expected[1], rel=rounding, abs=0)
    for one, several in zip(
        got, root_chi2_moments(np.array([df, 3, 500])), strict=True
    ):
        assert several[0] == pytest.approx(one, rel=1e-14)


@pytest.mark.parametrize("df", [1.5, 3.0, 20.0, 1e3])
@pytest.mark.parametrize("t", [2.0, -1.0, -30.0, -1e4, -1e20, -1e60, -1e200])
def test_logarithm_of_a_student_tail(df, t):
    with mp.workdps(40):
        k, x = mp.mpf(df), mp.mpf(t)
        # ½ I_{k/(k + t²)}(k/2, ½), by the leading terms of its series where it is tiny
        z = k / (k + x**2)
        tail = (
            mp.log(mp.betainc(k / 2, mp.mpf(1) / 2, 0, z, regularized=True) / 2)
            if z > 1e-12
            else k / 2 * mp.log(z)
            + mp.log1p(z * k / 2 / (k + 2))
            - mp.log(k * mp.beta(k / 2, mp.mpf(1) / 2))
        )
        expected = float(tail if t < 0 else mp.log1p(-mp.exp(tail)))
    assert log_stdtr(df, t)[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("df", [1.5, 20.0, 1e3])
def test_ends_of_a_student_tail(df):
    ends = log_stdtr(np.full(3, df), np.array([-np.inf, 0.0, np.inf]))
    np.testing.assert_allclose(ends, [-np.inf, -np.log(2), 0.0], rtol=1e-14)
