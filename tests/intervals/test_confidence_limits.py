"""Limits from an AUC and its variance, against scipy and against their definitions."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from skauc.intervals._limits import (
    exact_limits,
    score_limits,
    wald_limits,
)
from skauc.statistics._auc_variance import balanced_variance, hanley_mcneil_variance
from skauc.statistics._wald import interval_tails


@pytest.mark.parametrize(
    ("alternative", "level"), [("two-sided", 0.9), ("greater", 0.95), ("less", 0.95)]
)
def test_exact_limits_are_clopper_and_pearsons(alternative, level):
    for x in [0, 1, 7, 12, 19, 20]:
        expected = stats.binomtest(x, 20, alternative=alternative).proportion_ci(level)
        got = exact_limits(x / 20, 20, *interval_tails(level, alternative))
        assert got == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rate", [0.4, 1.0, 3.0])
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
    assert hanley_mcneil_variance(auc, n_neg, n_pos) == pytest.approx(expected)


@pytest.mark.parametrize("transform", ["none", "logit", "probit"])
def test_wald_limits_have_the_tails_asked_for(transform):
    forward = {
        "none": lambda a: a,
        "logit": lambda a: np.log(a / (1 - a)),
        "probit": stats.norm.ppf,
    }[transform]
    low, high = wald_limits(0.8, 0.05, 30, 0.03, 0.07, transform)
    slope = (forward(0.8 + 1e-6) - forward(0.8 - 1e-6)) / 2e-6
    reach = np.array([forward(0.8) - forward(low), forward(high) - forward(0.8)])
    assert stats.norm.sf(reach / (0.05 * slope)) == pytest.approx(
        [0.03, 0.07], rel=1e-6
    )


def test_wald_limits_without_error_are_exact():
    for auc, error in ((0.7, 0.0), (1.0, 0.1), (0.0, 0.1)):
        assert wald_limits(auc, error, 10, 0.05, 0.05, "logit") == pytest.approx(
            exact_limits(auc, 10, 0.05, 0.05)
        )


def test_score_limits_are_where_the_statistic_is_z():
    def variance(a):
        return balanced_variance(a, 12, 20)

    low, high = score_limits(0.7, variance, 0.02, 0.04)
    assert stats.norm.sf((0.7 - low) / np.sqrt(variance(low))) == pytest.approx(0.02)
    assert stats.norm.sf((high - 0.7) / np.sqrt(variance(high))) == pytest.approx(0.04)
    # a tail of more than a half: the limit lies beyond the estimate
    (low, _) = score_limits(0.7, variance, 0.6, 0.0)
    assert stats.norm.sf((0.7 - low) / np.sqrt(variance(low))) == pytest.approx(0.6)
    (_, high) = score_limits(0.7, variance, 0.0, 0.6)
    assert high < 0.7
    assert stats.norm.sf((high - 0.7) / np.sqrt(variance(high))) == pytest.approx(0.6)
