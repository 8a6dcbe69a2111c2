"""The ROC curve of LDA: the paper's formulas from numpy alone, and what must hold."""

import numpy as np
import paper_lda_roc
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split


@pytest.fixture(scope="module")
def tables(fast_run):
    out, tables = fast_run(paper_lda_roc.main)
    written = {path.name for path in out.iterdir()}
    for name in ("fig2", "sizes"):
        assert f"paper_lda_roc_{name}.png" in written
    assert {f"paper_lda_roc_{name}.csv" for name in tables} <= written
    return tables


def papers_curve(features, share):
    """α, β, γ of the paper by its eigendecomposition, on the split of figure 2."""
    file = load_breast_cancer()
    columns = {
        "area, concavity, fractal": [3, 6, 9],
        "radius, texture": [0, 1],
        "all 30": list(range(30)),
    }[features]
    X, _, y, _ = train_test_split(
        file.data[:, columns], file.target, test_size=share, random_state=45
    )
    mu = [X[y == c].mean(axis=0) for c in (0, 1)]
    centred = np.vstack([X[y == c] - mu[c] for c in (0, 1)])
    sigma = centred.T @ centred / (len(y) - 2)
    alpha = np.linalg.solve(sigma, mu[1] - mu[0])
    beta = (mu[0] @ np.linalg.solve(sigma, mu[0])) / 2
    beta -= (mu[1] @ np.linalg.solve(sigma, mu[1])) / 2
    values, Q = np.linalg.eigh(sigma)
    gamma = np.linalg.norm(np.sqrt(values) * (Q.T @ alpha))
    return [alpha @ m + beta for m in mu], gamma


def test_columns_of_the_feature_sets():
    names = load_breast_cancer().feature_names
    assert list(names[[0, 1, 3, 6, 9]]) == [
        "mean radius",
        "mean texture",
        "mean area",
        "mean concavity",
        "mean fractal dimension",
    ]


def test_closed_form_is_the_integral_of_the_papers_curve(tables):
    for row in tables["fig2"]:
        (f0, f1), gamma = papers_curve(row["features"], row["test share"])
        area, _ = quad(
            lambda u, d=(f1 - f0) / gamma: ndtr(d + ndtri(u)), 0, 1, epsabs=1e-12
        )
        assert row["AUC closed form"] == pytest.approx(area, abs=1e-9)
        assert abs(row["integral - closed form"]) < 1e-10
        delta = (f1 - f0) / gamma
        assert row["delta"] == pytest.approx(delta, rel=1e-7)
        assert row["AUC closed form"] == pytest.approx(
            ndtr(delta / np.sqrt(2)), abs=1e-10
        )


def test_youden_point_is_at_zero_of_the_papers_score(tables):
    for row in tables["fig2"]:
        (f0, f1), gamma = papers_curve(row["features"], row["test share"])
        theta = np.linspace(-6, 6, 4001)
        j = ndtr((f1 - theta) / gamma) - ndtr((f0 - theta) / gamma)
        assert theta[np.argmax(j)] == pytest.approx(0, abs=1e-9)
        assert row["Youden J"] == pytest.approx(j.max(), abs=1e-9)
        assert row["Youden theta"] == pytest.approx(0, abs=1e-8)


def test_the_trapezoid_loses_its_cut_ends(tables):
    # Each strip is 0.001 wide and at most 1 high; over the right one TPR > 0.999.
    for row in tables["fig2"]:
        loss, ends = row["trapezoid loses"], row["of that, cut ends"]
        assert 0.999e-3 < ends < 2e-3
        # The chords of 1000 thresholds lie below a concave curve, by very little.
        assert 0 <= loss - ends < 1e-5
        delta = row["delta"]
        right, _ = quad(lambda u, d=delta: ndtr(d + ndtri(u)), 0.999, 1)
        left, _ = quad(lambda u, d=delta: ndtr(d + ndtri(u)), 0, 0.001)
        assert ends == pytest.approx(left + right, abs=1e-9)


def test_class_order_does_not_matter(tables):
    assert all(abs(row["AUC, classes swapped"]) < 1e-12 for row in tables["fig2"])


def cell(tables, features, rows, estimate):
    (found,) = [
        row
        for row in tables["sizes"]
        if (row["features"], row["rows"], row["estimate"]) == (features, rows, estimate)
    ]
    return found


def test_plug_in_is_optimistic_with_thirty_features(tables):
    few = cell(tables, "all 30", 60, "plug-in")
    many = cell(tables, "all 30", 398, "plug-in")
    assert few["bias"] > 0.02
    assert few["bias"] > many["bias"] > 3 * many["bias SE"]


def test_what_corrects_it(tables):
    # The Bayesian AUC errs to the other side at 60 rows. The leave-pair-out
    # estimate from the same fit is nearer than the theory at both sizes.
    for rows in (60, 398):
        plug_in = abs(cell(tables, "all 30", rows, "plug-in")["bias"])
        assert abs(cell(tables, "all 30", rows, "leave-pair-out")["bias"]) < plug_in
    assert cell(tables, "all 30", 60, "Bayesian, adaptive")["bias"] < 0
    assert abs(cell(tables, "all 30", 398, "Bayesian, adaptive")["bias"]) < plug_in


def test_training_and_test_rows_share_one_file(tables):
    # The AUC of the training rows and that of the rest move against each other.
    row = cell(tables, "radius, texture", 398, "resubstitution")
    assert row["correlation"] < -0.8


def test_claims_follow_from_the_numbers(tables):
    holds = {row["claim"]: row["holds"] for row in tables["claims"]}
    assert set(holds.values()) <= {"yes", "partly", "no"}
    assert holds["the curve is concave"] == "yes"
    assert holds["its area is Φ(δ/√2)"] == "yes"
    assert holds["J = 2Φ(δ/2) − 1 is the largest, at θ = 0"] == "yes"
    assert holds["30 features: theory is optimistic"] == "yes"
    assert holds["the trapezoid over FPR in [0.001, 0.999] is the AUC"] == "no"


def test_figure_2s_test_auc_by_counting_pairs(tables):
    for row in tables["fig2"]:
        _, _, _, y, score = paper_lda_roc.one_split(row["features"], row["test share"])
        gap = score[y == 1][:, None] - score[y == 0]
        auc = np.mean(gap > 0) + np.mean(gap == 0) / 2
        assert row["test AUC"] == pytest.approx(auc, abs=1e-12)
