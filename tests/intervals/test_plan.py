"""Variances of planned studies: bivariate normal probabilities, simulation, pROC."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, multivariate_normal, norm

from skauc import auc_power


def implied_variance(auc, auc2, **given):
    """By which a test of a difference at level ½ has its power, the tail of a beta law.

    The law is that of ½ + d/2 for a difference d, the margin of the test is 0.05.
    """
    options = {"alternative": "greater", "alpha": 0.5, "margin": 0.05}
    power, mean = auc_power(auc, auc2=auc2, **given, **options), (1 + auc - auc2) / 2

    def gap(v):
        n = mean * (1 - mean) / v - 1
        return beta.sf(0.475, mean * n, (1 - mean) * n) - power

    return 4 * brentq(gap, 1e-12, mean * (1 - mean) * 0.9, xtol=1e-16)


def planned_variance(auc, n_neg, n_pos):
    """Half of that of the difference of two samples."""
    return implied_variance(auc, auc, n_neg=n_neg, n_pos=n_pos) / 2


def planned_covariance(a, b, n_neg, n_pos, r0, r1):
    """Half of the variances that the variance of the difference lacks."""
    sizes = {"n_neg": n_neg, "n_pos": n_pos}
    variance = implied_variance(a, b, correlation=(r0, r1), **sizes)
    return (planned_variance(a, **sizes) + planned_variance(b, **sizes) - variance) / 2


def phi2(h, k, r):
    return multivariate_normal.cdf(
        [h, k], cov=[[1, r], [r, 1]], allow_singular=True, abseps=1e-10, releps=1e-10
    )


@pytest.mark.parametrize("auc", [0.3, 0.5, 0.73, 0.9, 0.99])
def test_variance_is_that_of_the_mann_whitney_statistic(auc):
    # Bamber's three terms, each probability of two pairs of rows from scipy
    h, n_neg, n_pos = norm.ppf(auc), 13, 29
    together = phi2(h, h, 0.5) - auc**2
    expected = auc * (1 - auc) + (n_pos - 1 + n_neg - 1) * together
    expected /= n_neg * n_pos
    got = planned_variance(auc, n_neg, n_pos)
    assert got == pytest.approx(expected, rel=1e-6)


def test_null_variance_is_wilcoxons():
    got = planned_variance(0.5, 13, 29)
    assert got == pytest.approx((13 + 29 + 1) / (12 * 13 * 29), rel=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "r0", "r1"),
    [(0.8, 0.7, 0.5, 0.5), (0.6, 0.95, 0.2, 0.9), (0.8, 0.7, -0.4, 0.1)],
)
def test_covariance_by_bivariate_normal_probabilities(a, b, r0, r1):
    h, k = norm.ppf([a, b])
    n_neg, n_pos = 20, 7
    expected = phi2(h, k, (r0 + r1) / 2) - a * b
    expected += (n_neg - 1) * (phi2(h, k, r1 / 2) - a * b)
    expected += (n_pos - 1) * (phi2(h, k, r0 / 2) - a * b)
    got = planned_covariance(a, b, n_neg, n_pos, r0, r1)
    assert got == pytest.approx(expected / (n_neg * n_pos), rel=1e-5)
    turned = planned_covariance(b, a, n_neg, n_pos, r0, r1)
    assert got == pytest.approx(turned, rel=1e-5)


def test_covariance_by_simulation():
    rng = np.random.default_rng(0)
    (a, b), (r0, r1), (n_neg, n_pos) = (0.85, 0.7), (0.3, 0.8), (12, 8)
    reps = 40_000

    def scores(n, r, means):
        common = rng.normal(size=(reps, n))
        own = rng.normal(size=(reps, n))
        return means[0] + common, means[1] + r * common + np.sqrt(1 - r**2) * own

    neg, pos = scores(n_neg, r0, (0, 0)), scores(n_pos, r1, 2**0.5 * norm.ppf([a, b]))
    aucs = [
        (p[:, :, None] > n[:, None, :]).mean(axis=(1, 2))
        for n, p in zip(neg, pos, strict=True)
    ]
    S = np.cov(aucs)
    got = planned_covariance(a, b, n_neg, n_pos, r0, r1)
    assert got == pytest.approx(S[0, 1], rel=0.03)  # 4 standard errors
    assert planned_variance(a, n_neg, n_pos) == pytest.approx(S[0, 0], rel=0.03)


def test_obuchowski_by_hand():
    # κ = 2, a = 1.414 · 1: .0099 e^{−.999698} (5·1.999396 + 8 + 9.999396/2)/n₁
    auc = norm.cdf(1.0)
    expected = 0.0099 * np.exp(-0.999698) * (9.99698 + 8 + 4.999698) / 5
    options = {"method": "obuchowski", "alternative": "greater", "alpha": 0.5}
    power = auc_power(auc, n_neg=10, n_pos=5, **options)
    found = ((auc - 0.5) / norm.ppf(power)) ** 2  # power = Φ((A − ½)/SE)
    assert found == pytest.approx(expected, rel=1e-9)
