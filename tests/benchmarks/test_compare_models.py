"""The benchmark of tests over shared folds: what it simulates, and a small run."""

import compare_models
import numpy as np
import pytest
from results_table import read_table
from sklearn.metrics import roc_auc_score

from skauc import compare_cross_val_auc


def test_it_compares_what_the_public_function_does():
    problem, design, seed = "signal, half of the features shared", "10-fold", 3
    X, y, columns = compare_models.rows(problem, seed)
    models = {
        name: compare_models.MeanDifference(c)
        for name, c in zip("ab", columns, strict=True)
    }
    cv = compare_models.DESIGNS[design][0](seed)
    expected = compare_cross_val_auc(models, X, y, cv)
    assert compare_models.compare(problem, design, seed) == expected
    assert sorted({*columns[0]} & {*columns[1]}) == list(range(20, 30))


@pytest.mark.parametrize("problem", compare_models.PROBLEMS)
def test_both_models_have_the_same_auc_on_average(problem):
    gaps = []
    for seed in range(150):
        X, y, columns = compare_models.rows(problem, seed)
        half = len(y) // 2
        a, b = (
            roc_auc_score(
                y[half:],
                compare_models.MeanDifference(c)
                .fit(X[:half], y[:half])
                .decision_function(X[half:]),
            )
            for c in columns
        )
        gaps.append(a - b)
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(len(gaps))


def test_summary_of_known_answers():
    found = [
        [0.01, 0.2, 0.04, 0.1, 0.1, 0.2, 0.3],
        [0.2, 0.3, 0.4, -0.1, 0.1, 0.2, 0.3],
    ]
    row = compare_models.summary(("noise", "5-fold"), found)
    assert row["uncorrected t"] == "0.500 (0.354)"
    assert row["corrected t"] == "0.000 (0.000)"
    assert row["influence"] == "0.500 (0.354)"
    assert row["spread of the difference"] == pytest.approx(0.1)
    assert row["error / spread, influence"] == pytest.approx(3)


def test_small_run(tmp_path):
    compare_models.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "compare_models.csv")
    assert len(rows) == len(compare_models.PROBLEMS) * len(compare_models.DESIGNS)
    for row in rows:
        plain, corrected = (
            float(row[name].split()[0]) for name in ("uncorrected t", "corrected t")
        )
        assert corrected <= plain
