"""Gaussian AUC: the post's printed numbers, and the panel's parts by brute force."""

import linear_models
import numpy as np
import paper_gaussian_auc as paper
import pytest
from results_table import read_table
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from skauc import GaussianAUCClassifier


@pytest.fixture(scope="module")
def run(fast_run):
    return fast_run(paper.main)


@pytest.fixture(scope="module")
def tables(run):
    return run[1]


@pytest.fixture(scope="module")
def iris(tables):
    return {row["quantity"]: row for row in tables["iris"]}


def count_pairs(y, score, tie):
    """Pair by pair: 1 in the right order, ``tie`` for a tie."""
    total = 0.0
    for a in score[y == 1]:
        for b in score[y == 0]:
            total += tie if abs(a - b) < 1e-10 else float(a > b)
    return total / np.sum(y == 1) / np.sum(y == 0)


def versicolor():
    X, y = load_iris(return_X_y=True)
    return X[50:, :2], (y[50:] == 1).astype(int)


def closed_form(X, y):
    """Σ⁻¹μ from numpy alone, and the μ and Σ."""
    mu = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    sigma = np.cov(X[y == 1].T) + np.cov(X[y == 0].T)
    return np.linalg.solve(sigma, mu), mu, sigma


# Iris ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantity", "printed"),
    [
        ("training, logistic", 0.789),
        ("training, Gaussian", 0.789),
        ("left out, logistic", 0.768),
        ("left out, Gaussian", 0.772),
    ],
)
def test_what_the_post_prints(iris, quantity, printed):
    assert iris[quantity]["printed"] == printed
    assert iris[quantity]["computed"] == pytest.approx(printed, abs=5e-4)


def test_ties_on_the_training_rows(iris):
    X, y = versicolor()
    theta, _, _ = closed_form(X, y)
    strict, half = count_pairs(y, X @ theta, 0), count_pairs(y, X @ theta, 0.5)
    assert iris["training, Gaussian"]["computed"] == pytest.approx(strict, abs=1e-12)
    assert iris["training, Gaussian, ties ½"]["computed"] == pytest.approx(half)
    assert half == pytest.approx(roc_auc_score(y, np.round(X @ theta, 9)))
    assert half == pytest.approx(0.7918)


def test_bfgs_reaches_the_closed_form(iris):
    theta, mu, sigma = closed_form(*versicolor())
    best = ndtr(np.sqrt(mu @ np.linalg.solve(sigma, mu)))
    for name in ("Φ(r), closed form", "Φ(r), our BFGS", "Φ(r), post's BFGS"):
        assert iris[name]["computed"] == pytest.approx(best, abs=1e-10)
    coef = GaussianAUCClassifier().fit(*versicolor()).coef_[0]
    assert coef / coef[0] == pytest.approx(theta / theta[0], rel=1e-6)
    assert iris["angle, post's BFGS to Σ⁻¹μ"]["computed"] < 1e-5


def test_the_reversed_maximiser_is_stationary_too(iris):
    stuck = iris["Φ(r), post's BFGS from −θ*"]["computed"]
    best = iris["Φ(r), closed form"]["computed"]
    assert stuck == pytest.approx(1 - best, abs=1e-9)


def test_pairs_left_out_by_refitting_each(iris):
    X, y = versicolor()
    right = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            kept = np.delete(np.arange(len(y)), [i, j])
            theta, _, _ = closed_form(X[kept], y[kept])
            gap = (X[i] - X[j]) @ theta
            right += 0.5 if abs(gap) < 1e-10 else float(gap > 0)
    computed = iris["pairs left out, Gaussian"]["computed"]
    assert computed == pytest.approx(right / 2500, abs=1e-12)


def test_claims_of_the_post(tables):
    holds = {row["claim"]: row["holds"] for row in tables["claims"]}
    assert holds["the four printed AUCs: .789, .789, .772, .768"] == "yes"
    assert holds["every start ends with the same loss"] == "no"


# Time ---------------------------------------------------------------------------------


def test_the_truth_of_the_stream():
    d, sigma = paper.truth()
    theta = np.linalg.solve(sigma[0] + sigma[1], d)
    assert ndtr(np.sqrt(d @ theta)) == pytest.approx(0.9)
    assert paper.lost_auc(theta) == pytest.approx(0, abs=1e-12)
    assert paper.lost_auc(3 * d) > 0.01
    ((X, y),) = paper.blocks(40_000, seed=1)
    # Four standard errors of an AUC of .9 with 16,000 + 24,000 rows.
    assert roc_auc_score(y, X @ theta) == pytest.approx(0.9, abs=0.007)


def test_streamed_is_whole(monkeypatch):
    monkeypatch.setattr(paper, "BLOCK", 1000)
    parts = list(paper.blocks(3500, seed=2))
    assert [len(y) for _, y in parts] == [1000, 1000, 1000, 500]
    model = GaussianAUCClassifier()
    for X, y in parts:
        model.partial_fit(X, y, classes=[0, 1])
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    theta, _, _ = closed_form(X, y)
    assert model.coef_[0] / model.coef_[0, 0] == pytest.approx(
        theta / theta[0], rel=1e-6
    )
    streamed = paper.timed(paper.STREAMED, 3500, 2)["lost"]
    assert streamed == pytest.approx(paper.lost_auc(theta), abs=1e-10)


