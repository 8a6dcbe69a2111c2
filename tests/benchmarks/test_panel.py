"""The panel: its candidates, its halves, its truth, its statistics."""

from pathlib import Path

import numpy as np
import pytest
from result_tables import read_table
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

from benchmarks.panel import compare_models, defaults, null, report, width
from benchmarks.panel.auc import delong, hanley_mcneil
from benchmarks.panel.families import LINEAR, Family, coefficients
from benchmarks.panel.halves import HALVES, half_of_design, half_of_set
from benchmarks.panel.judging import covered, ratio
from benchmarks.panel.problems import GROUPS, make
from benchmarks.panel.real import real_names
from benchmarks.panel.runs import Key, Run
from benchmarks.panel.simulated import (
    _drawn_truth,
    _gaussian_truth,
    _noises,
    _sampler,
    _shift,
)


@pytest.mark.parametrize("family", LINEAR)
@pytest.mark.parametrize("shape", [(60, 12), (40, 150)])
def test_coefficients_are_those_of_the_scores(family, shape):
    rng = np.random.default_rng(1)
    y = np.arange(shape[0]) % 2 == 0
    X = rng.standard_normal(shape) * rng.uniform(0.5, 5, shape[1])
    X[y, :3] += 1.2
    Z = rng.standard_normal((500, shape[1]))
    for model in Family(family, *shape).candidates():
        score = model.fit(X, y).decision_function(Z)
        w = coefficients(model)
        assert np.allclose(Z @ w - (Z @ w)[0], score - score[0])


def test_delong():
    rng = np.random.default_rng(0)
    y = rng.random(70) < 0.4
    S = np.round(rng.standard_normal((3, 70)) + y, 1)
    want = [roc_auc_score(y, s) for s in S]
    value, variance = delong(y, S)
    assert np.allclose(value, want)
    kernel = (S[0][y][:, None] > S[0][~y]) + 0.5 * (S[0][y][:, None] == S[0][~y])
    columns, rows = kernel.mean(0).var(ddof=1), kernel.mean(1).var(ddof=1)
    assert np.isclose(variance[0], rows / y.sum() + columns / (~y).sum())
    assert delong(y, y[None].astype(float))[1][0] > 0
    assert np.isclose(hanley_mcneil(0.5, 10, 20), 31 / 12 / 200)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("family", ["l2", "kbest"])
def test_problems_are_of_their_half_and_deterministic(group, family, half, real_data):
    for seed in range(2):
        a, b = (make(group, family, seed, real_data, half) for _ in range(2))
        if a is None:  # a half without sets of that size
            continue
        assert np.array_equal(a.X, b.X)
        assert np.array_equal(a.y, b.y)
        assert 5 <= a.y.sum() <= len(a.y) - 5
        name = a.design.get("set")
        assert half == (half_of_set(name) if name else half_of_design(a.design))


def test_sets_that_resemble_each_other_are_on_one_side(real_data):
    sides = {half: set(real_names(real_data, half)) for half in HALVES}
    assert not sides["judge"] & sides["choose"]
    assert sides["judge"] | sides["choose"] == set(real_names(real_data))
    for kind in ("digits", "wine"):
        places = [h for h in HALVES for name in sides[h] if name.startswith(kind)]
        assert len(set(places)) == 1


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
    z = 1.96
    answer = e, e - z * s, e + z * s
    assert abs(covered(true, np.zeros(n), *answer, z).mean() - 0.95) < 0.005
    assert abs(covered(seen, np.full(n, v), *answer, z).mean() - 0.95) < 0.005


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


def test_a_run_is_kept_and_read_back(tmp_path):
    key = Key("few signals", "l2", 0, Path(tmp_path))
    first = Run(key)
    folds, truth = first.folds, first.truth
    assert folds.shape == (5, len(truth))
    again = Run(key)
    again.__dict__["problem"] = None  # nothing is drawn again
    np.testing.assert_array_equal(again.folds, folds)
    np.testing.assert_array_equal(again.models[0][-1].coef_, first.models[0][-1].coef_)


def test_forests_have_the_truth_of_rows_held_out(tmp_path):
    run = Run(Key("real P < .3 n", "forest", 0, Path(tmp_path)))
    model, (X, y) = run.models[-1], run.problem.held_out
    assert run.truth[-1] == pytest.approx(
        roc_auc_score(y, model.predict_proba(X)[:, 1])
    )
    assert make("few signals", "forest", 0, None) is None


