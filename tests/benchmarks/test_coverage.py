"""The simulations of coverage: their truths are right, and they count right."""

import numpy as np
import pytest
from result_tables import read_table
from scipy.special import expit
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from benchmarks.coverage import curves, intervals, logistic, tests
from skauc import IRLSLogisticRegression


@pytest.mark.parametrize("shape", intervals.SHAPES)
def test_scores_have_their_auc(shape):
    rng = np.random.default_rng(0)
    neg, pos = intervals.SHAPES[shape](0.9)
    score = np.concatenate([neg(rng, 40_000), pos(rng, 40_000)])
    y = np.repeat([0, 1], 40_000)
    assert roc_auc_score(y, score) == pytest.approx(0.9, abs=0.005)


def test_truths_of_a_known_curve():
    curve = curves.CURVES["binormal, AUC .76"]
    for axis in ("fpr", "tpr"):
        assert curve.area(axis, 0.0, 1.0) == pytest.approx(norm.cdf(1 / np.sqrt(2)))
    assert curve.fpr(curve.tpr(0.3)) == pytest.approx(0.3)
    y, score = curve.draw(np.random.default_rng(0), 20_000, 20_000)
    expected = curve.area("fpr", 0.0, 0.2)
    got = roc_auc_score(y, score, max_fpr=0.2)
    assert 0.5 * (1 + (expected - 0.02) / 0.18) == pytest.approx(got, abs=0.01)


def test_limits_of_wrong_models_are_those_of_many_rows():
    rng, n = np.random.default_rng(0), 200_000
    x, z, u = rng.normal(size=n), rng.uniform(size=n) < 0.5, rng.normal(size=n)
    for log_odds in (logistic.left_out, logistic.of_cluster):
        y = rng.uniform(size=n) < expit(log_odds(x, z, u))
        model = IRLSLogisticRegression().fit(np.column_stack([x, z]), y)
        error = model.standard_errors_[0, 1:]
        assert (
            np.abs((model.coef_[0] - logistic.limit_of_fit(log_odds)) / error).max() < 4
        )


@pytest.mark.filterwarnings("ignore:A class has only")
@pytest.mark.parametrize(
    ("script", "table", "column"),
    [
        (intervals, "cells", "coverage"),
        (curves, "cells", "coverage"),
        (logistic, "cells", "coverage"),
        (tests, "power", "reached"),
    ],
)
def test_small_runs(script, table, column, tmp_path):
    script.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / f"{table}.csv")
    assert len(rows) > 20
    shares = [float(r[column]) for r in rows if r.get("quantity") != "width"]
    assert all(0 <= share <= 1 for share in shares)