def test_largest_true_auc_with_unequal_covariances(tables):
    rows = [row for row in tables["time"] if row["n"] == 100_000]
    lost = {row["method"]: row["true AUC lost"] for row in rows}
    assert 0 <= lost["Gaussian AUC, streamed"] < lost["LDA"]
    assert lost["Gaussian AUC, streamed"] < lost["logistic regression"]
    assert lost["Gaussian AUC, streamed"] == pytest.approx(
        lost["Gaussian AUC, in memory"], abs=1e-10
    )


def test_slope_of_a_known_law():
    rows = [
        {"method": "m", "n": n, "seconds": 2e-7 * n**1.5}
        for n in (10, 100, 1000, 10**4)
    ]
    assert paper.slope(rows, "m") == pytest.approx(1.5)


# Panel --------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [20_000, 50])
def test_pairwise_rule_is_the_least_pairwise_loss(rng, monkeypatch, most):
    monkeypatch.setattr(linear_models, "MOST_PAIRS", most)
    X, y = rng.normal(size=(25, 3)), np.arange(25) < 10
    X[y] += 0.7
    gaps = np.array([a - b for a in X[y] for b in X[~y]])

    def loss(w):  # as heavy as 25 rows, against a ridge of C = 1
        return 25 * np.mean(np.logaddexp(0, -gaps @ w)) + w @ w / 2

    best = minimize(loss, np.zeros(3), options={"gtol": 1e-8})
    model = linear_models.PairwiseLogistic().fit(X, y)
    if most > len(gaps):
        assert model.coef_[0] == pytest.approx(best.x, abs=1e-3)
        score = model.decision_function(X)
        assert count_pairs(y, score, 0.5) == pytest.approx(
            count_pairs(y, X @ best.x, 0.5), abs=0.02
        )
    else:  # 50 of 150 pairs: near the best, and above it
        assert best.fun < loss(model.coef_[0]) < 1.1 * best.fun


def test_penalised_rules_in_the_span_of_the_rows(rng, monkeypatch):
    X, y = rng.normal(size=(60, 90)), np.arange(60) % 2 == 0
    X[y, :5] += 1
    monkeypatch.setattr(linear_models, "load", lambda name, folder: (X, y))
    monkeypatch.setattr(linear_models, "WIDEST_LDA", 80)
    found = linear_models.half("any", 3, None)
    split = StratifiedShuffleSplit(1, train_size=0.5, random_state=3)
    ((train, test),) = split.split(X, y)
    scaler = StandardScaler().fit(X[train])
    model = LogisticRegression(tol=1e-8).fit(scaler.transform(X[train]), y[train])
    score = model.decision_function(scaler.transform(X[test]))
    assert found[linear_models.PEER] == pytest.approx(
        count_pairs(y[test], score, 0.5), abs=0.01
    )
    assert found[linear_models.LDA] is None
    assert (found["rows"], found["features"]) == (30, 90)


def test_tables_by_hand():
    aucs = dict.fromkeys(linear_models.MODELS, 0.8)
    runs = [
        aucs | {"rows": 50, "features": 3, linear_models.AUTO: 0.8 + gap}
        for gap in (0.01, 0.02, 0.03)
    ]
    (row,) = linear_models.set_rows({"one": runs})
    assert row["group"] == "P <= n/10"
    assert row[linear_models.AUTO] == pytest.approx(0.02)
    # s = .01, three halves: (1/3 + 1) s².
    assert row[f"{linear_models.AUTO} SE"] == pytest.approx(0.01 * np.sqrt(4 / 3))
    summary = linear_models.summary_rows([row])
    first = summary[0]
    assert (first["model"], first["won"], first["clearly won"]) == (
        linear_models.AUTO,
        1,
        0,
    )
    assert first["AUC - peer's"] == pytest.approx(0.02)


def test_panel_holds_the_files_of_the_directory(data_dir, tmp_path):
    arguments = ["--fast", "--part", "panel", "--data-dir", str(data_dir)]
    rows = paper.main([*arguments, "--out", str(tmp_path)])["panel"]
    by_set = {row["set"]: row for row in rows}
    assert set(by_set) == set(linear_models.FAST_SETS)
    assert by_set["ma_alon"][linear_models.LDA] is None
    assert by_set["pima"]["training rows"] == 384
    # Without shrinkage 60 features are too many for 104 rows.
    sonar = by_set["sonar"]
    assert sonar[linear_models.PLAIN] < sonar[linear_models.AUTO] - 0.03


def test_a_part_alone_keeps_the_claims_of_the_others(run):
    out, _ = run
    before = read_table(out / "paper_gaussian_auc_claims.csv")
    assert {row["figure"] for row in before} == set(paper.PARTS)
    paper.main(["--fast", "--part", "iris", "--out", str(out)])
    assert read_table(out / "paper_gaussian_auc_claims.csv") == before
    written = {path.name for path in out.iterdir()}
    assert {f"paper_gaussian_auc_{x}.png" for x in ("time", "panel")} <= written
