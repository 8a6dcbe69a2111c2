"""Firth's penalised likelihood: logistf's numbers, and scipy on its definition."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from skauc import IRLSLogisticRegression, SampleWeightWarning


def separated():
    """The data of the tests of the Python package firthmodels (MIT licence), whose
    numbers of R's logistf stand below: one feature occurs in one class only."""
    rng = np.random.default_rng(42)
    n = 100
    separator = rng.choice([0, 1], n, p=[0.8, 0.2])
    a, b = rng.standard_normal(n), rng.uniform(-1, 1, n)
    c = rng.exponential(scale=2.0, size=n)
    y = rng.binomial(1, expit(-0.5 + 0.8 * a - 0.6 * b + 0.3 * c))
    y[separator == 1] = 1
    return np.column_stack([separator, a, b, c]), y


# firthmodels/tests/test_logistic.py, test_matches_logistf_with_separation, to the four
# digits that logistf's own tolerance leaves; the intercept comes last
COEF = [3.6577140153, 0.6759781501, -0.8633119501, 0.3385788510, -0.4434562830]
ERRORS = [1.4822786334, 0.2687886213, 0.3874453554, 0.1370778814, 0.3452906671]
PVALUES = [0.0002084147149, 0.0093173148959, 0.0236385713206, 0.0055887969164]
PVALUES += [0.1997147194]
LOW = [1.3901042899, 0.1602568036, -1.6677883758, 0.0893054012, -1.16089382506]
HIGH = [8.5876062114, 1.2568999211, -0.1135186948, 0.6572681313, 0.2295139209]


def firth(**params):
    return IRLSLogisticRegression(penalty="firth", **params)


def penalised(theta, X, y, weight, offset):
    """The penalised log-likelihood of one or many parameters, the last axis."""
    f = theta @ X.T + offset
    v = weight * expit(f) * expit(-f)
    half = np.linalg.slogdet((X.T * v[..., None, :]) @ X)[1] / 2
    loss = weight * np.logaddexp(0, np.where(y == 1, -f, f))
    return half - loss.sum(axis=-1)


def maximum(X, y, weight=None, offset=0.0, held=None):
    """scipy's maximum of the definition; ``held = (j, value)`` fixes a coefficient."""
    weight = np.ones(len(y)) if weight is None else weight
    free = np.ones(X.shape[1], bool)
    full = np.zeros(X.shape[1])
    if held is not None:
        free[held[0]], full[held[0]] = False, held[1]

    def minus(theta):
        full[free] = theta
        return -penalised(full, X, y, weight, offset)

    start = np.zeros(free.sum())
    found = minimize(minus, start, method="BFGS", options={"gtol": 1e-7})
    full[free] = found.x
    return full, -found.fun


# logistf ------------------------------------------------------------------------------


def test_logistf():
    X, y = separated()
    model = firth().fit(X, y)
    assert np.append(model.coef_, model.intercept_) == pytest.approx(COEF, rel=1e-5)
    assert model.converged_
    assert model.separation_ is None
    table = model.summary()  # as in logistf, of profiles
    order = [1, 2, 3, 4, 0]
    assert table.standard_error[order] == pytest.approx(ERRORS, rel=1e-5)
    assert table.pvalue[order] == pytest.approx(PVALUES, rel=1e-5)
    assert table.low[order] == pytest.approx(LOW, rel=1e-5)
    assert table.high[order] == pytest.approx(HIGH, rel=1e-5)
    wald = model.summary(method="wald")
    assert wald.statistic == pytest.approx(wald.estimate / table.standard_error)
    low, high = model.predict_interval(X)
    assert np.all((low >= 0) & (low < high) & (high <= 1))


# The definition -----------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_scipy_maximises_the_same(fit_intercept, weighted):
    X, y = separated()
    X, y = X[:40, :3], y[:40]
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.3, 3, 40) if weighted else None
    offset = rng.normal(size=40)
    model = firth(fit_intercept=fit_intercept).fit(X, y, weight, offset)
    design = np.column_stack([np.ones(40), X])[:, int(not fit_intercept) :]
    theta = np.append(model.intercept_, model.coef_)[int(not fit_intercept) :]
    best, value = maximum(design, y, weight, offset)
    assert theta == pytest.approx(best, abs=1e-5)
    given = {"X": X, "y": y, "sample_weight": weight, "offset": offset}
    with pytest.warns(SampleWeightWarning) if weighted else nullcontext():
        table = model.summary(0.9, method="profile", **given)
    for j in range(len(theta)):
        for limit in (table.low[j], table.high[j]):
            _, held = maximum(design, y, weight, offset, (j, limit))
            assert 2 * (value - held) == pytest.approx(chi2.ppf(0.9, 1), rel=1e-5)
        _, null = maximum(design, y, weight, offset, (j, 0.0))
        assert table.statistic[j] ** 2 == pytest.approx(2 * (value - null), rel=1e-5)


def test_test_of_several_coefficients():
    X, y = separated()
    model = firth().fit(X, y)
    test = model.likelihood_ratio_test(["x0", "x1", "x2", "x3"])
    assert test == model.likelihood_ratio_test(np.eye(5)[1:], X=X, y=y)
    design = np.column_stack([np.ones(100), X])
    ones = np.ones(100)
    # scipy over the intercept alone, with the determinant of all columns
    null = minimize(
        lambda b: -penalised(np.append(b, np.zeros(4)), design, y, ones, 0.0), [0.0]
    )
    _, value = maximum(design, y)
    assert test.statistic == pytest.approx(2 * (value + null.fun), rel=1e-6)
    assert test.df == 4
    assert test.pvalue == pytest.approx(chi2.sf(test.statistic, 4), rel=1e-10)


