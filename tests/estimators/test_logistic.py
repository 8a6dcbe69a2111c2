"""Logistic regression: scikit-learn's and statsmodels' answers, and the inference."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chi2, norm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import GaussianAUCClassifier, IRLSLogisticRegression, SampleWeightWarning

REFERENCE = Path(__file__).parents[1] / "reference" / "statsmodels_logit.json"
CASES = {case["name"]: case for case in json.loads(REFERENCE.read_text())}


def virginica():
    X, y = load_iris(return_X_y=True)
    return X[50:, :2], y[50:]


# Oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_penalised_fits_are_scikit_learns(K):
    X, y = load_iris(return_X_y=True)
    X, y = X[50 * (3 - K) :][5:], y[50 * (3 - K) :][5:]
    for C in [0.01, 1.0, 30.0]:
        for class_weight in [None, "balanced"]:
            ours = IRLSLogisticRegression(
                C=C, class_weight=class_weight, tol=1e-12
            ).fit(X, y)
            theirs = LogisticRegression(
                C=C,
                class_weight=class_weight,
                solver="newton-cholesky",
                tol=1e-12,
                max_iter=500,
            ).fit(X, y)
            assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-8)
            assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-8)
            assert ours.predict_proba(X) == pytest.approx(
                theirs.predict_proba(X), abs=1e-8
            )


@pytest.mark.parametrize("name", list(CASES))
def test_summary_has_statsmodels_numbers(name):
    case = CASES[name]
    model = IRLSLogisticRegression().fit(case["X"], case["codes"])
    table = model.summary(0.9)
    params, errors = np.ravel(case["params"]), np.ravel(case["bse"])
    assert table.estimate == pytest.approx(params, rel=1e-6)
    assert table.standard_error == pytest.approx(errors, rel=1e-6)
    assert table.pvalue == pytest.approx(2 * norm.sf(np.abs(params / errors)), rel=1e-5)
    assert table.low == pytest.approx(
        params + norm.ppf(0.05) * errors, rel=1e-5, abs=1e-8
    )
    assert table.high == pytest.approx(
        params + norm.ppf(0.95) * errors, rel=1e-5, abs=1e-8
    )
    assert model.log_likelihood_ == pytest.approx(case["llf"], rel=1e-9)
    assert model.aic_ == pytest.approx(-2 * case["llf"] + 2 * params.size, rel=1e-9)
    k_log_n = params.size * np.log(len(case["codes"]))
    assert model.bic_ == pytest.approx(-2 * case["llf"] + k_log_n, rel=1e-9)


def test_likelihood_ratio_of_spector_and_mazzeo():
    # statsmodels' printed example: LL −12.890, LL-Null −20.592, LLR p 0.001502.
    case = CASES["spector"]
    X, y = np.array(case["X"]), case["codes"]
    full = IRLSLogisticRegression().fit(X, y)
    share = np.mean(y)
    null = len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert full.log_likelihood_ == pytest.approx(-12.890, abs=5e-4)
    assert null == pytest.approx(-20.592, abs=5e-4)
    assert chi2.sf(2 * (full.log_likelihood_ - null), 3) == pytest.approx(
        0.001502, abs=5e-7
    )
    test = full.likelihood_ratio_test(slice(None), X=X, y=y)
    assert test.df == 3
    assert test.pvalue == pytest.approx(0.001502, abs=5e-7)


# Separation ---------------------------------------------------------------------------


def test_complete_separation_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"complete separation.*set a finite C"):
        model = IRLSLogisticRegression().fit(X[:100], y[:100])
    assert model.separation_ == "complete"
    assert not model.converged_
    assert np.abs(model.coef_).max() < 1e3
    assert model.score(X[:100], y[:100]) == 1
    assert not hasattr(model, "covariance_")
    with pytest.raises(ValueError, match=r"summary .* complete separation"):
        model.summary()


def test_collinear_features_are_named():
    X, y = virginica()
    with pytest.warns(ConvergenceWarning, match=r"linearly dependent \(rank 3 of 4\)"):
        model = IRLSLogisticRegression().fit(np.column_stack([X, X[:, 0]]), y)
    plain = IRLSLogisticRegression().fit(X, y)
    assert model.coef_[0, [0, 2]] == pytest.approx(plain.coef_[0, 0] / 2)
    assert model.n_parameters_ == 3
    # only the sum of the two copies' coefficients is estimable
    assert np.isnan(model.standard_errors_[0]).tolist() == [False, True, False, True]
    test = model.wald_test([0, 1, 0, 1])
    assert test.estimate == pytest.approx(plain.coef_[0, :1])
    assert test.standard_error == pytest.approx(plain.standard_errors_[0, 1:2])


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps"):
        IRLSLogisticRegression(max_iter=2).fit(*virginica())


# The table ----------------------------------------------------------------------------


def test_table_prints_and_becomes_a_frame():
    pd = pytest.importorskip("pandas")
    X, y = virginica()
    model = IRLSLogisticRegression().fit(
        pd.DataFrame(X, columns=["length", "width"]), y
    )
    table = model.summary()
    lines = str(table).splitlines()
    assert [line.split()[0] for line in lines[1:]] == [
        "estimate",
        "(Intercept)",
        "length",
        "width",
    ]
    assert lines[0] == "log odds of 2 against 1; 95 % limits, method='wald'"
    assert len({len(line) for line in lines[1:]}) == 1
    frame = table.to_frame()
    assert frame.loc["length", "estimate"] == model.coef_[0, 0]
    assert list(frame.columns)[-2:] == ["low", "high"]


def test_inference_is_refused_when_penalised():
    model = IRLSLogisticRegression(C=2.0).fit(*virginica())
    for name in ("covariance_", "standard_errors_", "aic_", "bic_"):
        with pytest.raises(AttributeError, match=rf"{name} is defined .* got C=2.0"):
            getattr(model, name)
    text = r"summary is .* \(C=inf\), whose inverse information is the cov.* got C=2.0"
    with pytest.raises(ValueError, match=text):
        model.summary()
    with pytest.raises(ValueError, match=r"likelihood_ratio_test is .* got C=2.0"):
        model.likelihood_ratio_test("x0")


# Face ---------------------------------------------------------------------------------


def test_metadata_routing():
    import sklearn

    X, y = virginica()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        step = IRLSLogisticRegression().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, step).fit(X, y, sample_weight=weight)
    Z = StandardScaler().fit_transform(X)
    direct = IRLSLogisticRegression().fit(Z, y, sample_weight=weight)
    assert pipe[-1].coef_ == pytest.approx(direct.coef_)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"reference": 9}, r"reference must be one of \[1\] .* got 9"),
        ({"reference": 2}, r"one of \[1\] \(of two labels the first\), got 2"),
        ({"class_weight": {5: 1}}, r"\[1, 2\], are not in class_weight"),
        (
            {"class_weight": {1: 0.0}},
            r"class_weight of 1 must lie in \[1e-70, .* got 0",
        ),
        (
            {"class_weight": {1: -1.0}},
            r"class_weight of 1 must lie in \[1e-70, .* -1.0",
        ),
        ({"class_weight": {1: "x"}}, r"class_weight of 1 must lie in \[1e-70, .* 'x'"),
        ({"reference": np.arange(2)}, r"reference must be one of \[1\]"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
    ],
)
def test_errors_name_the_parameter(params, text):
    with pytest.raises(ValueError, match=text):
        IRLSLogisticRegression(**params).fit(*virginica())


def test_class_weight_of_a_label_that_does_not_occur():
    """As in scikit-learn: a fold without a class keeps the dict of all classes."""
    X, y = virginica()
    weight = {1: 2.0, 2: 0.5}
    model = IRLSLogisticRegression(C=1.0, class_weight=weight | {0: 9.0}).fit(X, y)
    expected = LogisticRegression(class_weight=weight | {0: 9.0}, tol=1e-10).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-4)


def test_error_of_a_reference_of_three_classes():
    X, y = load_iris(return_X_y=True)
    text = r"reference must be one of \[0, 1, 2\] .* got 9$"
    with pytest.raises(ValueError, match=text):
        IRLSLogisticRegression(reference=9).fit(X, y)


@pytest.mark.parametrize("bad", ["NaN", "inf", "1e+200", "1e+75", "1e-75"])
def test_errors_name_the_feature(bad):
    X, y = virginica()
    X[slice(None) if bad == "1e-75" else 3, 1] = float(bad)
    text = f"got {bad} in feature 1"
    models = [IRLSLogisticRegression(), IRLSLogisticRegression(C=1.0)]
    for model in [*models, GaussianAUCClassifier()] if "e" in bad else models:
        with pytest.raises(ValueError, match=re.escape(text)):
            model.fit(X, y)


def test_error_of_a_contrast_with_a_row_of_zeros():
    model = IRLSLogisticRegression().fit(*virginica())
    contrast = np.eye(3)[:2]
    contrast[1] = 0
    with pytest.raises(
        ValueError, match=r"contrast must .* none of zeros, got rank 1 of 2"
    ):
        model.wald_test(contrast)


# More features than rows --------------------------------------------------------------


def wide(n=30, P=200, K=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, P)) + 3, rng.permutation(np.arange(n) % K)


@pytest.mark.parametrize("K", [2, 3])
def test_wide_fits_are_scikit_learns(K):
    X, y = wide(K=K)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    for fit_intercept in [True, False]:
        for class_weight in [None, "balanced"]:
            params = {
                "C": 0.3,
                "fit_intercept": fit_intercept,
                "class_weight": class_weight,
            }
            if class_weight == "balanced":  # scikit-learn counts weights since 1.7
                balanced = weight.sum() / K / np.bincount(y, weight)
                class_weight = dict(enumerate(balanced))
            theirs = LogisticRegression(
                C=0.3,
                fit_intercept=fit_intercept,
                class_weight=class_weight,
                solver="newton-cholesky",
                tol=1e-12,
                max_iter=500,
            ).fit(X, y, weight)
            ours = IRLSLogisticRegression(**params, tol=1e-12).fit(X, y, weight)
            assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-8, abs=1e-10)
            assert ours.intercept_ == pytest.approx(
                theirs.intercept_, rel=1e-8, abs=1e-9
            )
            thin = ours.coef_
            assert ours.fit(sparse.csr_array(X), y, weight).coef_ == pytest.approx(
                thin, rel=1e-9, abs=1e-12
            )


# Weights and features of any size -----------------------------------------------------


@pytest.mark.parametrize("P", [2, 200])
@pytest.mark.parametrize("K", [2, 3])
def test_weights_times_a_number_are_c_times_it(P, K):
    X, y = wide(P=P, K=K)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    plain = IRLSLogisticRegression(C=2.0, tol=1e-12).fit(X, y, weight)
    for size in [1e40, 1e-40, 1e6, 1 / 30]:
        scaled = IRLSLogisticRegression(C=2.0 / size, tol=1e-12).fit(
            X, y, weight * size
        )
        assert scaled.coef_ == pytest.approx(plain.coef_, rel=1e-7, abs=1e-9)
        assert scaled.log_likelihood_ == pytest.approx(plain.log_likelihood_ * size)


@pytest.mark.parametrize("size", [1e40, 1e-40, 1e6, 1e-2])
def test_without_a_penalty_only_errors_read_weights_as_counts(size):
    X, y = virginica()
    plain = IRLSLogisticRegression().fit(X, y)
    scaled = IRLSLogisticRegression().fit(X, y, np.full(len(y), size))
    assert scaled.coef_ == pytest.approx(plain.coef_, rel=1e-9)
    copies = max(size, 1.0)  # smaller equal weights are worth as many rows
    with pytest.warns(SampleWeightWarning):
        errors, covariance = scaled.standard_errors_, scaled.covariance_
    assert errors * np.sqrt(copies) == pytest.approx(plain.standard_errors_, rel=1e-9)
    assert covariance * copies == pytest.approx(plain.covariance_, rel=1e-9)
    assert scaled.deviance_ / copies == pytest.approx(plain.deviance_, rel=1e-9)
