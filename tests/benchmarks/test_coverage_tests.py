"""The simulation of planned studies and of tests runs and counts right."""

import coverage_tests
import numpy as np
import pytest
from results_table import read_table

from skauc import compare_auc


def test_statistics_are_the_packages():
    rng = np.random.default_rng(0)
    neg, pos = coverage_tests.draw(rng, [0.8, 0.7], 12, 15, 0.5, 3)
    v01, v10, found = coverage_tests.placed(neg, pos)
    variance = coverage_tests.delong(v01[0] - v01[1], v10[0] - v10[1])
    y = np.repeat([0, 1], [12, 15])
    for i in range(3):
        a, b = (np.r_[neg[k, i], pos[k, i]] for k in (0, 1))
        result = compare_auc(y, a, b)
        assert result.difference == pytest.approx(found[0, i] - found[1, i])
        assert result.standard_error == pytest.approx(np.sqrt(variance[i]))


def test_small_run(tmp_path):
    coverage_tests.main(["--fast", "--out", str(tmp_path)])
    power = read_table(tmp_path / "coverage_power.csv")
    exact = [r for r in power if r["quantity"] == "power" and r["method"] == "binormal"]
    assert len(exact) == 9
    for row in exact:  # 200 studies each: 4 standard errors are 0.11
        assert float(row["reached"]) == pytest.approx(float(row["promised"]), abs=0.12)
    levels = read_table(tmp_path / "coverage_tests.csv")
    assert {row["method"] for row in levels} > {"delong", "permutation", "bootstrap"}
