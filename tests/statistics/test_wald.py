"""Statistics, p-values and limits of estimates with standard errors."""

import numpy as np
import pytest
from scipy import stats

from skauc.statistics._wald import WaldTable


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_one_estimate(alternative):
    for df in [np.inf, 7.0]:
        law = stats.norm if np.isinf(df) else stats.t(df)
        table = WaldTable(0.3, 0.1, 0.05, df, alternative=alternative)
        z = 2.5
        p = {"two-sided": 2 * law.sf(z), "greater": law.sf(z), "less": law.cdf(z)}
        np.testing.assert_allclose([table.statistic, table.pvalue], [z, p[alternative]])
        q = law.ppf(0.975 if alternative == "two-sided" else 0.95) * 0.1
        low, high = table.limits(0.95)
        assert low == (-np.inf if alternative == "less" else pytest.approx(0.3 - q))
        assert high == (np.inf if alternative == "greater" else pytest.approx(0.3 + q))


def test_an_error_of_0_is_no_doubt_and_one_of_inf_no_knowledge():
    table = WaldTable([0.2, 0.0, 0.2, 0.2], [0, 0, np.inf, np.nan], bounds=(-1, 1))
    np.testing.assert_array_equal(table.pvalue, [0, 1, 1, np.nan])
    np.testing.assert_array_equal(table.statistic, [np.inf, 0, 0, np.nan])
    low, high = table.limits(0.9)
    np.testing.assert_array_equal(low, [0.2, 0, -1, np.nan])
    np.testing.assert_array_equal(high, [0.2, 0, 1, np.nan])


def test_far_tails_keep_their_digits():
    assert WaldTable(20.0, 1.0).pvalue == pytest.approx(2 * stats.norm.sf(20), rel=1e-9)


def test_columns():
    table = WaldTable([0.5, 1.0], [0.1, 0.2], names=("a", "b"))
    columns = table.columns(0.9)
    assert columns[""] == ["a", "b"]
    assert columns["estimate"] == [0.5, 1.0]
    assert columns["statistic"] == [5.0, 5.0]
    assert WaldTable(0.5, 0.1).columns()["statistic"] == [5.0]
