"""The one-SD rule beside glmnet's: what is written, and what is said without R."""

import numpy as np
import pytest
import search
import search_glmnet
from panel_families import coefficients
from problems import make
from results_table import read_table
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

needs_l1_ratio = pytest.mark.skipif(
    LogisticRegression().penalty != "deprecated",
    reason="L1 is penalty='l1' before scikit-learn 1.8; the benchmark says l1_ratio=1",
)
needs_glmnet = pytest.mark.skipif(
    not search_glmnet.has_glmnet(), reason="needs Rscript with glmnet"
)


def test_without_r_it_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(search_glmnet.shutil, "which", lambda _: None)
    search.main(["--glmnet", "--fast", "--out", str(tmp_path)])
    assert "skipped: Rscript with the package glmnet" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@needs_l1_ratio
def test_rules_of_our_path():
    """The candidates are those of the path, from the emptiest on."""
    problem = make("few signals", "kbest", 3, None)
    X, y = problem.X[:, :20], problem.y.astype(int)
    Cs = np.logspace(-2, 0, 5)
    (largest, one, half), path = search_glmnet.ours(X, y, Cs)
    assert one <= half <= largest
    assert path.shape == (20, 5)
    lasso = LogisticRegression(
        C=Cs[2], l1_ratio=1, solver="liblinear", max_iter=1_000, random_state=0
    )
    expected = coefficients(make_pipeline(StandardScaler(), lasso).fit(X, y))
    np.testing.assert_allclose(path[:, 2], expected)
    assert (np.diff(np.count_nonzero(path, axis=0)) > 0).any()


def test_rows_of_known_runs():
    run = {"lost": [0.0, 0.1, 0, 0, 0, 0.2, 0], "features": [3, 0, 1, 1, 1, 2, 1]}
    other = {"lost": [0.0, 0.3, 0, 0, 0, 0.2, 0], "features": [5, 1, 1, 1, 1, 2, 1]}
    rows = search_glmnet.rows_of("any", [run, other])
    assert [row["rule"] for row in rows] == [*search_glmnet.THEIRS, *search_glmnet.OURS]
    assert rows[1]["AUC lost"] == pytest.approx(0.2)
    assert rows[1]["SE"] == pytest.approx(0.1)
    assert (rows[0]["features"], rows[1]["none"]) == (4, 0.5)
    assert rows[5]["AUC lost"] == pytest.approx(0.2)


@needs_l1_ratio
@needs_glmnet
def test_penalties_are_those_of_glmnet():
    """At one penalty both find the same model, but for liblinear's fined intercept."""
    problem = make("few signals", "kbest", 3, None)
    y = problem.y.astype(int)
    [(theirs, penalties)] = search_glmnet.glmnet([problem], 3)
    assert theirs.shape == (problem.X.shape[1], 4)
    assert (np.diff(penalties) < 0).all()
    # at the largest penalty no feature is left, at 0.8 of it there is one
    C = 1 / (len(y) * penalties[0])
    for share, some in ((1.02, 0), (0.8, 1)):
        _, path = search_glmnet.ours(problem.X, y, np.array([C / share]))
        assert min(np.count_nonzero(path), 1) == some


@needs_glmnet
def test_small_run(tmp_path):
    search_glmnet.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "search_glmnet.csv")
    assert len(rows) == 7
    assert all(float(row["AUC lost"]) >= 0 for row in rows)
