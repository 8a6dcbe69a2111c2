"""The simulation of partial areas, operating points and bands runs and counts right."""

import coverage_curves
import numpy as np
import pytest
from results_table import read_table
from scipy.stats import norm
from sklearn.metrics import roc_auc_score


def test_truths_of_a_known_curve():
    curve = coverage_curves.CURVES["binormal, AUC .76"]
    assert curve.area("fpr", 0.0, 1.0) == pytest.approx(norm.cdf(1 / np.sqrt(2)))
    assert curve.area("tpr", 0.0, 1.0) == pytest.approx(norm.cdf(1 / np.sqrt(2)))
    assert curve.fpr(curve.tpr(0.3)) == pytest.approx(0.3)
    y, score = curve.draw(np.random.default_rng(0), 20_000, 20_000)
    expected = curve.area("fpr", 0.0, 0.2)
    got = roc_auc_score(y, score, max_fpr=0.2)
    assert 0.5 * (1 + (expected - 0.02) / 0.18) == pytest.approx(got, abs=0.01)


def test_tally_counts_points_alone_and_curves_as_a_whole():
    found = {}
    truth = np.array([0.5, 0.7])
    for method in ("pointwise", "simultaneous"):
        limits = np.array([0.4, 0.8]), np.array([0.6, 0.9])
        coverage_curves.tally(found, [("band", method, limits, truth)])
    assert found["band", "pointwise"] == [(0.5, (0, 0.5)[0], 0.5, pytest.approx(0.15))]
    held, below, above, _ = found["band", "simultaneous"][0]
    assert (held, below, above) == (False, False, True)


def test_small_run(tmp_path):
    coverage_curves.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "coverage_curves.csv")
    assert {row["scores"] for row in rows} == set(coverage_curves.CURVES)
    assert all(0 <= float(row["coverage"]) <= 1 for row in rows)
    summary = read_table(tmp_path / "coverage_curves_summary.csv")
    assert len(summary) == len({(r["quantity"], r["method"]) for r in rows})
