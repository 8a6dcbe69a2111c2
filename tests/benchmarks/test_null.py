"""Random labels: the rows are of one class, and no honest model gets far from ½."""

import null
import numpy as np
from problems_real import load
from results_table import read_table


def test_rows_of_one_class_and_balanced_labels():
    X, y = null.random_rows("breast_cancer", 3, None)
    own, positive = load("breast_cancer", None)
    larger = {tuple(row) for row in own[positive]}
    assert all(tuple(row) in larger for row in X)
    assert len(y) == null.MOST_ROWS
    assert 2 * y.sum() == len(y)


def test_summary_of_known_answers():
    found = {"a": [[0.6, 0.4, 0.7, 0.3]], "b": [[0.5, 0.55, 0.7, 0.5]]}
    row = null.summary("any", found)
    assert np.isclose(row["mean"], 0.55)
    assert np.isclose(row["mean SE"], 0.05)
    assert np.isclose(row["error / CV"], 0.5)
    assert row["covers"] == 0.5
    assert row["largest"] == "0.600 (a)"


def test_small_run(tmp_path):
    null.main(["--fast", "--out", str(tmp_path)])
    rows = {row["model"]: row for row in read_table(tmp_path / "null.csv")}
    assert set(rows) == set(null.KINDS)
    assert 0.35 < float(rows["L2 logistic"]["mean"]) < 0.65
