"""The course lesson: facts that hold whatever our code does."""

import numpy as np
import paper_classification_lesson as lesson
import pytest
from results_table import read_table
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression


@pytest.fixture(scope="module")
def without_data(fast_run):
    return fast_run(lesson.main)[0]


@pytest.fixture(scope="module")
def numbers(without_data):
    return {
        (row["part"], row["quantity"]): row
        for row in read_table(without_data / "paper_classification_lesson.csv")
    }


def f1(x):
    return 0.6 * norm.pdf(x, -2, 0.5) + 0.4 * norm.pdf(x, 0, 1)


def f2(x):
    return f1(x - 2)  # the classes are shifted versions of each other


# Without data -------------------------------------------------------------------------


def test_boundary_of_the_normal_classes(numbers):
    printed = {"constant": 5.56, "x1": -2.00, "x2": 3.56}
    for name, value in printed.items():
        assert float(numbers["normal classes", name]["computed"]) == pytest.approx(
            value, abs=0.005
        )
    # the point halfway between (0, 0) and (2, −2) lies on it
    c, a, b = lesson.linear_boundary(lesson.MEANS, lesson.SIGMA)
    assert c + a - b == pytest.approx(0, abs=1e-12)
    simulated = [row for (part, _), row in numbers.items() if part == "normal classes"]
    assert all(row["agrees"] == "yes" for row in simulated)


def test_mixture_boundaries():
    found = lesson.population_boundaries()
    x = np.linspace(-4, 4, 800_001)
    (crossing,) = np.flatnonzero(np.diff(np.sign(f1(x) - f2(x))))
    assert found["Bayes"] == pytest.approx(x[crossing], abs=2e-5)
    assert found["LDA"] == pytest.approx((-1.2 + 0.8) / 2)
    rng, n = np.random.default_rng(0), 200_000
    X, y = lesson.draw_mixture(n, rng)
    assert [X[y == k].mean() for k in (0, 1)] == pytest.approx([-1.2, 0.8], abs=0.02)
    fit = LogisticRegression(C=1e8).fit(X, y)
    # a sample of 2000 a class varies by 0.025
    assert found["logistic"] == pytest.approx(
        -fit.intercept_[0] / fit.coef_[0, 0], abs=0.01
    )


def test_mixture_errors_by_a_riemann_sum():
    x = np.linspace(-12, 12, 240_001)
    for boundary in lesson.population_boundaries().values():
        wrong = np.where(x > boundary, f1(x), f2(x)) / 2
        expected = np.sum(wrong) * (x[1] - x[0])
        assert lesson.mixture_error(boundary) == pytest.approx(expected, abs=2e-5)
    best = np.sum(np.minimum(f1(x), f2(x))) / 2 * (x[1] - x[0])
    bayes = lesson.population_boundaries()["Bayes"]
    assert lesson.mixture_error(bayes) == pytest.approx(best, abs=2e-5)


def test_printed_errors_are_a_sample_of_them():
    population = lesson.population_boundaries()
    for name, printed in {"LDA": 0.2315, "logistic": 0.2205, "Bayes": 0.1765}.items():
        p = lesson.mixture_error(population[name])
        assert abs(printed - p) < 3 * np.sqrt(p * (1 - p) / 2000)


def test_mixture_samples(without_data, numbers):
    rows = read_table(without_data / "paper_classification_lesson_mixture.csv")
    for row in rows:
        if row["quantity"] == "error rate":
            p = float(row["population"])
            deviation = np.sqrt(p * (1 - p) / 2000)
            assert float(row["sample SD"]) == pytest.approx(deviation, rel=0.35)
            error = 5 * deviation / np.sqrt(int(row["samples"]))
            assert float(row["sample mean"]) == pytest.approx(p, abs=error)
    # the one printed number that is no rounding of the design's
    assert [name for (part, name), row in numbers.items() if row["agrees"] == "no"] == [
        "Bayes, boundary"
    ]


def test_iris_log_likelihood(numbers):
    for name in ("log-likelihood, IRLS", "log-likelihood, independent optimiser"):
        computed = float(numbers["iris", name]["computed"])
        assert computed == pytest.approx(-5.949, abs=5e-4)  # R's multinom and VGAM
    X, _ = load_iris(return_X_y=True)
    X1 = np.c_[np.ones(100), X[50:] - X[50:].mean(axis=0)]
    sign = np.repeat([1.0, -1.0], 50)
    found = minimize(
        lambda b: np.sum(np.logaddexp(0, sign * (X1 @ b))), np.zeros(5), tol=1e-9
    )
    assert found.fun == pytest.approx(5.949, abs=5e-4)
    assert "quasi-complete" in numbers["iris", "log-likelihood, IRLS"]["remark"]


def test_claims(without_data):
    claims = read_table(without_data / "paper_classification_lesson_claims.csv")
    holds = {row["claim"]: row["holds"] for row in claims}
    assert holds["logistic regression is nearer to Bayes' rule than LDA"] == "yes"
    weights = "off-diagonal weight of the multinomial Hessian is -p_k(1 - p_m)"
    assert holds[weights] == "no"


def test_without_data_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("SKAUC_DATA_DIR", raising=False)
    monkeypatch.setattr(lesson, "mixture_samples", lambda *job: [[0.0, 1, 2] * 2] * 2)
    monkeypatch.setattr(lesson, "mixture_claims", lambda rows: [])
    lesson.main(["--fast", "--out", str(tmp_path)])
    assert "Pima is left out" in capsys.readouterr().out
    assert not (tmp_path / "paper_classification_lesson_pima.csv").exists()


# With data ----------------------------------------------------------------------------


def test_pima(data_dir, tmp_path):
    lesson.main(["--fast", "--out", str(tmp_path), "--data-dir", str(data_dir)])
    rows = [
        row
        for row in read_table(tmp_path / "paper_classification_lesson.csv")
        if row["part"] == "Pima"
    ]
    assert len(rows) == 33
    # scikit-learn's denominator, n for n − 2 (since 1.9.1), moves one row over LDA's
    # boundary
    moved = [row["quantity"] for row in rows if row["agrees"] == "no"]
    assert moved in (
        [],
        ["LDA (scikit-learn), error %", "LDA (scikit-learn), sensitivity %"],
    )
    by = {
        row["method"]: row
        for row in read_table(tmp_path / "paper_classification_lesson_pima.csv")
    }
    errors = {name: round(float(row["error %"]) * 7.68) for name, row in by.items()}
    assert errors["logistic (IRLS)"] == 216
    assert errors["LDA (n - 2)"] == 217
    assert errors["LDA (scikit-learn)"] == (216 if moved else 217)
    assert errors["QDA"] == 223
    assert errors["1-NN"] == 0
    for name in ("LDA (n - 2)", "QDA"):  # analytic against empirical: √(A(1 − A)/268)
        row = by[name]
        assert float(row["analytic AUC"]) == pytest.approx(float(row["AUC"]), abs=0.05)
    picture = tmp_path / "paper_classification_lesson.png"
    assert 10_000 < picture.stat().st_size < 120_000