def test_two_by_two_table_has_half_a_row_in_every_cell():
    # Saturated: the odds ratio of Haldane and Anscombe, finite with an empty cell
    X, y = np.repeat([0.0, 0, 1], [5, 3, 6])[:, None], np.repeat([0, 1, 1], [5, 3, 6])
    model = firth().fit(X, y)
    odds = 6.5 / 0.5 * 5.5 / 3.5
    assert model.coef_[0, 0] == pytest.approx(np.log(odds), rel=1e-8)
    # its errors are Woolf's on the same table, as h = 1/n_j of each cell's margin
    rows = [5.5, 3.5, 6.5, 0.5]
    assert model.standard_errors_[0, 1] == pytest.approx(
        np.sqrt(np.sum(1 / np.array(rows))), rel=1e-8
    )


# Laws ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_complete_separation_is_finite(fit_intercept):
    X, y = load_iris(return_X_y=True)
    model = firth(fit_intercept=fit_intercept).fit(X[:100], y[:100])
    assert model.n_iter_ < 15  # without the curvature, 54
    assert np.abs(model.coef_).max() < 10
    assert model.score(X[:100], y[:100]) == 1
    X, y = X[35:65, 2:], y[35:65]  # a profile costs a fit for each of its steps
    table = (
        firth(fit_intercept=fit_intercept).fit(X, y).summary(method="profile", X=X, y=y)
    )
    assert np.isfinite([table.low, table.high]).all()
    assert np.all((table.low < table.estimate) & (table.estimate < table.high))


def test_profile_reaches_a_limit_far_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X @ rng.normal(size=(4, 2)) + rng.gumbel(size=(120, 2))).argmax(axis=1)
    y[:2] = 0, 1
    X = np.column_stack([X[:, 0], 2 * y - 1 + X[:, 1] / 10])
    table = firth().fit(X, y).summary(method="profile", X=X, y=y)
    design = np.column_stack([np.ones(120), X])
    _, value = maximum(design, y)
    _, held = maximum(design, y, held=(2, table.high[2]))
    assert 2 * (value - held) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-5)
    assert table.high[2] == pytest.approx(15.50618, rel=1e-6)  # not 8.86


def test_profile_passes_points_without_information():
    # a value far from the others: some points that are tried are not finite
    X = np.exp(np.random.default_rng(5).normal(size=(16, 1))).round(1)
    y = np.arange(16) < 2
    table = firth().fit(X, y).summary(method="profile", X=X, y=y)
    assert np.isfinite([table.low, table.high]).all()


SLOPES = np.outer([-1, 1], np.geomspace(1e-4, 300, 700)).ravel()


def intercepts_of(X, slope):
    """Intercepts with which the decision changes between or at rows."""
    near = -slope * X[:, None] + np.linspace(-8, 8, 33)
    return np.append(near, -slope * np.linspace(X.min(), X.max(), 300))


@pytest.mark.parametrize("seed", [3, 14, 51])
def test_profile_limits_are_those_of_a_grid(seed):
    """The other parameter is sought on a fine grid: no maximum is missed."""
    rng = np.random.default_rng(seed)
    n = rng.integers(12, 50)
    X = np.exp(1.5 * rng.normal(size=n))
    y = (X + 0.1 * rng.normal(size=n) * X.std() > np.quantile(X, 0.6)).astype(int)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = firth().fit(X[:, None], y)
        table = model.summary(method="profile", X=X[:, None], y=y)
    assert {w.category for w in caught} <= {ConvergenceWarning}
    design = np.column_stack([np.ones(n), X])
    best = penalised(np.append(model.intercept_, model.coef_), design, y, 1.0, 0.0)
    for j, limits in enumerate(zip(table.low, table.high, strict=True)):
        for limit in limits:

            def minus(other, j=j, limit=limit):
                held = np.full_like(other, limit)
                theta = (other, held) if j else (held, other)
                return -penalised(np.stack(theta, axis=-1), design, y, 1.0, 0.0)

            free = intercepts_of(X, limit) if j else SLOPES
            values = np.nan_to_num(minus(free), nan=np.inf)
            near = np.sort(free[values.argmin()] * np.array([0.97, 1.03]))
            held = min(values.min(), minimize_scalar(minus, bounds=near).fun)
            right = pytest.approx(chi2.ppf(0.95, 1), abs=5e-3)
            assert 2 * (best + held) == right, (seed, j, limit)


# Texts --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The profile likelihood did not converge")
def test_profile_far_out_does_not_overflow():
    X = np.array([[0, -1], [-1, -1], [0, -2], [-2, 0], [1, -2], [2, 2.0]])
    y, offset = [1, 0, 0, 0, 1, 1], np.array([-0.6, 0.5, -0.7, 1, 0, 0.6])
    model = IRLSLogisticRegression(penalty="firth").fit(X, y, None, offset)
    with np.errstate(all="raise", under="ignore"):
        table = model.summary(method="profile", X=X, y=y, offset=offset)
    assert np.all(table.low < table.high)


def test_refusals():
    X, y = separated()
    with pytest.raises(ValueError, match="C must be inf with penalty='firth', got 1.0"):
        firth(C=1.0).fit(X, y)
    with pytest.raises(ValueError, match="y must hold two classes, got 3"):
        firth().fit(X, np.arange(100) % 3)
    model = firth().fit(X, y)
    for name in ("aic_", "bic_"):
        with pytest.raises(AttributeError, match=f"{name} .* got penalty='firth'"):
            getattr(model, name)
    with pytest.raises(ValueError, match="'model' with penalty='firth', got 'HC0'"):
        model.summary(covariance="HC0", X=X, y=y)
