"""Calibration of probabilities: R's numbers, and the definitions."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from skauc import IRLSLogisticRegression, calibration_estimate, hosmer_lemeshow

REFERENCE = Path(__file__).parents[1] / "reference" / "r_logistic.json"
R = {
    key: value if isinstance(value, str) else np.array(value)
    for key, value in json.loads(REFERENCE.read_text()).items()
}
Y = R["y"].astype(int)


# Calibration slope --------------------------------------------------------------------


def test_slope_and_intercepts_of_r():
    found = calibration_estimate(Y, R["other"])
    a, b, a_error, b_error = R["slope"]
    level, level_error = R["level"]
    assert found.slope == pytest.approx(b, rel=1e-8)
    assert found.intercept == pytest.approx(a, rel=1e-8)
    assert found.in_the_large == pytest.approx(level, rel=1e-8)
    errors = [b_error, a_error, level_error]
    assert found.standard_error == pytest.approx(errors, rel=1e-6)
    low, high = found.confidence_interval(0.9)
    half = norm.ppf(0.95) * b_error
    assert (low, high) == pytest.approx((b - half, b + half), rel=1e-6)


def test_hypothesis_of_perfect_calibration_is_the_likelihood_ratio():
    """``2{ℓ(â, b̂) − ℓ(0, 1)}`` of the logistic model, χ² with two degrees."""
    found, logits = calibration_estimate(Y, R["other"]), logit(R["other"])

    def log_likelihood(a, b):
        p = expit(a + b * logits)
        return np.log(np.where(Y == 1, p, 1 - p)).sum()

    gain = log_likelihood(found.intercept, found.slope) - log_likelihood(0, 1)
    assert found.statistic == pytest.approx(2 * gain)
    assert found.pvalue == pytest.approx(chi2.sf(2 * gain, 2))


def test_training_rows_are_calibrated():
    model = IRLSLogisticRegression().fit(R["X"], Y)
    found = calibration_estimate(Y, model.predict_proba(R["X"])[:, 1])
    assert found.slope == pytest.approx(1, abs=1e-7)
    assert [found.intercept, found.in_the_large] == pytest.approx([0, 0], abs=1e-7)
    assert found.statistic == pytest.approx(0, abs=1e-8)


@pytest.mark.slow
def test_slope_covers_one():
    # Of 400 sets of calibrated probabilities, 95 % ± 3 standard errors hold 1.
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        p = expit(rng.normal(size=200))
        low, high = calibration_estimate(
            rng.uniform(size=200) < p, p
        ).confidence_interval()
        hits += low <= 1 <= high
    assert abs(hits / 400 - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 400)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        ([0, 1, 1, 0], "y_prob must hold probabilities .* got only 0 and 1"),
        ([0.1, 0.2, 1.5, 0.5], r"y_prob must lie in \[0, 1\], got 1.5"),
        ([0.2, 0.2, 0.2, 0.2], "two different values, got only 0.2"),
        ([0.1, 0.2, 0.3, 0.4], "not separate the classes, .* got complete separation"),
    ],
)
def test_slopes_that_do_not_exist(p, text):
    with pytest.raises(ValueError, match=text):
        calibration_estimate([0, 0, 1, 1], p)


def test_certain_probabilities_are_moved_half_way_to_the_next():
    y, given, moved = Y, R["other"].copy(), R["other"].copy()
    given[[0, 1, 2]], others = [0, 1, 0], given[3:]
    moved[[0, 2]], moved[1] = others.min() / 2, (1 + others.max()) / 2
    with pytest.warns(UserWarning, match="3 of the probabilities in y_prob are 0 or 1"):
        found = calibration_estimate(y, given)
    assert found.slope == calibration_estimate(y, moved).slope


# Hosmer and Lemeshow ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "n_groups", "key"),
    [(R["p"], 10, "hoslem"), (np.round(R["p"], 1), 6, "hoslem_6")],
)
def test_hosmer_lemeshow_of_r(p, n_groups, key):
    statistic, groups, pvalue = R[key]
    test = hosmer_lemeshow(Y, p, n_groups=n_groups)
    assert test.statistic == pytest.approx(statistic, rel=1e-8)
    assert (len(test.n), test.df) == (groups, groups - 2)
    assert test.pvalue == pytest.approx(pvalue, rel=1e-8)
    assert test.n.sum() == len(Y)
    assert test.observed.sum() == Y.sum()
    held_out = hosmer_lemeshow(Y, p, n_groups=n_groups, rows="held-out")
    assert held_out.df == groups
    assert held_out.pvalue == pytest.approx(chi2.sf(statistic, groups), rel=1e-8)


@pytest.mark.slow
def test_hosmer_lemeshow_has_its_size():
    rng = np.random.default_rng(1)
    p = expit(rng.normal(size=300))
    low = [
        hosmer_lemeshow(rng.uniform(size=300) < p, p, rows="held-out").pvalue < 0.05
        for _ in range(1000)
    ]
    # χ² is exact up to a percent here; three standard errors of 1000 draws beside it
    assert abs(np.mean(low) - 0.05) < 0.01 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_hosmer_lemeshow_says_what_is_wrong():
    with pytest.raises(ValueError, match="y_prob must make at least 3 groups, got 1"):
        hosmer_lemeshow(Y, np.full(len(Y), 0.3))
    with pytest.raises(ValueError, match="n_groups must be a whole number from 2"):
        hosmer_lemeshow(Y, R["p"], n_groups=1)
    with pytest.raises(ValueError, match="rows must be one of 'training', 'held-out'"):
        hosmer_lemeshow(Y, R["p"], rows="test")


@pytest.mark.parametrize("n", [7, 10, 11, 12, 23])
def test_hosmer_lemeshow_of_few_rows_by_numpys_quantiles(n):
    rng = np.random.default_rng(n)
    p, y = rng.uniform(0.05, 0.95, n), rng.integers(0, 2, n)
    edges = np.quantile(p, np.linspace(0, 1, 11))  # type 7
    group = np.array([max(int(np.sum(edges[:-1] < v)), 1) - 1 for v in p])
    used = np.unique(group)
    found = hosmer_lemeshow(y, p, rows="held-out")
    assert found.n.tolist() == [np.sum(group == g) for g in used]
    assert found.observed.tolist() == [y[group == g].sum() for g in used]
    assert found.expected == pytest.approx([p[group == g].sum() for g in used])


def test_table_of_a_calibration():
    found = calibration_estimate(Y, R["other"])
    table = found.to_frame()
    lines = found.summary(0.9, digits=1).splitlines()
    nulls = {"slope": 1, "intercept": 0, "in_the_large": 0}
    for k, (name, null) in enumerate(nulls.items()):
        estimate, error = getattr(found, name), found.standard_error[k]
        low, high = found.confidence_interval(0.9, name=name)
        assert lines[k] == f"{name}: {estimate:.1f} ({low:.1f} to {high:.1f})"
        assert table.loc[name, "estimate"] == estimate
        assert table.loc[name, "standard_error"] == error
        p = 2 * norm.sf(abs(estimate - null) / error)
        assert table.loc[name, "pvalue"] == pytest.approx(p, rel=1e-10)
        assert table.loc[name, "low"] == pytest.approx(
            estimate + norm.ppf(0.025) * error
        )
        assert table.loc[name, "high"] == pytest.approx(
            estimate - norm.ppf(0.025) * error
        )
