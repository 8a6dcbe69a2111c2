"""The logistic report: R's and statsmodels' numbers, definitions, refits by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize
from scipy.special import expit, xlogy
from scipy.stats import chi2, norm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from skauc import IRLSLogisticRegression, UntrustedAUCWarning, auc_posterior
from skauc.estimators._logistic_fit import check_total
from skauc.model_selection._training_objective import missing_objective

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
    assert table.coefficient == pytest.approx(R["budworm_coef"], rel=1e-8)
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
    assert table.coefficient == pytest.approx(R["coef"], rel=1e-8)
    assert table.standard_error == pytest.approx(R["se"], rel=1e-8)
    limits = np.column_stack([table.low, table.high])
    assert limits == pytest.approx(R["profile"], rel=SPLINE)
    weighted = IRLSLogisticRegression().fit(X, Y, R["weight"]).summary()
    assert weighted.coefficient == pytest.approx(R["weighted_coef"], rel=1e-8)
    assert weighted.standard_error == pytest.approx(R["weighted_se"], rel=1e-8)


@pytest.mark.parametrize(
    ("covariance", "key", "groups"),
    [("HC0", "hc0", None), ("HC1", "hc1", None), ("cluster", "cluster", GROUPS)],
)
def test_robust_covariances_of_r(covariance, key, groups):
    # R's weights of a fit that has converged to 1e-13 have seven digits.
    table = birthweight().summary(covariance=covariance, X=X, y=Y, groups=groups)
    assert table.standard_error == pytest.approx(np.sqrt(np.diag(R[key])), rel=1e-6)
    assert table.z == pytest.approx(R["coef"] / table.standard_error, rel=1e-7)
    assert table.covariance == covariance


def test_offset_of_r():
    model = IRLSLogisticRegression().fit(X, Y, offset=R["offset"])
    table = model.summary()
    assert table.coefficient == pytest.approx(R["offset_coef"], rel=1e-8)
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
        zip(table.coefficient, table.standard_error, strict=True)
    ):

        def fall(value, j=j):
            best = best_with(j, value, design, Y, weight, offset)
            return 2 * (model.log_likelihood_ - best)

        bound = chi2.ppf(0.9, 1)
        low = brentq(lambda v: fall(v) - bound, coef - 5 * error, coef)  # noqa: B023
        high = brentq(lambda v: fall(v) - bound, coef, coef + 5 * error)  # noqa: B023
        assert (table.low[j], table.high[j]) == pytest.approx((low, high), rel=1e-6)
        assert table.z[j] == pytest.approx(np.sign(coef) * np.sqrt(fall(0)), rel=1e-6)
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
    n, k = weight.sum(), score.shape[1]
    if clustered:
        sums = np.array([weight[groups == g] @ score[groups == g] for g in range(20)])
        meat, factor = sums.T @ sums, 20 / 19 * (n - 1) / (n - k)
    else:
        meat, factor = (score * weight[:, None]).T @ score, n / (n - k)
    V = factor * np.linalg.solve(H, np.linalg.solve(H, meat).T)
    kind = {"covariance": "cluster", "groups": groups} if clustered else {}
    table = model.summary(
        **({"covariance": "HC1"} | kind), X=rows, y=y, sample_weight=weight
    )
    assert table.standard_error == pytest.approx(np.sqrt(np.diag(V)), rel=1e-8)
    if not clustered:  # a weight counts rows
        again = np.repeat(np.arange(len(y)), weight.astype(int))
        many = IRLSLogisticRegression().fit(rows[again], y[again])
        long = many.summary(covariance="HC1", X=rows[again], y=y[again])
        assert table.standard_error == pytest.approx(long.standard_error, rel=1e-8)


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
    assert alone.statistic == pytest.approx(model.summary().z[1] ** 2, rel=1e-9)
    robust = model.wald_test(L[:1], covariance="HC0", X=X, y=Y)
    error = np.sqrt(L[0] @ R["hc0"] @ L[0])
    assert robust.standard_error == pytest.approx([error], rel=1e-6)


def test_likelihood_ratio_of_contrasts_is_of_nested_fits():
    full, small = birthweight(), IRLSLogisticRegression().fit(X[:, :2], Y)
    nested = full.likelihood_ratio_test(small)
    L = np.eye(5)[3:]
    test = full.likelihood_ratio_test(contrast=L, X=X, y=Y)
    assert test == pytest.approx(nested, rel=1e-8)
    # the sum of two coefficients at 1 is an offset and a difference
    test = full.likelihood_ratio_test(contrast=[0, 0, 0, 1, 1], value=1.0, X=X, y=Y)
    turned = np.column_stack([X[:, :2], X[:, 2] - X[:, 3]])
    held = IRLSLogisticRegression().fit(turned, Y, offset=X[:, 3])
    gain = 2 * (full.log_likelihood_ - held.log_likelihood_)
    assert test.statistic == pytest.approx(gain, rel=1e-8)


def test_multinomial_profile_is_brute_force():
    rows, y = load_iris(return_X_y=True)
    rows, y = rows[:, 1:2], np.random.default_rng(0).permutation(y)
    model = IRLSLogisticRegression().fit(rows, y)
    table = model.summary(method="profile", X=rows, y=y)

    def best(value):
        def minus(theta):
            B = np.array([[0, theta[0], theta[1]], [0, value, theta[2]]])
            f = np.column_stack([np.ones(len(y)), rows]) @ B
            own = f[np.arange(len(y)), y]
            return np.sum(np.logaddexp.reduce(f, axis=1) - own)

        return -minimize(minus, np.zeros(3), tol=1e-12, method="BFGS").fun

    for limit in (table.low[1], table.high[1]):
        fall = 2 * (model.log_likelihood_ - best(limit))
        assert fall == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6)


def test_odds_ratios_are_exponentials():
    table = birthweight().summary(0.9)
    odds = table.odds_ratios()
    assert odds.odds_ratio == pytest.approx(np.exp(R["coef"]), rel=1e-8)
    assert np.log(odds.low) == pytest.approx(table.low)
    assert np.log(odds.high) == pytest.approx(table.high)
    assert np.array_equal(odds.pvalue, table.pvalue)
    assert str(odds).splitlines()[0].split()[-2:] == ["[0.05", "0.95]"]
    pytest.importorskip("pandas")
    assert odds.to_frame().loc["x2", "odds_ratio"] == pytest.approx(
        np.exp(R["coef"][3])
    )


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


@pytest.mark.parametrize("level", [-1e4, -46.0, 200.0])
@pytest.mark.parametrize("penalty", ["l2", "firth"])
def test_the_intercept_takes_up_the_level_of_an_offset(level, penalty):
    plain = IRLSLogisticRegression(penalty=penalty).fit(X, Y, offset=R["offset"])
    model = IRLSLogisticRegression(penalty=penalty, warm_start=True)
    for _ in range(2):
        model.fit(X, Y, offset=R["offset"] + level)
        assert model.converged_
        assert model.intercept_ + level == pytest.approx(plain.intercept_, rel=1e-7)
        assert model.coef_ == pytest.approx(plain.coef_, rel=1e-7)
    assert model.n_iter_ <= 2  # the last solution was the start


def test_separation_with_an_offset():
    rows, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    with pytest.warns(ConvergenceWarning, match="complete separation"):
        model = IRLSLogisticRegression().fit(rows, y, offset=np.where(y, -5.0, 5.0))
    assert model.separation_ == "complete"
    # an offset that tells the classes apart by itself separates nothing
    rows = np.array([0.0, 1, 2, 3, 0, 1, 2, 3])[:, None]
    model = IRLSLogisticRegression().fit(rows, y, offset=np.where(y, 5.0, -5.0))
    assert model.separation_ is None
    assert model.converged_


def test_no_leave_pair_out_beside_an_offset():
    model = IRLSLogisticRegression().fit(X, Y, offset=R["offset"])
    assert missing_objective(model, X, Y == 1) == "it was trained with an offset"
    assert missing_objective(birthweight(), X, Y == 1) is None
    with pytest.warns(UntrustedAUCWarning, match="assumed"):
        assert auc_posterior(model, X, Y).mean() > 0.6


# Edges --------------------------------------------------------------------------------


def test_columns_far_from_zero_and_weights_of_any_size():
    plain = birthweight().summary(method="profile", X=X, y=Y)
    moved = X * [1e-3, 1, 1, 1e6] + [1e5, 1e6, 0, 0]
    table = IRLSLogisticRegression().fit(moved, Y)
    table = table.summary(method="profile", X=moved, y=Y)
    unit = np.array([1e-3, 1, 1, 1e6])
    assert table.low[1:] * unit == pytest.approx(plain.low[1:], rel=1e-6)
    assert table.high[1:] * unit == pytest.approx(plain.high[1:], rel=1e-6)
    rows = {"X": X, "y": Y, "sample_weight": np.full(len(Y), 1e200)}
    heavy = IRLSLogisticRegression().fit(X, Y, rows["sample_weight"])
    robust = heavy.summary(covariance="HC0", **rows)
    light = birthweight().summary(covariance="HC0", X=X, y=Y)
    assert robust.standard_error * 1e100 == pytest.approx(light.standard_error)
    groups = heavy.summary(covariance="cluster", groups=GROUPS, **rows)
    light = birthweight().summary(covariance="cluster", X=X, y=Y, groups=GROUPS)
    factor = np.sqrt((len(Y) - 1) / (len(Y) - 5))
    assert groups.standard_error * factor == pytest.approx(light.standard_error)


def test_a_cluster_without_weight_is_gone():
    weight = np.where(GROUPS == GROUPS[0], 0.0, 1.0)
    kept = weight > 0
    model = IRLSLogisticRegression().fit(X, Y, weight)
    table = model.summary(
        covariance="cluster", X=X, y=Y, groups=GROUPS, sample_weight=weight
    )
    rest = IRLSLogisticRegression().fit(X[kept], Y[kept])
    expected = rest.summary(
        covariance="cluster", X=X[kept], y=Y[kept], groups=GROUPS[kept]
    )
    assert table.standard_error == pytest.approx(expected.standard_error, rel=1e-6)


def test_few_clusters_test_few_contrasts():
    # the scores of G clusters add up to 0: their covariance has rank G − 1
    three = {"covariance": "cluster", "X": X, "y": Y, "groups": np.arange(len(Y)) % 3}
    model = birthweight()
    assert model.wald_test(np.eye(5)[1:3], **three).statistic < 1e6
    text = "groups must hold at least 4 clusters for a contrast of 3 rows, got 3"
    with pytest.raises(ValueError, match=text):
        model.wald_test(np.eye(5)[1:4], **three)


def test_a_profile_counts_rows():
    rows = {"X": X, "y": Y, "sample_weight": np.full(len(Y), 1 / len(Y))}
    for n in range(1, 200):  # shares that add up to 1, or to a rounding less
        check_total(np.full(n, 1 / n).sum(), "a test")
    table = (
        IRLSLogisticRegression().fit(*rows.values()).summary(method="profile", **rows)
    )
    assert np.all((table.low < table.coefficient) & (table.coefficient < table.high))
    rows["sample_weight"] /= 2
    model = IRLSLogisticRegression().fit(*rows.values())
    with pytest.raises(
        ValueError, match="add up to at least 1 with method='.* got 0.5"
    ):
        model.summary(method="profile", **rows)


def test_single_precision():
    rows = X.astype(np.float32)
    model = IRLSLogisticRegression().fit(rows, Y)
    table = model.summary(method="profile", X=rows, y=Y)
    limits = np.column_stack([table.low, table.high])
    assert limits == pytest.approx(R["profile"], rel=SPLINE)
    low, high = model.predict_interval(rows)
    assert np.all(low < high)


def test_collinear_features():
    rows = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(ConvergenceWarning, match="linearly dependent"):
        model = IRLSLogisticRegression().fit(rows, Y)
    # predictions and their errors are those of the four columns
    plain = np.array(birthweight().predict_interval(X))
    assert np.array(model.predict_interval(rows)) == pytest.approx(plain, rel=1e-6)
    robust = model.summary(covariance="HC0", X=rows, y=Y)
    assert robust.standard_error[3:5] == pytest.approx(
        np.sqrt(np.diag(R["hc0"]))[3:], rel=1e-6
    )
    with pytest.raises(ValueError, match=r"for method='profile', got rank 5 of 6"):
        model.summary(method="profile", X=rows, y=Y)
    with pytest.raises(ValueError, match="for a contrast, got rank 5 of 6"):
        model.wald_test(np.eye(6)[1])


def test_far_limits_of_nearly_separated_rows():
    rows = np.arange(20.0)[:, None]
    y = (np.arange(20) > 9).astype(int)
    y[[9, 10]] = 1, 0
    model = IRLSLogisticRegression().fit(rows, y)
    table = model.summary(0.99, method="profile", X=rows, y=y)
    design = np.column_stack([np.ones(20), rows - 9.5])
    for limit in (table.low[1], table.high[1]):
        fall = 2 * (model.log_likelihood_ - best_with(1, limit, design, y))
        assert fall == pytest.approx(chi2.ppf(0.99, 1), rel=1e-6)


# Texts --------------------------------------------------------------------------------

ROWS = {"X": X, "y": Y}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"covariance": "HC9"}, "covariance must be one of 'model', .* got 'HC9'"),
        ({"method": "exact"}, "method must be one of 'wald', 'profile', got 'exact'"),
        ({"covariance": "HC0"}, "X must be that of the fit, got None"),
        ({"method": "profile", "X": X}, "y must be that of the fit, got None"),
        (
            {"method": "profile", "covariance": "HC0", **ROWS},
            "covariance must be 'model' with method='profile', got 'HC0'",
        ),
        (
            {"covariance": "cluster", **ROWS},
            "groups must be given with .* got None with",
        ),
        ({"groups": GROUPS, **ROWS}, "groups must be None without covariance='cluster"),
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
            r"y must hold the labels of the fit, \[0, 1\], got 2",
        ),
    ],
)
def test_summary_says_what_is_wrong(options, text):
    with pytest.raises(ValueError, match=text):
        birthweight().summary(**options)


@pytest.mark.parametrize(
    ("contrast", "value", "text"),
    [
        (np.eye(4), 0.0, r"one column for each of the 5 .* got shape \(4, 4\)"),
        (np.zeros(5), 0.0, "contrast must be finite, and no row of it 0, got 0.0"),
        (np.ones((2, 5)), 0.0, "linearly independent rows, got rank 1 of 2"),
        (np.eye(5)[:2], np.ones(3), r"value must be a finite number, or 2 of them"),
        (np.eye(5)[:2], np.nan, r"value must be a finite number, .* got nan"),
    ],
)
def test_contrasts_say_what_is_wrong(contrast, value, text):
    with pytest.raises(ValueError, match=text):
        birthweight().wald_test(contrast, value)


def test_refusals():
    model = birthweight()
    with pytest.raises(ValueError, match="one of reduced and contrast, got none"):
        model.likelihood_ratio_test()
    with pytest.raises(ValueError, match="one of reduced and contrast, got both"):
        model.likelihood_ratio_test(model, contrast=np.eye(5)[0])
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


def test_wide_features_have_no_profile():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 40))
    y = rng.integers(0, 2, 30)
    with pytest.warns(ConvergenceWarning, match="linearly dependent"):
        model = IRLSLogisticRegression().fit(rows, y)
    with pytest.raises(ValueError, match="no more features than rows .* got 40"):
        model.summary(covariance="HC0", X=rows, y=y)
    with pytest.raises(ValueError, match="predict_interval needs covariance_"):
        model.predict_interval(rows)


def test_weighted_log_likelihood_of_the_oracle():
    # the oracle above against the binomial formula, so that it is not ours twice
    p = birthweight().predict_proba(X)[:, 1]
    theta = np.append(birthweight().intercept_, birthweight().coef_)
    design = np.column_stack([np.ones(len(Y)), X])
    direct = np.sum(xlogy(Y, p) + xlogy(1 - Y, 1 - p))
    assert log_likelihood(theta, design, Y) == pytest.approx(direct, rel=1e-10)


def test_covariance_of_contrasts_has_the_factor_of_few_rows():
    model = birthweight()
    L = [[0, 0, 0, 1, -1.0]]
    found = [
        model.wald_test(L, covariance=kind, X=X, y=Y).standard_error[0]
        for kind in ("HC0", "HC1")
    ]
    assert found[1] ** 2 == pytest.approx(found[0] ** 2 * len(Y) / (len(Y) - 5))


def test_small_statistics_are_not_rounded_up():
    full, V = birthweight(), birthweight().covariance_
    nearly = float(full.coef_[0, 0] + 0.01 * np.sqrt(V[1, 1]))
    test = full.wald_test([0, 1, 0, 0, 0], nearly)
    assert test.statistic == pytest.approx(1e-4, rel=1e-6)
    held = IRLSLogisticRegression().fit(X[:, 1:], Y, offset=nearly * X[:, 0])
    gain = 2 * (full.log_likelihood_ - held.log_likelihood_)
    ratio = full.likelihood_ratio_test(contrast=[0, 1, 0, 0, 0], value=nearly, X=X, y=Y)
    assert ratio.statistic == pytest.approx(gain, rel=1e-5)
    noise = np.random.default_rng(4).standard_normal((len(Y), 20))
    more = [IRLSLogisticRegression().fit(np.column_stack([X, z]), Y) for z in noise.T]
    nested = [m.likelihood_ratio_test(full) for m in more]
    gains = [2 * (m.log_likelihood_ - full.log_likelihood_) for m in more]
    assert min(gains) < 0.05
    assert [t.statistic for t in nested] == pytest.approx(gains, abs=1e-9)


@pytest.mark.parametrize("size", [2.0**-300, 2.0**300])
def test_contrasts_of_features_of_any_size(size):
    unit = np.array([1, size, 1, 1])
    plain, moved = birthweight(), IRLSLogisticRegression().fit(X * unit, Y)
    L = np.array([0, 1, 2.0, 0, 0])
    one = plain.likelihood_ratio_test(contrast=L, value=0.3, X=X, y=Y)
    scaled = L * np.append(1, unit)
    two = moved.likelihood_ratio_test(contrast=scaled, value=0.3, X=X * unit, y=Y)
    assert two.statistic == pytest.approx(one.statistic, rel=1e-7)
