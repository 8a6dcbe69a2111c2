"""The shortcuts of the panel against the slow way, and a small run of it."""

import numpy as np
import panel
import pytest
from panel import covered, ratio
from panel_auc import auc, delong, hanley_mcneil, plus_632
from panel_families import FAMILIES, Family, coefficients
from panel_methods import METHODS, Estimates
from panel_runs import cells, fit
from problems import make
from problems_simulated import _drawn_truth, _gaussian_truth, _noises, _sampler, _shift
from results_table import read_table
from sklearn.metrics import roc_auc_score


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shape", [(60, 12), (40, 150)])
def test_fast_scores_rank_as_pipelines(family, shape):
    rng = np.random.default_rng(1)
    y = np.arange(shape[0]) % 2 == 0
    X = rng.standard_normal(shape) * rng.uniform(0.5, 5, shape[1])
    X[y, :3] += 1.2
    Z = rng.standard_normal((500, shape[1]))
    grid = Family(family, *shape)
    fast = grid.scores(X, y, Z)
    for scores, model in zip(fast, fit(grid, X, y), strict=True):
        slow = model.decision_function(Z)
        assert np.ptp(slow) == 0 or np.corrcoef(slow, scores)[0, 1] > 0.9995
        w = coefficients(model)
        assert np.allclose(Z @ w - (Z @ w)[0], slow - slow[0])


def test_auc_and_delong():
    rng = np.random.default_rng(0)
    y = rng.random(70) < 0.4
    S = np.round(rng.standard_normal((3, 70)) + y, 1)
    want = [roc_auc_score(y, s) for s in S]
    assert np.allclose(auc(y, S), want)
    value, variance = delong(y, S)
    assert np.allclose(value, want)
    kernel = (S[0][y][:, None] > S[0][~y]) + 0.5 * (S[0][y][:, None] == S[0][~y])
    slow = (
        kernel.mean(1).var(ddof=1) / y.sum() + kernel.mean(0).var(ddof=1) / (~y).sum()
    )
    assert np.isclose(variance[0], slow)
    assert delong(y, y[None].astype(float))[1][0] > 0
    assert np.isclose(hanley_mcneil(0.5, 10, 20), 31 / 12 / 200)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("group", "family"), cells())
def test_problems_are_deterministic(group, family, seed, real_data):
    a, b = (make(group, family, seed, real_data) for _ in range(2))
    if a is None:
        assert real_data is None
        return
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.y, b.y)
    assert 5 <= a.y.sum() <= len(a.y) - 5
    assert np.isfinite(a.X).all()


@pytest.mark.parametrize("law", ["Gaussian", "unequal"])
@pytest.mark.parametrize("covariance", ["identity", "AR(.8)", "5 factors"])
def test_exact_truth_is_that_of_new_rows(law, covariance):
    design = {"P": 12, "law": law, "covariance": covariance, "signal": "dense"}
    design["attainable"] = 0.8
    rng = np.random.default_rng(5)
    noises = _noises(design, rng)
    shift = _shift(design, noises, rng)
    total = noises[0].dense() + noises[1].dense()
    W = np.column_stack([np.linalg.solve(total, shift), rng.standard_normal(12)])
    exact, variance = _gaussian_truth(shift, noises)(W)
    assert np.isclose(exact[0], 0.8)
    assert not variance.any()
    drawn, variance = _drawn_truth(_sampler(law, noises, shift, rng), 0)(W)
    assert np.all(np.abs(drawn - exact) < 4 * np.sqrt(variance))


def test_coverage_allows_for_the_truth_being_an_estimate():
    rng = np.random.default_rng(0)
    s, v, n = 0.03, 0.04**2, 40_000
    true = 0.7 + s * rng.standard_normal(n)  # posterior N(.7, s²)
    seen = true + np.sqrt(v) * rng.standard_normal(n)
    e = np.full(n, 0.7)
    answer = Estimates(e, e - 1.96 * s, e + 1.96 * s)
    assert abs(covered(true, np.zeros(n), answer).mean() - 0.95) < 0.005
    assert abs(covered(seen, np.full(n, v), answer).mean() - 0.95) < 0.005


def test_standard_error_of_a_ratio_by_clusters():
    rng = np.random.default_rng(0)
    peer, cluster = rng.gamma(4, size=400), np.arange(400)
    values = 0.7 * peer + 0.5 * rng.standard_normal(400)
    value, se = ratio(values, peer, cluster)
    want = np.std(values - value * peer, ddof=1) / np.sqrt(400) / peer.mean()
    assert np.isclose(value, values.sum() / peer.sum())
    assert abs(se / want - 1) < 0.15
    twice = ratio(np.r_[values, values], np.r_[peer, peer], np.r_[cluster, cluster])
    assert np.isclose(twice[0], value)
    assert abs(twice[1] / want - 1) < 0.15


def test_development_and_report_share_no_rows():
    a, b = (make("sim Gaussian", "l2", seed, None) for seed in (3, 1003))
    assert a.X.shape != b.X.shape or not np.array_equal(a.X, b.X)


def test_plus_632_by_hand():
    # no overfit: .632; overfit beyond chance: the out-of-bag value, ½ at least
    assert np.isclose(plus_632(0.8, 0.8), 0.8)
    assert np.isclose(plus_632(1.0, 0.3), 0.5)
    overfit = (0.5 - 0.75) / (0.5 - 1.0)
    weight = 0.632 / (1 - 0.368 * overfit)
    assert np.isclose(plus_632(1.0, 0.75), (1 - weight) + weight * 0.75)


def test_small_run(tmp_path):
    panel.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "panel.csv")
    # The fast run has one family, whose fits hide no choice of features.
    assert {row["method"] for row in rows} == set(METHODS) - {"skauc, refits=5"}
    for row in rows:
        if row["method"] == "5-fold CV":
            assert float(row["MAE/CV"]) == 1
        if row["method"] == "resubstitution":
            assert float(row["bias"]) > 0
    assert len(read_table(tmp_path / "panel_pooled.csv")) == len(rows)
