"""The simulation of the logistic report runs, and its truths are right."""

import coverage_logistic
import numpy as np
import pytest
from results_table import read_table
from scipy.special import expit

from skauc import IRLSLogisticRegression, calibration_estimate


def test_limits_of_wrong_models_are_those_of_many_rows():
    rng, n = np.random.default_rng(0), 200_000
    x, z, u = rng.normal(size=n), rng.uniform(size=n) < 0.5, rng.normal(size=n)
    for log_odds in (coverage_logistic.left_out, coverage_logistic.of_cluster):
        y = rng.uniform(size=n) < expit(log_odds(x, z, u))
        model = IRLSLogisticRegression().fit(np.column_stack([x, z]), y)
        limit = coverage_logistic.limit_of_fit(log_odds)
        error = model.standard_errors_[0, 1:]
        assert np.abs((model.coef_[0] - limit) / error).max() < 4


def test_calibration_in_the_large_of_many_rows():
    rng, n = np.random.default_rng(0), 200_000
    said = rng.normal(-0.5, 2.4, n)
    y = rng.uniform(size=n) < expit(-0.5 + 0.5 * said)
    found = calibration_estimate(y, expit(said))
    right = coverage_logistic._in_the_large(-0.5, 0.5)
    error = found.standard_error("in_the_large")
    assert abs(found.in_the_large - right) < 4 * error
    assert coverage_logistic._in_the_large(0.0, 1.0) == pytest.approx(0, abs=1e-9)


def test_row_counts_what_was_refused():
    numbers = [(1.0, 0.0, 0.0, 2.0), (0.5, 0.5, 0.0, np.inf), None]
    row = coverage_logistic.row("slope", "wald", "design", 30, numbers)
    assert (row["coverage"], row["too_low"], row["width"]) == (0.75, 0.25, 2.0)
    assert (row["refused"], row["replicates"]) == (pytest.approx(1 / 3), 3)


def test_small_run(tmp_path):
    coverage_logistic.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "coverage_logistic.csv")
    assert {row["method"] for row in rows} > {"Firth, profile", "HC1", "cluster"}
    assert all(0 <= float(row["coverage"]) <= 1 for row in rows)
