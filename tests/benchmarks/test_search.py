"""What a search says of itself: the summaries of known runs, and a small run."""

from types import SimpleNamespace

import numpy as np
import pytest
import search
from results_table import read_table
from scipy.special import ndtri
from scipy.stats import norm

from skauc.posterior._joint_aucs import JointAUCs

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
    assert row["too high uncorrected"] == pytest.approx(0.05)
    assert row["too high, all candidates"] == pytest.approx(-0.1 / 3)
    assert row["covers 5-fold CV"] == 1
    assert row["posterior / search"] == 0.5
    assert row["differences cover"] == 0.5


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


def test_truth_that_is_not_known_exactly():
    # .85 − .8 against the lower half √(.04² + (1.96 · .016)²) = .0508
    unsure = RUN | {"truth_sd": [0.016, 0.0, 0.0]}
    for run, covers in ((RUN, 0), (unsure, 1)):
        row = search.calibration("real", "any", [run])
        assert row["covers uncorrected"] == covers


def test_mean_below_both_limits():
    """Near 1 the mean of an AUC may be less than its lower limit."""
    unsure = {"truth": [0.999, 0.9, 0.9], "truth_sd": [0.01, 0.0, 0.0]}
    skewed = [0.9985, 0.9999, 1.0]
    row = search.calibration("real", "any", [RUN | unsure | {"naive": skewed}])
    assert row["covers uncorrected"] == 1


def test_best_as_it_will_be_seen():
    """Two AUCs apart by .02, seen with noise that they share or do not."""
    joint = JointAUCs(ndtri(np.array([0.8, 0.78])), np.zeros((2, 2)))
    said = SimpleNamespace(joint=joint, p_best=np.ones(2), expected_loss=np.zeros(2))
    y, error = np.array([0, 0, 0, 1, 1, 1]), np.full(2, 0.02)
    one, other = [1.0, -1, 0, 1, -1, 0], [1.0, 1, -2, 1, 1, -2]
    p_best, loss = search.seen(said, np.array([one, other]), y, error, 0)
    # Φ(.02/(.02 √2)), and E max(0, d) of a normal d of mean −.02 and that deviation
    assert p_best[0] == pytest.approx(norm.cdf(np.sqrt(0.5)), abs=0.03)
    spread = 0.02 * np.sqrt(2)
    missed = spread * norm.pdf(np.sqrt(0.5)) - 0.02 * norm.sf(np.sqrt(0.5))
    assert loss[0] == pytest.approx(missed, rel=0.1)
    p_best, loss = search.seen(said, np.array([one, one]), y, error, 0)
    assert p_best.tolist() == [1, 0]
    assert loss == pytest.approx([0, 0.02], abs=1e-9)
    assert search.seen(said, np.array([one, other]), y, 0 * error, 0)[0] is said.p_best


def test_intervals_of_differences():
    """Of three pairs the one whose difference was drawn otherwise is missed."""
    rng = np.random.default_rng(1)
    noisy = 0.7 + 0.01 * rng.standard_normal((2000, 3))
    noisy[:, 1] = noisy[:, 0]
    assert search.differences_covered(noisy, np.full(3, 0.7)) == 1
    assert search.differences_covered(noisy, np.array([0.7, 0.7, 0.72])) == 1
    # 1.96 · .01 √2 = .0277
    assert search.differences_covered(noisy, np.array([0.7, 0.7, 0.735])) == (
        pytest.approx(1 / 3)
    )
    missed = search.differences_covered(noisy, np.array([0.7, 0.701, 0.701]))
    assert missed == pytest.approx(2 / 3)


def test_small_run(tmp_path):
    search.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "search.csv")
    assert [row["data"] for row in rows] == [d for d in search.GROUPS for _ in range(4)]
    assert [row["search"] for row in rows[:4]] == [*search.SEARCHES, "all"]
    assert [int(row["problems"]) for row in rows] == [2, 2, 2, 6] * 3
    assert len(read_table(tmp_path / "search_rules.csv")) == 36
    shares = read_table(tmp_path / "search_reliability.csv")
    assert sum(int(row["candidates"]) for row in shares) > 100
    assert (tmp_path / "search.png").exists()
