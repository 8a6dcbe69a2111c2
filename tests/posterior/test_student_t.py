"""Student tails against mpmath."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import log_ndtr

from skauc.results import AUCPosterior


@pytest.mark.parametrize("df", [1.5, 3.0, 20.0, 1e3])
def test_logarithm_of_a_student_tail(df):
    for t in [2.0, -1.0, -30.0, -1e4, -1e20, -1e60]:
        with mp.workdps(40):
            k, x = mp.mpf(df), mp.mpf(t)
            # ½ I_{k/(k + t²)}(k/2, ½); the leading terms of its series where it is tiny
            z = k / (k + x**2)
            tail = (
                mp.log(mp.betainc(k / 2, mp.mpf(1) / 2, 0, z, regularized=True) / 2)
                if z > 1e-12
                else k / 2 * mp.log(z)
                + mp.log1p(z * k / 2 / (k + 2))
                - mp.log(k * mp.beta(k / 2, mp.mpf(1) / 2))
            )
            expected = float(tail if t < 0 else mp.log1p(-mp.exp(tail)))
        # the mean of one component without v is T_df(D/√2)
        one = AUCPosterior.from_components(D=t * np.sqrt(2), v=0.0, q=df, df=df)
        assert log_ndtr(one.mean_probit()) == pytest.approx(expected, rel=1e-11)
