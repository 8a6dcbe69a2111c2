"""Weights of classes, names of odds, values far out, and where warnings point."""

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import GaussianAUCClassifier, IRLSLogisticRegression


def rare(rng, n=400):
    """About 6 % positives; the second feature has no effect."""
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(3.2 - 0.7 * X[:, 0]))).astype(int)


# Weights of classes -------------------------------------------------------------------


def test_class_weights_take_the_sandwich_by_its_definition():
    X, y = rare(np.random.default_rng(0))
    counts = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    factors = np.array([0.5, 7.0])
    model = IRLSLogisticRegression(class_weight={0: 0.5, 1: 7.0}).fit(X, y, counts)
    design = np.column_stack([np.ones(len(y)), X])
    p = model.predict_proba(X)[:, 1]
    c = factors[y]
    # H = Σ w c p(1 − p) x xᵀ, meat Σ (w c)² (y − p)² x xᵀ
    H = design.T @ (design * (counts * c * p * (1 - p))[:, None])
    meat = design.T @ (design * ((counts * c * (y - p)) ** 2)[:, None])
    bread = np.linalg.inv(H)
    assert model.covariance_ == pytest.approx(bread @ meat @ bread, rel=1e-9)
    table = model.summary()
    assert table.covariance == "HC0"
    assert table.standard_error == pytest.approx(np.sqrt(np.diag(model.covariance_)))
    rows = {"X": X, "y": y, "sample_weight": counts}
    again = model.summary(covariance="HC1", **rows).standard_error
    n = len(y)
    assert again == pytest.approx(table.standard_error * np.sqrt(n / (n - 3)), rel=1e-9)
    clusters = model.summary(covariance="cluster", groups=np.arange(len(y)), **rows)
    assert clusters.covariance == "cluster"


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda m, X, y: m.summary(covariance="model"), "'HC0', 'HC1' or 'cluster'"),
        (
            lambda m, X, y: m.summary(method="profile", X=X, y=y),
            "method='profile' is not defined with class_weight, .* got .*'balanced'",
        ),
        (
            lambda m, X, y: m.likelihood_ratio_test(contrast=[0, 0, 1], X=X, y=y),
            "likelihood_ratio_test is not defined with class_weight",
        ),
    ],
)
def test_what_weights_of_classes_do_not_allow(ask, text):
    X, y = rare(np.random.default_rng(0))
    model = IRLSLogisticRegression(class_weight="balanced").fit(X, y)
    assert not hasattr(model, "aic_")
    with pytest.raises(ValueError, match=text):
        ask(model, X, y)


@pytest.mark.slow
@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 10}])
def test_intervals_with_class_weights_cover(class_weight):
    rng, covered, n = np.random.default_rng(5), 0, 400
    for _ in range(n):
        model = IRLSLogisticRegression(class_weight=class_weight).fit(*rare(rng))
        low, high = model.confidence_interval()
        covered += low[2] <= 0 <= high[2]
    assert 0.91 < covered / n < 0.98


# Names --------------------------------------------------------------------------------


def test_odds_name_their_classes():
    X, y = rare(np.random.default_rng(0))
    model = IRLSLogisticRegression().fit(X, np.where(y == 1, "ill", "well"))
    table = model.summary()
    assert str(table).startswith("log odds of 'well' against 'ill'; 95 %")
    assert str(table.odds_ratios()).startswith("odds of 'well' against 'ill'; 95 %")
    y = np.random.default_rng(1).integers(0, 3, len(X))
    table = IRLSLogisticRegression().fit(X, np.array(list("abc"))[y]).summary()
    assert table.odds == "against 'a'"
    assert table.names[:2] == ("b: (Intercept)", "b: x0")


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y = rare(np.random.default_rng(0))
    frame = pd.DataFrame(X, columns=["age", "dose"])
    step = ColumnTransformer([("z", StandardScaler(), ["dose", "age"])])
    pipe = make_pipeline(step, IRLSLogisticRegression()).fit(frame, y)
    model = pipe[-1]
    assert model.summary().names == ("(Intercept)", "x0", "x1")
    for names in (pipe[:-1], pipe[:-1].get_feature_names_out(), ["z__dose", "z__age"]):
        table = model.summary(feature_names=names)
        assert table.names == ("(Intercept)", "z__dose", "z__age")
    with pytest.raises(ValueError, match="one name for each of the 2 features, got 1"):
        model.summary(feature_names=["age"])


# Values far out -----------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e8, 1e10])
@pytest.mark.parametrize("label", [0, 1])
def test_one_huge_value_is_no_separation(size, label):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (rng.random(300) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    X[5, 0], y[5] = size, label
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IRLSLogisticRegression().fit(X, y)
    kept = np.arange(300) != 5
    if label == 1:  # the row is certain: the others alone decide
        rest = IRLSLogisticRegression().fit(X[kept], y[kept])
        assert model.coef_ == pytest.approx(rest.coef_, rel=1e-7)
        assert model.log_likelihood_ == pytest.approx(rest.log_likelihood_)
    else:  # no effect but that of the row
        assert abs(model.coef_[0, 0]) < 20 / size
    assert np.isfinite(model.summary().standard_error).all()


# Where warnings point -----------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [GaussianAUCClassifier(), IRLSLogisticRegression()], ids=lambda m: str(m)
)
def test_warnings_point_at_the_callers_line(model):
    X, y = rare(np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="linearly dependent") as caught:
        model.fit(X[:, [0, 0]], y)
    assert caught[0].filename == __file__


def test_warnings_of_a_profile_point_at_the_callers_line(monkeypatch):
    steps = {"tol": 1e-7, "max_iter": 0}
    monkeypatch.setattr("skauc.estimators._logistic_inference._CLIMB", steps)
    X, y = rare(np.random.default_rng(0))
    model = IRLSLogisticRegression().fit(X, y)
    rows = {"X": X, "y": y}
    for ask in (
        lambda: model.summary(method="profile", **rows),
        lambda: model.confidence_interval(method="profile", **rows),
        lambda: model.likelihood_ratio_test(contrast=[0, 1, 1], **rows),
    ):
        with pytest.warns(ConvergenceWarning, match="did not converge") as caught:
            ask()
        assert {warning.filename for warning in caught} == {__file__}
