"""What a search states about itself: the summaries of known runs, and draws."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from benchmarks.panel import search

RUN = {
    "truth": [0.8, 0.9, 0.9],
    "truth_sd": [0.0, 0.0, 0.0],
    "p_best": [0.05, 0.15, 0.8],
    "mean": [0.8, 0.8, 0.9],
    "expected_loss": 0.06,
    "differences": 0.5,
    "selected": 0,
    "corrected": [0.82, 0.7, 0.9],
    "naive": [0.85, 0.81, 0.9],
    "rule": [1, 2, 0],
    "folds": [[0.7, 0.8, 0.9], [0.9, 0.9, 0.9]],
    "seconds": [2.0, 1.0],
}


def test_calibration_of_known_runs():
    row = search.calibration("sim", "any", [RUN, RUN | {"expected_loss": 0.1}])
    assert row["ratio"] == pytest.approx(0.8)
    assert row["ratio SE"] == pytest.approx(np.std([-0.02, 0.02]) / np.sqrt(2) / 0.1)
    assert (row["covers"], row["covers uncorrected"]) == (1, 0)
    assert row["too high"] == pytest.approx(0.02)
    assert row["covers 5-fold CV"] == 1
    assert row["posterior / search"] == 0.5


def test_reliability_of_a_known_run():
    rows = {row["P(best)"]: row for row in search.reliability("sim", [RUN])}
    assert rows["[0.1, 0.2)"]["share"] == 0.5  # two best share
    assert rows["[0.7, 1)"]["share"] == 0.5
    assert rows["[0.05, 0.1)"]["share"] == 0


def test_rules_of_a_known_run():
    rows = {row["rule"]: row for row in search.rules("sim", "any", [RUN, RUN])}
    assert rows["within 1 SD"]["AUC lost"] == 0
    assert rows["within 0.5 SD"]["AUC lost"] == pytest.approx(0.1)
    assert rows["within 1 SD"]["place in the grid"] == 0.5
    # folds: means .8, .85, .9, the best without spread
    assert rows["5-fold, one SE"]["place in the grid"] == 1


def test_best_as_it_will_be_seen():
    """Two AUCs apart by .02, seen with noise that they share or do not."""
    joint = SimpleNamespace(mean=ndtri([0.8, 0.78]), covariance=np.zeros((2, 2)))
    known = SimpleNamespace(joint=joint, p_best=np.ones(2), expected_loss=np.zeros(2))
    y, error = np.array([0, 0, 0, 1, 1, 1]), np.full(2, 0.02)
    one, other = [1.0, -1, 0, 1, -1, 0], [1.0, 1, -2, 1, 1, -2]
    p_best, loss = search.seen(known, np.array([one, other]), y, error, 0)
    # Φ(.02/(.02 √2)), and E max(0, d) of a normal d of mean −.02 and that deviation
    assert p_best[0] == pytest.approx(norm.cdf(np.sqrt(0.5)), abs=0.03)
    spread = 0.02 * np.sqrt(2)
    missed = spread * norm.pdf(np.sqrt(0.5)) - 0.02 * norm.sf(np.sqrt(0.5))
    assert loss[0] == pytest.approx(missed, rel=0.1)
    p_best, loss = search.seen(known, np.array([one, one]), y, error, 0)
    assert p_best.tolist() == [1, 0]
    assert loss == pytest.approx([0, 0.02], abs=1e-9)


def test_intervals_of_differences():
    """One difference in three was drawn otherwise than the truth: it is missed."""
    rng = np.random.default_rng(1)
    noisy = 0.7 + 0.01 * rng.standard_normal((2000, 3))
    noisy[:, 1] = noisy[:, 0]
    assert search.differences_covered(noisy, np.full(3, 0.7)) == 1
    missed = search.differences_covered(noisy, np.array([0.7, 0.7, 0.735]))
    assert missed == pytest.approx(1 / 3)  # 1.96 · .01 √2 = .0277