def test_small_report(tmp_path):
    report.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "panel.csv")
    assert {"skauc", "5-fold CV", "paper's prior"} <= {row["method"] for row in rows}
    for row in rows:
        if row["method"] == "5-fold CV":
            assert float(row["MAE/CV"]) == 1
    pooled = read_table(tmp_path / "panel_pooled.csv")
    assert len(pooled) == 2 * len(rows)  # each family, and all


@pytest.mark.parametrize("problem", compare_models.PROBLEMS)
def test_both_models_have_the_same_auc_on_average(problem):
    gaps = []
    for seed in range(150):
        X, y, columns = compare_models.rows(problem, seed)
        half = len(y) // 2
        scores = (
            compare_models.MeanDifference(c).fit(X[:half], y[:half]) for c in columns
        )
        a, b = (roc_auc_score(y[half:], m.decision_function(X[half:])) for m in scores)
        gaps.append(a - b)
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(len(gaps))


def test_random_labels_stay_near_one_half(tmp_path):
    null.main(["--fast", "--out", str(tmp_path)])
    rows = read_table(tmp_path / "null.csv")
    assert [row["model"] for row in rows] == [*null.KINDS]
    assert abs(np.mean([float(row["mean"]) for row in rows]) - 0.5) < 0.12


@pytest.mark.parametrize("kind", [*defaults.pipelines()])
@pytest.mark.filterwarnings("ignore")  # of fits that stop early, as in every script
def test_truth_of_default_pipelines_is_that_of_new_rows(kind):
    size = 40, 60, 1  # columns with deviations from 1e-3 to 1e5
    X, y, shift, scale = defaults.draw("signal", *size)
    model = defaults.pipelines()[kind].fit(X, y)
    rng = np.random.default_rng(0)
    new, labels = rng.standard_normal((20_000, 60)), np.arange(20_000) % 2
    score = model.decision_function(new * scale + np.outer(labels, shift))
    true = defaults.ask(kind, "signal", *size)[0]
    assert abs(roc_auc_score(labels, score) - true) < 4 * 0.5 / np.sqrt(20_000)


def test_difference_of_means_has_the_stated_auc():
    aucs = []
    for seed in range(0, 400, 2):
        X, y, shift, _ = defaults.draw("signal", 40, 200, seed)
        w = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
        aucs.append(ndtr(w @ shift / np.linalg.norm(w) / np.sqrt(2)))
    assert abs(np.mean(aucs) - 0.8) < 0.01


def test_defaults_on_a_few_rows(tmp_path):
    few = ["--rows", "20", "--features", "30", "50", "--out", str(tmp_path)]
    kinds = ["RidgeClassifier", "scaler, LogisticRegression"]
    defaults.main([*few, "--seeds", "2", "--pipelines", *kinds, "--fast"])
    rows = read_table(tmp_path / "defaults.csv")
    assert [(r["problem"], r["Pipeline"]) for r in rows] == [
        (problem, kind) for kind in kinds for problem in defaults.PROBLEMS
    ]
    assert all(float(r["true"]) == 0.5 for r in rows if r["problem"] == "noise")
    assert len(read_table(tmp_path / "sizes.csv")) == 8


def test_widths_of_one_simulated_set(tmp_path):
    width.main(["--fast", "--out", str(tmp_path)])
    true, permuted = read_table(tmp_path / "width.csv")
    assert (true["labels"], permuted["labels"]) == ("true", "permuted")
    assert float(permuted["truth"]) == 0.5
    assert abs(float(permuted["model"]) - 0.5) < 0.2


def test_truth_of_factors_is_that_of_the_direction():
    for seed in range(4):
        problem = make("factors", "l2", seed, None)
        w = problem.X[problem.y].mean(0) - problem.X[~problem.y].mean(0)
        truth, variance = problem.truth(np.array([w, 3 * w, -w]).T)
        assert truth[0] == pytest.approx(truth[1])
        assert truth[0] == pytest.approx(1 - truth[2])
        assert (truth[0] == 0.5) == (problem.design["signal"] == "none")
        assert np.all(truth <= problem.design["attainable"])
        assert np.all(variance == 0)
