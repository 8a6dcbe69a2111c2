"""Limits from an AUC and its variance, against scipy and against their definitions."""

import interval_oracles as oracles
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from skauc import auc_estimate


@pytest.mark.parametrize(
    ("alternative", "level"), [("two-sided", 0.9), ("greater", 0.95), ("less", 0.95)]
)
def test_limits_without_error_are_clopper_and_pearsons(alternative, level):
    """Separated or equal scores: shares of the smaller class."""
    y = np.repeat([0, 1], [30, 20])
    hm = "hanley_mcneil"  # whose error is 0 if scores are separated
    cases = [(y, 20, "delong"), (-y, 0, "delong"), (0 * y, 10, "delong"), (y, 20, hm)]
    for score, x, method in cases:
        expected = stats.binomtest(x, 20, alternative=alternative).proportion_ci(level)
        got = auc_estimate(y, score).confidence_interval(
            level, method=method, alternative=alternative
        )
        assert got == pytest.approx(expected, rel=1e-12), x


@pytest.mark.parametrize("rate", [0.25, 1.0, 3.0])
def test_hanley_and_mcneils_variance_from_exponential_scores(rate):
    # Negatives have hazard 1, positives hazard r: A = P(pos > neg) = 1/(1 + r).
    n_neg, n_pos, auc = 5, 8, 1 / (1 + rate)

    def mean(f):
        return quad(f, 0, np.inf, epsabs=1e-13, epsrel=1e-12)[0]

    # two positives above one negative, one positive above two negatives
    two_pos = mean(lambda t: np.exp(-t) * np.exp(-rate * t) ** 2)
    two_neg = mean(lambda t: rate * np.exp(-rate * t) * (1 - np.exp(-t)) ** 2)
    expected = auc * (1 - auc)
    expected += (n_pos - 1) * (two_pos - auc**2) + (n_neg - 1) * (two_neg - auc**2)
    expected /= n_neg * n_pos
    estimate = auc_estimate(*oracles.rows_of_auc(n_neg, n_pos, auc))
    assert estimate.auc == auc
    assert estimate.standard_error("hanley_mcneil") ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("transform", ["none", "logit"])
def test_wald_limits_have_the_tails_that_are_requested(transform):
    forward = stats.logistic.ppf if transform == "logit" else float
    estimate = auc_estimate(*oracles.rows_of_auc(50, 40, 0.8))
    how = {"method": "delong", "transform": transform}
    low, _ = estimate.confidence_interval(0.97, alternative="greater", **how)
    _, high = estimate.confidence_interval(0.93, alternative="less", **how)
    slope = (forward(0.8 + 1e-6) - forward(0.8 - 1e-6)) / 2e-6
    reach = np.array([forward(0.8) - forward(low), forward(high) - forward(0.8)])
    error = estimate.standard_error("delong")
    assert stats.norm.sf(reach / (error * slope)) == pytest.approx(
        [0.03, 0.07], rel=1e-6
    )


def test_score_limits_are_where_the_statistic_is_z():
    estimate = auc_estimate(*oracles.rows_of_auc(12, 20, 0.7))
    assert estimate.auc == 0.7

    def limit(tail, alternative):
        k = ("greater", "less").index(alternative)
        return estimate.confidence_interval(
            1 - tail, method="hanley_mcneil_score", alternative=alternative
        )[k]

    def deviation(a):
        return (a - 0.7) / np.sqrt(oracles.newcombe_variance(a, 12, 20))

    low, high = limit(0.02, "greater"), limit(0.04, "less")
    assert stats.norm.sf(-deviation(low)) == pytest.approx(0.02)
    assert stats.norm.sf(deviation(high)) == pytest.approx(0.04)
    # a tail of more than a half: the limit lies beyond the estimate
    assert stats.norm.sf(-deviation(limit(0.6, "greater"))) == pytest.approx(0.6)
    high = limit(0.6, "less")
    assert high < 0.7
    assert stats.norm.sf(deviation(high)) == pytest.approx(0.6)
