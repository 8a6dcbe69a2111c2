"""The logistic report: R's and statsmodels' numbers, definitions, refits by hand."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import chi2, norm
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skauc import IRLSLogisticRegression

REFERENCE = Path(__file__).parents[1] / "reference"
R = {
    key: value if isinstance(value, str) else np.array(value)
    for key, value in json.loads((REFERENCE / "r_logistic.json").read_text()).items()
}
STATSMODELS = json.loads((REFERENCE / "statsmodels_logit.json").read_text())
X, Y, GROUPS = R["X"], R["y"].astype(int), R["groups"].astype(int)
# R interpolates its profile by a spline, which costs it five digits.
SPLINE = 2e-4


def birthweight(**params):
    return IRLSLogisticRegression(**params).fit(X, Y)


def budworm():
    dead = np.array([1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16])
    female = np.repeat([0.0, 1.0], 6)
    design = np.column_stack([female, 1 - female, np.tile(np.arange(6.0), 2)])
    y, weight = np.repeat([1, 0], 12), np.append(dead, 20 - dead)
    return np.vstack([design, design]), y, weight


def log_likelihood(theta, X, y, weight=1.0, offset=0.0):
    f = X @ theta + offset
    return -np.sum(weight * np.logaddexp(0, np.where(y == 1, -f, f)))


def best_with(j, value, X, y, weight=1.0, offset=0.0):
    """The largest log-likelihood with one coefficient held: scipy on the others."""
    rest, fixed = np.delete(X, j, axis=1), offset + X[:, j] * value

    def minus(theta):
        f = rest @ theta + fixed
        residual = weight * (y - expit(f))
        return -log_likelihood(theta, rest, y, weight, fixed), -rest.T @ residual

    found = minimize(minus, np.zeros(rest.shape[1]), jac=True, method="BFGS", tol=1e-10)
    return -found.fun


# R ------------------------------------------------------------------------------------


def test_budworm():
    # Venables & Ripley (2002); profile limits of issue and of R agree to its spline
    Xb, y, weight = budworm()
    model = IRLSLogisticRegression(fit_intercept=False).fit(Xb, y, weight)
    rows = {"X": Xb, "y": y, "sample_weight": weight}
    table = model.summary(method="profile", **rows)
    assert table.estimate == pytest.approx(R["budworm_coef"], rel=1e-8)
    assert table.standard_error == pytest.approx(R["budworm_se"], rel=1e-8)
    limits = np.column_stack([table.low, table.high])
    assert limits == pytest.approx(R["budworm_profile"], rel=SPLINE)
    published = [[-4.45814, -2.61361], [-3.17287, -1.65512], [0.82287, 1.33906]]
    assert limits == pytest.approx(np.array(published), rel=SPLINE)
    low, high = model.confidence_interval(method="profile", **rows)
    assert np.array_equal(low, table.low)
    assert np.array_equal(high, table.high)
    assert (table.method, table.covariance) == ("profile", "model")


def test_birthweight_of_r():
    model = birthweight()
    table = model.summary(method="profile", X=X, y=Y)
    assert table.estimate == pytest.approx(R["coef"], rel=1e-8)
    assert table.standard_error == pytest.approx(R["se"], rel=1e-8)
    limits = np.column_stack([table.low, table.high])
    assert limits == pytest.approx(R["profile"], rel=SPLINE)
    weighted = IRLSLogisticRegression().fit(X, Y, R["weight"]).summary()
    assert weighted.estimate == pytest.approx(R["weighted_coef"], rel=1e-8)
    assert weighted.standard_error == pytest.approx(R["weighted_se"], rel=1e-8)


@pytest.mark.parametrize(
    ("covariance", "key", "groups"),
    [("HC0", "hc0", None), ("HC1", "hc1", None), (None, "cluster", GROUPS)],
)
def test_robust_covariances_of_r(covariance, key, groups):
    # R's weights of a fit that has converged to 1e-13 have seven digits.
    table = birthweight().summary(covariance=covariance, X=X, y=Y, groups=groups)
    assert table.standard_error == pytest.approx(np.sqrt(np.diag(R[key])), rel=1e-6)
    assert table.statistic == pytest.approx(R["coef"] / table.standard_error, rel=1e-7)
    assert table.covariance == (covariance or "cluster")


@pytest.mark.parametrize("drop", [None, "first"])
def test_a_factor_in_a_pipeline_of_r(drop):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["age", "lwt", "smoke", "ht"])
    frame["race"] = GROUPS // 10
    race = OneHotEncoder(drop=drop, sparse_output=False)
    step = ColumnTransformer([("race", race, ["race"])], remainder="passthrough")
    pipe = make_pipeline(step, IRLSLogisticRegression(keep_rows=True))
    pipe[:-1].set_output(transform="pandas")
    dependent = pytest.warns(ConvergenceWarning, match="linearly dependent")
    with nullcontext() if drop else dependent:
        pipe.fit(frame, Y)
    table = pipe[-1].summary(method="profile")
    assert table.names[1:] == tuple(pipe[:-1].get_feature_names_out())
    again = pipe[-1].summary(method="profile", X=pipe[:-1].transform(frame), y=Y)
    assert np.array_equal(table.low, again.low, equal_nan=True)
    columns = [name for name in table.names if name.startswith("race__")]
    for contrast in (columns, pipe[0].output_indices_["race"]):
        test = pipe[-1].likelihood_ratio_test(contrast)
        assert test == pytest.approx(tuple(R["race_lr"]), rel=1e-7)
        wald = pipe[-1].wald_test(contrast)
        assert wald[:3] == pytest.approx(tuple(R["race_wald"]), rel=1e-7)
    with pytest.raises(ValueError, match="contrast must name .*'race', which occurs 0"):
        pipe[-1].wald_test("race")


@pytest.mark.parametrize("K", [2, 3])
def test_a_feature_is_tested_in_the_logits_of_all_classes(K):
    rows, y = load_iris(return_X_y=True)
    y = np.random.default_rng(0).permutation(y) % K
    full = IRLSLogisticRegression(keep_rows=True).fit(rows, y)
    small = IRLSLogisticRegression().fit(rows[:, 1:], y)
    test = full.likelihood_ratio_test("x0")
    gain = 2 * (full.log_likelihood_ - small.log_likelihood_)
    assert test[:2] == pytest.approx((gain, K - 1), rel=1e-7)


def test_offset_of_r():
    model = IRLSLogisticRegression().fit(X, Y, offset=R["offset"])
    table = model.summary()
    assert table.estimate == pytest.approx(R["offset_coef"], rel=1e-8)
    assert table.standard_error == pytest.approx(R["offset_se"], rel=1e-8)
    assert model.deviance_ == pytest.approx(R["offset_deviance"].item(), rel=1e-10)
    assert model.has_offset_


def test_prediction_intervals_of_r():
    low, high = birthweight().predict_interval(X, 0.9)
    half = norm.ppf(0.95) * R["predict_se"]
    assert low == pytest.approx(expit(R["predict_logit"] - half), rel=1e-7)
    assert high == pytest.approx(expit(R["predict_logit"] + half), rel=1e-7)


# statsmodels --------------------------------------------------------------------------


@pytest.mark.parametrize("case", STATSMODELS[:2], ids=lambda case: case["name"])
def test_robust_covariances_of_statsmodels(case):
    rows, y = np.array(case["X"]), np.array(case["codes"])
    model = IRLSLogisticRegression().fit(rows, y)
    table = model.summary(covariance="HC0", X=rows, y=y)
    assert table.standard_error == pytest.approx(case["HC0"], rel=1e-8)
    groups = np.arange(len(y)) // 4
    table = model.summary(covariance="cluster", X=rows, y=y, groups=groups)
    assert table.standard_error == pytest.approx(case["cluster"], rel=1e-8)


# Definitions --------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_profile_is_brute_force(fit_intercept, weighted):
    weight = R["weight"] if weighted else np.ones(len(Y))
    offset = R["offset"]
    rows = X[:, [1, 2]] / [100.0, 1.0]
    design = np.column_stack([np.ones(len(Y)), rows])[:, int(not fit_intercept) :]
    model = IRLSLogisticRegression(fit_intercept=fit_intercept)
    model.fit(rows, Y, weight, offset)
    given = {"X": rows, "y": Y, "sample_weight": weight, "offset": offset}
    table = model.summary(0.9, method="profile", **given)
    for j, (coef, error) in enumerate(
        zip(table.estimate, table.standard_error, strict=True)
    ):

        def fall(value, j=j):
            best = best_with(j, value, design, Y, weight, offset)
            return 2 * (model.log_likelihood_ - best)

        bound = chi2.ppf(0.9, 1)
        low = brentq(lambda v: fall(v) - bound, coef - 5 * error, coef)  # noqa: B023
        high = brentq(lambda v: fall(v) - bound, coef, coef + 5 * error)  # noqa: B023
        assert (table.low[j], table.high[j]) == pytest.approx((low, high), rel=1e-6)
        assert table.statistic[j] == pytest.approx(
            np.sign(coef) * np.sqrt(fall(0)), rel=1e-6
        )
        assert table.pvalue[j] == pytest.approx(chi2.sf(fall(0), 1), rel=1e-5)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("clustered", [True, False])
def test_sandwich_is_its_definition(K, clustered):
    rows, y = load_iris(return_X_y=True)
    rows, y = rows[:, 1:3], np.random.default_rng(0).permutation(y % K)
    weight = np.random.default_rng(1).integers(1, 4, len(y)) * 16.0
    groups = np.arange(len(y)) % 20
    model = IRLSLogisticRegression().fit(rows, y, weight)
    p = model.predict_proba(rows)
    residual = (np.eye(K)[y] - p)[:, 1:]
    design = np.column_stack([np.ones(len(y)), rows])
    score = np.einsum("im,ij->imj", residual, design).reshape(len(y), -1)
    H = np.zeros((score.shape[1],) * 2)
    for w, x, q in zip(weight, design, p[:, 1:], strict=True):
        H += w * np.kron(np.diag(q) - np.outer(q, q), np.outer(x, x))
    n, k = len(y), score.shape[1]
    if clustered:
        sums = np.array([weight[groups == g] @ score[groups == g] for g in range(20)])
        meat, factor = sums.T @ sums, 20 / 19 * (n - 1) / (n - k)
    else:
        each = score * weight[:, None]  # a row is one observation of this weight
        meat, factor = each.T @ each, n / (n - k)
    V = factor * np.linalg.solve(H, np.linalg.solve(H, meat).T)
    kind = {"covariance": "cluster", "groups": groups} if clustered else {}
    table = model.summary(
        **({"covariance": "HC1"} | kind), X=rows, y=y, sample_weight=weight
    )
    assert table.standard_error == pytest.approx(np.sqrt(np.diag(V)), rel=1e-8)


def test_wald_test_is_its_definition():
    model, V = birthweight(), birthweight().covariance_
    theta = np.append(model.intercept_, model.coef_)
    L, value = np.array([[0, 0, 0, 1, -1.0], [0, 10, 1, 0, 0]]), np.array([0.1, -0.2])
    gap = L @ theta - value
    expected = gap @ np.linalg.solve(L @ V @ L.T, gap)
    test = model.wald_test(L, value)
    assert (test.statistic, test.df) == pytest.approx((expected, 2), rel=1e-9)
    assert test.pvalue == pytest.approx(chi2.sf(expected, 2), rel=1e-8)
    assert test.estimate == pytest.approx(L @ theta)
    assert test.standard_error == pytest.approx(np.sqrt(np.diag(L @ V @ L.T)))
    # one coefficient is the summary's z
    alone = model.wald_test([0, 1, 0, 0, 0])
    assert alone.statistic == pytest.approx(model.summary().statistic[1] ** 2, rel=1e-9)
    robust = model.wald_test(L[:1], covariance="HC0", X=X, y=Y)
    error = np.sqrt(L[0] @ R["hc0"] @ L[0])
    assert robust.standard_error == pytest.approx([error], rel=1e-6)


def test_likelihood_ratio_of_contrasts_is_of_nested_fits():
    full, small = birthweight(), IRLSLogisticRegression().fit(X[:, :2], Y)
    gain = 2 * (full.log_likelihood_ - small.log_likelihood_)
    for contrast in (np.eye(5)[3:], ["x2", "x3"], slice(2, 4)):
        test = full.likelihood_ratio_test(contrast, X=X, y=Y)
        assert test == pytest.approx((gain, 2, chi2.sf(gain, 2)), rel=1e-8)
    # the sum of two coefficients at 1 is an offset and a difference
    test = full.likelihood_ratio_test(contrast=[0, 0, 0, 1, 1], null=1.0, X=X, y=Y)
    turned = np.column_stack([X[:, :2], X[:, 2] - X[:, 3]])
    held = IRLSLogisticRegression().fit(turned, Y, offset=X[:, 3])
    gain = 2 * (full.log_likelihood_ - held.log_likelihood_)
    assert test.statistic == pytest.approx(gain, rel=1e-8)


def test_odds_ratios_are_exponentials():
    table = birthweight().summary(0.9)
    odds, tens = table.odds_ratios(), table.odds_ratios(per={"x0": 10, "x2": 0.5})
    assert odds.estimate == pytest.approx(np.exp(R["coef"]), rel=1e-8)
    assert np.log(odds.low) == pytest.approx(table.low)
    assert np.log(odds.high) == pytest.approx(table.high)
    assert np.array_equal(odds.pvalue, table.pvalue)
    assert str(odds).startswith("odds of 1 against 0; 90 % limits, method='wald'\n")
    assert tens.names == ("(Intercept)", "x0 (per 10)", "x1", "x2 (per 0.5)", "x3")
    units = [1, 10, 1, 0.5, 1]
    for name in ("estimate", "low", "high"):
        assert getattr(tens, name) == pytest.approx(getattr(odds, name) ** units)
    numbers = (getattr(tens, name)[1] for name in ("estimate", "low", "high"))
    line = "x0 (per 10): {:.3f} ({:.3f} to {:.3f})".format(*numbers)
    assert tens.summary(digits=3).splitlines()[1] == line
    with pytest.raises(ValueError, match="per must name .*'x3'.*, got 'age'"):
        table.odds_ratios(per={"age": 10})
    pytest.importorskip("pandas")
    assert odds.to_frame().loc["x2", "estimate"] == pytest.approx(np.exp(R["coef"][3]))


# Offset -------------------------------------------------------------------------------


def test_predictions_take_the_offset():
    offset = R["offset"]
    model = IRLSLogisticRegression().fit(X, Y, offset=offset)
    f = X @ model.coef_[0] + model.intercept_ + offset
    assert model.decision_function(X, offset=offset) == pytest.approx(f)
    assert model.predict_proba(X, offset=offset)[:, 1] == pytest.approx(expit(f))
    log_p = model.predict_log_proba(X, offset=offset)
    assert log_p[:, 0] == pytest.approx(np.log(expit(-f)))
    assert np.array_equal(model.predict(X, offset=offset), f > 0)
    assert model.score(X, Y, offset=offset) == np.mean((f > 0) == Y)
    assert model.decision_function(X) == pytest.approx(f - offset)
    low, high = model.predict_interval(X, offset=offset)
    assert np.all((low < expit(f)) & (expit(f) < high))


@pytest.mark.parametrize("C", [np.inf, 0.1])
@pytest.mark.parametrize("P", [3, 60])
def test_offset_maximises_the_likelihood(C, P):
    if P == 60 and C == np.inf:
        pytest.skip("separated")
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(40, P)) + 3, rng.integers(0, 2, 40)
    weight, offset = rng.integers(0, 3, 40), 3 * rng.normal(size=40)
    model = IRLSLogisticRegression(C=C, tol=1e-12).fit(rows, y, weight, offset)
    residual = weight * (y - model.predict_proba(rows, offset)[:, 1])
    ridge = 0 if C == np.inf else model.coef_[0] / C
    assert rows.T @ residual - ridge == pytest.approx(np.zeros(P), abs=1e-7)
    assert residual.sum() == pytest.approx(0, abs=1e-8)
    thin = IRLSLogisticRegression(C=C, tol=1e-12)
    thin.fit(sparse.csr_array(rows), y, weight, offset)
    assert thin.coef_ == pytest.approx(model.coef_, rel=1e-7, abs=1e-10)
    # an offset that is a combination of features moves their coefficients
    if C == np.inf:
        more = IRLSLogisticRegression().fit(rows, y, weight, offset + rows[:, 0])
        moved = model.coef_[0] - np.eye(P)[0]
        assert more.coef_[0] == pytest.approx(moved, rel=1e-6, abs=1e-8)


# Texts --------------------------------------------------------------------------------

ROWS = {"X": X, "y": Y}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"covariance": "HC9"}, "covariance must be one of 'model', .* got 'HC9'"),
        ({"method": "exact"}, "method must be one of 'wald', 'profile', got 'exact'"),
        ({"covariance": "HC0"}, "pass X= and y= .* got X=None"),
        ({"method": "profile", "X": X}, "pass X= and y= .* got y=None"),
        (
            {"method": "profile", "covariance": "HC0", **ROWS},
            "covariance must be 'model' with method='profile', got 'HC0'",
        ),
        (
            {"covariance": "cluster", **ROWS},
            "groups must be given with .* got None with",
        ),
        (
            {"groups": GROUPS, "covariance": "HC1", **ROWS},
            "groups must be None without covariance='cluster",
        ),
        (
            {"covariance": "cluster", "groups": np.ones(len(Y)), **ROWS},
            "groups must hold at least 2 clusters, got 1",
        ),
        (
            {"covariance": "HC0", "X": X, "y": Y[::-1]},
            "must be those of the fit, whose log-likelihood is -10.*, got -",
        ),
        (
            {"covariance": "HC0", "X": X, "y": Y + 1},
            r"the labels of the fitted model, 0, 1, got 2",
        ),
    ],
)
def test_summary_says_what_is_wrong(options, text):
    with pytest.raises(ValueError, match=text):
        birthweight().summary(**options)


def test_refusals():
    model = birthweight()
    with pytest.raises(TypeError, match="'covarianc' is no argument"):
        model.summary(covarianc="HC0")
    ridge = birthweight(C=1.0)
    with pytest.raises(ValueError, match="predict_interval is defined .* got C=1.0"):
        ridge.predict_interval(X)
    with pytest.raises(ValueError, match="wald_test is defined .* got C=1.0"):
        ridge.wald_test(np.eye(5)[0])
    three = IRLSLogisticRegression().fit(X, np.arange(len(Y)) % 3)
    with pytest.raises(ValueError, match=r"for two classes, got classes_ \[0, 1, 2\]"):
        three.predict_interval(X)
    with pytest.raises(ValueError, match="offset must be None for more than two"):
        three.predict(X, offset=R["offset"])
    with pytest.raises(ValueError, match="offset must be None for more than two"):
        three.fit(X, np.arange(len(Y)) % 3, offset=R["offset"])
    with pytest.raises(ValueError, match="offset must have one value for each"):
        model.predict(X, offset=R["offset"][1:])
    with pytest.raises(ValueError, match="offset must be finite, got nan in row 0"):
        model.fit(X, Y, offset=np.full(len(Y), np.nan))
